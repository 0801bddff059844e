//! Has the daemon look at the memory files now, so that what follows is about their present state.

use crate::client::call::VerbClient;
use crate::output::Problem;
use loci_proto::requests::bridge::{BridgeReply, BridgeRequest};

/// Has the daemon read the files, and returns the state.
pub async fn scan(client: &VerbClient, files: bool) -> Result<BridgeReply, Problem> {
    client.call(&BridgeRequest { scan: true, files }).await
}
