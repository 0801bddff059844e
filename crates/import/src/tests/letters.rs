//! Every letter of a source is accounted for: it is in a memory, or in what is listed as left out.

use super::{Home, contents};
use loci_proto::foreign::{ForeignMemory, Format, Reading};
use proptest::prelude::*;

/// Returns the letters and digits of a text.
pub(super) fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Returns the letters of a memory: of its place, text, metadata and relations.
pub(super) fn of_memory(memory: &ForeignMemory) -> String {
    let related = memory.relations.iter().flat_map(|to| [to.predicate.as_str(), to.to.as_str()]);
    let related = related.collect::<Vec<_>>().join(" ");
    let metadata = serde_json::to_string(&memory.metadata).expect("it is JSON");
    let project = format!("{:?}", memory.project);
    letters(&format!("{} {} {metadata} {related} {project}", memory.place, memory.content))
}

/// Returns the lines that the place of a text left out names.
pub(super) fn lines_of(place: &str) -> Option<std::ops::RangeInclusive<usize>> {
    let rest = place.strip_prefix("line ").or_else(|| place.strip_prefix("lines "))?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    let (first, last) = rest[..end].split_once('-').unwrap_or((&rest[..end], &rest[..end]));
    Some(first.parse().ok()?..=last.parse().ok()?)
}

fn is_left_out(reading: &Reading, line: usize, word: &str) -> bool {
    reading.skipped.iter().any(|text| {
        let is_named = letters(&format!("{} {}", text.place, text.reason)).contains(word);
        is_named
            || text.place.is_empty()
            || lines_of(&text.place).is_some_and(|l| l.contains(&line))
    })
}

/// Returns the words of a text that are neither in a memory nor left out, with their lines.
fn lost(text: &str, reading: &Reading) -> Vec<String> {
    let memories: Vec<String> = reading.memories.iter().map(of_memory).collect();
    let mut lost = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for word in line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let is_kept = memories.iter().any(|memory| memory.contains(word));
            if !is_kept && !is_left_out(reading, number + 1, word) {
                lost.push(format!("{word} in line {}", number + 1));
            }
        }
    }
    lost
}

fn read(name: &str, text: &str) -> Reading {
    let home = Home::new();
    let path = home.write(name, text);
    home.read(Format::Markdown, &[path])
}

/// A block of Markdown: its text; `@` stands for a word to keep, `~` for one to leave out.
const BLOCKS: [&str; 53] = [
    "@ @ @.",
    "# @ @",
    "## @",
    "### @ [@](https://@.example/@)",
    "@ @\n=====",
    "@\n-----",
    "- @ @\n- @\n  - @ *@*\n  - @",
    "1. @\n2. @ `@`\n   1. @\n3. @",
    "12) @\n13) @",
    "* [ ] @\n* [ ] @ @",
    "> @ @\n> @\n>\n> - @",
    "```sh\n@ --@\n```",
    "    @ @",
    "```\n@\n\n@\n```",
    "@:\n\n- @\n- @",
    "@:\n\n1. @\n2. @",
    "@:\n\n```rust\n@();\n```",
    "@:",
    "| @ | @ |\n|---|---|\n| @ | @ `@ | @` |\n| @ | |",
    "| @ | @ |\n|---|---|\n| @ | [@](https://@.example) |",
    "| @ | @ |\n|:-:|---|",
    "<important>\n@ @\n@\n</important>",
    "<details>\n<summary>@ @</summary>\n\n- @\n\n</details>",
    "<details><summary>@</summary>\n@ @\n</details>",
    "<custom-rule id=\"@\">@ @</custom-rule>",
    "<div align=\"center\">\n  <p>@ <b>@</b></p>\n    <p>@</p>\n</div>",
    "<table><tr><th>@</th><th>@</th></tr>\n<tr><td>@</td><td>@</td></tr></table>",
    "<ul>\n  <li>@ @</li>\n    <li>@</li><li>@</li>\n</ul>",
    "<h2>@</h2>\n<p>@</p>",
    "<pre>\n@\n</pre>",
    "<!-- ~ -->",
    "<!-- ~ ~ --> @ @",
    "<!--\n~\n\n~\n-->\n@",
    "@ <!-- ~ --> @",
    "%% ~ %%",
    "@ %% ~ %% @",
    "%%\n~\n\n~ ~\n%%",
    "```dataview\nLIST ~\n```",
    "![~](~.png)",
    "![[~.png]]",
    "@ ![@](@.png) @",
    "@ [@][@] [@](<@ @> \"@\") <https://@.example>",
    "@[^a@]\n\n[^a@]: @ @\n    @",
    "[@]: https://@.example '@'",
    "@\n: @\n: @",
    "@  \n@\\\n@",
    "@\\_@ 1\\. @ &amp; &copy; @*@*@ __@__ ~~@~~ $@$ @&nbsp;@",
    "***\n@ 5 < 6 > @\n---",
    "> [!@] @\n> @\n> @",
    "> [!@]- @ @\n>\n> - @\n>   @\n> 1. @\n> 2. @\n\n@",
    "- [/] @\n- [-] @\n- [>] @\n- [@] @",
    "<table>\n<thead><tr>\n<th>@</th>\n<th>@</th><th>@</th></tr></thead>\n<tr><td>@</td><td>@</td><td>@</td></tr>\n<tr><td>@</td><td>@</td><td></td><td>@</td></tr>\n</table>",
    "> @ @\n> > @\n> > @\n> ```\n> @\n> @\n> ```",
];

