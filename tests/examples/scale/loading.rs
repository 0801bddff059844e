//! Measures the index warm-up: from the database, and from the snapshot that a clean stop writes.
//!
//! Both alternate; prints medians. Not here: the daemon.

use crate::made_up::{MODEL, Notes};
use crate::{Anything, NOW, group, tables};
use loci_engine::{Settings, Writer, open};
use std::path::Path;
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;

/// Prints one row for each size.
pub fn run(sizes: &[usize]) -> Result<(), Anything> {
    println!(
        "| memories | from SQLite ms | from the file ms | times faster | a stop that writes it ms | file MiB |"
    );
    println!("|--:|--:|--:|--:|--:|--:|");
    sizes.iter().try_for_each(|size| measure(*size))
}

fn measure(size: usize) -> Result<(), Anything> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("memory.db");
    let notes = Notes::new(size);
    open_store(&path)?.close()?;
    tables::fill(&path, &notes)?;
    tables::assign_notes(&path, &group("all"), 100)?;
    let (mut from_database, mut from_snapshot) = (Vec::new(), Vec::new());
    let (mut stop, mut snapshot_bytes) = (Vec::new(), 0);
    let snapshot = path.with_file_name("memory.db-index");
    for _ in 0..ROUNDS {
        let (writer, duration) = timed(|| open_store(&path))?;
        if writer.warmup().origin() == Some("loaded from the snapshot") {
            from_snapshot.push(duration);
        }
        writer.close()?;
        std::fs::remove_file(&snapshot)?;
        let (writer, duration) = timed(|| open_store(&path))?;
        from_database.push(duration);
        stop.push(timed(|| Ok(writer.close()?))?.1);
        snapshot_bytes = snapshot.metadata()?.len();
    }
    let [database, snapshot, stop] = [from_database, from_snapshot, stop].map(median_ms);
    println!(
        "| {size} | {database:.0} | {snapshot:.0} | {:.1} | {stop:.0} | {} |",
        database / snapshot,
        snapshot_bytes >> 20
    );
    Ok(())
}

fn open_store(path: &Path) -> Result<Writer, Anything> {
    Ok(open(path, Settings { snapshot_from: 1, ..Settings::for_model(MODEL) }, NOW)?)
}

/// Runs some work; returns its result and its wall time.
fn timed<T>(work: impl FnOnce() -> Result<T, Anything>) -> Result<(T, Duration), Anything> {
    let start = Instant::now();
    Ok((work()?, start.elapsed()))
}

/// Returns the median in milliseconds; 0 if there are no durations.
fn median_ms(mut durations: Vec<Duration>) -> f64 {
    durations.sort();
    durations.get(durations.len() / 2).map_or(0.0, |median| median.as_secs_f64() * 1000.0)
}
