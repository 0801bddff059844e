//! Tests of all formats: an entry that is inserted into any document and removed again leaves the same bytes, and nothing else moves.

use super::*;
use proptest::prelude::*;

fn server() -> Entry {
    let value = Value::table([("command", "/opt/loci".into()), ("args", Value::texts(&["mcp"]))]);
    Entry::key(&["mcpServers", "loci"], value)
}

fn toml_server() -> Entry {
    Entry { path: vec!["mcp_servers".to_owned(), "loci".to_owned()], ..server() }
}

fn allow() -> Entry {
    Entry::element(&["permissions", "allow"], "mcp__loci".into())
}

fn hook() -> Entry {
    let hook = Value::table([("type", "command".into()), ("command", "/opt/loci hook".into())]);
    Entry::element(&["hooks", "Stop"], Value::table([("hooks", Value::List(vec![hook]))]))
}

/// Inserts the entries, checks that each is found, removes them in the other order, and returns both texts.
fn there_and_back(text: &str, format: Format, entries: &[Entry]) -> (String, String) {
    let mut ledger = Ledger::default();
    let mut edited = text.to_owned();
    for entry in entries {
        edited = insert(&edited, format, entry, &mut ledger).expect("the entry is inserted");
        let found = look(&edited, format, &entry.target()).expect("the text is valid");
        assert_eq!(found, Found::Same, "{edited}");
    }
    let back = entries.iter().rev().fold(edited.clone(), |text, entry| {
        remove(&text, format, &entry.target(), &ledger).expect("the entry is removed")
    });
    (edited, back)
}

/// A blank text, as it may be between two tokens of a text with comments.
fn blank() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        3 => Just(" ".to_owned()),
        3 => Just("\n  ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => Just(" /* a, \"b\" } */ ".to_owned()),
        1 => Just("/* a\n b */".to_owned()),
        2 => Just(" // a, { \"b\"\n".to_owned()),
        1 => Just("\n\n  // c\r\n".to_owned()),
    ]
}

/// A value of a text with comments; some objects and arrays end with a comma.
fn document(depth: u32) -> BoxedStrategy<String> {
    let scalar = prop_oneof![
        Just("1".to_owned()),
        Just("\"é, }\\\" {\"".to_owned()),
        Just("null".to_owned()),
        Just("-2.5e3".to_owned()),
    ];
    if depth == 0 {
        return scalar.boxed();
    }
    prop_oneof![1 => scalar, 2 => object(depth), 1 => array(depth)].boxed()
}

fn array(depth: u32) -> impl Strategy<Value = String> {
    let item = (blank(), document(depth - 1), blank()).prop_map(|(a, v, b)| format!("{a}{v}{b}"));
    (prop::collection::vec(item, 0..4), blank(), any::<bool>()).prop_map(|(items, end, comma)| {
        let comma = if comma && !items.is_empty() { "," } else { "" };
        format!("[{}{comma}{end}]", items.join(","))
    })
}

fn object(depth: u32) -> impl Strategy<Value = String> {
    let member = (blank(), blank(), blank(), document(depth - 1), blank());
    let members = prop::collection::vec(member, 0..4);
    (members, blank(), any::<bool>()).prop_map(|(members, end, comma)| {
        let members: Vec<String> = members
            .into_iter()
            .enumerate()
            .map(|(at, (a, b, c, value, d))| format!("{a}\"k{at}\"{b}:{c}{value}{d}"))
            .collect();
        let comma = if comma && !members.is_empty() { "," } else { "" };
        format!("{{{}{comma}{end}}}", members.join(","))
    })
}

/// A document whose root may have the objects that entries go into.
fn configuration() -> impl Strategy<Value = String> {
    let servers = prop::option::of(object(2));
    let allowed = prop::option::of(array(1));
    (blank(), servers, allowed, object(2), blank(), blank()).prop_map(
        |(before, servers, allowed, other, gap, after)| {
            let servers = servers.map(|servers| format!("\"mcpServers\":{gap}{servers}"));
            let allowed = allowed
                .map(|allowed| format!("{gap}\"permissions\": {{\"allow\":{gap}{allowed}{gap}}}"));
            let members: Vec<String> = [servers, allowed, Some(format!("\"other\": {other}"))]
                .into_iter()
                .flatten()
                .collect();
            format!("{before}{{{gap}{}{gap}}}{after}", members.join(","))
        },
    )
}

/// The bytes that are not blanks, without commas.
fn tokens(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != ',').collect()
}

