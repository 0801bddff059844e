//! The tables of powers in the documents are those of the table of verbs (`loci_proto::requests::verbs`).
//!
//! `LOCI_BLESS=1 cargo test --release -p loci-tests --test tidy powers` writes them.

use crate::assert_rule;
use loci_proto::requests::Request;
use loci_proto::requests::verbs::{Access, Callers, Concerns, InViewer, Powers, WhereOff};
use std::fs;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- the table of verbs: written by tests/tidy/powers.rs -->\n";
const END: &str = "<!-- end of the table of verbs -->\n";

fn who(callers: Callers) -> &'static str {
    match callers {
        Callers::Tool => "everybody",
        Callers::ToolOfOwn => "everybody\\*",
        Callers::Command => "commands",
        Callers::CommandOfOwn => "commands\\*",
        Callers::Person => "a person",
    }
}

fn where_off(served: WhereOff) -> &'static str {
    match served {
        WhereOff::Nobody => "nobody",
        WhereOff::Person => "a person",
        WhereOff::Command => "commands",
        WhereOff::Everybody => "everybody",
    }
}

fn row(name: &str, powers: &Powers) -> String {
    let tool = if powers.callers.has_tool() { format!(", `{name}`") } else { String::new() };
    let also = match (powers.access, powers.concerns, powers.in_viewer) {
        (Access::Read, Concerns::Visible, _) => "",
        (Access::Read, Concerns::Store, _) => ", in every project",
        (Access::Write, Concerns::Visible, InViewer::Offered) => ", changes",
        (Access::Write, Concerns::Visible, InViewer::Hidden) => ", changes, not in the viewer",
        (Access::Write, Concerns::Store, InViewer::Offered) => ", changes, in every project",
        (Access::Write, Concerns::Store, InViewer::Hidden) => {
            ", changes, in every project, not in the viewer"
        }
    };
    let (command, purpose) = (powers.command, powers.purpose.trim_end_matches('.'));
    let (who, off) = (who(powers.callers), where_off(powers.where_off));
    format!("|`{command}`{tool}|{purpose}{also}|{who}|{off}|\n")
}

fn table(is_shown: impl Fn(&Powers) -> bool) -> String {
    let shown = Request::VERBS.iter().filter(|(_, powers)| is_shown(powers));
    let rows: String = shown.map(|(name, powers)| row(name, powers)).collect();
    format!("\n|command, tool|what it does|who may|where loci is off|\n|---|---|---|---|\n{rows}\n")
}

/// Returns the text with the table between the marks; `None` without marks.
fn with_table(text: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{table}{END}{after}"))
}

#[test]
fn the_documents_have_the_table_of_verbs() {
    assert_eq!(with_table("no marks", "table"), None);
    let text = format!("a\n{BEGIN}old\n{END}b\n");
    assert_eq!(with_table(&text, "new\n"), Some(format!("a\n{BEGIN}new\n{END}b\n")));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let pages: [(PathBuf, String); 2] = [
        (root.join("docs/security-model.md"), table(|_| true)),
        (root.join("docs/tools.md"), table(|powers| powers.callers.has_tool())),
    ];
    let mut violations = Vec::new();
    for (path, table) in pages {
        let text = fs::read_to_string(&path).expect("the page is readable");
        let wanted = with_table(&text, &table).expect("the page has the marks");
        if wanted == text {
            continue;
        }
        if std::env::var_os("LOCI_BLESS").is_some() {
            fs::write(&path, wanted).expect("the page is written");
        } else {
            violations.push(format!("{} has another table", path.display()));
        }
    }
    let rule = "documents show the table of verbs; LOCI_BLESS=1 writes it";
    assert_rule(rule, &violations);
}
