//! The arguments of `loci view`. Only definitions; the command is implemented in `commands::view`.

use clap::Args;

/// `loci view`
#[derive(Debug, Args)]
pub struct View {
    /// Print the link without opening a browser.
    #[arg(long)]
    pub no_open: bool,
    /// Port; a free one by default.
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: Option<u16>,
}
