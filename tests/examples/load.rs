//! How long the index of a store takes to load, by its size: from SQLite, and from the file that a clean stop leaves beside a large one.
//!
//!     cargo run --release -p loci-tests --example load -- 1000 10000 100000
//!
//! Notes are made up, those of `scale`. Both ways take turns, and what counts is the median. Not here: the daemon around it.

#[path = "scale/made_up.rs"]
mod made_up;
#[path = "scale/tables.rs"]
mod tables;

use loci_engine::time::Timestamp;
use loci_engine::{Settings, Writer, open};
use loci_proto::group::{Group, GroupName};
use made_up::Notes;
use std::path::Path;
use std::time::{Duration, Instant};

type Anything = Box<dyn std::error::Error>;

/// 2026-02-01T00:00:00Z.
const NOW: Timestamp = Timestamp(1_769_904_000_000);
const ROUNDS: usize = 7;
const RESULTS: usize = 20;

fn main() -> Result<(), Anything> {
    let sizes: Vec<usize> = std::env::args().skip(1).map(|size| size.parse()).collect::<Result<_, _>>()?;
    println!(
        "| memories | from SQLite ms | from the file ms | times faster | a stop that writes it ms | file MiB |\n|--:|--:|--:|--:|--:|--:|"
    );
    for size in sizes {
        measure(size)?;
    }
    Ok(())
}

fn measure(size: usize) -> Result<(), Anything> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("memory.db");
    let notes = Notes::new(size);
    opened(&path)?.close()?;
    tables::fill(&path, &notes)?;
    tables::divide(&path, &Group::named(&"all".parse::<GroupName>()?), 100)?;
    let (mut database, mut file, mut stop, mut bytes) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let kept = path.with_file_name("memory.db-index");
    for _ in 0..ROUNDS {
        let (writer, took) = timed(|| opened(&path))?;
        if writer.loading().origin() == Some("read from the file beside the database") {
            file.push(took);
        }
        writer.close()?;
        std::fs::remove_file(&kept)?;
        let (writer, took) = timed(|| opened(&path))?;
        database.push(took);
        stop.push(timed(|| Ok(writer.close()?))?.1);
        bytes = kept.metadata()?.len();
    }
    // How an example asks the tables is the other example's business.
    let _ = (tables::ask, Notes::questions);
    let [database, file, stop] = [database, file, stop].map(median);
    println!("| {size} | {database:.0} | {file:.0} | {:.1} | {stop:.0} | {} |", database / file, bytes >> 20);
    Ok(())
}

fn opened(path: &Path) -> Result<Writer, Anything> {
    Ok(open(path, Settings { kept_from: 1, ..Settings::for_model(made_up::MODEL) }, NOW)?)
}

fn timed<T>(work: impl FnOnce() -> Result<T, Anything>) -> Result<(T, Duration), Anything> {
    let begun = Instant::now();
    Ok((work()?, begun.elapsed()))
}

/// In milliseconds.
fn median(mut took: Vec<Duration>) -> f64 {
    took.sort();
    took.get(took.len() / 2).map_or(0.0, |took| took.as_secs_f64() * 1000.0)
}