/// Whether the characters of `part` are in `text` in the same order.
fn is_within(part: &str, text: &str) -> bool {
    let mut letters = text.chars();
    part.chars().all(|letter| letters.any(|other| other == letter))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn an_entry_in_any_json_comes_and_goes_without_a_trace(text in configuration(), mark in any::<bool>()) {
        let text = if mark { format!("\u{feff}{text}") } else { text };
        let (edited, back) = there_and_back(&text, Format::Jsonc, &[server(), allow(), hook()]);
        prop_assert!(is_within(&tokens(&text), &tokens(&edited)), "{text:?} -> {edited:?}");
        prop_assert_eq!(back, text);
    }

    #[test]
    fn entries_go_in_any_order(text in configuration()) {
        let entries = [server(), allow(), hook()];
        let mut ledger = Ledger::default();
        let mut edited = text.clone();
        for entry in &entries {
            edited = insert(&edited, Format::Jsonc, entry, &mut ledger).expect("the entry is inserted");
        }
        for entry in &entries {
            edited = remove(&edited, Format::Jsonc, &entry.target(), &ledger).expect("the entry is removed");
        }
        prop_assert_eq!(parse(&edited, Format::Jsonc), parse(&text, Format::Jsonc));
        prop_assert_eq!(tokens(&edited), tokens(&text));
    }

    #[test]
    fn an_entry_in_any_toml_comes_and_goes_without_a_trace(
        lines in prop::collection::vec(prop::sample::select(vec![
            "# a [comment]", "# b", "", "", "key = 1 # kept", "[mcp_servers.other]", "[projects.\"/x y\"]", "  [indented]",
            "text = \"\"\"\n[x]\n\"\"\"", "[[list]]", "[mcp_servers]", "a.b = [1, # x\n  2]",
        ]), 0..6),
        crlf in any::<bool>(),
        last in any::<bool>(),
    ) {
        let newline = if crlf { "\r\n" } else { "\n" };
        let mut text = lines.join("\n").replace('\n', newline);
        if last {
            text.push_str(newline);
        }
        prop_assume!(parse(&text, Format::Toml).is_ok());
        let (edited, back) = there_and_back(&text, Format::Toml, &[toml_server()]);
        prop_assert!(edited.starts_with(&text), "what was there stays");
        prop_assert_eq!(back, text);
    }
}

#[test]
fn entries_follow_the_layout_of_the_text() {
    let text = "{\n\t\"a\": 1, // one\n\t\"mcpServers\": {},\n}\n";
    let (edited, back) = there_and_back(text, Format::Jsonc, &[server()]);
    let expected = "{\n\t\"a\": 1, // one\n\t\"mcpServers\": {\n\t\t\"loci\": {\n\t\t\t\"command\": \"/opt/loci\",\n\t\t\t\"args\": [\n\t\t\t\t\"mcp\"\n\t\t\t]\n\t\t}\n\t},\n}\n";
    assert_eq!((edited.as_str(), back.as_str()), (expected, text));
    let (edited, _) = there_and_back("{\"a\":1}", Format::Json, &[allow()]);
    assert_eq!(edited, "{\"a\":1,\"permissions\":{\"allow\":[\"mcp__loci\"]}}");
    let text = "{\n  \"permissions\": {\n    \"allow\": [\"Read\", \"Bash(ls)\"]\n  }\n}";
    let (edited, _) = there_and_back(text, Format::Json, &[allow()]);
    assert!(edited.contains("[\"Read\", \"Bash(ls)\", \"mcp__loci\"]"), "{edited}");
    let (edited, back) = there_and_back("", Format::Json, &[allow()]);
    assert!(edited.starts_with("{\n  \"permissions\"") && edited.ends_with("}\n"), "{edited}");
    assert_eq!(back, "");
}

#[test]
fn a_broken_text_is_refused_with_line_and_column() {
    let refused = |text: &str, format| {
        insert(text, format, &server(), &mut Ledger::default()).expect_err("the text is refused")
    };
    for (text, format, place) in [
        ("{\n  \"a\": 1,\n  \"b\" 2\n}", Format::Json, (3, 7)),
        ("{\n  // a comment\n}", Format::Json, (2, 3)),
        ("{\"a\": 1,}", Format::Json, (1, 8)),
        ("a = 1\nb = = 2\n", Format::Toml, (2, 5)),
    ] {
        let EditError::Syntax { line, column, .. } = refused(text, format) else {
            panic!("{text} is not refused for its syntax")
        };
        assert_eq!((line, column), place, "{text}");
    }
    let shape = refused("{\"mcpServers\": []}", Format::Json);
    assert_eq!(shape.to_string(), "mcpServers is not an object");
    assert_eq!(refused("[]", Format::Json).to_string(), "the file is not an object");
}

#[test]
fn a_value_is_replaced_and_put_back_as_it_was_written() {
    let text = "{\n  \"mcpServers\": { \"loci\": { \"command\" : \"loci\" } } // mine\n}";
    let (edited, previous) = replace(text, Format::Jsonc, &server()).expect("it is replaced");
    assert!(
        edited.contains("\"loci\": {\"command\": \"/opt/loci\", \"args\": [\"mcp\"]}"),
        "{edited}"
    );
    let back = put_back(&edited, Format::Jsonc, &server().target(), &previous);
    assert_eq!(back.expect("it is put back"), text);
    let text = "a = 1\n\n[mcp_servers.loci] # mine\ncommand = 'loci'\n\n[mcp_servers.loci.env]\nX = '1'\n\n[z]\n";
    let (edited, previous) = replace(text, Format::Toml, &toml_server()).expect("it is replaced");
    assert_eq!(
        edited,
        "a = 1\n\n[mcp_servers.loci]\ncommand = \"/opt/loci\"\nargs = [\"mcp\"]\n\n\n[z]\n"
    );
    let back = put_back(&edited, Format::Toml, &toml_server().target(), &previous);
    let value = parse(&back.expect("it is put back"), Format::Toml).expect("it is valid");
    assert_eq!(value["mcp_servers"]["loci"]["env"]["X"], "1");
}

