//! What the guards of earlier versions did to a store, and its repair: wordings that were merged though they say something else, flags on
//! wishes, memories that a confirmation of all imports made global, projects that a misspelt name made.
//!
//! One undo takes the repair back, and what it brought back is not offered again. Not here: damage of files (`repair`).

use crate::db::log::Operation;
use crate::db::rows::{self, Image, Row};
use crate::db::{groups, journal, memories};
use crate::duplicate::content_hash::hash;
use crate::duplicate::is_same_wording;
use crate::error::Result;
use crate::flags::{self, Flag, Flags};
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::model::memory::Memory;
use crate::model::time::Timestamp;
use crate::operations::{named_project, variants};
use crate::transaction::change::{CallContext, Change};
use crate::transaction::mentions;
use loci_proto::counted::counted;
use loci_proto::memory::{Origin, Scope, Trust};
use loci_proto::requests::doctor::Finding;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::HashSet;

/// The part of the findings.
const PART: &str = "older guards";
/// The act of the repair.
const MEND: &str = "mend";
/// What lists the memories concerned.
const NEXT_STEP: &str = "Run loci doctor --fix in a terminal; loci undo takes it back";
/// Examples that a finding shows.
const MAX_SHOWN: usize = 3;
/// Characters of an example.
const SHOWN_CHARS: usize = 60;

/// What would be mended.
#[derive(Debug, Default)]
struct OldDamage {
    /// Memories, each with a wording that is no wording of it.
    merged: Vec<(Memory, String)>,
    /// Memories, each with its right flags.
    flagged: Vec<(Memory, Flags)>,
    /// Memories that a confirmation of all imports made global.
    widened: Vec<Memory>,
}

impl Reader {
    /// Returns what `loci doctor --fix` would mend, and the projects that a misspelt name may have made. Only a person sees texts and names:
    /// they may be of isolated projects.
    ///
    /// # Errors
    /// `Database`.
    pub fn old_damage(&self, is_person: bool) -> Result<Vec<Finding>> {
        let damage = OldDamage::find(&self.conn)?;
        let finding = |found| Finding::warn(PART, found, NEXT_STEP);
        let mut findings = damage.findings(is_person, finding);
        if is_person {
            findings.extend(misspelled_projects(&self.conn)?);
        }
        Ok(findings)
    }
}

impl Writer {
    /// Mends what older guards did, as one act; returns what was done. An agent changes nothing.
    ///
    /// # Errors
    /// `Database`.
    pub fn mend(&mut self, call: &CallContext) -> Result<Vec<Finding>> {
        self.run_idempotent(call, |change| {
            let damage = OldDamage::find(change.conn)?;
            if change.call.actor.origin != Origin::Person {
                return Ok(Vec::new());
            }
            damage.mend(change)?;
            let act = change.commit_to_journal(MEND)?;
            let undo =
                act.map_or_else(String::new, |act| format!("; loci undo {act} takes it back"));
            Ok(damage.findings(true, |found| Finding::ok("repair", format!("{found}{undo}"))))
        })
    }
}

impl OldDamage {
    fn find(conn: &Connection) -> Result<Self> {
        // What an undo brought back is wanted.
        let undone =
            journal::of_kind(conn, MEND)?.into_iter().filter(|act| act.undone_at.is_some());
        let wanted: HashSet<Row> =
            undone.flat_map(|act| act.rows).map(|changed| changed.row).collect();
        // After an edit the wordings are those of another text.
        let mut edited = HashSet::new();
        journal::changes_after(conn, Timestamp(0), |_, changes| {
            let texts = changes.into_iter().filter(|changed| changed.effect.replaces_text());
            edited.extend(texts.map(|changed| changed.row));
            Ok(())
        })?;
        let mut damage = Self::default();
        for (memory, wording) in memories::with_variants(conn)? {
            let is_merged = !edited.contains(&Row::Memory(memory.seq))
                && !is_same_wording(&memory.content, &wording)
                && !wanted.contains(&Row::Variant(memory.seq, wording.clone()))
                && memories::by_hash(conn, &hash(&wording))?.is_empty();
            damage.merged.extend(is_merged.then_some((memory, wording)));
        }
        let is_offered = |memory: &Memory| !wanted.contains(&Row::Memory(memory.seq));
        for memory in memories::flagged(conn)?.into_iter().filter(is_offered) {
            let right = right_flags(&memory);
            if right != memory.provenance.flags {
                damage.flagged.push((memory, right));
            }
        }
        damage.widened = widened(conn)?.into_iter().filter(is_offered).collect();
        Ok(damage)
    }

