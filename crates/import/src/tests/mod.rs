//! Tests of the formats: on the files of `tests/fixtures/foreign`, whose README says how each was
//! made.

use crate::{Places, read};
use loci_base::privacy::Policy;
use loci_proto::foreign::{ForeignMemory, ForeignProject, Format, Reading, SkippedText};
use loci_proto::memory::{MemoryType, Scope};
use rusqlite::Connection;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

mod letters;
mod programs;
mod records;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/foreign").join(name)
}

/// A home folder with files.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().expect("it has a parent")).expect("it is created");
        path
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).expect("it is written");
        path
    }

    /// Creates a database from SQL.
    fn database(&self, name: &str, sql: &str) -> PathBuf {
        let path = self.path(name);
        let sql = fs::read_to_string(fixture(sql)).expect("the fixture is there");
        let conn = Connection::open(&path).expect("it opens");
        conn.execute_batch(&sql).expect("the fixture is valid");
        path
    }

    fn read(&self, format: Format, paths: &[PathBuf]) -> Reading {
        self.try_read(format, paths).expect("it is read")
    }

    fn try_read(&self, format: Format, paths: &[PathBuf]) -> Result<Reading, String> {
        let home = self.0.path().to_path_buf();
        let places = Places { working_dir: home.join("work/shop"), home, variable: |_| None };
        read(format, &places, paths, &Policy::default()).map_err(|error| error.to_string())
    }
}

fn contents(reading: &Reading) -> Vec<&str> {
    reading.memories.iter().map(|memory| memory.content.as_str()).collect()
}

fn find<'a>(reading: &'a Reading, part: &str) -> &'a ForeignMemory {
    let found = reading.memories.iter().find(|memory| memory.content.contains(part));
    found.unwrap_or_else(|| panic!("{part} in {:?}", contents(reading)))
}

#[test]
fn claude_code_memories_have_their_types_and_project() {
    let home = Home::new();
    let reading = home.read(Format::ClaudeMemory, &[fixture("claude-memory/projects")]);
    let found = contents(&reading);
    assert_eq!(found.len(), 7, "{found:#?}");
    let role = find(&reading, "potter");
    assert_eq!(
        (role.scope, role.own_id.as_deref(), role.metadata["category"].as_str()),
        (Scope::Global, Some("user_role"), Some("user"))
    );
    let commits = find(&reading, "imperative");
    assert!(commits.content.starts_with("Commit subjects are short: at most fifty characters\n\n"));
    assert_eq!(commits.scope, Scope::Group);
    assert_eq!(
        find(&reading, "24 V").content,
        "Quick facts: The bench supply of the kiln is set to 24 V"
    );
    let flash = find(&reading, "Hold the boot button");
    assert_eq!(flash.kind, MemoryType::Procedural);
    assert_eq!(flash.place, "Firing notes > Flash the firmware");
    // Nothing says whether it is /srv/work/kiln or /srv/work-kiln.
    let is_unsure = |project: &ForeignProject| matches!(project, ForeignProject::Unsure(_));
    assert!(reading.memories.iter().all(|memory| memory.project.as_ref().is_some_and(is_unsure)));
    assert!(reading.notices[0].contains("-srv-work-kiln"), "{:?}", reading.notices);
    assert_eq!(reading.skipped.len(), 1);
}

#[test]
fn the_project_of_a_claude_code_folder_is_that_of_its_transcripts_or_of_the_disk() {
    let home = Home::new();
    let project = home.0.path().canonicalize().expect("it exists").join("my.work/the-shop");
    fs::create_dir_all(&project).expect("it is created");
    let encoded: String = project
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    home.write(&format!(".claude/projects/{encoded}/memory/a.md"), "The shop opens at nine\n");
    let reading = home.read(Format::ClaudeMemory, &[]);
    let folder = ForeignProject::Folder(project.to_string_lossy().into_owned());
    assert_eq!(reading.memories[0].project, Some(folder));
    assert_eq!(reading.memories[0].path, format!("~/.claude/projects/{encoded}/memory/a.md"));
    let line = r#"{"type":"user","cwd":"/srv/gone/the.shop"}"#;
    home.write(".claude/projects/-srv-gone-the-shop/s.jsonl", line);
    home.write(".claude/projects/-srv-gone-the-shop/memory/b.md", "It is gone\n");
    let reading = home.read(Format::ClaudeMemory, &[]);
    let gone = ForeignProject::Folder("/srv/gone/the.shop".to_owned());
    assert_eq!(find(&reading, "gone").project, Some(gone));
}

