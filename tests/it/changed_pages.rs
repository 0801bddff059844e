//! Pages and single bytes of a stopped database are changed, as a failing disk might change them:
//! each change is refused or reported, and no changed text is given out.
//!
//! Not here: the same for vectors and indexes byte by byte (the engine's `flipped_bytes`), damage of
//! a known row (`damaged_database`).

use crate::home::TestHome;
use crate::proof::random::Random;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

const PAGE_BYTES: usize = 4096;
/// Bytes that are changed one at a time. As many again are changed whatever their value is.
const CHANGED_BYTES: usize = 20;

/// A stopped store of 60 notes, and its files as they were.
struct Stopped {
    home: TestHome,
    files: Vec<(PathBuf, Vec<u8>)>,
    texts: BTreeSet<String>,
}

/// What a start, an export and a doctor made of a change.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Refused,
    /// Doctor names it, and the status warns of it from then on.
    Reported,
    /// The start built the keyword index again, and doctor and status say so; nothing is damaged then.
    BuiltAgain,
    /// Doctor counts it among the free pages.
    InFreePage,
    Unseen,
}

impl Stopped {
    fn new() -> Self {
        let home = TestHome::without_model();
        let mut agent = home.session();
        let texts: BTreeSet<String> = (0..60)
            .map(|number| {
                format!("Note {number} names drawer {}. {}", number * 7, "Oak. ".repeat(40))
            })
            .map(|text| text.trim_end().to_owned())
            .collect();
        agent.store_all("semantic", texts.iter().map(String::as_str));
        drop(agent);
        assert!(home.loci(&["ctl", "stop"]).status.success());
        let entries = fs::read_dir(home.path(".loci")).expect("the folder is readable");
        let files = entries
            .map(|entry| entry.expect("the entry is readable").path())
            .filter(|path| {
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("memory.db"))
            })
            .map(|path| (path.clone(), fs::read(&path).expect("the file is readable")))
            .collect();
        Self { home, files, texts }
    }

    fn database(&self) -> &[u8] {
        let path = self.home.path(".loci/memory.db");
        let found = self.files.iter().find(|(file, _)| *file == path);
        &found.expect("the database exists").1
    }

    /// Puts all files back except for a change of the database, whose time stays as it was.
    fn outcome_of(&self, change: impl Fn(&mut [u8])) -> Outcome {
        let path = self.home.path(".loci/memory.db");
        for (file, bytes) in &self.files {
            fs::write(file, bytes).expect("the file is written");
        }
        assert!(self.home.loci(&["ctl", "start"]).status.success(), "the store is whole");
        assert!(self.home.loci(&["ctl", "stop"]).status.success());
        let mut bytes = fs::read(&path).expect("the database is readable");
        let time = fs::metadata(&path).and_then(|file| file.modified()).expect("it has a time");
        change(&mut bytes);
        fs::write(&path, &bytes).expect("the database is written");
        let file = fs::File::options().write(true).open(&path).expect("the file opens");
        file.set_modified(time).expect("the time is set");
        self.start()
    }

    fn start(&self) -> Outcome {
        if !self.home.loci(&["ctl", "start"]).status.success() {
            return Outcome::Refused;
        }
        let export = self.home.loci(&["export"]);
        let why = String::from_utf8_lossy(&export.stderr).into_owned();
        assert!(export.status.success() || why.contains("loci doctor"), "{why}");
        for line in String::from_utf8(export.stdout).expect("it is UTF-8").lines() {
            let line: Value = serde_json::from_str(line).unwrap_or_default();
            if let Some(text) = line["content"].as_str() {
                assert!(self.texts.contains(text), "a changed text is given out: {text}");
            }
        }
        let doctor = self.home.loci(&["doctor", "--json"]);
        let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
        let warnings = self.home.status()["warnings"].to_string();
        let is_warned_of = warnings.contains("damaged") || warnings.contains("changed on the disk");
        self.home.loci(&["ctl", "stop"]);
        match doctor.status.code() {
            Some(0) if said.contains("free page differs") => Outcome::InFreePage,
            Some(code) if code != 0 && is_warned_of => Outcome::Reported,
            Some(0) if warnings.contains("built again from the memories") => Outcome::BuiltAgain,
            _ => {
                println!("{said}\n{warnings}");
                Outcome::Unseen
            }
        }
    }
}

#[test]
fn a_zeroed_or_changed_page_of_a_stopped_database_is_reported() {
    let stopped = Stopped::new();
    let pages = stopped.database().len() / PAGE_BYTES;
    assert!(pages > 20, "{pages} pages");
    for (page, is_zeroed) in [(10, true), (20, false)] {
        let outcome = stopped.outcome_of(|bytes| {
            for byte in &mut bytes[(page - 1) * PAGE_BYTES..page * PAGE_BYTES] {
                *byte = if is_zeroed { 0 } else { *byte ^ 0x55 };
            }
        });
        assert!(matches!(outcome, Outcome::Refused | Outcome::Reported), "{page}: {outcome:?}");
    }
}

#[test]
fn a_changed_byte_of_a_stopped_database_is_refused_or_reported() {
    let stopped = Stopped::new();
    let mut random = Random::new(0x10C1);
    let not_zero: Vec<usize> =
        (0..stopped.database().len()).filter(|at| stopped.database()[*at] != 0).collect();
    let mut seen = 0;
    for number in 0..2 * CHANGED_BYTES {
        let at = match number % 2 {
            0 => not_zero[random.below(not_zero.len())],
            _ => random.below(stopped.database().len()),
        };
        let outcome = stopped.outcome_of(|bytes| bytes[at] ^= 1 << (number % 8));
        assert_ne!(outcome, Outcome::Unseen, "byte {at}");
        seen += usize::from(outcome != Outcome::InFreePage);
    }
    assert!(seen >= CHANGED_BYTES / 2, "only {seen} changes were in pages in use");
}