    /// Returns a finding for each kind.
    fn findings(&self, shows_texts: bool, finding: impl Fn(String) -> Finding) -> Vec<Finding> {
        let merged = self.merged.iter().map(|(_, wording)| wording.as_str());
        let flagged = self.flagged.iter().map(|(memory, _)| memory.content.as_str());
        let widened = self.widened.iter().map(|memory| memory.content.as_str());
        let kinds = [
            (
                counted(self.merged.len(), "merged wording", "merged wordings"),
                "becomes a memory again",
                examples(merged),
            ),
            (
                counted(self.flagged.len(), "flagged memory", "flagged memories"),
                "gets the flags of today",
                examples(flagged),
            ),
            (
                counted(self.widened.len(), "memory", "memories"),
                "that a confirmation made global returns to its project",
                examples(widened),
            ),
        ];
        let sizes = [self.merged.len(), self.flagged.len(), self.widened.len()];
        let found = kinds.into_iter().zip(sizes).filter(|(_, size)| *size > 0);
        found
            .map(|((count, what, shown), _)| {
                let shown = if shows_texts { format!(": {shown}") } else { String::new() };
                finding(format!("{count}: each {what}{shown}"))
            })
            .collect()
    }

    fn mend(&self, change: &mut Change<'_>) -> Result<()> {
        for (memory, wording) in &self.merged {
            let row = Row::Variant(memory.seq, wording.clone());
            change.record_before(row.clone())?;
            rows::delete(change.conn, &row)?;
            variants::store(change, memory, wording)?;
        }
        for (memory, flags) in &self.flagged {
            set(change, memory, "flags", json!(memories::flags_column(*flags)))?;
        }
        for memory in &self.widened {
            set(change, memory, "scope", json!(Scope::Group))?;
        }
        let seqs: Vec<i64> = self.flagged.iter().map(|(memory, _)| memory.seq).collect();
        let widened = self.widened.iter().map(|memory| memory.seq);
        mentions::renew_all(change, &seqs.into_iter().chain(widened).collect::<Vec<_>>(), |_| false)
    }
}

fn set(change: &mut Change<'_>, memory: &Memory, column: &str, value: Value) -> Result<()> {
    let row = Row::Memory(memory.seq);
    change.record_before(row.clone())?;
    let details = json!({"mended": column, "to": value});
    rows::update(change.conn, &row, &Image::from_iter([(column.to_owned(), value)]))?;
    change.touch(memory.seq);
    change.log(Operation::Update, &memory.id, &details)
}

/// Returns the flags that the text would get today. What the text does not show stays.
fn right_flags(memory: &Memory) -> Flags {
    let own = if memory.provenance.trust == Trust::Import {
        flags::of_outside(&memory.content, &memory.metadata)
    } else {
        flags::of_memory(&memory.content, &memory.metadata)
    };
    let mut right = own;
    for kept in [Flag::Conflict, Flag::Hidden] {
        if memory.provenance.flags.contains(kept) {
            right.insert(kept);
        }
    }
    right
}

/// Returns the global memories that came with an import and whose confirmation left the scope of the file in force.
fn widened(conn: &Connection) -> Result<Vec<Memory>> {
    let is_import =
        |image: &Image| image.get("trust").and_then(Value::as_str) == Some(Trust::Import.as_str());
    let mut found = Vec::new();
    for act in journal::of_kind(conn, "confirm")?.into_iter().filter(|act| act.undone_at.is_none())
    {
        // A confirmation of one memory was meant for it.
        for changed in act.rows.iter().filter(|_| act.rows.len() > 1) {
            if let (Row::Memory(seq), journal::RowEffect::Set { before, after }) =
                (&changed.row, &changed.effect)
                && is_import(before)
                && !after.contains_key("scope")
            {
                let memory = memories::by_seq(conn, *seq)?;
                found.extend(
                    memory.filter(|memory| memory.scope == Scope::Global && memory.group.is_some()),
                );
            }
        }
    }
    Ok(found)
}

/// Returns the projects that have only a name, and a name like that of another one.
fn misspelled_projects(conn: &Connection) -> Result<Vec<Finding>> {
    let all = groups::names(conn)?;
    let is_named = |id: &String, name: &String| id == name;
    let mut findings = Vec::new();
    for project in all.iter().filter(|group| is_named(&group.id, &group.name)) {
        let others =
            all.iter().filter(|other| other.id != project.id && !is_named(&other.id, &other.name));
        for other in others.filter(|other| named_project::is_misspelled(&project.name, &other.name))
        {
            let found =
                format!("the project {} may be {} by another name", project.name, other.name);
            let next_step = format!("If it is: loci groups merge {} {}", project.id, other.id);
            findings.push(Finding::warn(PART, found, next_step));
        }
    }
    Ok(findings)
}

fn examples<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let shown: Vec<String> = texts
        .take(MAX_SHOWN)
        .map(|text| format!("\"{}\"", text.chars().take(SHOWN_CHARS).collect::<String>()))
        .collect();
    shown.join(", ")
}
