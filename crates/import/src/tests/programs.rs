//! What the documents, notes and folders of other programs become: every form that they have, and every letter of it.

use super::letters::{letters, of_memory};
use super::{Home, contents, find};
use loci_proto::foreign::{ForeignProject, Format, Reading};
use loci_proto::memory::MemoryType;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Adds the words of all texts of a value that is no name of a field.
fn words(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.extend(
            text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_owned),
        ),
        Value::Array(items) => items.iter().for_each(|item| words(item, found)),
        Value::Object(fields) => fields.values().for_each(|value| words(value, found)),
        _ => {}
    }
}

/// Returns the words of a document that are in no memory and not left out.
fn lost(document: &Value, reading: &Reading) -> Vec<String> {
    let mut all = Vec::new();
    words(document, &mut all);
    let memories = reading.memories.iter().map(of_memory);
    let text = serde_json::to_string_pretty(document).expect("it is JSON");
    let lines: Vec<&str> = text.lines().collect();
    let of_lines = reading.skipped.iter().filter_map(|text| super::letters::lines_of(&text.place));
    let of_lines = of_lines.map(|range| letters(&lines[range.start() - 1..*range.end()].concat()));
    let skipped =
        reading.skipped.iter().map(|text| letters(&format!("{} {}", text.place, text.reason)));
    let texts: Vec<String> = memories.chain(skipped).chain(of_lines).collect();
    all.retain(|word| !texts.iter().any(|text| text.contains(word)));
    all
}

fn read(format: Format, name: &str, document: &Value) -> Reading {
    let home = Home::new();
    let text = serde_json::to_string_pretty(document).expect("it is JSON");
    let path = home.write(name, &text);
    home.read(format, &[path])
}

#[test]
fn mem0_and_openmemory_are_read_in_every_wrapper() {
    let one = json!({"id": "a1", "memory": "The kiln is red"});
    let open = json!({"id": "a1", "content": "The kiln is red", "app_name": "cursor"});
    let documents = [
        json!([one]),
        one.clone(),
        json!({"results": [one], "relations": [{"source": "anna", "target": "kiln"}]}),
        json!({"data": [open]}),
        json!({"items": [open], "total": 1, "page": 1}),
        json!({"data": {"items": [open]}}),
        json!({"memories": [one]}),
        json!(["The kiln is red"]),
        json!({"data": ["The kiln is red", 7, {"id": "empty"}]}),
        json!([{"memory": "The kiln is red", "metadata": {"place": "hall nine"}}]),
    ];
    for document in documents {
        let reading = read(Format::Mem0, "export.json", &document);
        assert_eq!(contents(&reading), ["The kiln is red"], "{document}");
        assert!(lost(&document, &reading).is_empty(), "{document}: {reading:#?}");
    }
    let home = Home::new();
    let lines =
        home.write("export.jsonl", "\"The kiln is red\"\n{\"id\": \n{\"text\": \"It hums\"}\n");
    let reading = home.read(Format::Mem0, &[lines]);
    assert_eq!(contents(&reading), ["The kiln is red", "It hums"]);
    assert!(reading.skipped[0].place.starts_with("line 2"), "{:?}", reading.skipped);
}

#[test]
fn a_graph_is_read_as_lines_as_an_object_and_as_lists() {
    let anna = json!({"type": "entity", "name": "Anna", "entityType": "person",
        "observations": ["Likes tea", {"content": "Plays chess", "source": "chat"}, {"odd": "oboe"}]});
    let kiln =
        json!({"name": "Kiln", "entityType": "machine", "observations": [], "room": "cellar"});
    let heats = json!({"from": "Anna", "to": "Kiln", "relationType": "heats"});
    let documents = [
        json!({"entities": [anna, kiln], "relations": [heats]}),
        json!({"result": {"entities": [anna, kiln], "relations": [heats]}, "version": "two"}),
        json!([anna, kiln, heats]),
    ];
    for document in documents {
        let reading = read(Format::ServerMemory, "graph.json", &document);
        let expected = ["Anna (person)", "Anna: Likes tea", "Anna: Plays chess", "Kiln (machine)"];
        assert_eq!(contents(&reading), expected, "{document}");
        let relation = &find(&reading, "(person)").relations[0];
        assert_eq!((relation.predicate.as_str(), relation.to.as_str()), ("heats", "Kiln"));
        let mut lost = lost(&document, &reading);
        // What an item is, is the type of its memory.
        lost.retain(|word| word != "entity");
        assert!(lost.is_empty(), "{lost:?} of {document}: {reading:#?}");
    }
    let odd = json!([{"type": "entity"}, {"from": "Anna", "to": "Nobody", "relationType": "knows"}, 7, {"x": "why"}]);
    let reading = read(Format::ServerMemory, "graph.json", &odd);
    assert_eq!((reading.memories.len(), reading.skipped.len()), (0, 4), "{reading:#?}");
    let places: Vec<&str> = reading.skipped.iter().map(|text| text.place.as_str()).collect();
    assert!(places.iter().all(|place| place.starts_with("line")), "{places:?}");
}

