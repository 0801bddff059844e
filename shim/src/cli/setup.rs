//! The arguments of `loci setup`. Only definitions; the command is implemented in `commands`.

use crate::setup::client::{Client, Scope};
use crate::setup::event::Event;
use clap::Args;

/// `loci setup`
#[derive(Debug, Args)]
pub struct Setup {
    /// Client; without it, every installed client.
    #[arg(value_enum)]
    pub client: Option<Client>,
    /// Whose configuration to write.
    #[arg(long, value_enum, hide_default_value = true)]
    pub scope: Option<Scope>,
    /// Print what would change as a unified diff, and write nothing.
    #[arg(long, conflicts_with = "print")]
    pub dry_run: bool,
    /// Print what would be put into the configuration, to add it by hand.
    #[arg(long, conflicts_with_all = ["remove", "json"])]
    pub print: bool,
    /// Take out what loci setup has written.
    #[arg(long)]
    pub remove: bool,
    /// Leave out the hooks, which recall without being asked.
    #[arg(long, conflicts_with = "remove")]
    pub no_hooks: bool,
    /// Leave out the permission, so that the client asks before a tool of loci runs.
    #[arg(long, conflicts_with = "remove")]
    pub no_permission: bool,
    /// Also write a hook that is not written by default, and switch it on: pre-tool or stop; may be repeated.
    #[arg(long, value_name = "HOOK", value_parser = optional_event, conflicts_with_all = ["remove", "no_hooks"])]
    pub with: Vec<Event>,
    /// Also replace or remove what was changed by hand.
    #[arg(long)]
    pub force: bool,
    /// Do not ask for confirmation.
    #[arg(long, short)]
    pub yes: bool,
    /// Print the changes as JSON; needs --yes or --dry-run if there are any.
    #[arg(long)]
    pub json: bool,
}

fn optional_event(name: &str) -> Result<Event, String> {
    match name {
        "pre-tool" => Ok(Event::PreTool),
        "stop" => Ok(Event::Stop),
        _ => Err("must be pre-tool or stop".to_owned()),
    }
}
