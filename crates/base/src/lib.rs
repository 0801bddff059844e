//! What a memory is, as values: types, text analysis, duplicate rules, flags, privacy and kernels.
//!
//! **Reading guide.** [`model`] has the types that the database, the index and the operations share.
//! [`text`] splits and analyses a text, [`duplicate`] judges whether two texts state the same fact,
//! [`flags`] finds texts that look like orders, and [`privacy`] what may not be stored. [`kernels`]
//! has the hot loops. Everything is pure: values in, values out.
//!
//! Not here: SQLite, files, threads, the model; searching (`loci-search`).

pub mod duplicate;
pub mod flags;
pub mod kernels;
pub mod model;
pub mod privacy;
pub mod text;

/// A value, or the refusal of a request.
pub type Result<T, E = loci_proto::error::Failure> = std::result::Result<T, E>;