#[test]
fn the_home_folder_in_the_path_of_a_graph_is_found() {
    let home = Home::new();
    home.write("graphs/g.jsonl", r#"{"type":"entity","name":"Anna","entityType":"person"}"#);
    for path in ["~/graphs/g.jsonl", "$HOME/graphs/g.jsonl"] {
        let config = json!({"mcpServers": {"m": {"env": {"MEMORY_FILE_PATH": path}}}});
        home.write(".claude.json", &config.to_string());
        assert_eq!(contents(&home.read(Format::ServerMemory, &[])), ["Anna (person)"], "{path}");
    }
}

#[test]
fn notes_of_basic_memory_are_related_across_files() {
    let home = Home::new();
    home.write("kb/a.md", "---\ntitle: Kiln: large\npermalink: halls/kiln\n---\n\n- drives [[Pump]]\n- near [[b|the belt]] (by the door)\n- missing [[Nowhere]]\n");
    home.write("kb/sub/pump.md", "---\ntitle: Pump\n---\n\n- cools [[halls/kiln]]\n");
    home.write("kb/b.md", "# Belt\n\n- [state] worn\n");
    let folder = home.path("kb/x").parent().expect("a folder").to_path_buf();
    let reading = home.read(Format::BasicMemory, &[folder]);
    let related = |part: &str| -> Vec<(String, Option<String>)> {
        let relations = &find(&reading, part).relations;
        relations.iter().map(|to| (to.to.clone(), to.path.clone())).collect()
    };
    let path = |name: &str| Some(format!("~/kb/{name}"));
    let expected = [("Pump", path("sub/pump.md")), ("b", path("b.md")), ("Nowhere", None)];
    assert_eq!(related("Kiln: large (note)"), expected.map(|(to, path)| (to.to_owned(), path)));
    assert_eq!(related("Pump (note)"), [("Kiln: large".to_owned(), path("a.md"))]);
    let unknown: Vec<&str> = reading.skipped.iter().map(|text| text.place.as_str()).collect();
    assert!(unknown.contains(&"missing [[Nowhere]]"), "{unknown:?}");
    assert!(unknown.iter().any(|place| place.contains("(by the door)")), "{unknown:?}");
}

#[test]
fn a_folder_has_its_texts_and_names_its_data() {
    let home = Home::new();
    for (name, text) in [
        ("a.MD", "Text of a\n"),
        ("b.mdc", "---\ndescription: rules of b\nglobs: *.rs\n---\nText of b\n"),
        ("c.txt", "Text of c\n"),
        ("d.markdown", "Text of d\n"),
        ("e.canvas", "{\"nodes\": []}"),
        ("f.excalidraw.md", "# Drawing\n"),
        ("g.md", "---\nexcalidraw-plugin: parsed\n---\n# Text elements\nodd ^x\n"),
        ("h.md", "{\n  \"a\": \"b\",\n\n  \"c\": 1\n}\n"),
        ("i.json", "{}"),
        ("j.md", "# J\n\n{\"k\": \"secret state\"}\n\nText of j\n"),
        ("k.png", "no text"),
    ] {
        home.write(&format!("vault/{name}"), text);
    }
    let folder = home.path("vault/x").parent().expect("a folder").to_path_buf();
    let reading = home.read(Format::Markdown, &[folder]);
    assert_eq!(
        contents(&reading),
        ["Text of a", "Text of b", "Text of c", "Text of d", "J: Text of j"]
    );
    let mut skipped: Vec<String> = reading
        .skipped
        .iter()
        .map(|text| format!("{} {} {}", &text.path["~/vault/".len()..], text.place, text.reason))
        .collect();
    skipped.sort();
    assert_eq!(
        skipped,
        [
            "b.mdc lines 1-4: --- fields at the top (description, globs)",
            "e.canvas  is a drawing",
            "f.excalidraw.md  is a drawing",
            "g.md  is a drawing",
            "h.md  is JSON of a program",
            "i.json  is JSON of a program",
            "j.md line 3: {\"k\": \"secret state\"} JSON of a program",
        ]
    );
}

#[test]
fn folders_of_tools_are_left_out_and_named_once() {
    let home = Home::new();
    for name in [
        "own.md",
        ".git/a.md",
        ".git/deep/b.md",
        "node_modules/x/README.md",
        "web/node_modules/y/README.md",
        "Cargo.toml",
        "target/doc/a.md",
        "cache/CACHEDIR.TAG",
        "cache/a.md",
        "vendor/own.md",
        "notes/target/own.md",
        "build/own.md",
    ] {
        home.write(&format!("work/{name}"), &format!("Text of {name}\n"));
    }
    let folder = home.path("work/x").parent().expect("a folder").to_path_buf();
    let reading = home.read(Format::Markdown, &[folder]);
    let mut found = contents(&reading);
    found.sort_unstable();
    let own = ["build/own.md", "notes/target/own.md", "own.md", "vendor/own.md"];
    assert_eq!(found, own.map(|name| format!("Text of {name}")));
    let mut named: Vec<_> =
        reading.skipped.iter().map(|text| &text.path["~/work/".len()..]).collect();
    named.sort_unstable();
    assert_eq!(named, [".git", "cache", "node_modules", "target", "web/node_modules"]);
    let hidden = home.path("work/.git/x").parent().expect("a folder").to_path_buf();
    assert_eq!(home.read(Format::Markdown, &[hidden]).memories.len(), 2);
}

#[test]
fn a_note_is_as_old_as_its_fields_or_its_name_say() {
    let home = Home::new();
    let day = |text: &str| crate::times::of_text(text).expect("a day");
    for (name, text, expected) in [
        ("2026-03-04.md", "A day", "2026-03-04"),
        ("2026_03_05.md", "A day", "2026-03-05"),
        ("24-03-2026.md", "A day", "2026-03-24"),
        ("a.md", "---\ncreated: 20240117\n---\nA day", "2024-01-17"),
        ("b.md", "---\ndate: 2026-03-04 23:30\n---\nA day", "2026-03-04T23:30:00Z"),
        ("c.md", "+++\ndate = 2026-03-04\n+++\nA day", "2026-03-04"),
        ("2026-03-04 d.md", "---\ndate: 2026-03-06\n---\nA day", "2026-03-06"),
        (
            "e.md",
            "---\ntitle: a: b\ndate: 2126-03-06\ncreated: 2026-03-07\n---\nA day",
            "2026-03-07",
        ),
    ] {
        let reading = home.read(Format::Markdown, &[home.write(name, text)]);
        assert_eq!(reading.memories[0].created_at, day(expected), "{name} {text}");
        assert!(reading.memories[0].updated_at >= reading.memories[0].created_at);
    }
}

#[test]
fn a_project_that_different_folders_may_be_is_not_guessed() {
    let home = Home::new();
    let root = home.0.path().canonicalize().expect("it exists");
    let encode = |path: &str| -> String {
        path.encode_utf16()
            .map(|unit| {
                u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric).map_or('-', char::from)
            })
            .collect()
    };
    let read = |folders: &[&str]| {
        let path = |name: &str| root.join(name).to_string_lossy().into_owned();
        for name in folders {
            fs::create_dir_all(root.join(name)).expect("it is created");
        }
        let encoded = encode(&path(folders[0]));
        home.write(&format!(".claude/projects/{encoded}/memory/a.md"), "It is so\n");
        let file = root.join(format!(".claude/projects/{encoded}"));
        let reading = home.read(Format::ClaudeMemory, &[file]);
        (reading.memories[0].project.clone(), reading.notices.clone(), path(folders[0]))
    };
    let (project, notices, only) = read(&["one/my_app"]);
    assert_eq!((project, notices.len()), (Some(ForeignProject::Folder(only)), 0));
    let (project, _, emoji) = read(&["emoji/a🏺b"]);
    assert_eq!(project, Some(ForeignProject::Folder(emoji)));
    for folders in [["two/my-app", "two/my/app"], ["three/my_app", "three/my-app"]] {
        let (project, notices, _) = read(&folders);
        let Some(ForeignProject::Unsure(may_be)) = project else {
            panic!("{folders:?}: {project:?}")
        };
        assert_eq!(may_be.len(), 2, "{may_be:?}");
        assert!(notices[0].starts_with("project not sure: ") && notices[0].contains(folders[1]));
    }
    home.write(".claude/projects/D--Kunden-X/memory/a.md", "It is so\n");
    let reading = home.read(Format::ClaudeMemory, &[root.join(".claude/projects/D--Kunden-X")]);
    assert_eq!(reading.memories[0].project, Some(ForeignProject::Unsure(Vec::new())));
    assert!(reading.notices[0].contains("D--Kunden-X"));
}

