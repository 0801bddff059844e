//! Measures ours beside figures that another program publishes: searches of 1,000 and 10,000 notes, and the bytes that a note takes on the
//! disk.
//!
//! Not here: their figures (`bench/published.py`), the distance of two codes (the engine's kernels).

use crate::made_up::{MODEL, Notes};
use crate::{Anything, Asking, NOW, QUESTIONS, ROUNDS, cpu_ms, filled, group, median_percentile};
use crate::{recalled_of, settings, tables};
use loci_engine::model::encoding::{DocumentEncoding, ModelEncoding};
use loci_engine::operations::store::Draft;
use loci_engine::transaction::change::CallContext;
use loci_engine::{Actor, Effort, Settings, open};
use loci_proto::memory::Origin;
use loci_proto::requests::store::StoreRequest;
use std::path::Path;

/// Results of a search.
const RESULTS: usize = 5;
/// Stores of one commit.
const PER_COMMIT: usize = 64;

/// Prints one line for each figure: its name, a tab, its value.
pub fn run(sizes: &[usize]) -> Result<(), Anything> {
    sizes.iter().try_for_each(|size| search(*size))?;
    size_on_disk(sizes.iter().copied().max().unwrap_or(0))
}

fn search(size: usize) -> Result<(), Anything> {
    let folder = tempfile::tempdir()?;
    let (path, notes) = filled(folder.path(), size)?;
    tables::assign_notes(&path, &group("all"), 100)?;
    let writer = open(&path, settings(Effort::Approximate), NOW)?;
    let reader = writer.reader()?;
    let questions = notes.questions(QUESTIONS, 100);
    let ask =
        |asking: &Asking| cpu_ms(|| recalled_of(&reader, "all", asking, RESULTS, false).map(drop));
    let mut rounds = Vec::new();
    for round in 0..=ROUNDS {
        let times = questions.iter().map(ask).collect::<Result<Vec<_>, _>>()?;
        // The first round only warms the caches.
        if round > 0 {
            rounds.push(times);
        }
    }
    println!("p50 us {size}\t{:.0}", median_percentile(&mut rounds, 50) * 1000.0);
    println!("p99 us {size}\t{:.0}", median_percentile(&mut rounds, 99) * 1000.0);
    Ok(())
}

/// Stores notes as an agent does, closes the store, and prints what a note takes.
fn size_on_disk(size: usize) -> Result<(), Anything> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("memory.db");
    let notes = Notes::new(size);
    let settings = || Settings { snapshot_from: 1, ..Settings::for_model(MODEL) };
    let mut writer = open(&path, settings(), NOW)?;
    let (mut characters, mut codes) = (0, 0);
    for first in (0..size).step_by(PER_COMMIT) {
        writer.begin_group()?;
        for number in first..size.min(first + PER_COMMIT) {
            let note = notes.note(number);
            characters += note.text.len();
            codes += note.codes.len();
            let request: StoreRequest = serde_json::from_value(
                serde_json::json!({"content": note.text, "type": "episodic"}),
            )?;
            let encoding = DocumentEncoding {
                words: Some(note.codes),
                ..DocumentEncoding::from(vec![note.vector])
            };
            let encoded = ModelEncoding { model: MODEL.into(), encoding };
            let encoded = std::iter::once(encoded).collect();
            let call = call(number);
            writer.store(&call, &Draft::new(request, call.now)?, &encoded)?;
        }
        writer.commit_group()?;
    }
    let stored = usize::try_from(writer.reader()?.active()?)?;
    writer.close()?;
    let each = |bytes: u64| bytes as f64 / stored.max(1) as f64;
    let bytes = |path: &Path| -> Result<u64, Anything> { Ok(path.metadata()?.len()) };
    println!("notes\t{stored}");
    println!("characters\t{:.0}", characters as f64 / size.max(1) as f64);
    println!("codes\t{:.0}", codes as f64 / size.max(1) as f64);
    println!("database bytes\t{:.0}", each(bytes(&path)?));
    println!("snapshot bytes\t{:.0}", each(bytes(&path.with_file_name("memory.db-index"))?));
    Ok(())
}

fn call(number: usize) -> CallContext {
    let actor = Actor {
        client: Some("bench".to_owned()),
        session: Some("s1".to_owned()),
        origin: Origin::Agent,
        group: group("all"),
        checkout: None,
        is_bound: false,
    };
    // The shim adds a new key to every call.
    CallContext { now: NOW, actor, key: Some(format!("published-{number}")), shown: None }
}
