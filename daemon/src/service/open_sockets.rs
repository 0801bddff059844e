//! The sockets that this process has open at the moment: the serving daemon has local ones only, and those of HTTP clients on this machine.
//!
//! Not here: sockets of other processes (`locid model fetch` connects to the model hub), and sockets that were open before.

use nix::sys::socket::{AddressFamily, SockaddrLike, SockaddrStorage, getsockname};
use std::io;
use std::net::SocketAddr;
use std::os::fd::RawFd;

/// The folder that lists the open file descriptors of the process that reads it.
const DESCRIPTORS: &str = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };

/// The open sockets of this process.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct OpenSockets {
    /// Number of Unix sockets, which reach no other machine.
    pub local: usize,
    /// Number of internet sockets at the addresses of the HTTP server and viewers, which only this machine reaches.
    pub http: usize,
    /// Descriptor and address family of every other socket.
    pub other: Vec<String>,
}

impl OpenSockets {
    /// Lists the sockets; `served` are the addresses of the open HTTP server and viewers.
    ///
    /// # Errors
    /// When the descriptors cannot be listed.
    pub fn of_process(served: &[SocketAddr]) -> io::Result<Self> {
        let mut found = Self::default();
        for entry in std::fs::read_dir(DESCRIPTORS)? {
            let name = entry?.file_name();
            if let Some(descriptor) = name.to_str().and_then(|name| name.parse().ok()) {
                found.add(descriptor, served);
            }
        }
        found.other.sort();
        Ok(found)
    }

    /// Adds a descriptor if it is a socket.
    fn add(&mut self, descriptor: RawFd, served: &[SocketAddr]) {
        // Fails for a file and for a descriptor that was closed since it was listed.
        let Ok(address) = getsockname::<SockaddrStorage>(descriptor) else { return };
        match address.family() {
            Some(AddressFamily::Unix) => self.local += 1,
            Some(_) if internet_address(&address).is_some_and(|own| served.contains(&own)) => {
                self.http += 1;
            }
            Some(family) => self.other.push(format!("{descriptor} ({family:?})")),
            None => self.other.push(format!("{descriptor} (unknown)")),
        }
    }
}

fn internet_address(address: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = address.as_sockaddr_in().map(|v4| SocketAddr::V4((*v4).into()));
    v4.or_else(|| address.as_sockaddr_in6().map(|v6| SocketAddr::V6((*v6).into())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, UdpSocket};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn local_sockets_are_counted_and_internet_sockets_are_named() {
        let (one, two) = UnixStream::pair().expect("the sockets are created");
        let tcp = TcpListener::bind("127.0.0.1:0").expect("the socket is created");
        let udp = UdpSocket::bind("127.0.0.1:0").expect("the socket is created");
        let file = tempfile::tempfile().expect("the file is created");
        let mut found = OpenSockets::default();
        for descriptor in
            [one.as_raw_fd(), two.as_raw_fd(), tcp.as_raw_fd(), udp.as_raw_fd(), file.as_raw_fd()]
        {
            found.add(descriptor, &[]);
        }
        let named = [tcp.as_raw_fd(), udp.as_raw_fd()].map(|number| format!("{number} (Inet)"));
        assert_eq!(found, OpenSockets { local: 2, http: 0, other: named.to_vec() });
        let all = OpenSockets::of_process(&[]).expect("the descriptors are listed");
        let served = [tcp.local_addr().expect("the address is known")];
        let mut found = OpenSockets::default();
        for descriptor in [tcp.as_raw_fd(), udp.as_raw_fd()] {
            found.add(descriptor, &served);
        }
        assert_eq!(found, OpenSockets { local: 0, http: 1, other: vec![named[1].clone()] });
        assert!(all.local >= 2 && named.iter().all(|socket| all.other.contains(socket)), "{all:?}");
    }
}
