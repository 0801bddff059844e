//! The arguments of `loci encrypt`, `loci decrypt` and `loci rekey`. Only definitions; the commands are implemented in
//! `commands::encryption`.

use clap::Args;

/// `loci encrypt`
#[derive(Debug, Args)]
pub struct Encrypt {
    /// Print the key file and change nothing. Who has it can read the memories.
    #[arg(long, conflicts_with = "yes")]
    pub show_key: bool,
    /// How it is done.
    #[command(flatten)]
    pub convert: Convert,
}

/// `loci decrypt` and `loci rekey`
#[derive(Debug, Args)]
pub struct Convert {
    /// Do not ask for confirmation.
    #[arg(long, short)]
    pub yes: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
