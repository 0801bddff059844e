//! Opens a copy of a damaged database, also one that was cut or whose first page is damaged.
//!
//! Not here: reading its rows (`salvage`).

use crate::database_files::wal_path;
use crate::db::{cipher, connection};
use crate::encryption::header;
use rusqlite::{Connection, OpenFlags};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes of a page of every database of loci.
const PAGE_BYTES: usize = 4096;
/// Where a header has the number of pages.
const PAGES_AT: std::ops::Range<usize> = 28..32;
/// Where a header says whether there is a write-ahead log, for writing and for reading.
const MODES_AT: std::ops::Range<usize> = 18..20;
/// There is one.
const WRITE_AHEAD_LOG: u8 = 2;

/// Opens a copy with its write-ahead log, as it is or with the first page of a backup, then both
/// without the log; `None` if nothing can be read. The copy may be changed.
pub(crate) fn open(copy: &Path, backup: Option<&Path>) -> Option<Connection> {
    let own_page = first_page(copy).ok();
    let with_page_of_backup = || {
        replace_first_page(copy, backup?).ok()?;
        open_readable(copy)
    };
    open_readable(copy).or_else(with_page_of_backup).or_else(|| {
        // The log belongs to the copy; the original is kept.
        let _ = std::fs::remove_file(wal_path(copy));
        write_first_page(copy, &own_page?).ok()?;
        open_readable(copy).or_else(with_page_of_backup)
    })
}

/// Opens a copy as it is; `None` if its tables cannot be read.
pub(crate) fn open_readable(path: &Path) -> Option<Connection> {
    connection::configure_sqlite();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).ok()?;
    cipher::unlock(&conn, path, None).ok()?;
    // A database that was cut is opened only with a writable schema.
    conn.execute_batch("PRAGMA writable_schema = ON; PRAGMA trusted_schema = OFF;").ok()?;
    let tables = conn.query_row(
        "SELECT count(*) FROM sqlite_schema WHERE name IN ('memories', 'groups')",
        [],
        |row| row.get::<_, i64>(0),
    );
    (tables.ok()? == 2).then_some(conn)
}

/// Writes the first page of a backup, which has the same tables at the same places, over the damaged
/// one.
fn replace_first_page(copy: &Path, backup: &Path) -> io::Result<()> {
    let mut page = first_page(backup)?;
    let pages = copy.metadata()?.len() / PAGE_BYTES as u64;
    let pages = u32::try_from(pages).map_err(|_| ErrorKind::FileTooLarge)?;
    // The header of an encrypted page cannot be changed.
    if header::key_id_in(&page).is_none() {
        page[PAGES_AT].copy_from_slice(&pages.to_be_bytes());
        // A backup has no log; the copy may have one.
        page[MODES_AT].fill(WRITE_AHEAD_LOG);
    }
    write_first_page(copy, &page)
}

fn first_page(path: &Path) -> io::Result<Vec<u8>> {
    let mut page = vec![0; PAGE_BYTES];
    File::open(path)?.read_exact_at(&mut page, 0)?;
    Ok(page)
}

fn write_first_page(copy: &Path, page: &[u8]) -> io::Result<()> {
    OpenOptions::new().write(true).open(copy)?.write_all_at(page, 0)
}
