//! What the shim adds to a tool call: an idempotency key, so that a call that is sent again after a crash takes effect once, and the
//! checkout, and that its folder is gone.

/// Key in `params._meta` under which the shim sends the idempotency key, `<session id>:<sequence number>`.
pub const META_KEY: &str = "dev.loci/key";

/// Key in `params._meta` under which the shim sends the [`crate::hello::Checkout`] if it is another one than in its hello.
pub const CHECKOUT_KEY: &str = "dev.loci/checkout";

/// Key in `params._meta` under which the shim sends `true` if the folder of its session no longer exists.
pub const FOLDER_GONE_KEY: &str = "dev.loci/folder-gone";
