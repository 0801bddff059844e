//! Reads files of a session's checkout, to record and compare the contents that memories speak of.
//!
//! Only regular files below the checkout, whatever links lead there, and only within limits of size and time. Nothing of a file is kept but
//! the id that git gives to its content. Not here: which files those are (the engine).

use loci_engine::model::files::{Content, ProjectFiles};
use loci_proto::hello::Checkout;
use sha1::{Digest, Sha1};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The limits of one call.
struct Limits;

impl Limits {
    /// Largest file that is read, in bytes.
    const FILE_BYTES: u64 = 1 << 20;
    /// Bytes that are read of all files.
    const TOTAL_BYTES: u64 = 8 << 20;
    /// Milliseconds after which no further file is read.
    const MILLISECONDS: u128 = 25;
}

/// The files of one checkout, for one call.
#[derive(Debug)]
pub struct CheckoutFiles {
    /// The canonical top folder.
    top: PathBuf,
    read_bytes: AtomicU64,
    since: Instant,
}

impl CheckoutFiles {
    /// Returns the files of a checkout; `None` outside a repository.
    #[must_use]
    pub fn of(checkout: Option<&Checkout>) -> Option<Self> {
        let top = PathBuf::from(checkout?.top.as_deref()?).canonicalize().ok()?;
        Some(Self { top, read_bytes: AtomicU64::new(0), since: Instant::now() })
    }

    fn may_read(&self, bytes: u64) -> bool {
        bytes <= Limits::FILE_BYTES
            && self.read_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes <= Limits::TOTAL_BYTES
            && self.since.elapsed().as_millis() <= Limits::MILLISECONDS
    }
}

impl ProjectFiles for CheckoutFiles {
    fn content(&self, path: &str) -> Content {
        let file = match self.top.join(path).canonicalize() {
            Ok(file) if file.starts_with(&self.top) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Content::Missing,
            _ => return Content::Unknown,
        };
        let Ok(metadata) = file.metadata() else { return Content::Unknown };
        if !metadata.is_file() || !self.may_read(metadata.len()) {
            return Content::Unknown;
        }
        let mut bytes = Vec::new();
        let read =
            File::open(file).and_then(|file| file.take(Limits::FILE_BYTES).read_to_end(&mut bytes));
        read.map_or(Content::Unknown, |_| Content::Blob(blob_id(&bytes)))
    }
}

/// Returns the id of a content in git.
fn blob_id(bytes: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", bytes.len()));
    hash.update(bytes);
    hash.finalize().iter().fold(String::new(), |mut id, byte| {
        let _ = write!(id, "{byte:02x}");
        id
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_id_is_that_of_git() {
        assert_eq!(blob_id(b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
    }

    #[test]
    fn only_small_files_below_the_checkout_are_read() {
        let folder = tempfile::tempdir().expect("the folder is created");
        let top = folder.path().join("shop");
        std::fs::create_dir(&top).expect("the folder is created");
        std::fs::write(folder.path().join("outside"), "x").expect("the file is written");
        std::fs::write(top.join("a.rs"), "hello\n").expect("the file is written");
        std::fs::write(top.join("large"), vec![0; 2 << 20]).expect("the file is written");
        symlink(folder.path().join("outside"), top.join("link")).expect("the link is created");
        let top = top.to_str().map(str::to_owned);
        let checkout = Checkout { top, ..Checkout::default() };
        let files = CheckoutFiles::of(Some(&checkout)).expect("there is a checkout");
        assert!(matches!(files.content("a.rs"), Content::Blob(_)));
        assert_eq!(files.content("b.rs"), Content::Missing);
        for path in ["link", "large", "", "../outside"] {
            assert_eq!(files.content(path), Content::Unknown, "{path}");
        }
        assert!(CheckoutFiles::of(Some(&Checkout::default())).is_none());
    }
}