/// The headings among them that are underlined.
const SETEXT: [usize; 2] = [4, 5];

/// Returns Markdown with its words, and which of them must be kept.
fn markdown(chosen: &[(usize, bool)]) -> (String, Vec<Vec<String>>, Vec<String>) {
    let (mut text, mut kept, mut left_out) = (String::new(), Vec::new(), Vec::new());
    let mut number = 0;
    for (index, is_close) in chosen {
        let mut of_block = Vec::new();
        for c in BLOCKS[*index].replace("~~", "\u{1}").chars() {
            number += usize::from(c == '@' || c == '~');
            match c {
                '@' => {
                    of_block.push(format!("kq{number}z"));
                    text.push_str(&of_block[of_block.len() - 1]);
                }
                '~' => {
                    left_out.push(format!("vq{number}z"));
                    text.push_str(&left_out[left_out.len() - 1]);
                }
                '\u{1}' => text.push_str("~~"),
                c => text.push(c),
            }
        }
        text.push_str(if *is_close { "\n" } else { "\n\n" });
        kept.push(of_block);
    }
    (text, kept, left_out)
}

/// Files of each format that has Markdown, and how they begin.
const FILES: [(Format, &str, &str); 12] = [
    (Format::ClaudeMd, "work/shop/CLAUDE.md", "# CLAUDE.md\n\nSee @docs/other.md\n\n"),
    (Format::AgentsMd, "work/shop/AGENTS.md", "---\napplies: all\n---\n"),
    (Format::ClaudeMemory, "p/memory/MEMORY.md", "# Memory\n\n- [Other](other.md) - what\n\n"),
    (
        Format::ClaudeMemory,
        "p/memory/a.md",
        "---\nname: alpha beta\ndescription: gamma: delta\ntype: user\nextra: [kappa]\n---\n\n",
    ),
    (
        Format::ClaudeMemory,
        "p/memory/b.md",
        "---\nname: b\nmetadata:\n  type: user\n  node: lambda\ncreated: not sure\n---\n",
    ),
    (
        Format::CodexMemory,
        "c/MEMORY.md",
        "above it\n\n# Task Group: shop\nscope: deploys\napplies_to: cwd=/srv/shop; reuse_rule=safe\n\n### keywords\n\n- deploy\n\n## Knowledge\n\n",
    ),
    (Format::CodexMemory, "c/memory_summary.md", "## User Profile\n\n"),
    (Format::CodexMemory, "c/notes.md", "---\ntopic: x\n---\n"),
    (Format::CodexMemory, "c/rollout_summaries/s.md", "thread_id: 1\ncwd: /srv/shop\n\n"),
    (
        Format::CodexMemory,
        "d/raw_memories.md",
        "# Raw Memories\n\nMerged.\n\n## Thread `t1`\ncwd: /srv/shop\n\n---\ntask: fix\n---\n\n",
    ),
    (
        Format::BasicMemory,
        "kb/note.md",
        "---\ntitle: Kiln: large\ntype: machine\ntags: [2024, hot]\npermalink: kiln\nowner: anna\n---\n\n# Kiln: large\n\n## Observations\n- [state] hot #tag (why)\n- drives [[Pump|the pump]] (soon)\n\n## Uses\n\n- needs [[Wood]]\n\n",
    ),
    (Format::Markdown, "n/+.md", "+++\ntitle = \"Kiln\"\n+++\n"),
];
/// Words of those that a memory has in other words.
const KNOWN: [&str; 16] = [
    "Task",
    "Group",
    "name",
    "description",
    "type",
    "user",
    "metadata",
    "title",
    "tags",
    "permalink",
    "cwd",
    "shop",
    "srv",
    "thread",
    "machine",
    "applies",
];

