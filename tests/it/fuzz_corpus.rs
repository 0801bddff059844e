//! Replays the corpus of the fuzz target: every line in it is handled correctly. Not here: the
//! search for new inputs (`tests/fuzz`).

#[path = "../fuzz/invariants.rs"]
mod invariants;

use std::path::Path;

#[test]
fn every_line_of_the_fuzz_corpus_keeps_the_invariants() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/lines");
    let mut replayed = 0;
    for entry in std::fs::read_dir(&corpus).expect("the folder can be listed") {
        let path = entry.expect("the entry can be read").path();
        let line = std::fs::read(&path).expect("the file can be read");
        if let Err(panic) = std::panic::catch_unwind(|| invariants::check(&line)) {
            eprintln!("failed on {}", path.display());
            std::panic::resume_unwind(panic);
        }
        replayed += 1;
    }
    assert!(replayed >= 30, "only {replayed} lines in {}", corpus.display());
}
