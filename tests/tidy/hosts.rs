//! No file names the host of a package registry.

use crate::assert_rule;
use crate::repository::{File, files};

/// The hosts, split in two so that this file does not contain them either.
const HOSTS: [(&str, &str); 9] = [
    ("crates", "io"),
    ("pypi", "org"),
    ("pythonhosted", "org"),
    ("npmjs", "org"),
    ("npmjs", "com"),
    ("yarnpkg", "com"),
    ("golang", "org"),
    ("rubygems", "org"),
    ("anaconda", "org"),
];

fn names_a_registry(file: &File) -> Vec<String> {
    let text = file.text().to_ascii_lowercase();
    let found =
        HOSTS.iter().map(|(name, end)| format!("{name}.{end}")).filter(|host| text.contains(host));
    found.map(|host| format!("{}: {host}", file.path)).collect()
}

#[test]
fn no_file_names_the_host_of_a_registry() {
    let file = |text: String| File { path: "a.sh".to_owned(), bytes: text.into_bytes() };
    for (name, end) in HOSTS {
        assert_eq!(
            names_a_registry(&file(format!(
                "pip --index HTTPS://files.{}.{end}/x",
                name.to_uppercase()
            )))
            .len(),
            1
        );
    }
    assert!(names_a_registry(&file("cargo and pip know their registry".to_owned())).is_empty());
    let rule = "No file names the host of a package registry: cargo, pip and npm know their registry, and a user may have configured \
                a mirror. Write `the Rust registry`, pip or npm. Only Cargo.lock, which cargo writes, names one.";
    let files = files();
    let checked = files.iter().filter(|file| file.path != "Cargo.lock");
    assert_rule(rule, &checked.flat_map(names_a_registry).collect::<Vec<_>>());
}