/// What stands around other blocks: before the first line, before the others, and below.
const AROUND: [(&str, &str, &str); 8] = [
    ("- ", "  ", ""),
    ("3. ", "   ", "4. four\n"),
    ("> ", "> ", "\n"),
    ("<rule kind=\"a\">\n", "", "</rule>\n"),
    ("<div>\n\n", "", "\n</div>\n"),
    ("## Above\n", "", "## Below\n"),
    ("Above it:\n\n", "", "below it\n"),
    ("  ", "    ", ""),
];

fn check(chosen: &[(usize, bool)]) -> Result<(), TestCaseError> {
    let (text, kept, left_out) = markdown(chosen);
    let reading = read("notes.md", &text);
    let memories: Vec<String> = reading.memories.iter().map(of_memory).collect();
    let all = memories.concat();
    let is_apart = chosen.iter().all(|(_, is_close)| !is_close);
    for (words, (index, _)) in kept.iter().zip(chosen) {
        // A heading above what is left out, and an address to which nothing refers.
        let may_be_listed =
            !is_apart || BLOCKS[*index].starts_with(['#', '[']) || SETEXT.contains(index);
        let mut at = 0;
        for word in words {
            let is_in_order = all[at..].find(word.as_str()).map(|found| at += found).is_some();
            // What a line refers to stands below it.
            let is_kept = is_in_order || all.contains(word.as_str());
            let line = text.lines().position(|line| line.contains(word.as_str())).unwrap_or(0);
            let is_listed = may_be_listed && is_left_out(&reading, line + 1, word);
            prop_assert!(is_kept || is_listed, "{word} of\n{text}\n{reading:#?}");
        }
    }
    for word in &left_out {
        let line = text.lines().position(|line| line.contains(word.as_str())).unwrap_or(0);
        if is_apart {
            prop_assert!(
                !all.contains(word.as_str()),
                "{word} of\n{text}\n{:#?}",
                contents(&reading)
            );
            prop_assert!(is_left_out(&reading, line + 1, word), "{word} of\n{text}\n{reading:#?}");
        }
    }
    prop_assert!(lost(&text, &reading).is_empty(), "{:?} of\n{text}", lost(&text, &reading));
    Ok(())
}