#[test]
fn files_in_the_home_folder_are_the_persons_own_and_those_of_a_project_are_not() {
    let home = Home::new();
    for name in ["CLAUDE.md", "AGENTS.md"] {
        let text = fs::read_to_string(fixture("project").join(name)).expect("the fixture is there");
        home.write(&format!("work/shop/{name}"), &text);
    }
    home.write(".claude/CLAUDE.md", "- Answer in German\n");
    let reading = home.read(Format::ClaudeMd, &[]);
    let shop = home.0.path().join("work/shop").canonicalize().expect("it exists");
    let serve = find(&reading, "8077");
    assert_eq!(serve.content, "Commands: `just serve` starts the shop on port 8077");
    assert_eq!(serve.project, Some(ForeignProject::Folder(shop.to_string_lossy().into_owned())));
    assert!(!serve.by_person);
    assert!(find(&reading, "Push the tag").content.starts_with("Commands: To release:\n1. Run"));
    assert_eq!(find(&reading, "orders").content, "Style: table: orders; owner: Marta");
    let own = find(&reading, "German");
    assert!(own.by_person && own.project.is_none() && own.scope == Scope::Global);
    assert!(reading.skipped[0].reason.contains("@AGENTS.md"), "{:?}", reading.skipped);
    let agents = home.read(Format::AgentsMd, &[]);
    assert_eq!(
        contents(&agents),
        ["Testing: Tests use a database of their own, never the one of staging"]
    );
}

#[test]
fn codex_memories_are_read_once() {
    let home = Home::new();
    let reading = home.read(Format::CodexMemory, &[fixture("codex-memory")]);
    let found = contents(&reading);
    assert_eq!(found.len(), 6, "{found:#?}");
    let kiln = Some(ForeignProject::Folder("/srv/work/kiln".to_owned()));
    assert_eq!(find(&reading, "watchdog enabled").project, kiln);
    assert_eq!(find(&reading, "oscilloscope").project, None);
    assert_eq!(find(&reading, "plain answers").scope, Scope::Global);
    let session = find(&reading, "80 ms");
    assert_eq!((session.kind, &session.project), (MemoryType::Episodic, &kiln));
    assert_eq!(session.metadata["event_date"], "2026-03-14");
    assert_eq!(session.created_at, 1_773_482_400_000);
    assert!(
        !found.iter().any(|text| text.contains("probe-rs") || text.contains("rollout_summaries/"))
    );
    assert!(reading.skipped.iter().any(|skipped| skipped.path.ends_with("raw_memories.md")));
    let raw = home.read(Format::CodexMemory, &[fixture("codex-memory/raw_memories.md")]);
    assert_eq!(raw.memories[0].own_id.as_deref(), Some("019f0a40-0000-7000-8000-000000000001"));
}

