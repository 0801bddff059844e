//! `[server]`: the log level, and whether clients may also connect over HTTP on this machine. Not here: the HTTP server
//! (`interface::http`).

use crate::config::allowed::{LOG_LEVELS, check_one_of, not_in_this_version};
use loci_proto::error::Failure;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The port of the HTTP server unless one is configured.
pub const DEFAULT_HTTP_PORT: u16 = 7433;

/// `[server]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// `stdio`, or `http` to serve HTTP clients as well.
    pub transport: String,
    /// The port on the loopback address; 0 selects a free one.
    pub http_port: i64,
    /// `127.0.0.1`, `localhost` or `::1`.
    pub http_address: String,
    /// `error`, `warn`, `info`, `debug` or `trace`; `LOCI_LOG_LEVEL` overrides it.
    pub log_level: String,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            transport: "stdio".to_owned(),
            http_port: i64::from(DEFAULT_HTTP_PORT),
            http_address: "127.0.0.1".to_owned(),
            log_level: "info".to_owned(),
        }
    }
}

impl Server {
    /// Returns whether the configuration asks for the HTTP server.
    #[must_use]
    pub fn serves_http(&self) -> bool {
        self.transport == "http"
    }

    /// Returns the address of the HTTP server, with another port if one is given.
    ///
    /// # Errors
    /// `invalid` for an address that other machines could reach, or for a port that does not exist.
    pub fn http_bind_address(&self, port: Option<u16>) -> Result<SocketAddr, Failure> {
        let address = match self.http_address.as_str() {
            "127.0.0.1" | "localhost" => IpAddr::V4(Ipv4Addr::LOCALHOST),
            "::1" | "[::1]" => IpAddr::V6(Ipv6Addr::LOCALHOST),
            other => {
                let message = format!("must be 127.0.0.1, localhost or ::1, not {other}");
                return Err(Failure::invalid("server.http_address", message).hint(
                    "loci serves this machine only; other machines need a tunnel, for example ssh -L",
                ));
            }
        };
        let configured = u16::try_from(self.http_port).map_err(|_| {
            let message = format!("must be from 0 to 65535, not {}", self.http_port);
            Failure::invalid("server.http_port", message)
        })?;
        Ok(SocketAddr::new(address, port.unwrap_or(configured)))
    }

    /// Refuses a value that is not supported.
    ///
    /// # Errors
    /// `not_in_this_version`, `invalid`, naming the key.
    pub fn check(&self) -> Result<(), Failure> {
        match self.transport.as_str() {
            "stdio" | "http" => {}
            "sse" => {
                return Err(not_in_this_version("server.transport", "= \"sse\" is")
                    .hint("HTTP+SSE is deprecated in MCP; set it to \"http\""));
            }
            other => {
                return Err(not_in_this_version("server.transport", &format!("= \"{other}\" is"))
                    .hint("Set it to \"stdio\" or \"http\""));
            }
        }
        check_one_of("server.log_level", &self.log_level, LOG_LEVELS)?;
        self.http_bind_address(None).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str, port: i64) -> Result<SocketAddr, Failure> {
        let server =
            Server { http_address: address.to_owned(), http_port: port, ..Server::default() };
        server.http_bind_address(None)
    }

    #[test]
    fn only_loopback_addresses_are_accepted() {
        for address in ["127.0.0.1", "localhost", "::1", "[::1]"] {
            assert!(at(address, 7433).is_ok_and(|bound| bound.ip().is_loopback()), "{address}");
        }
        for address in
            ["0.0.0.0", "::", "192.168.1.4", "::ffff:127.0.0.1", "127.1", "example.com", "", "*"]
        {
            let refusal = at(address, 7433).expect_err("another address is refused").to_string();
            assert!(refusal.contains("server.http_address must be 127.0.0.1"), "{refusal}");
        }
    }

    #[test]
    fn a_port_that_does_not_exist_is_refused() {
        for port in [-1, 65_536] {
            assert!(
                at("127.0.0.1", port)
                    .is_err_and(|failure| { failure.field.as_deref() == Some("server.http_port") })
            );
        }
        let default = Server::default().http_bind_address(None).expect("the default is valid");
        assert_eq!(default.to_string(), "127.0.0.1:7433");
        let other = Server::default().http_bind_address(Some(9000)).expect("the port is valid");
        assert_eq!(other.port(), 9000);
    }
}
