//! `bridge`, `bridge_switch`, `bridge_file`, `bridge_block`: the versions of clients' own memory files.
//!
//! Not here: the scan (`service::bridge`); files of clients are written by the command line alone.

use crate::handlers::handle::Handle;
use crate::handlers::switches::check_on;
use crate::service::{Caller, Service};
use loci_engine::operations::bridge::WatchedClient;
use loci_proto::error::Failure;
use loci_proto::requests::bridge::{
    BridgeBlockReply, BridgeBlockRequest, BridgeReply, BridgeRequest, BridgeSwitchReply,
    BridgeSwitchRequest,
};
use std::path::Path;

/// Lines of a block, if the request does not say how many.
const BLOCK_LINES: usize = 40;

impl Handle for BridgeRequest {
    async fn handle(self, service: &Service, _caller: Caller<'_>) -> Result<BridgeReply, Failure> {
        if self.scan {
            service.scan_bridge(None).await?;
        }
        let reply = service.read(move |reader| reader.bridge_status(self.files)).await?;
        let config = service.config.config().bridge;
        Ok(BridgeReply {
            max_bytes: config.max_bytes(),
            interval_seconds: config.interval(),
            problems: service.bridge.problems(),
            ..reply
        })
    }
}

impl Handle for BridgeSwitchRequest {
    async fn handle(
        self,
        service: &Service,
        caller: Caller<'_>,
    ) -> Result<BridgeSwitchReply, Failure> {
        let BridgeSwitchRequest { client, on, folder, other, projects } = self;
        let watched = match (on, folder) {
            (false, _) => None,
            (true, Some(folder)) if Path::new(&folder).is_absolute() => {
                Some(WatchedClient { client, folder, other })
            }
            (true, _) => {
                return Err(Failure::invalid(
                    "folder",
                    "must be the absolute path of the client's folder",
                )
                .hint("Run loci bridge claude --on"));
            }
        };
        let switched = move |writer: &mut loci_engine::Writer, call: &_| {
            writer.switch_bridge(call, client, watched, &projects)
        };
        service.write(caller, switched).await?;
        service.bridge.switched();
        let counts = service.scan_bridge(None).await?.counts;
        Ok(BridgeSwitchReply {
            client: client.as_str().to_owned(),
            on,
            files: counts.files,
            versions: counts.versions,
            imported: counts.imported,
        })
    }
}

impl Handle for BridgeBlockRequest {
    async fn handle(
        self,
        service: &Service,
        caller: Caller<'_>,
    ) -> Result<BridgeBlockReply, Failure> {
        // Without memories, the block is taken out: that is also possible where loci is off.
        if self.max_lines != Some(0) {
            check_on(service, caller.session).await?;
        }
        let (actor, now) = (caller.session.actor(), service.now());
        let max_lines = self.max_lines.unwrap_or(BLOCK_LINES);
        service
            .read(move |reader| reader.bridge_block(self.client, (&actor).into(), max_lines, now))
            .await
    }
}
