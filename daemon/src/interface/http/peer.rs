//! Which user of this machine has opened a connection on loopback, where the system tells it: Linux, in `/proc/net/tcp`.

use std::net::SocketAddr;

/// The connections of IPv4.
const CONNECTIONS: &str = "/proc/net/tcp";
/// Columns of a line, by their place.
const LOCAL: usize = 1;
const REMOTE: usize = 2;
const UID: usize = 7;

/// Returns false if another user than that of this process or root has opened the connection of `peer` with `own`. True where that is
/// unknown.
#[must_use]
pub fn is_own_user(peer: SocketAddr, own: SocketAddr) -> bool {
    let connections = std::fs::read_to_string(CONNECTIONS).unwrap_or_default();
    uid_in(&connections, peer, own)
        .is_none_or(|uid| uid == 0 || uid == nix::unistd::geteuid().as_raw())
}

/// Returns the user of the socket at `local` that is connected with `remote`.
fn uid_in(connections: &str, local: SocketAddr, remote: SocketAddr) -> Option<u32> {
    let (local, remote) = (column(local)?, column(remote)?);
    connections.lines().find_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let is_it = columns.get(LOCAL) == Some(&local.as_str())
            && columns.get(REMOTE) == Some(&remote.as_str());
        is_it.then(|| columns.get(UID)?.parse().ok()).flatten()
    })
}

/// Returns an address as a column has it: the bytes of the address in the order of the machine, then the port.
fn column(address: SocketAddr) -> Option<String> {
    match address {
        SocketAddr::V4(v4) => {
            let ip = u32::from_ne_bytes(v4.ip().octets());
            Some(format!("{ip:08X}:{:04X}", v4.port()))
        }
        SocketAddr::V6(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream as Stream};

    #[test]
    fn the_user_of_a_connection_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("the socket is created");
        let own = listener.local_addr().expect("an address");
        let client = Stream::connect(own).expect("it connects");
        let peer = client.local_addr().expect("an address");
        let connections = std::fs::read_to_string(CONNECTIONS).expect("the system is Linux");
        assert_eq!(uid_in(&connections, peer, own), Some(nix::unistd::geteuid().as_raw()));
        let line =
            "0: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000 65534 0 1";
        let at = |port| SocketAddr::from(([127, 0, 0, 1], port));
        if cfg!(target_endian = "little") {
            assert_eq!(uid_in(line, at(8080), at(40000)), Some(65534));
        }
        assert_eq!(uid_in(line, at(8081), at(40000)), None);
    }
}
