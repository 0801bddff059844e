//! The names of the files that loci writes, as `loci uninstall` recognises them: complete names, because people keep files of their own
//! beside them.
//!
//! Source of the names: `engine::backups`, `engine::database_files`, `daemon::embedding`.

use std::path::Path;

/// Endings of the files of a database: SQLite's, and those that the daemon keeps next to it.
const DATABASE_FILES: [&str; 13] = [
    "",
    "-wal",
    "-shm",
    "-journal",
    "-index",
    "-identity",
    "-sums",
    "-reserve",
    "-api-usage",
    "-api-usage-new",
    "-restoring",
    "-restoring-new",
    ".lock",
];
/// Endings of temporary files in the folder of backups.
const TEMPORARY_ENDINGS: [&str; 5] = ["", ".db", ".db-wal", ".db-shm", ".db-journal"];

/// Files of a model with a constant name.
const MODEL_FILES: [&str; 6] = [
    "model.safetensors",
    "tokenizer.json",
    "e5-small-q4.bin",
    "model.onnx",
    "model.onnx_data",
    "SHA256SUMS",
];

/// Whether a link with this name in the data folder stands for something of loci.
#[must_use]
pub fn is_in_data_folder(name: &str, database: &str) -> bool {
    ["config.toml", "backups", "quarantine", "models", "logs", "run"].contains(&name)
        || is_of_database(name, database)
}

/// Whether a file or folder belongs to the database of this name, and is next to it.
#[must_use]
pub fn is_of_database(name: &str, database: &str) -> bool {
    name.strip_prefix(database).is_some_and(|ending| DATABASE_FILES.contains(&ending))
        || name.strip_prefix(&format!(".restore-{database}-")).is_some_and(is_uuid)
}

/// Whether a file or folder is one of the folder of backups: a backup, its manifest, or what an interrupted one left.
#[must_use]
pub fn is_backup(name: &str) -> bool {
    let ending = |name: &str| {
        [".db", ".json"].iter().find_map(|end| name.strip_suffix(end).map(str::to_owned))
    };
    let is_copy = name.strip_prefix("memory-").and_then(ending).is_some_and(|time| is_time(&time));
    let is_temporary = name.strip_prefix(".tmp-").is_some_and(|rest| {
        let (id, end) = rest.split_at_checked(32).unwrap_or_default();
        is_uuid(id) && TEMPORARY_ENDINGS.contains(&end)
    });
    is_copy
        || is_temporary
        || ["forgotten-ids", "redactions", "policies"].contains(&name.trim_end_matches("-copy"))
}

/// Whether a folder of the folder of models is the one of a model that loci downloads.
#[must_use]
pub fn is_model(name: &str) -> bool {
    [
        "all-MiniLM-L6-v2",
        "multilingual-e5-small",
        "multilingual-e5-small-q4",
        "nomic-embed-text-v1.5",
    ]
    .contains(&name)
}

/// Whether a file of that folder is the model's: weights, tokenizer, graph, blocks or hashes, also a part of one.
#[must_use]
pub fn is_of_model(name: &str) -> bool {
    let name = name.strip_suffix(".part").unwrap_or(name);
    let is_numbered = |start: &str, end: &str| {
        let rest = name.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
        rest.is_some_and(is_number)
    };
    let is_temporary = |start: &str| name.strip_prefix(start).is_some_and(is_random);
    MODEL_FILES.contains(&name)
        || is_numbered("graph-", ".onnx")
        || is_numbered("graph-fast-", ".onnx")
        || is_numbered("blocks-", ".bin")
        || [".graph-", ".blocks-", ".sums-"].into_iter().any(is_temporary)
}

/// Whether a folder of the folder of models is the one of a pinned ONNX Runtime.
#[must_use]
pub fn is_runtime(name: &str) -> bool {
    let version = name.strip_prefix("onnxruntime-");
    version
        .is_some_and(|version| version.split('.').count() == 3 && version.split('.').all(is_number))
}

/// Whether a file of that folder is the library.
#[must_use]
pub fn is_of_runtime(name: &str) -> bool {
    let name = name.strip_suffix(".part").unwrap_or(name);
    name == "onnxruntime.dll"
        || name.starts_with("libonnxruntime.")
            && (name.contains(".so.")
                || Path::new(name).extension().is_some_and(|end| end == "dylib"))
}

/// Whether another entry of the folder of models is loci's: the lock, or the folder of an interrupted download.
#[must_use]
pub fn is_in_models(name: &str) -> bool {
    name == ".lock" || name.strip_prefix(".fetch-").is_some_and(is_random)
}

/// A time as in `20260210T083000Z`, with a number if there were several in that second.
fn is_time(text: &str) -> bool {
    let (time, number) = text.split_once('-').unwrap_or((text, "1"));
    let shape: String = time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "00000000T000000Z" && is_number(number)
}

/// The random end of a temporary name.
fn is_random(text: &str) -> bool {
    text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A UUID without hyphens.
fn is_uuid(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_complete_names_are_recognised() {
        let id = "0199c2d3e4f5061728394a5b6c7d8e9f";
        for name in ["memory-20260210T083000Z.db", "memory-20260210T083000Z-2.json", "redactions"] {
            assert!(is_backup(name), "{name}");
        }
        assert!(is_backup(&format!(".tmp-{id}")) && is_backup(&format!(".tmp-{id}.db-wal")));
        for name in ["memory-export.json", "memory-20260210T083000Z", "memory-1.db", ".tmp-work"] {
            assert!(!is_backup(name), "{name}");
        }
        assert!(is_of_database("a.db-sums", "a.db") && !is_of_database("a.db.old", "a.db"));
        assert!(is_of_database(&format!(".restore-a.db-{id}"), "a.db"));
        assert!(!is_of_database(".restore-a.db-mine", "a.db"));
        assert!(is_runtime("onnxruntime-1.27.0") && !is_runtime("onnxruntime-mybuild"));
        assert!(
            is_of_runtime("libonnxruntime.so.1.27.0")
                && is_of_runtime("libonnxruntime.1.27.0.dylib")
        );
        assert!(!is_of_runtime("src.c") && !is_of_runtime("libonnxruntime.txt"));
        assert!(is_of_model("graph-2.onnx") && is_of_model("model.safetensors.part"));
        assert!(is_of_model("graph-fast-1.onnx") && is_of_model("blocks-1.bin"));
        assert!(is_of_model("e5-small-q4.bin") && is_model("multilingual-e5-small-q4"));
        assert!(is_of_model("SHA256SUMS") && is_of_model(".sums-a1B2c3"));
        assert!(!is_of_model("blocks-mine.bin") && !is_of_model("model.bin"));
        assert!(!is_of_model("notes.txt") && !is_of_model("graph-mine.onnx"));
        assert!(is_in_models(".fetch-a1B2c3") && !is_in_models(".fetch-list"));
        assert!(
            is_in_data_folder("models", "memory.db") && !is_in_data_folder(".bashrc", "memory.db")
        );
    }
}
