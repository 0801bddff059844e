//! The arguments of `loci serve`. Only definitions; the command is implemented in `commands::serve`.

use clap::{Args, Subcommand};

/// `loci serve`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Serve {
    /// Serve MCP over HTTP on this machine until interrupted.
    #[arg(long)]
    pub http: bool,
    /// Port; 0 selects a free one. Default: that of the configuration.
    #[arg(long, value_name = "PORT", requires = "http")]
    pub port: Option<u16>,
    /// Deprecated in MCP, so it is refused.
    #[arg(long, hide = true, conflicts_with = "http")]
    pub sse: bool,
    /// The command.
    #[command(subcommand)]
    pub command: Option<ServeCommand>,
}

/// The subcommands of `loci serve`.
#[derive(Debug, Subcommand)]
pub enum ServeCommand {
    /// List, add, remove and show the tokens of HTTP clients.
    #[command(subcommand, after_help = "Example\n  loci serve token list")]
    Token(TokenCommand),
}

/// `loci serve token`
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// List the tokens, without their secrets.
    #[command(after_help = "Example\n  loci serve token list")]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Add a token and print its secret.
    #[command(
        after_help = "Example: for one project only\n  loci serve token add phone --project shop"
    )]
    Add {
        /// Name of the token.
        #[arg(value_name = "NAME")]
        name: String,
        /// The only project that it may use.
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the secret of a token.
    #[command(after_help = "Example\n  loci serve token show default")]
    Show(TokenArgs),
    /// Remove a token; its clients are refused from now on.
    #[command(after_help = "Example\n  loci serve token remove phone")]
    Remove(TokenArgs),
}

/// `loci serve token show` and `remove`
#[derive(Debug, Args)]
pub struct TokenArgs {
    /// Name of the token.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
