//! Measures the index warm-up: from SQLite, and from the snapshot of a clean stop.
//!
//! Both alternate; medians are printed. Not here: the daemon.

use crate::made_up::{MODEL, Notes};
use crate::{Anything, NOW, group, tables};
use loci_engine::{Settings, Writer, open};
use std::path::Path;
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;

/// Prints one row per size.
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
    opened(&path)?.close()?;
    tables::fill(&path, &notes)?;
    tables::divide(&path, &group("all"), 100)?;
    let (mut database, mut file, mut stop, mut bytes) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let kept = path.with_file_name("memory.db-index");
    for _ in 0..ROUNDS {
        let (writer, took) = timed(|| opened(&path))?;
        if writer.warmup().origin() == Some("loaded from the snapshot") {
            file.push(took);
        }
        writer.close()?;
        std::fs::remove_file(&kept)?;
        let (writer, took) = timed(|| opened(&path))?;
        database.push(took);
        stop.push(timed(|| Ok(writer.close()?))?.1);
        bytes = kept.metadata()?.len();
    }
    let [database, file, stop] = [database, file, stop].map(median);
    println!(
        "| {size} | {database:.0} | {file:.0} | {:.1} | {stop:.0} | {} |",
        database / file,
        bytes >> 20
    );
    Ok(())
}

fn opened(path: &Path) -> Result<Writer, Anything> {
    Ok(open(path, Settings { snapshot_from: 1, ..Settings::for_model(MODEL) }, NOW)?)
}

fn timed<T>(work: impl FnOnce() -> Result<T, Anything>) -> Result<(T, Duration), Anything> {
    let begun = Instant::now();
    Ok((work()?, begun.elapsed()))
}

/// Converts a duration to milliseconds.
fn median(mut took: Vec<Duration>) -> f64 {
    took.sort();
    took.get(took.len() / 2).map_or(0.0, |took| took.as_secs_f64() * 1000.0)
}
