//! Screens the lines of an import before they are written anywhere: the same policy as for every
//! other text.
//!
//! The vectors of a memory whose text was changed are dropped, since they are of the old text; they
//! are computed again.

use crate::privacy::Policy;
use crate::privacy::request::{Texts, check_group};
use crate::transfer::parse::{VECTOR_PREFIX, parse};
use crate::transfer::record::{Base64Bytes, LogLine, Record};
use loci_proto::error::Failure;
use loci_proto::foreign::ForeignLine;
use loci_proto::memory::MemoryId;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The screening of one file.
#[derive(Debug)]
pub struct LineScreen<'a> {
    policy: &'a Policy,
    /// Memories whose text was changed.
    changed: HashSet<MemoryId>,
}

impl<'a> LineScreen<'a> {
    /// Creates one for a file.
    #[must_use]
    pub fn new(policy: &'a Policy) -> Self {
        Self { policy, changed: HashSet::new() }
    }

    /// Screens one line without its end. Returns the line to import in its place, if it changes, and
    /// what was replaced.
    ///
    /// # Errors
    /// `secret_detected` or `invalid`, naming the field.
    pub fn screen(&mut self, line: &[u8]) -> Result<(Option<Vec<u8>>, Vec<String>), Failure> {
        if line.starts_with(VECTOR_PREFIX) && self.changed.is_empty() {
            return Ok((None, Vec::new()));
        }
        let mut texts = Texts::new(self.policy);
        let Ok(mut record) = parse(&mut line.to_vec()) else {
            if let Ok(mut foreign) = serde_json::from_slice::<ForeignLine>(line) {
                let is_changed = screen_foreign(&mut texts, &mut foreign)?;
                let changed = is_changed.then(|| serde_json::to_vec(&foreign)).transpose();
                let changed =
                    changed.map_err(|error| Failure::invalid("the line", error.to_string()))?;
                return Ok((changed, texts.redacted));
            }
            // The import will refuse the line; it must not hold a secret until then.
            let mut text = String::from_utf8_lossy(line).into_owned();
            texts.text("the line", &mut text)?;
            let is_changed = !texts.redacted.is_empty();
            return Ok((is_changed.then(|| text.into_bytes()), texts.redacted));
        };
        let before = record.clone();
        self.record(&mut texts, &mut record)?;
        let changed = (record != before).then(|| serde_json::to_vec(&record)).transpose();
        let changed = changed.map_err(|error| Failure::invalid("the line", error.to_string()))?;
        Ok((changed, texts.redacted))
    }

    fn record(&mut self, texts: &mut Texts<'_>, record: &mut Record) -> Result<(), Failure> {
        match record {
            Record::Memory(memory) => {
                let before = memory.content.clone();
                texts.content("content", &mut memory.content)?;
                if memory.content != before {
                    self.changed.insert(memory.id.clone());
                }
                texts.metadata(&mut memory.metadata)?;
                let group = memory.group.as_deref().unwrap_or_default();
                check_group(self.policy, "group", group)?;
                for (field, name) in
                    [("client", &mut memory.client), ("session", &mut memory.session)]
                {
                    name.iter_mut().try_for_each(|name| texts.text(field, name))?;
                }
                memory
                    .forgotten_reason
                    .iter_mut()
                    .try_for_each(|text| texts.text("forgotten_reason", text))
            }
            Record::Variant(variant) => texts.content("content", &mut variant.content),
            Record::Vector(vector) => {
                if self.changed.contains(&vector.memory) {
                    (vector.numbers, vector.codes) = (Base64Bytes(None), None);
                }
                Ok(())
            }
            Record::Relation(relation) => texts.text("predicate", &mut relation.predicate),
            Record::Log(log) => screen_log(texts, log),
            Record::Group(group) => [&group.id, &group.name]
                .into_iter()
                .chain(&group.aliases)
                .try_for_each(|name| check_group(self.policy, "name", name)),
            Record::Cluster(cluster) => texts.text("key", &mut cluster.key),
            Record::Source(_) | Record::Tombstone(_) | Record::End(_) => Ok(()),
        }
    }
}

/// Screens a line of another program; returns whether it has changed.
fn screen_foreign(texts: &mut Texts<'_>, line: &mut ForeignLine) -> Result<bool, Failure> {
    let before = line.clone();
    match line {
        ForeignLine::File { path } => texts.text("path", path)?,
        ForeignLine::Project(_) => {}
        ForeignLine::Memory(memory) => {
            texts.content("content", &mut memory.content)?;
            texts.metadata(&mut memory.metadata)?;
            texts.text("path", &mut memory.path)?;
            texts.text("place", &mut memory.place)?;
            for relation in &mut memory.relations {
                texts.text("predicate", &mut relation.predicate)?;
            }
        }
    }
    Ok(*line != before)
}

fn screen_log(texts: &mut Texts<'_>, log: &mut LogLine) -> Result<(), Failure> {
    if let Some(details) = &mut log.details {
        match serde_json::from_str::<Map<String, Value>>(details) {
            Ok(mut object) => {
                let before = object.clone();
                texts.metadata(&mut object)?;
                if object != before {
                    *details = Value::Object(object).to_string();
                }
            }
            Err(_) => texts.text("details", details)?,
        }
    }
    [("client", &mut log.client), ("session", &mut log.session), ("group", &mut log.group)]
        .into_iter()
        .try_for_each(|(field, text)| text.iter_mut().try_for_each(|text| texts.text(field, text)))
}
