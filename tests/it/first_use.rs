//! The first text that needs the model downloads it, here from a local mirror.

use crate::home::{TestHome, models};
use crate::in_time::OutputInTime;
use crate::wire::wait_until;
use serde_json::json;
use std::fs::Permissions;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn the_model_is_downloaded_at_first_use_while_the_session_continues() {
    let home = TestHome::without_model();
    home.configure_whole(&format!("[embedding]\nurl = \"{}\"\n", mirror(models())));
    let mut agent = home.session();
    let stored = agent.store_with(
        json!({"content": "The vet prescribed drops for the cat's left eye", "type": "episodic"}),
    );
    assert_eq!(stored["degraded"], json!(["embedding"]), "a store does not wait for the model");
    let question = json!({"query": "medicine for a pet's vision problem"});
    let found = std::iter::from_fn(|| {
        Some(agent.call("recall_memory", question.clone()).expect("the call succeeds"))
    })
    .take_while(|_| !home.log().contains("could not be fetched"))
    .find(|answer| answer.get("degraded").is_none() && answer["total_matched"] == 1);
    assert!(found.is_some(), "{}", home.log());
}

#[test]
fn a_download_that_ends_early_leaves_no_file_in_place() {
    let home = TestHome::without_model();
    home.configure_whole(&format!("[embedding]\nurl = \"{}\"\n", mirror_that_breaks()));
    let nowhere = home.path("nowhere");
    let mut download = home.command("loci");
    // Without Python in PATH there is no other source.
    let output = download
        .args(["model", "download"])
        .env("PATH", &nowhere)
        .output_in_time()
        .expect("the command runs");
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        stderr.contains("model.safetensors") && stderr.contains("loci model download --from"),
        "{stderr}"
    );
    let partial_files = Command::new("find")
        .args([
            home.path("models").as_os_str(),
            "-type".as_ref(),
            "f".as_ref(),
            "-name".as_ref(),
            "model*".as_ref(),
        ])
        .output_in_time();
    assert!(partial_files.expect("the command runs").stdout.is_empty());
}

/// The stand-in for Python behaves as pip does: a child of the fetching process that is still
/// working.
#[test]
fn the_download_ends_with_the_daemon() {
    let home = TestHome::without_model();
    let (programs, started) = (home.path("programs"), home.path("started"));
    std::fs::create_dir(&programs).expect("the folder is created");
    let python = programs.join("python3");
    std::fs::write(
        &python,
        format!(
            "#!/bin/sh\necho $$ > '{0}.new' && mv '{0}.new' '{0}' && read never < '{0}.never'\n",
            started.display()
        ),
    )
    .expect("the file is written");
    std::fs::set_permissions(&python, Permissions::from_mode(0o700))
        .expect("the permissions are set");
    nix::unistd::mkfifo(&home.path("started.never"), nix::sys::stat::Mode::S_IRWXU)
        .expect("the pipe is created");
    home.configure_whole("");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let home = home.with("PATH", path);
    home.session().store("semantic", "Starts a download that never ends");
    wait_until("pip runs", || started.exists());
    let pid = std::fs::read_to_string(&started).expect("the file can be read");
    assert!(home.loci(&["ctl", "stop"]).status.success());
    wait_until("pip has ended", || {
        let state =
            std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        // Init may not have reaped it yet.
        state.is_empty() || state.contains(") Z ")
    });
}

/// Serves the model's files by name; returns the address.
fn mirror(models: PathBuf) -> String {
    serve(move |name, stream| match find(&models, name) {
        Some(file) => {
            let content = std::fs::read(file).expect("the file can be read");
            write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                content.len()
            )?;
            stream.write_all(&content)
        }
        None => stream
            .write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"),
    })
}

/// Announces a file and closes the connection after its first bytes.
fn mirror_that_breaks() -> String {
    serve(|_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 90868376\r\nconnection: close\r\n\r\nthe beginning")
    })
}

fn serve(answer: impl Fn(&str, &mut TcpStream) -> std::io::Result<()> + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address =
        format!("http://{}/", listener.local_addr().expect("the listener has an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut stream = stream;
            let mut reader = BufReader::new(stream.try_clone().expect("the descriptor is cloned"));
            let mut request = String::new();
            let read = reader.read_line(&mut request).is_ok();
            let mut header = String::from("more");
            while read && header.trim() != "" {
                header.clear();
                if reader.read_line(&mut header).is_err() {
                    break;
                }
            }
            let name = request
                .split_whitespace()
                .nth(1)
                .and_then(|path| path.rsplit('/').next())
                .unwrap_or_default()
                .to_owned();
            // A client may disconnect in the middle.
            let _ = answer(&name, &mut stream);
        }
    });
    address
}

fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.map_while(Result::ok).map(|entry| entry.path());
    entries.into_iter().find_map(|path| {
        if path.is_dir() { find(&path, name) } else { (path.file_name()? == name).then_some(path) }
    })
}
