//! The version of this build.

/// The version that both programs report, for example `0.1.0`.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