#[test]
fn a_folder_of_codex_may_have_and_in_its_name() {
    let home = Home::new();
    let root = home.0.path().canonicalize().expect("it exists");
    let salt = root.join("salt and pepper");
    fs::create_dir_all(&salt).expect("it is created");
    let read = |cwd: &str| {
        let text =
            format!("# Task Group: x\napplies_to: cwd={cwd}; reuse_rule=safe\n\n- It is so\n");
        let reading = home.read(Format::CodexMemory, &[home.write("m/MEMORY.md", &text)]);
        (reading.memories[0].project.clone(), reading.notices.len())
    };
    let folder = |path: &PathBuf| Some(ForeignProject::Folder(path.to_string_lossy().into_owned()));
    assert_eq!(read(&salt.to_string_lossy()), (folder(&salt), 0));
    assert_eq!(read(&format!("{} and its folders", salt.display())), (folder(&salt), 0));
    let unsure = || Some(ForeignProject::Unsure(Vec::new()));
    assert_eq!(read("/srv/gone/salt and pepper"), (unsure(), 1));
    assert_eq!(read(&format!("{} and /srv/gone", salt.display())), (unsure(), 1));
    assert_eq!(read("/srv/gone/my_app"), (folder(&"/srv/gone/my_app".into()), 0));
    let text = "thread_id: 1\ncwd: /srv/gone/salt and pepper\n\nIt is so\n";
    let reading = home.read(Format::CodexMemory, &[home.write("m/rollout_summaries/a.md", text)]);
    assert_eq!(reading.memories[0].project, folder(&"/srv/gone/salt and pepper".into()));
}

