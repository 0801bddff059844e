//! Every relative link of a Markdown file leads to a file of the repository, and its anchor to a heading of that file.
//!
//! Not here: links to other hosts (`hosts`), paths in back ticks (`references`).

use crate::assert_rule;
use crate::repository::{File, files};
use std::collections::{BTreeMap, BTreeSet};

/// The targets of the links of a page outside code, with their lines.
fn targets(page: &str) -> Vec<(usize, String)> {
    let (mut found, mut is_block) = (Vec::new(), false);
    for (at, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
        } else if !is_block {
            // Code spans are the odd parts.
            let text: String = line
                .split('`')
                .enumerate()
                .map(|(n, part)| if n % 2 == 0 { part } else { "x" })
                .collect();
            for part in text.split("](").skip(1) {
                let target = part.split(')').next().unwrap_or_default();
                found.push((at + 1, target.split(' ').next().unwrap_or_default().to_owned()));
            }
        }
    }
    found
}

/// The anchors of a page, as code hosts make them of its headings.
fn anchors(page: &str) -> BTreeSet<String> {
    let (mut found, mut counts, mut is_block) = (BTreeSet::new(), BTreeMap::new(), false);
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
        } else if let Some(heading) = line.strip_prefix('#').filter(|_| !is_block) {
            let heading = heading.trim_start_matches('#').trim().to_lowercase();
            let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
            let anchor: String =
                heading.chars().filter(is_kept).map(|c| if c == ' ' { '-' } else { c }).collect();
            let count: &mut usize = counts.entry(anchor.clone()).or_default();
            found.insert(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
            *count += 1;
        }
    }
    found
}

/// Resolves a link of a page: `None` if it leaves the repository.
fn resolved(page: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn broken(all: &[File]) -> Vec<String> {
    let is_page = |file: &&File| file.path.to_lowercase().ends_with(".md");
    let pages: BTreeMap<&str, String> =
        all.iter().filter(is_page).map(|file| (file.path.as_str(), file.text())).collect();
    let has = |path: &str| {
        let below = format!("{path}/");
        all.iter().any(|file| file.path == path || file.path.starts_with(&below))
    };
    let mut violations = Vec::new();
    for (page, text) in &pages {
        for (line, link) in targets(text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (target, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let path =
                if target.is_empty() { Some((*page).to_owned()) } else { resolved(page, target) };
            let Some(path) = path.filter(|path| has(path)) else {
                violations.push(format!("{page}:{line}: {link} leads nowhere"));
                continue;
            };
            let has_anchor = anchor.is_empty()
                || pages.get(path.as_str()).is_some_and(|text| anchors(text).contains(anchor));
            if !has_anchor {
                violations.push(format!("{page}:{line}: {path} has no heading #{anchor}"));
            }
        }
    }
    violations
}

#[test]
fn every_relative_link_leads_to_a_file_and_a_heading() {
    let file = |path: &str, text: &str| File { path: path.into(), bytes: text.into() };
    let made_up = || {
        vec![
            file(
                "README.md",
                "[a](docs/a.md#one-two) ![b](docs/b.svg) [c](#mine)\n# Mine\n`[x](y)`\n```\n[z](z)\n```\n",
            ),
            file("docs/a.md", "## One: `two`\n[up](../README.md) [web](https://example.org)"),
            file("docs/b.svg", ""),
        ]
    };
    assert_eq!(broken(&made_up()), Vec::<String>::new());
    for bad in ["docs/c.md", "docs/a.md#three", "#yours", "../x.md", "docs/b.svg#x"] {
        let page = file("b.md", &format!("\n[b]({bad})"));
        let mut all = made_up();
        all.push(page);
        let found = broken(&all);
        assert!(found.len() == 1 && found[0].starts_with("b.md:2: "), "{bad}: {found:?}");
    }
    let rule = "Every relative link of a Markdown file leads to a file of the repository, and its anchor to a heading.";
    assert_rule(rule, &broken(&files()));
}
