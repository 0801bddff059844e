//! Migrations are frozen: a released migration never changes, because it has already run on users'
//! databases.

use crate::assert_rule;
use crate::repository::{File, files};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

const FOLDER: &str = "engine/src/db/migrations/";

/// Every migration with the SHA-256 of its text, in hexadecimal.
const FROZEN: [(&str, &str); 17] = [
    ("0001_initial.sql", "5fdfbd98bac6516181a6b24aeba944a6ad36598fc52857a052d967052eb781a7"),
    ("0002_lifecycle.sql", "19bb689d0b0aff6a2fff68d04990fdfafd99c12bc8e69ce72ea549e628a31587"),
    ("0003_word_codes.sql", "0f49f395e5604e477ab1ad4eb057a5ffb8d738fc498ac194b0b51b6ec1dfe548"),
    ("0004_known_answers.sql", "2a5a6b78e84c3d9ba27c252d26ce4dd63270cec72be3d33b61153cac40fbc2e9"),
    ("0005_small_chunks.sql", "bada50f00c70394518de3fc8816e72bccc7a9bf4cb27b526131ffea8f37e35af"),
    ("0006_provenance.sql", "ea476d0af7c61c1efa592102c9855404d3daaf41fa7ab9697f7901c712f1e425"),
    ("0007_vector_sets.sql", "0fbb0cc3bf173c54569ecc5a6ad084866875e0e4f99508a866b01d471c2d6674"),
    ("0008_title_codes.sql", "ca7c48b73ce7b111ba396b29a58c1b8b7eedeb650fae3d759c6c26bb2e66c405"),
    (
        "0009_isolated_groups.sql",
        "2a9ab7e434909d9589bb3c8276e1e27ae1e409e0d094aedd50ef7f60b107974a",
    ),
    ("0010_identity.sql", "a79835ae668489a03f2ee0cf345b8b9be3703b90557572b408a240c5b9782078"),
    (
        "0011_hook_deliveries.sql",
        "a9fab107a2d8b9be48df65d85aa211207b6a6b4592215f84b861329bc2469869",
    ),
    (
        "0012_folder_switches.sql",
        "033aa91ed31f07ffee75df2f56e6f3abd1dc8d169c4ae02f2383a29e6b0ad209",
    ),
    ("0013_candidates.sql", "f7c1c81d07cbe7d867dc40a9c1609083e596ef7f5ae08a52bc49c0afcf39e64e"),
    ("0014_bridge.sql", "d146f95c5bde112e1f406d38719935635c9ad4ae42095375b7417e8efe217efe"),
    ("0015_time_travel.sql", "14e22b79a3c9494d35d088ef422c1e34f1c9cfaf9ea5f27e168c225c5f7f4c56"),
    ("0016_importance.sql", "c38006478d928b549e5aade9be0db3d5057082b16edb0700f8fcf22c91ee9a40"),
    ("0017_wishes.sql", "8e7bbca4214a96c7867cb53b654ab751aa9e0a9f7f88c175d7cd59f19e44f163"),
];

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn changed(found: &[File], frozen: &[(&str, &str)]) -> Vec<String> {
    let name_of = |file: &File| file.path.strip_prefix(FOLDER).unwrap_or(&file.path).to_owned();
    let mut violations = Vec::new();
    for file in found {
        let (name, sha256) = (name_of(file), sha256(&file.bytes));
        match frozen.iter().find(|(known, _)| *known == name) {
            Some((_, known)) if *known == sha256 => {}
            Some(_) => violations.push(format!("{name} was changed; its SHA-256 is now {sha256}")),
            None => violations.push(format!("{name} is not in FROZEN; its SHA-256 is {sha256}")),
        }
    }
    let missing =
        frozen.iter().filter(|(name, _)| !found.iter().any(|file| name_of(file) == *name));
    violations.extend(missing.map(|(name, _)| format!("{name} is missing")));
    violations
}

#[test]
fn migrations_are_frozen() {
    let file = |name: &str, text: &str| File {
        path: format!("{FOLDER}{name}"),
        bytes: text.as_bytes().to_vec(),
    };
    let known = sha256(b"one");
    let frozen = [("1.sql", known.as_str())];
    assert!(changed(&[file("1.sql", "one")], &frozen).is_empty());
    assert!(changed(&[file("1.sql", "One")], &frozen)[0].contains("was changed"));
    assert!(
        changed(&[file("1.sql", "one"), file("2.sql", "two")], &frozen)[0]
            .contains("not in FROZEN")
    );
    assert!(changed(&[], &frozen)[0].contains("is missing"));
    let found: Vec<File> =
        files().into_iter().filter(|file| file.path.starts_with(FOLDER)).collect();
    let rule = "A released migration never changes: existing databases would differ from new ones. \
                Add a new migration, and add its SHA-256 to FROZEN of tests/tidy/migrations.rs.";
    assert_rule(rule, &changed(&found, &FROZEN));
}
