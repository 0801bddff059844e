//! Tests of the statements of Markdown.

use super::inline::PARAGRAPH_BYTES;
use super::*;

fn split(text: &str, titles: &[&str]) -> Vec<Statement> {
    super::split(text, 0, titles).statements
}

fn contents(text: &str) -> Vec<String> {
    split(text, &["claude.md"]).iter().map(Statement::content).collect()
}

#[test]
fn each_statement_has_the_headings_above_it() {
    let text = "# CLAUDE.md\n\nThe shop sells pots.\n\n## Build\n\n- Use `just build`\n- Never commit\n  generated files\n\n### Tests\n\n* [ ] Run them twice\n\n## Style\n\nTabs, not spaces.\n";
    assert_eq!(
        contents(text),
        [
            "The shop sells pots.",
            "Build: Use `just build`",
            "Build: Never commit\ngenerated files",
            "Build > Tests: To do: Run them twice",
            "Style: Tabs, not spaces."
        ]
    );
}

#[test]
fn steps_and_code_stay_whole_with_their_introduction() {
    let text = "To deploy:\n\n1. Push the tag\n2. Wait\n\nRun the server.\n\n```sh\njust serve\n```\n\nPrefer:\n\n- tabs\n- short names\n";
    let found = split(text, &[]);
    assert_eq!(found[0].text, "To deploy:\n1. Push the tag\n2. Wait");
    assert_eq!(found[1].text, "Run the server.\n```sh\njust serve\n```");
    assert!(found[0].is_procedure && found[1].is_procedure);
    assert_eq!(found[2].text, "Prefer: tabs");
    assert_eq!(found[3].text, "Prefer: short names");
    assert!(!found[2].is_procedure);
}

#[test]
fn rows_name_their_columns_and_comments_are_left_out() {
    let text = "<!-- a comment -->\n\n| host | port |\n|---|---|\n| heron | 80 |\n| egret | |\n\n![logo](a.png)\n";
    assert_eq!(contents(text), ["host: heron; port: 80", "host: egret"]);
}

#[test]
fn tasks_keep_their_state_and_embeds_and_queries_are_left_out() {
    let text = "- [ ] order the door\n- [x] pour the slab\n\n> Warm wood floats\n\n```dataview\nLIST\n```\n\n![[boat.jpg]]\n\n![a](a.png) ![[b.png]]\n\nA picture ![c](c.png)\n";
    assert_eq!(
        contents(text),
        [
            "To do: order the door",
            "Done: pour the slab",
            "Warm wood floats",
            "A picture ![c](c.png)"
        ]
    );
    assert!(split(text, &[]).iter().all(|statement| !statement.is_procedure));
}

#[test]
fn a_long_item_is_split_into_its_nested_items() {
    let long = "word ".repeat(130);
    let text = format!("- Servers:\n  - heron {long}\n  - egret\n");
    let found = contents(&text);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("Servers: heron word") && found[1] == "Servers: egret");
    let short = contents("- Servers:\n  - heron\n  - egret\n");
    assert_eq!(short, ["Servers:\n- heron\n- egret"]);
}

#[test]
fn a_long_paragraph_is_split_at_sentences() {
    let text = "This sentence is one of many in a long paragraph. ".repeat(60);
    let found = contents(&text);
    assert!(found.len() > 2 && found.iter().all(|part| part.len() <= PARAGRAPH_BYTES));
    assert!(found.iter().all(|part| part.ends_with('.')));
}

#[test]
fn texts_without_structure_and_hostile_ones_are_read() {
    assert!(contents("").is_empty() && contents("\n\n---\n\n***\n").is_empty());
    for text in [
        "# ",
        "- ",
        "-",
        "1.",
        "- \n  - \n    - x",
        "> > > x",
        "|a|\n|-|",
        "```\n",
        "[x",
        "- ー日本\n 語",
    ] {
        let _ = contents(text);
    }
    assert_eq!(contents("> quoted"), ["quoted"]);
}
