//! Invariants of a damaged database: the start is refused with a reason, or what is served can be
//! read; never a panic.

use super::store::{NOW, SmallStore};
use loci_engine::Settings;
use loci_proto::requests::export::ExportRequest;
use std::sync::LazyLock;

/// Bytes of one change: file, operation, place, value.
const CHANGE: usize = 6;
const FILES: [&str; 3] = ["memory.db", "memory.db-identity", "memory.db-sums"];

/// The files of a store that was closed.
static WHOLE: LazyLock<[Vec<u8>; FILES.len()]> = LazyLock::new(|| {
    let folder = SmallStore::with(20).close();
    FILES.map(|name| std::fs::read(folder.path().join(name)).expect("the file is readable"))
});

/// Changes the files as the bytes say, and opens them.
///
/// # Panics
/// When an invariant is violated.
pub fn check(bytes: &[u8]) {
    let mut files = WHOLE.clone();
    for change in bytes.chunks_exact(CHANGE) {
        let file = &mut files[usize::from(change[0]) % FILES.len()];
        let place = usize::from(change[2]) << 16 | usize::from(change[3]) << 8;
        let at = (place | usize::from(change[4])) % (file.len() + 1);
        match change[1] % 4 {
            0 => file.truncate(at),
            1 => file.splice(at.., vec![change[5]; 512]).for_each(drop),
            2 => file[at..].iter_mut().take(4096).for_each(|byte| *byte = change[5]),
            _ => file[at..].iter_mut().take(1).for_each(|byte| *byte ^= change[5]),
        }
    }
    let folder = tempfile::tempdir().expect("the folder is created");
    for (name, content) in FILES.iter().zip(&files) {
        std::fs::write(folder.path().join(name), content).expect("the file is written");
    }
    let path = folder.path().join(FILES[0]);
    match loci_engine::open(&path, Settings::for_model("test"), NOW) {
        Ok(writer) => {
            let reader = writer.reader().expect("the reader opens");
            let exported = reader.export(&ExportRequest::default(), &mut Vec::new());
            assert!(exported.is_ok() || files != *WHOLE, "a whole store is exported");
            // What was damaged may also fail here.
            let _ = writer.close();
        }
        Err(error) => {
            assert!(!error.to_string().is_empty(), "a refusal has a reason");
            assert!(files != *WHOLE, "a whole store is opened: {error}");
            let left = std::fs::read(&path).expect("the file is readable");
            assert!(left == files[0], "a refused file is unchanged: {error}");
        }
    }
}