#[test]
fn toml_inside_another_table_is_edited_and_other_lines_keep_their_bytes() {
    let text = "# first\r\nmcp_servers = { a = { command = \"x\" } } # second\nlast = 1";
    let (edited, back) = there_and_back(text, Format::Toml, &[toml_server()]);
    assert!(
        edited.starts_with("# first\r\nmcp_servers = { a = { command = \"x\" } , loci = "),
        "{edited}"
    );
    assert!(
        edited.ends_with("# second\nlast = 1") || edited.ends_with("# second\r\nlast = 1"),
        "{edited}"
    );
    let value = |text: &str| parse(text, Format::Toml).expect("it is valid");
    assert_eq!(value(&back), value(text));
}

#[test]
fn an_entry_is_found_where_somebody_has_moved_it() {
    let text = "{\"projects\": {\"/x\": {\"mcpServers\": {\"loci\": {\"command\": \"/opt/loci\", \"args\": [\"mcp\"]}}}}}";
    let path = moved_to(text, Format::Json, &server().target()).expect("it is valid");
    assert_eq!(path.expect("it is found"), ["projects", "/x", "mcpServers", "loci"]);
}

#[test]
fn a_table_that_ended_the_file_is_put_back_before_what_was_appended() {
    for end in ["args = [\"mcp\"]", "args = [\"mcp\"] # mine"] {
        let text = format!("[mcp_servers.loci]\ncommand = \"loci\"\n{end}");
        let (edited, previous) =
            replace(&text, Format::Toml, &toml_server()).expect("it is replaced");
        let untouched = put_back(&edited, Format::Toml, &toml_server().target(), &previous);
        assert_eq!(untouched.as_deref(), Ok(text.as_str()));
        let appended = format!("{edited}[projects.\"/w\"]\ntrust_level = \"trusted\"\n");
        let back = put_back(&appended, Format::Toml, &toml_server().target(), &previous);
        let expected = format!("{text}\n[projects.\"/w\"]\ntrust_level = \"trusted\"\n");
        assert_eq!(back.as_deref(), Ok(expected.as_str()));
    }
}

#[test]
fn strings_of_several_lines_keep_their_line_endings() {
    let text = "mcp_servers = {}\r\nx = \"\"\"\r\nBe brief.\r\n\"\"\"\r\n";
    let (edited, back) = there_and_back(text, Format::Toml, &[toml_server()]);
    assert!(edited.ends_with("\r\nx = \"\"\"\r\nBe brief.\r\n\"\"\"\r\n"), "{edited:?}");
    assert!(!edited.contains("\r\r"), "{edited:?}");
    assert_eq!(parse(&back, Format::Toml), parse(text, Format::Toml));
}

#[test]
fn a_table_of_dotted_keys_is_not_replaced() {
    let text = "mcp_servers.loci.command = \"loci\"\nmcp_servers.loci.args = [\"mcp\"]\n[mcp_servers.loci.env]\nA = \"1\"\n";
    let refused = replace(text, Format::Toml, &toml_server()).expect_err("it is refused");
    let reason = "mcp_servers.loci is not a table with a header of its own";
    assert_eq!(refused.to_string(), reason);
    let removed = remove(text, Format::Toml, &toml_server().target(), &Ledger::default());
    let value = parse(&removed.expect("it is removed"), Format::Toml).expect("it is valid");
    assert!(value["mcp_servers"].get("loci").is_none(), "{value}");
}

#[test]
fn an_element_within_an_element_goes_and_its_neighbours_keep_their_bytes() {
    let text = "{\"hooks\": {\"Stop\": [\n  {\"hooks\": [ {\"command\": \"a\"},  {\"command\" : \"b\"} ]}\n]}}";
    let path = ["hooks", "Stop", "0", "hooks"].map(str::to_owned).to_vec();
    let value = serde_json::json!({"command": "a"});
    let target = Target { path, kind: EntryKind::Element, value };
    let edited = remove(text, Format::Json, &target, &Ledger::default());
    assert_eq!(edited.as_deref(), Ok(text.replace(" {\"command\": \"a\"},", "").as_str()));
}

#[test]
fn what_a_table_was_is_put_back_inside_another_table() {
    let inline = "mcp_servers = { loci = { command = \"/opt/loci\", args = [\"mcp\"] } }\nb = 1\n";
    let previous = "[mcp_servers.loci]\ncommand = 'loci'\n\n[mcp_servers.loci.env]\nX = '1'\n";
    let back = put_back(inline, Format::Toml, &toml_server().target(), previous);
    let value = parse(&back.expect("it is put back"), Format::Toml);
    assert_eq!(value, parse(&format!("b = 1\n{previous}"), Format::Toml));
}