#[test]
fn every_letter_of_each_kind_of_block_is_accounted_for() {
    let broken: Vec<String> = (0..BLOCKS.len())
        .filter_map(|index| check(&[(index, false)]).err().map(|error| error.to_string()))
        .collect();
    assert!(broken.is_empty(), "{} of {}:\n{}", broken.len(), BLOCKS.len(), broken.join("\n\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_letter_of_any_markdown_is_accounted_for(
        chosen in prop::collection::vec((0..BLOCKS.len(), any::<bool>()), 1..14)
    ) {
        check(&chosen)?;
    }

    #[test]
    fn every_letter_of_any_markdown_is_accounted_for_in_every_format(
        chosen in prop::collection::vec((0..BLOCKS.len(), any::<bool>()), 1..6)
    ) {
        let (text, _, _) = markdown(&chosen);
        let home = Home::new();
        for (format, name, top) in FILES {
            let text = format!("{top}{text}");
            let reading = home.read(format, &[home.write(name, &text)]);
            // The names of fields, and what a memory says in other words.
            let mut lost = lost(&text, &reading);
            lost.retain(|word| !KNOWN.iter().any(|known| word.starts_with(known)));
            prop_assert!(lost.is_empty(), "{lost:?} of {format} {name}\n{text}\n{reading:#?}");
        }
    }

    #[test]
    fn every_letter_of_blocks_inside_others_is_accounted_for(
        chosen in prop::collection::vec((0..BLOCKS.len(), any::<bool>()), 1..5),
        around in prop::collection::vec(0..AROUND.len(), 1..4)
    ) {
        let (mut text, _, _) = markdown(&chosen);
        for index in around {
            let (first, next, end) = AROUND[index];
            let lines = text.trim_end().lines().enumerate();
            let lines = lines.map(|(at, line)| format!("{}{line}\n", if at == 0 { first } else { next }));
            text = lines.collect::<Vec<_>>().concat() + end;
        }
        let reading = read("notes.md", &text);
        prop_assert!(lost(&text, &reading).is_empty(), "{:?} of\n{text}\n{reading:#?}", lost(&text, &reading));
    }

    #[test]
    fn every_letter_of_any_text_is_accounted_for(text in "[ab0 \n#>*`|<>/!%\\-_:.\\[\\](){}\"&;=+~]{0,120}") {
        let reading = read("notes.md", &text);
        prop_assert!(lost(&text, &reading).is_empty(), "{:?} of\n{text}\n{reading:#?}", lost(&text, &reading));
    }
}

#[test]
fn every_letter_of_the_fixtures_is_accounted_for() {
    let home = Home::new();
    for (format, name) in [
        (Format::ClaudeMemory, "claude-memory/projects/-srv-work-kiln/memory/MEMORY.md"),
        (Format::ClaudeMemory, "claude-memory/projects/-srv-work-kiln/memory/firing.md"),
        (Format::ClaudeMd, "project/CLAUDE.md"),
        (Format::AgentsMd, "project/AGENTS.md"),
        (Format::CodexMemory, "codex-memory/MEMORY.md"),
        (Format::CodexMemory, "codex-memory/memory_summary.md"),
        (Format::CodexMemory, "codex-memory/raw_memories.md"),
        (Format::BasicMemory, "basic-memory/Kiln Controller.md"),
    ] {
        let path = super::fixture(name);
        let text = std::fs::read_to_string(&path).expect("the fixture is there");
        let reading = home.read(format, &[path]);
        let mut lost = lost(&text, &reading);
        lost.retain(|word| !KNOWN.iter().any(|known| word.starts_with(known)));
        // The day of a note is its time.
        lost.retain(|word| !word.ends_with("in line 6"));
        assert!(lost.is_empty(), "{lost:?} of {name}: {reading:#?}");
    }
}

#[test]
fn hostile_markup_costs_little_time() {
    let home = Home::new();
    let units = [
        "<x>",
        "<x>\n",
        "<x>\n\na\n\n",
        "</x>\n\n",
        "<a ",
        "<a href='",
        "%% ",
        "%%a%% ",
        "<!-- ",
        "<!-- a -->",
        "<? ",
        "<! ",
        "<script></script>",
        "<script>\n\n",
        "<private>",
        "</private>",
        "< ",
        "<b>t</b>",
        "a <i> ",
        "[^1] ",
        "[^1]: a\n\n[^1]\n\n",
        "[a]\n\n",
        "[a]: b\n",
        "# a\n",
        "# a\n<x>\n# b\n</x>\n",
        "<li>",
        "<td>a</td>",
        "<tr><th>a</th></tr>",
        "<table><tr><td>a</td></tr></table>",
        "> [!a] b\n",
        "> [!a]\n> - b\n\n",
        "| a | b |\n|---|---|\n",
        "{\"a\":",
        "> ",
        "- ",
        "a:\n\n",
        "![[a]]",
        "---\n",
        "+++\na = 1\n",
        "`|` ",
        "<img src=a alt=b>",
        "<div>\n\n",
    ];
    for unit in units {
        let path = home.write("hostile.md", &unit.repeat(200_000 / unit.len()));
        let started = std::time::Instant::now();
        let reading = home.read(Format::Markdown, &[path]);
        let took = started.elapsed();
        assert!(took.as_secs() < 5, "{unit:?}: {took:?}, {} memories", reading.memories.len());
    }
}
