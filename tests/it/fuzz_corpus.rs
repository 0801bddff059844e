//! Replays the fuzz target's corpus: every line in it is still handled correctly. Not here: the
//! search for new lines.

#[path = "../fuzz/invariants.rs"]
mod invariants;

use std::path::Path;

#[test]
fn every_line_of_the_corpus_is_treated_rightly() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/lines");
    let mut replayed = 0;
    for entry in std::fs::read_dir(&corpus).expect("the corpus is there") {
        let path = entry.expect("can be listed").path();
        let line = std::fs::read(&path).expect("can be read");
        if let Err(panic) = std::panic::catch_unwind(|| invariants::hold(&line)) {
            eprintln!("It was {}", path.display());
            std::panic::resume_unwind(panic);
        }
        replayed += 1;
    }
    assert!(replayed >= 30, "only {replayed} lines in {}", corpus.display());
}
