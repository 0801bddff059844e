//! The viewer: a page in the person's browser that shows and corrects the store. Served on loopback while `loci view` runs.
//!
//! A request passes host and origin as on the HTTP server for clients (`http::own_address`), then [`access`]; then the handlers of the admin
//! socket answer it, as for a command. The page and its script are part of the program ([`page`]); it loads nothing from elsewhere. Not
//! here: what the page shows (`assets`).

pub mod access;
mod boot;
mod context;
mod events;
pub mod opening;
mod page;
mod routes;
