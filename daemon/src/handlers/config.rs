//! `config`: returns the configuration in force.

use crate::handlers::handle::Handle;
use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::config::{ConfigReply, ConfigRequest};

impl Handle for ConfigRequest {
    async fn handle(self, service: &Service, _caller: Caller<'_>) -> Result<ConfigReply, Failure> {
        Ok(service.config.reply())
    }
}