#[test]
fn private_parts_and_secrets_are_not_in_what_is_left_out() {
    let home = Home::new();
    let token = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let text = format!(
        "One <private>apple\n\n- pear\n</private> two\n\n<!-- {token} -->\n\n![{token}](a.png)\n\n< Private >plum\n"
    );
    for (format, name) in [(Format::Markdown, "notes.md"), (Format::ClaudeMemory, "memory/a.md")] {
        let reading = home.read(format, &[home.write(name, &text)]);
        let all = format!("{reading:?}");
        assert!(!["apple", "pear", "plum", &token].iter().any(|word| all.contains(*word)), "{all}");
        assert!(reading.skipped.iter().any(|text| text.reason.contains("private")), "{all}");
    }
}

#[test]
fn ten_thousand_items_of_each_format_are_read_in_ten_seconds() {
    let home = Home::new();
    let count = 10_000;
    let lines =
        |line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<Vec<_>>().join("\n");
    let entity = |n| {
        format!(r#"{{"type":"entity","name":"E{n}","entityType":"x","observations":["says {n}"]}}"#)
    };
    let relation =
        |n| format!(r#"{{"type":"relation","from":"E{n}","to":"E1","relationType":"knows"}}"#);
    let chunk = |n: usize| {
        json!({"id": n.to_string(), "content": format!("Text {n}"), "memory": format!("Text {n}")})
            .to_string()
    };
    let list = |name: &str| format!("{{\"{name}\": [{}]}}", lines(&chunk).replace('\n', ",\n"));
    let rule = |n| {
        format!(
            "## Rule {n}\n\n<important>\n- Never do [{n}][r{n}]\n</important>\n\n<!-- {n} -->\n\n[r{n}]: https://{n}.example\n"
        )
    };
    let task = |n| format!("# Task Group: t{n}\napplies_to: cwd=/srv/p{n}; x\n\n- Fact {n}\n");
    for n in 0..count {
        home.write(&format!("kb/{}/n{n}.md", n % 100), &format!("- near [[n{}]]\n", n / 2));
    }
    let kb = home.path("kb/x").parent().expect("a folder").to_path_buf();
    for (format, path) in [
        (Format::ServerMemory, home.write("g.jsonl", &(lines(&entity) + "\n" + &lines(&relation)))),
        (Format::Mem0, home.write("m.json", &list("results"))),
        (Format::Engram, home.write("e.json", &list("observations"))),
        (Format::Loomem, home.write("l.json", &list("chunks"))),
        (Format::ClaudeMd, home.write("CLAUDE.md", &lines(&rule))),
        (Format::Markdown, home.write("r.md", &lines(&rule))),
        (Format::ClaudeMemory, home.write("memory/MEMORY.md", &lines(&rule))),
        (Format::CodexMemory, home.write("codex/MEMORY.md", &lines(&task))),
        (Format::BasicMemory, kb),
    ] {
        let started = Instant::now();
        let reading = home.read(format, &[path]);
        println!("{format}: {} memories in {:?}", reading.memories.len(), started.elapsed());
        assert!(reading.memories.len() >= count, "{format}: {}", reading.memories.len());
        assert!(started.elapsed() < Duration::from_secs(10), "{format}: {:?}", started.elapsed());
        let is_entity = |kind| matches!(kind, MemoryType::Entity);
        let related = reading.memories.iter().filter(|memory| is_entity(memory.kind));
        assert!(
            related.clone().count() == 0
                || related.map(|m| m.relations.len()).sum::<usize>() == count
        );
    }
}
