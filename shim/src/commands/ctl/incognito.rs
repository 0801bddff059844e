//! `loci ctl incognito`: makes a running session incognito, or ends that.

use crate::cli::daemon::Incognito;
use crate::client::call::VerbClient;
use crate::output::{Problem, print_line};
use loci_proto::requests::incognito::{IncognitoReply, IncognitoRequest};

/// Sends the request; the session is named by the beginning of its id or by the process id of its shim.
///
/// # Errors
/// The daemon cannot be reached; `not_found` if no such session is connected.
pub async fn run(args: Incognito) -> Result<(), Problem> {
    let client = VerbClient::of_process()?;
    let request = IncognitoRequest { session: args.session, off: args.off };
    let raw_reply = client.ask(&request).await?;
    if args.json {
        return print_line(raw_reply.as_str());
    }
    let reply: IncognitoReply = raw_reply.parse()?;
    print_line(if reply.incognito {
        "The session is incognito: from now on it neither reads nor stores."
    } else {
        "The session is no longer incognito."
    })
}
