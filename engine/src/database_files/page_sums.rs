//! `memory.db-sums`: a checksum of every page of the database file.
//!
//! SQLite has none, so a changed byte of a text passes all its checks. Every checkpoint is the
//! daemon's own, so the pages that change are known: they are hashed again after it. A page that is
//! in the write-ahead log is not compared: after a crash, a checkpoint may have been interrupted
//! there, and the log has the page whole. Not here: what a difference means (`recognition`,
//! `operations::doctor`).
//!
//! Format: [`MAGIC`] with the version, then 8 bytes a page, the first bytes of a BLAKE3 hash of its
//! number and its content.

use crate::database_files::database_file::DatabaseFile;
use crate::database_files::with_suffix;
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// The first bytes of the file; the number is the version of the format.
const MAGIC: &[u8; 16] = b"loci page sums 1";
/// Bytes of one checksum.
const SUM_BYTES: usize = 8;
/// Pages read at once.
const PAGES_PER_READ: u32 = 256;

type Sum = [u8; SUM_BYTES];

/// The checksums of the pages of one database file.
#[derive(Debug)]
pub(crate) struct PageSums {
    file: File,
    page_size: u32,
}

/// The pages of a file whose content is not that of the checksums. Numbers start at 1.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// Pages that were compared.
    pub compared: u32,
    /// Pages that differ.
    pub differing: Vec<u32>,
}

impl PageSums {
    /// Opens the checksums of a database; `None` if there are none that can be used.
    ///
    /// # Errors
    /// When the file system fails.
    pub fn open(database: &Path, page_size: u32) -> io::Result<Option<Self>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let path = with_suffix(database, "-sums");
        let file = match options.open(&path) {
            Ok(file) => file,
            // They can still be compared.
            Err(fault) if fault.kind() == io::ErrorKind::ReadOnlyFilesystem => {
                options.write(false).open(&path)?
            }
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(fault) => return Err(fault),
        };
        let mut magic = [0; MAGIC.len()];
        let is_known = file.metadata()?.is_file()
            && file.read_exact_at(&mut magic, 0).is_ok()
            && &magic == MAGIC;
        Ok(is_known.then_some(Self { file, page_size }))
    }

    /// Computes the checksum of every page of the database file.
    ///
    /// # Errors
    /// When the file system fails.
    pub fn create(database: &Path, pages: &DatabaseFile, page_size: u32) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true).mode(0o600);
        let path = with_suffix(database, "-sums");
        let file = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
        let this = Self { file, page_size };
        let mut sums = Vec::new();
        this.hash_range(pages, 1..=this.page_count(pages)?, |_, sum| sums.extend(sum))?;
        this.file.write_all_at(&sums, MAGIC.len() as u64)?;
        // Written last: a file that was cut short by a crash is not used.
        this.file.write_all_at(MAGIC, 0)?;
        Ok(this)
    }

    /// Hashes some pages again, after they were written.
    ///
    /// # Errors
    /// When the file system fails.
    pub fn update(&self, pages: &DatabaseFile, changed: &HashSet<u32>) -> io::Result<()> {
        let count = self.page_count(pages)?;
        for page in changed.iter().copied().filter(|page| (1..=count).contains(page)) {
            let mut sum = Sum::default();
            self.hash_range(pages, page..=page, |_, hashed| sum = hashed)?;
            self.file.write_all_at(&sum, position(page))?;
        }
        Ok(())
    }

    /// Compares a range of pages with their checksums, except those in `skipped`.
    ///
    /// # Errors
    /// When the file system fails.
    pub fn compare(
        &self,
        pages: &DatabaseFile,
        range: std::ops::RangeInclusive<u32>,
        skipped: &HashSet<u32>,
    ) -> io::Result<Comparison> {
        let range = *range.start()..=(*range.end()).min(self.page_count(pages)?);
        let mut known = vec![0; range.clone().count() * Sum::default().len()];
        let read = self.file.read_at(&mut known, position(*range.start()))?;
        let (first, mut found) = (*range.start(), Comparison::default());
        self.hash_range(pages, range, |page, sum| {
            if skipped.contains(&page) {
                return;
            }
            let at = (page - first) as usize * sum.len();
            found.compared += 1;
            if at + sum.len() > read || known[at..at + sum.len()] != sum {
                found.differing.push(page);
            }
        })?;
        Ok(found)
    }

    /// Writes the checksums to the disk.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Returns the number of pages of the database file.
    ///
    /// # Errors
    /// When the file system fails.
    pub fn page_count(&self, pages: &DatabaseFile) -> io::Result<u32> {
        let count = pages.length()? / u64::from(self.page_size);
        u32::try_from(count).map_err(io::Error::other)
    }

    /// Hashes a range of pages in order.
    fn hash_range(
        &self,
        pages: &DatabaseFile,
        range: std::ops::RangeInclusive<u32>,
        mut each: impl FnMut(u32, Sum),
    ) -> io::Result<()> {
        let (mut next, last) = (*range.start(), *range.end());
        let page_bytes = self.page_size as usize;
        let mut buffer = Vec::new();
        while next <= last {
            let count = (last - next + 1).min(PAGES_PER_READ);
            buffer.resize(count as usize * page_bytes, 0);
            let offset = u64::from(next - 1) * u64::from(self.page_size);
            pages.read_exact_at(&mut buffer, offset)?;
            for (page, content) in (next..).zip(buffer.chunks_exact(page_bytes)) {
                each(page, sum_of(page, content));
            }
            next += count;
        }
        Ok(())
    }
}

