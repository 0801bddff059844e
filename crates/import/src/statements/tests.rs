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

#[test]
fn quotes_and_callouts_have_no_marks() {
    for (text, expected) in [
        ("> Warm wood\n> floats\n>> Cold\n> > sinks\n", vec!["Warm wood\nfloats", "Cold\nsinks"]),
        ("> - a\n>   b\n> - c\n", vec!["a\nb", "c"]),
        ("> ```sh\n> just serve\n> ```\n", vec!["```sh\njust serve\n```"]),
        ("> 1. one\n> 2. two\n", vec!["1. one\n2. two"]),
        ("> [!warning] Hot\n> Never touch\n> it\n", vec!["warning: Hot\nNever touch\nit"]),
        (
            "> [!tip]- Tools\n>\n> - tongs\n> - glove\n",
            vec!["tip: Tools: tongs", "tip: Tools: glove"],
        ),
        ("> [!NOTE]\n> It hums\n", vec!["NOTE: It hums"]),
        ("> [!note] Alone\n\nNext\n", vec!["note: Alone", "Next"]),
        ("[!x] no quote\n", vec!["[!x] no quote"]),
    ] {
        assert_eq!(contents(text), expected, "{text}");
    }
}

#[test]
fn marks_of_tasks_say_their_state() {
    let text = "- [/] a\n- [-] b\n- [>] c\n- [y] d\n";
    assert_eq!(contents(text), ["In progress: a", "Cancelled: b", "Forwarded: c", "[y] d"]);
}

#[test]
fn rows_of_an_html_table_name_their_columns() {
    let head = "<tr><th>host</th><th>port</th></tr>";
    let row = "<tr><td>heron</td><td>80</td></tr>";
    for (text, expected) in [
        (format!("<table>{head}\n{row}</table>"), vec!["host: heron; port: 80"]),
        (
            "<table>\n<thead>\n  <tr>\n    <th>host</th>\n    <th>port</th>\n  </tr>\n</thead>\n<tbody>\n  <tr>\n    <td>heron</td>\n    <td>80</td>\n  </tr>\n</tbody>\n</table>".to_owned(),
            vec!["host: heron; port: 80"],
        ),
        (format!("<table>{row}</table>"), vec!["heron; 80"]),
        (format!("<table>{head}</table>"), vec!["host; port"]),
        (
            format!("<table>{head}{row}</table>\n<table>{row}</table>\n"),
            vec!["host: heron; port: 80", "heron; 80"],
        ),
        ("<table><tr><th>host</th><td>heron</td></tr></table>".to_owned(), vec!["host; heron"]),
    ] {
        assert_eq!(contents(&text), expected, "{text}");
    }
}
