//! Shim and daemon of different versions: they agree, or one reports both versions; only the newer
//! replaces the older.
//!
//! Daemons of other versions are threads of the test, since only one version can be built. The shim
//! and the replacing daemon are real.

use crate::home::{Agent, TestHome};
use crate::wire::{Daemon, Peer};
use loci_proto::hello;
use loci_proto::hello::{Refusal, Refused, Welcome};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread::JoinHandle;

/// Returns a home in whose socket path another daemon can listen.
fn home() -> TestHome {
    let home = TestHome::without_model();
    fs::create_dir(home.path("run/loci")).expect("the folder is created");
    fs::set_permissions(home.path("run/loci"), fs::Permissions::from_mode(0o700))
        .expect("the permissions are set");
    home
}

fn listen(home: &TestHome, name: &str) -> UnixListener {
    UnixListener::bind(home.path("run/loci").join(name)).expect("the socket binds")
}

/// A daemon that speaks only these protocols: it refuses each shim, and exits when a peer connects
/// and sends nothing.
fn refuse_every_shim(agents: UnixListener, speaks: (u32, u32)) -> JoinHandle<()> {
    std::thread::spawn(move || {
        loop {
            let (mut stream, _) = agents.accept().expect("a shim connects");
            if BufReader::new(&stream).read_line(&mut String::new()).expect("a line can be read")
                == 0
            {
                return;
            }
            let refused = Refused {
                min: speaks.0,
                max: speaks.1,
                daemon: "7.8.9".to_owned(),
                ..Refused::new(Refusal::Version)
            };
            writeln!(stream, "{}", json!(refused)).expect("the peer reads its input");
        }
    })
}

#[test]
fn a_peer_with_a_common_protocol_is_served_and_another_gets_the_supported_versions() {
    let home = TestHome::without_model();
    let daemon = Daemon::start(&home, &mut home.command("locid"));
    for theirs in [(0, 1), (1, 1), (1, 2)] {
        let (mut peer, answer) = Peer::with_versions(&home, theirs);
        assert_eq!((&answer["ok"], &answer["loci"]), (&json!(true), &json!(1)), "{theirs:?}");
        peer.call(1, "memory_stats", &json!({}));
        assert_eq!(peer.receive().expect("the daemon answers")["id"], 1);
    }
    for theirs in [(2, 3), (0, 0)] {
        let (mut peer, answer) = Peer::with_versions(&home, theirs);
        assert_eq!(
            answer,
            json!({"ok": false, "error": "version", "min": 1, "max": 1, "daemon": loci_proto::VERSION}),
            "{theirs:?}"
        );
        assert_eq!(peer.receive(), None, "the connection is closed");
    }
    assert_eq!(home.status()["pid"], daemon.pid(), "the daemon stays");
}

#[test]
fn an_older_shim_leaves_a_newer_daemon_alone_and_names_both_versions() {
    let home = home();
    let (agents, admin) = (listen(&home, "locid.sock"), listen(&home, "admin.sock"));
    admin.set_nonblocking(true).expect("the socket option is set");
    let newer = refuse_every_shim(agents, (hello::MAX_VERSION + 1, hello::MAX_VERSION + 2));
    let mut agent = Agent::bare(home.command("loci").arg("mcp"));
    let first = agent.request("tools/list", json!({}));
    assert!(first["result"]["tools"].is_array(), "the shim answers the handshake itself");
    for _ in 0..2 {
        let error = agent.call("memory_stats", json!({})).expect_err("the call fails");
        for part in [
            loci_proto::VERSION,
            "7.8.9",
            "supports protocol 1 to 1",
            "supports 2 to 3",
            "Restart this session",
        ] {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
    assert_eq!(admin.accept().expect_err("no stop request arrives").kind(), ErrorKind::WouldBlock);
    assert!(!home.path("run/loci/locid.lock").exists(), "no other daemon was started");
    drop(UnixStream::connect(home.path("run/loci/locid.sock")).expect("the daemon still listens"));
    newer.join().expect("the thread does not panic");
    drop(admin);
    for name in ["locid.sock", "admin.sock"] {
        fs::remove_file(home.path("run/loci").join(name)).expect("the file is removed");
    }
    agent.store("semantic", "The session works after the newer daemon has ended");
}

#[test]
fn a_newer_shim_replaces_an_older_daemon() {
    let home = home();
    let (agents, admin) = (listen(&home, "locid.sock"), listen(&home, "admin.sock"));
    let older = refuse_every_shim(agents, (0, hello::MIN_VERSION - 1));
    let (agents_file, admin_file) =
        (home.path("run/loci/locid.sock"), home.path("run/loci/admin.sock"));
    let stopping = std::thread::spawn(move || {
        let (mut stream, _) = admin.accept().expect("a stop request arrives");
        let mut request = [0; 4096];
        let length = stream.read(&mut request).expect("the request can be read");
        drop(UnixStream::connect(&agents_file).expect("the daemon still listens"));
        older.join().expect("the thread does not panic");
        fs::remove_file(agents_file)
            .and_then(|()| fs::remove_file(admin_file))
            .expect("both sockets are removed");
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n{\"done\":\"x\"}")
            .expect("the peer reads its input");
        String::from_utf8_lossy(&request[..length]).into_owned()
    });
    let mut agent = home.session();
    agent.store("semantic", "Stored by the newer daemon");
    assert!(stopping.join().expect("the thread does not panic").starts_with("POST /stop "));
    assert_eq!(home.status()["version"], loci_proto::VERSION);
}

#[test]
fn a_replaced_daemon_with_other_tools_sends_list_changed() {
    let home = home();
    let agents = listen(&home, "locid.sock");
    let socket_path = home.path("run/loci/locid.sock");
    let older = std::thread::spawn(move || {
        let (mut stream, _) = agents.accept().expect("a shim connects");
        let mut lines = BufReader::new(stream.try_clone().expect("the descriptor is cloned"))
            .lines()
            .map(|line| line.expect("the line can be read"));
        lines.next().expect("the shim sends a line");
        let (daemon, boot, tools) =
            ("0.0.9".to_owned(), "b".to_owned(), "fingerprint of other tools".to_owned());
        writeln!(
            stream,
            "{}",
            json!(Welcome { ok: true, loci: hello::MAX_VERSION, daemon, boot, pid: 1, tools })
        )
        .expect("the peer reads its input");
        let asked: Value = serde_json::from_str(&lines.next().expect("the shim sends a line"))
            .expect("valid JSON");
        let result = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "loci", "version": "0.0.9"}});
        writeln!(stream, "{}", json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
            .expect("the peer reads its input");
        let call = lines.find(|line| line.contains("tools/call")).expect("the shim sends the call");
        fs::remove_file(socket_path).expect("the file is removed");
        call
    });
    let mut agent = home.session();
    let call = json!({"name": "store_memory", "arguments": {"content": "Asked of one, stored by the next", "type": "semantic"}});
    agent.send(
        &json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}).to_string(),
    );
    assert_eq!(agent.next_message()["method"], "notifications/tools/list_changed");
    assert_eq!(agent.receive()["id"], 7);
    assert!(
        older.join().expect("the thread does not panic").contains("Asked of one"),
        "the first daemon received the call"
    );
    assert_eq!(agent.recall("stored by the next"), ["Asked of one, stored by the next"]);
}