/// The number makes a page that was written to the wrong place differ.
fn sum_of(page: u32, content: &[u8]) -> Sum {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&page.to_le_bytes()).update(content);
    let mut sum = Sum::default();
    hasher.finalize_xof().fill(&mut sum);
    sum
}

fn position(page: u32) -> u64 {
    MAGIC.len() as u64 + u64::from(page - 1) * SUM_BYTES as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u32 = 512;

    /// A database file of this many pages.
    fn file(folder: &Path, pages: u8) -> DatabaseFile {
        let path = folder.join("memory.db");
        let file = DatabaseFile::create(&path).expect("is created");
        let content: Vec<u8> = (1..=pages).flat_map(|page| vec![page; PAGE as usize]).collect();
        std::fs::write(&path, content).expect("is written");
        file
    }

    fn compare(sums: &PageSums, pages: &DatabaseFile) -> Vec<u32> {
        sums.compare(pages, 1..=u32::MAX, &HashSet::new()).expect("is compared").differing
    }

    #[test]
    fn every_changed_byte_is_found_in_its_page() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, pages) = (folder.path().join("memory.db"), file(folder.path(), 5));
        let sums = PageSums::create(&path, &pages, PAGE).expect("is created");
        assert_eq!(compare(&sums, &pages), Vec::<u32>::new());
        for at in [0, 511, 512, 2_000, 2_559] {
            let mut content = std::fs::read(&path).expect("is readable");
            content[at] ^= 0x20;
            std::fs::write(&path, &content).expect("is written");
            let page = u32::try_from(at).expect("is small") / PAGE + 1;
            assert_eq!(compare(&sums, &pages), [page]);
            let skipped = HashSet::from([page]);
            let rest = sums.compare(&pages, 1..=5, &skipped).expect("is compared");
            assert_eq!(rest, Comparison { compared: 4, differing: Vec::new() });
            sums.update(&pages, &skipped).expect("is updated");
            assert_eq!(compare(&sums, &pages), Vec::<u32>::new());
        }
    }

    #[test]
    fn checksums_survive_and_a_page_that_they_do_not_know_differs() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, pages) = (folder.path().join("memory.db"), file(folder.path(), 3));
        drop(PageSums::create(&path, &pages, PAGE).expect("is created"));
        let sums = PageSums::open(&path, PAGE).expect("is readable").expect("is known");
        let mut content = std::fs::read(&path).expect("is readable");
        content.extend([9; PAGE as usize]);
        std::fs::write(&path, content).expect("is written");
        assert_eq!(compare(&sums, &pages), [4]);
        std::fs::write(with_suffix(&path, "-sums"), "something else").expect("is written");
        assert!(PageSums::open(&path, PAGE).expect("is readable").is_none());
    }
}