#[test]
fn a_graph_of_server_memory_keeps_entities_and_relations() {
    let home = Home::new();
    let file = home.path("graph.jsonl");
    fs::copy(fixture("server-memory/memory.jsonl"), &file).expect("it is copied");
    let config =
        format!(r#"{{"mcpServers":{{"memory":{{"env":{{"MEMORY_FILE_PATH":{file:?}}}}}}}}}"#);
    home.write(".claude.json", &config);
    let reading = home.read(Format::ServerMemory, &[]);
    assert_eq!(
        contents(&reading),
        [
            "Marta Lindqvist (person)",
            "Marta Lindqvist: Works at the ceramics studio on Thursdays",
            "Marta Lindqvist: Prefers written reviews to meetings",
            "kiln service (system)",
            "kiln service: Runs on port 8077",
            "kiln service: Was moved to the new host on 2026-03-14",
            "glaze shop (project)"
        ]
    );
    let marta = &reading.memories[0];
    assert_eq!((marta.kind, marta.relations[0].to.as_str()), (MemoryType::Entity, "kiln service"));
    let error = home.try_read(Format::ServerMemory, &[fixture("project/CLAUDE.md")]);
    assert!(error.is_err_and(|error| error.contains("is not JSON")));
}

#[test]
fn databases_of_other_programs_are_read_without_what_was_deleted() {
    let home = Home::new();
    let cases: [(Format, &str, &str, &[&str]); 4] = [
        (
            Format::McpMemoryService,
            ".local/share/mcp-memory/sqlite_vec.db",
            "mcp-memory-service/sqlite_vec.sql",
            &["The staging server is called heron", "The release of March went out on a Tuesday"],
        ),
        (
            Format::Engram,
            ".engram/engram.db",
            "engram/engram.sql",
            &[
                "Watchdog reset\n\nThe display update starved the control loop; it has its own task now.",
                "Units\n\nTemperatures are in degrees Celsius.",
            ],
        ),
        (
            Format::Mem0,
            ".mem0/history.db",
            "mem0/history.sql",
            &["Prefers black coffee in the morning", "The workshop is in hall three"],
        ),
        (
            Format::LociMcp,
            ".loci/memory.db",
            "loci-mcp/memory.sql",
            &[
                "Marta looks after the kilns",
                "The large kiln",
                "The large kiln was moved to hall three",
            ],
        ),
    ];
    for (format, path, sql, expected) in cases {
        let path = home.database(path, sql);
        let before = fs::read(&path).expect("it is readable");
        let reading = home.read(format, &[]);
        assert_eq!(contents(&reading), expected, "{format}");
        let is_old = |text: &&SkippedText| text.reason.starts_with("was ");
        let (old, others): (Vec<_>, Vec<_>) = reading.skipped.iter().partition(is_old);
        assert_eq!(old.len(), if format == Format::Mem0 { 3 } else { 1 }, "{format}: {old:?}");
        assert!(old.iter().all(|text| text.place.starts_with("row ")), "{format}: {old:?}");
        assert_eq!(others.len(), 1, "{format}: {others:?}");
        assert!(others[0].reason.starts_with("fields that only serve the program: "), "{others:?}");
        assert!(reading.memories.iter().all(|memory| memory.created_at > 0), "{format}");
        assert_eq!(fs::read(&path).expect("it is readable"), before, "{format}");
        let beside = fs::read_dir(path.parent().expect("it has one")).expect("it is readable");
        assert_eq!(beside.count(), 1, "{format}: nothing was created");
        let other = home.write("text.db", "no database");
        assert!(home.try_read(format, &[other]).is_err(), "{format}");
    }
    let reading = home.read(Format::Engram, &[]);
    assert_eq!(
        reading.memories[0].project,
        Some(ForeignProject::Folder("/srv/work/kiln".to_owned()))
    );
    assert_eq!(reading.memories[1].scope, Scope::Global);
    let reading = home.read(Format::LociMcp, &[]);
    assert_eq!(reading.memories[0].relations[0].predicate, "maintains");
    assert_eq!(reading.memories[2].project, Some(ForeignProject::Named("pottery".to_owned())));
}

#[test]
fn json_exports_are_read() {
    let home = Home::new();
    let engram = home.read(Format::Engram, &[fixture("engram/export.json")]);
    assert_eq!(engram.memories.len(), 2);
    let mem0 = home.read(Format::Mem0, &[fixture("mem0/export.json")]);
    assert_eq!(
        contents(&mem0),
        ["Prefers black coffee in the morning", "The workshop is in hall three"]
    );
    assert_eq!(mem0.memories[1].created_at, 1_770_224_400_000);
}

#[test]
fn what_an_export_of_loomem_leaves_out_is_bounded_and_counted() {
    let home = Home::new();
    let file = home.write("x.json", &format!("[{}{{}}]", "{},".repeat(2_999)));
    let reading = home.read(Format::Loomem, &[file]);
    assert_eq!((reading.memories.len(), reading.skipped.len()), (0, 1_000));
    assert_eq!(reading.skipped_more["a chunk without an id"], 2_000);
    let edges = r#"{"source": "A", "target": "B"},"#;
    let edges: String = (0..2_000).map(|n| edges.replace('B', &format!("B{n}"))).collect();
    let text = format!(r#"{{"edges": [{}]}}"#, edges.trim_end_matches(','));
    let reading = home.read(Format::Loomem, &[home.write("edges.json", &text)]);
    assert_eq!((reading.skipped.len(), reading.skipped_more.len()), (1_000, 1));
}

#[test]
fn a_graph_of_loomem_is_read_in_linear_time() {
    let home = Home::new();
    let read = |count: usize| {
        let name = |at: usize| format!("Ent{}", at % count);
        let entities: Vec<_> = (0..count).map(|at| json!({"canonical_name": name(at)})).collect();
        let edges: Vec<_> = (0..3 * count)
            .map(|at| json!({"source": name(at), "target": name(at * 7), "relation_type": "knows"}))
            .collect();
        let text = json!({"entities": entities, "edges": edges}).to_string();
        let file = home.write(&format!("{count}.json"), &text);
        let started = std::time::Instant::now();
        let reading = home.read(Format::Loomem, &[file]);
        let took = started.elapsed();
        assert_eq!(reading.memories.len(), count);
        assert!(reading.memories.iter().all(|memory| memory.relations.len() == 3));
        took
    };
    // Entities times edges took 70 s for these; linear is 0.2 s.
    assert!(read(16_000) < std::time::Duration::from_secs(20));
}

#[test]
fn a_faulty_line_of_loomem_is_named_and_the_others_are_read() {
    let home = Home::new();
    let chunk = |id: &str| {
        format!(r#"{{"id": "{id}", "content": "Text of {id}", "timestamp": 1700000000000}}"#)
    };
    let lines = format!("{}\n\n{{\"id\": \"b\"\n{}\n7\n", chunk("a"), chunk("c"));
    let reading = home.read(Format::Loomem, &[home.write("x.jsonl", &lines)]);
    assert_eq!(contents(&reading), ["Text of a", "Text of c"]);
    assert_eq!(reading.memories[0].created_at, 1_700_000_000_000);
    let skipped: Vec<String> =
        reading.skipped.iter().map(|text| format!("{}: {}", text.place, text.reason)).collect();
    assert!(skipped[0].starts_with("line 3: {\"id\": \"b\": is not JSON: EOF"), "{skipped:?}");
    assert_eq!(skipped[1..], ["line 5: 7: is no JSON object"]);
    let broken = home.write("y.json", "[\n{\"id\": \"a\", \"content\": \"x y\"},\n{\"id\": }\n]");
    let refused = home.try_read(Format::Loomem, &[broken]).expect_err("is refused");
    assert!(refused.contains("is not JSON of loomem: expected value at line 3"), "{refused}");
}

#[test]
fn chunks_of_loomem_become_facts_and_episodes() {
    let home = Home::new();
    let reading = home.read(Format::Loomem, &[fixture("loomem/export.json")]);
    assert_eq!(
        contents(&reading),
        [
            "Marta prefers Cursor to VSCode",
            "The kiln was repaired by the north door",
            "Marta (person)",
            "Cursor (technology)"
        ]
    );
    let [fact, event, marta, _] = &reading.memories[..] else { panic!("{reading:?}") };
    assert_eq!((fact.kind, fact.scope), (MemoryType::Semantic, Scope::Global));
    assert_eq!(fact.created_at, 1_772_618_400_000);
    assert_eq!(
        (&fact.metadata["category"], &fact.metadata["subject"]),
        (&json!("preference"), &json!("Marta"))
    );
    assert_eq!((event.kind, event.scope), (MemoryType::Episodic, Scope::Group));
    assert_eq!(event.project, Some(ForeignProject::Named("kilns".to_owned())));
    assert_eq!(
        (marta.relations[0].predicate.as_str(), marta.relations[0].to.as_str()),
        ("uses", "Cursor")
    );
    assert_eq!(reading.skipped.len(), 2, "{:?}", reading.skipped);
    assert_eq!(reading.skipped[0].reason, "was replaced");
    assert!(reading.skipped[1].reason.contains("source_ids (1)"), "{:?}", reading.skipped);

    let chunks = r#"{"chunks": [
        {"id": "new", "content": "The lamp is red", "timestamp": 1772700000, "persistent": true,
         "extraction_meta": {"event_date": "not a date"}},
        {"id": "old", "content": "The lamp is green", "timestamp": 1772600000}],
        "entities": [{"canonical_name": "Lamp"}],
        "edges": [{"source": "Lamp", "target": "Cellar", "relation_type": "is_in"}]}"#;
    let reading = home.read(Format::Loomem, &[home.write("order.json", chunks)]);
    assert_eq!(contents(&reading), ["The lamp is green", "The lamp is red", "Lamp (entity)"]);
    let [old, new, _] = &reading.memories[..] else { panic!("{reading:?}") };
    assert_eq!((old.pinned, new.pinned), (false, true));
    assert!(!new.metadata.contains_key("event_date"), "{new:?}");
    assert!(reading.skipped[0].reason.contains("Cellar"), "{:?}", reading.skipped);

    let lines = "{\"id\": 1, \"content\": \"The kiln hums\", \"level\": 0}\n{\"id\": 2, \"content\": \"The kiln is red\", \"level\": 1}\n";
    let lines = home.read(Format::Loomem, &[home.write("chunks.jsonl", lines)]);
    assert_eq!(contents(&lines), ["The kiln hums", "The kiln is red"]);
    let alone = r#"{"entities": [{"canonical_name": "Solo"}], "edges": []}"#;
    let alone = home.read(Format::Loomem, &[home.write("alone.json", alone)]);
    assert_eq!(contents(&alone), ["Solo (entity)"]);
    for text in ["", "no JSON", "[1, 2"] {
        let path = home.write("bad.json", text);
        let read = home.try_read(Format::Loomem, &[path]);
        assert!(text.is_empty() || read.is_err(), "{text}");
    }
}

#[test]
fn notes_of_basic_memory_become_entities_with_observations() {
    let home = Home::new();
    let reading = home.read(Format::BasicMemory, &[fixture("basic-memory")]);
    assert_eq!(
        contents(&reading),
        [
            "Kiln Controller (note)",
            "Kiln Controller: The controller drives two kilns.",
            "Kiln Controller: The board is revision C #kiln",
            "Kiln Controller: No firing above 1280 degrees (safety)",
            "Large Kiln (machine)",
            "Large Kiln: Stands in hall three"
        ]
    );
    let relations: Vec<(&str, &str)> = reading.memories[0]
        .relations
        .iter()
        .map(|relation| (relation.predicate.as_str(), relation.to.as_str()))
        .collect();
    assert_eq!(relations, [("drives", "Large Kiln"), ("documented_in", "Firing Notes")]);
    assert_eq!(reading.memories[2].metadata["category"], "hardware");
    assert_eq!(reading.memories[0].created_at, 1_772_323_200_000);
}

#[test]
fn a_secret_is_left_out_of_the_reading() {
    let home = Home::new();
    let token = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let text = format!("- The server is heron\n- The token is {token}\n");
    let path = home.write("notes.md", &text);
    let reading = home.read(Format::Markdown, &[path]);
    assert_eq!(contents(&reading), ["The server is heron"]);
    assert!(reading.skipped[0].reason.contains("github-token"), "{:?}", reading.skipped);
    assert!(!format!("{reading:?}").contains(&token));
}

#[test]
fn what_is_not_there_is_an_error_that_names_the_next_step() {
    let home = Home::new();
    for format in Format::ALL {
        let error = home.try_read(*format, &[]).expect_err("nothing is there");
        assert!(error.contains(&format!("loci import --from {format} PATH")), "{error}");
    }
    let error = home.try_read(Format::Markdown, &[PathBuf::from("/nowhere/x.md")]);
    assert!(error.is_err_and(|error| error.contains("/nowhere/x.md does not exist")));
}

#[test]
fn only_what_a_person_wrote_for_agents_is_read_from_the_folder_of_a_client() {
    let home = Home::new();
    home.write(".claude/CLAUDE.md", "Answer in English.\n");
    home.write(".claude/rules/style.md", "Write short sentences.\n");
    home.write(".claude/plugins/cache/other/README.md", "Install from elsewhere.\n");
    home.write(".claude/projects/-w-x/memory/MEMORY.md", "- An agent noted this.\n");
    let folder = home.path(".claude/x").parent().expect("a folder").to_path_buf();
    let reading = home.read(Format::ClaudeMd, &[folder]);
    let found: Vec<_> =
        reading.memories.iter().map(|m| (m.content.as_str(), m.by_person)).collect();
    assert_eq!(found, [("Answer in English.", true), ("Write short sentences.", true)]);
    // A file that is named is read, but it is nobody's instruction.
    let readme = home.path(".claude/plugins/cache/other/README.md");
    let reading = home.read(Format::ClaudeMd, &[readme]);
    assert!(reading.memories.iter().all(|memory| !memory.by_person), "{reading:?}");
    assert_eq!(contents(&reading), ["Install from elsewhere."]);
}

#[test]
fn deep_lists_and_quotes_cost_little_stack_and_memory() {
    let home = Home::new();
    let list: String = (0..2_000).map(|level| "  ".repeat(level) + "- item\n").collect();
    let list = home.write("list/CLAUDE.md", &list);
    let quote = home.write("quote/CLAUDE.md", &(">".repeat(20_000) + " said\n"));
    for path in [list, quote] {
        let reading = home.read(Format::ClaudeMd, &[path]);
        let bytes: usize = reading.memories.iter().map(|memory| memory.content.len()).sum();
        assert!(bytes < 8 << 20, "{bytes}");
    }
}

#[test]
fn named_pipes_are_not_waited_for_and_links_out_of_a_folder_are_not_followed() {
    let home = Home::new();
    let pipes = [
        (".claude.json", Format::ServerMemory),
        (".basic-memory/config.json", Format::BasicMemory),
        (".claude/projects/-w-x/a.jsonl", Format::ClaudeMemory),
        (".engram/engram.db", Format::Engram),
        ("work/shop/CLAUDE.md", Format::ClaudeMd),
    ];
    home.write(".claude/projects/-w-x/memory/MEMORY.md", "- A statement.\n");
    for (name, format) in pipes {
        let path = home.path(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("mkfifo runs").success());
        let _ = home.try_read(format, &[]);
    }
    let secret = home.write("elsewhere/other.md", "A text of another place.\n");
    let folder = home.path("work/notes/x").parent().expect("a folder").to_path_buf();
    home.write("work/notes/own.md", "A note.\n");
    std::os::unix::fs::symlink(&secret, folder.join("link.md")).expect("the link is created");
    let reading = home.read(Format::Markdown, &[folder]);
    assert_eq!(contents(&reading), ["A note."]);
    assert!(reading.skipped.iter().any(|text| text.reason.contains("link")), "{reading:?}");
}
