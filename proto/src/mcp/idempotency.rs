//! The idempotency key of a tool call: a call that is sent again after a crash takes effect once.

/// Key in `params._meta` under which the shim sends the idempotency key, `<session id>:<sequence number>`.
pub const META_KEY: &str = "dev.loci/key";
