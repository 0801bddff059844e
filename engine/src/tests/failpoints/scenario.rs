//! The calls during which the failpoints test lets each place fail: every kind of change, in a
//! fixed order, on a store of the first schema.
//!
//! Each call has an idempotency key, so that a call that failed can be repeated. Not here: what is
//! checked afterwards (the module above).

use crate::backups::create::NewBackup;
use crate::backups::manifest::{self, Reason};
use crate::backups::prepare::Target;
use crate::backups::recover::{WithoutBackup, recover};
use crate::backups::restore::restore;
use crate::error::Result;
use crate::handles::open::open;
use crate::handles::reader::Reader;
use crate::handles::settings::{BackupSettings, Settings};
use crate::handles::writer::Writer;
use crate::maintain::Step;
use crate::model::document::Document;
use crate::model::encoding::{DocumentEncoding, ModelEncoding, TextEncodings};
use crate::model::time::{ClockReading, Timestamp};
use crate::model::vector_set::ModelRef;
use crate::model::withheld::Withheld;
use crate::operations::reembed::{FilledMemory, Refill};
use crate::operations::store::Draft;
use crate::tests::fixture::{T0, between_axes, document_encoding, named, parse};
use crate::transaction::access::Accesses;
use crate::transaction::access::Boosting;
use crate::transaction::backfill::EncodedLater;
use crate::transaction::change::CallContext;
use loci_proto::memory::MemoryId;
use loci_proto::memory::Origin;
use loci_proto::requests::import::ImportRequest;
use loci_proto::requests::reset::ResetRequest;
use loci_proto::requests::store::StoreRequest;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of the file that the scenario imports.
pub(super) const IMPORT: &str = "import.jsonl";

type Call = fn(&mut Subject, &str) -> Result<()>;

/// The calls in order, each with the key that names it.
pub(super) const CALLS: [(&str, Call); 37] = [
    ("open", |subject, _| subject.opened().map(drop)),
    ("store", |subject, key| subject.store(key, 1, &json!({"content": "The mill is red"}))),
    ("store entities", |subject, key| subject.store_group(key, "entity", &["Bob", "Acme", "Cleo"])),
    ("supersede", |subject, key| {
        let old = subject.id("The mill is red")?;
        subject.store(key, 2, &json!({"content": "The mill is blue", "supersedes": old}))
    }),
    ("reinforce", |subject, key| {
        subject.store(key, 3, &json!({"content": "the mill is  blue", "metadata": {"seen": 2}}))
    }),
    ("relate", |subject, key| {
        let request = json!({"subject_id": subject.id("Bob")?, "predicate": "works_at", "object_id": subject.id("Acme")?,
            "evidence": [subject.id("The mill is blue")?]});
        let call = subject.call(key);
        subject.opened()?.relate(&call, &parse(request)).map(drop)
    }),
    ("forget", |subject, key| subject.forget(key, "The garden of Anna has a pond", false)),
    ("undo", Subject::undo_last),
    ("forget again", |subject, key| subject.forget(key, "The garden of Anna has a pond", false)),
    ("restore", |subject, key| {
        let request = json!({"memory_id": subject.id("The garden of Anna has a pond")?});
        let call = subject.call(key);
        subject.opened()?.restore(&call, &parse(request)).map(drop)
    }),
    ("edit", |subject, key| {
        let request =
            json!({"memory_id": subject.id("The mill is blue")?, "content": "The mill is green"});
        let (call, encodings) = (subject.call(key), encoded("The mill is green", 4));
        subject.opened()?.edit(&call, &parse(request), &encodings).map(drop)
    }),
    ("pin", |subject, key| {
        let request = json!({"memory_id": subject.id("The mill is green")?, "pinned": true});
        let call = subject.call(key);
        subject.opened()?.pin(&call, &parse(request)).map(drop)
    }),
    ("checkpoint", |subject, _| {
        let reading = ClockReading { now: subject.now, is_trusted: true };
        subject.opened()?.checkpoint(reading).map(drop)
    }),
    ("store group", |subject, key| {
        subject.store_group(
            key,
            "semantic",
            &["The barn is old", "The well is deep", "The gate is shut"],
        )
    }),
    ("erase", |subject, key| subject.forget(key, "The well is deep", true)),
    ("encode later", |subject, _| {
        let text = "Anna is the lead engineer".to_owned();
        let seq = subject.seq(&text)?;
        let encoded = ModelEncoding { model: "test".into(), encoding: encoding("Anna", 60) };
        subject.opened()?.fill(&EncodedLater { seq, document: text.into(), encoded })
    }),
    ("encode all again", |subject, _| subject.start_refill("next")),
    ("encode a batch", |subject, _| subject.fill_batch()),
    ("store in two sets", |subject, key| {
        subject.store(key, 70, &json!({"content": "The loft is dusty"}))
    }),
    ("change the set", |subject, _| subject.finish_refill()),
    ("begin to return", |subject, _| subject.start_refill("test")),
    ("encode what is missing", |subject, _| subject.fill_batch()),
    ("return", |subject, _| subject.finish_refill()),
    ("drop vectors", |subject, _| subject.purge_kept_sets()),
    ("drop a set", |subject, _| subject.purge_kept_sets()),
    ("episodes", |subject, key| {
        let texts = [1, 2, 3, 4, 5, 6].map(|n| format!("Episode {n} about the mail gateway"));
        subject.store_group(key, "episodic", &texts.each_ref().map(String::as_str))
    }),
    ("compact", Subject::compact),
    ("import", |subject, key| {
        let file = subject.folder.join(IMPORT);
        let mut file = File::open(&file).expect("the file is readable");
        let call = subject.call(key);
        subject.opened()?.import(&call, &ImportRequest::default(), &mut file).map(drop)
    }),
    ("undo the import", Subject::undo_last),
    ("back up", |subject, _| {
        let new = subject.new_backup(Reason::Manual);
        subject.opened()?.back_up(&new).map(drop)
    }),
    ("store after the backup", |subject, key| {
        subject.store(key, 9, &json!({"content": "The lake is frozen"}))
    }),
    ("restore the backup", |subject, _| subject.restore_backup()),
    ("store after the restore", |subject, key| {
        subject.store(key, 9, &json!({"content": "The lake has thawed"}))
    }),
    ("recover", |subject, _| subject.recover()),
    ("reopen", |subject, _| subject.close().and_then(|()| subject.opened().map(drop))),
    ("reset", |subject, _| {
        let new = subject.new_backup(Reason::Reset);
        subject.opened()?.reset(&ResetRequest::default(), &new).map(drop)
    }),
    ("close", |subject, _| subject.opened().map(drop).and_then(|()| subject.close())),
];

/// A store in a folder that outlives the process.
pub(super) struct Subject {
    pub folder: PathBuf,
    pub store: Option<(Writer, Reader)>,
    now: Timestamp,
}

impl Subject {
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), store: None, now: T0 }
    }

    pub fn database(&self) -> PathBuf {
        self.folder.join("memory.db")
    }

    /// Opens the store unless it is open.
    pub fn opened(&mut self) -> Result<&mut Writer> {
        if self.store.is_none() {
            let writer = match open(&self.database(), self.settings(), T0) {
                // As the start of the daemon does.
                Err(error) if error.is_damage() => {
                    // The same time in each process, as the log of the store has it.
                    let target = Target { now: T0, ..self.target() };
                    recover(&target, WithoutBackup::Refuse)?;
                    open(&self.database(), self.settings(), T0)?
                }
                opened => opened?,
            };
            let reader = writer.reader()?;
            self.store = Some((writer, reader));
        }
        Ok(&mut self.store.as_mut().expect("the store is open").0)
    }

    fn settings(&self) -> Settings {
        // The first start makes no backup: one that fails does not fail the start.
        let folder = Some(self.folder.join("backups")).filter(|folder| folder.exists());
        let backups = BackupSettings { folder, ..BackupSettings::default() };
        Settings { backups, ..Settings::for_model("test") }
    }

    fn target(&self) -> Target {
        let (backups, policy) = (self.folder.join("backups"), Arc::default());
        let (database, settings) = (self.database(), self.settings());
        Target { database, backups, settings, policy, now: self.now }
    }

    /// Restores the backup that a person made.
    fn restore_backup(&mut self) -> Result<()> {
        self.close()?;
        let mut backups = manifest::list(&self.folder.join("backups")).into_iter();
        let made = backups.rfind(|backup| backup.reason() == Reason::Manual);
        restore(&self.target(), &made.expect("there is a backup")).map(drop)
    }

    /// Damages the database once; the start recovers it.
    fn recover(&mut self) -> Result<()> {
        self.close()?;
        let damaged = self.folder.join("damaged");
        if !damaged.exists() {
            let mut bytes = std::fs::read(self.database()).expect("the database is readable");
            bytes[..4096].fill(0);
            std::fs::write(self.database(), bytes).expect("the database is damaged");
            std::fs::write(damaged, "").expect("the file is written");
        }
        self.opened().map(drop)
    }

    pub fn close(&mut self) -> Result<()> {
        match self.store.take() {
            Some((writer, reader)) => {
                drop(reader);
                writer.close()
            }
            None => Ok(()),
        }
    }

    /// Makes a call by its number.
    pub fn make(&mut self, number: usize) -> Result<()> {
        let (key, call) = CALLS[number];
        self.now = T0.plus(60_000 * i64::try_from(number).expect("the number is small"));
        call(self, key)
    }

    fn new_backup(&self, reason: Reason) -> NewBackup {
        let folder = self.folder.join("backups");
        NewBackup { folder, reason, now: self.now, max_bytes: u64::MAX }
    }

    fn call(&self, key: &str) -> CallContext {
        let actor = crate::Actor {
            origin: Origin::Agent,
            client: None,
            session: Some("s1".to_owned()),
            group: named("a"),
            checkout: None,
            is_bound: false,
        };
        CallContext { now: self.now, actor, key: Some(key.to_owned()), shown: None }
    }

    fn seq(&mut self, text: &str) -> Result<i64> {
        let found = self.found(text)?;
        Ok(found.map_or(-1, |(seq, _)| seq))
    }

    /// Returns the id of a text; of a missing one, an id that no memory has.
    fn id(&mut self, text: &str) -> Result<MemoryId> {
        let found = self.found(text)?;
        Ok(found.map_or_else(|| MemoryId::from(uuid::Uuid::nil()), |(_, id)| id))
    }

    fn found(&mut self, text: &str) -> Result<Option<(i64, MemoryId)>> {
        let mut found = HashMap::new();
        crate::db::listing::newest_first(&self.opened()?.conn, |memory| {
            found.insert(memory.content.clone(), (memory.seq, memory.id.clone()));
        })?;
        Ok(found.remove(text))
    }

    fn store(&mut self, key: &str, axis: usize, arguments: &Value) -> Result<()> {
        let mut arguments = arguments.clone();
        let text = arguments["content"].as_str().unwrap_or_default().to_owned();
        if arguments["type"].is_null() {
            arguments["type"] = json!("semantic");
        }
        let call = self.call(key);
        let draft = Draft::new(parse::<StoreRequest>(arguments), call.now)?;
        self.opened()?.store(&call, &draft, &encoded(&text, axis)).map(drop)
    }

    /// Stores several memories with one commit, as the daemon does, up to the first that fails.
    fn store_group(&mut self, key: &str, kind: &str, texts: &[&str]) -> Result<()> {
        self.opened()?.begin_group()?;
        let mut numbered = texts.iter().enumerate();
        let outcome = numbered.try_for_each(|(number, text)| {
            let metadata = match kind {
                "entity" => json!({"name": text}),
                "episodic" => json!({"event_date": "2025-12-15"}),
                _ => json!({}),
            };
            let arguments = json!({"content": text, "type": kind, "metadata": metadata});
            self.store(&format!("{key} {number}"), 40 + number, &arguments)
        });
        self.opened()?.commit_group().and(outcome)
    }

    fn start_refill(&mut self, model: &str) -> Result<()> {
        let (now, id) = (self.now, model.to_owned());
        let model = ModelRef { id, source: String::new() };
        self.opened()?.start_refill(&model, Refill::IfOtherModel, now).map(drop)
    }

    /// Fills the next set with all memories in one batch.
    fn fill_batch(&mut self) -> Result<()> {
        self.opened()?;
        let (writer, reader) = self.store.as_mut().expect("the store is open");
        let batch = reader.fill_batch(1_000, &Withheld::default())?.expect("a set is being filled");
        let encoded = |(seq, document): (i64, Document)| {
            let encoding = Some(encoding(&document.content, 100));
            FilledMemory { seq, document, encoding }
        };
        let filled: Vec<FilledMemory> = batch.memories.into_iter().map(encoded).collect();
        writer.store_fill_batch(&batch.set.name, &filled)
    }

    /// Changes to the filled set, unless an interrupted call has done it.
    fn finish_refill(&mut self) -> Result<()> {
        let now = self.now;
        let writer = self.opened()?;
        let is_finished = writer.finish_refill(&HashSet::new(), &Withheld::default(), now)?;
        assert!(is_finished || writer.active_sets().get().filling.is_none());
        Ok(())
    }

    fn purge_kept_sets(&mut self) -> Result<()> {
        let now = self.now;
        self.opened()?.purge_kept_sets(now, 1_000).map(drop)
    }

    fn forget(&mut self, key: &str, text: &str, hard: bool) -> Result<()> {
        let id = self.id(text)?;
        let call = self.call(key);
        let request = json!({"memory_id": id, "hard_delete": hard});
        match self.opened()?.forget(&call, &parse(request)) {
            // A repeated call finds that the first one has deleted the memory.
            Err(error) if hard && error.to_string().starts_with("not_found") => {
                self.opened()?.checkpoint(ClockReading { now: T0, is_trusted: true }).map(drop)
            }
            outcome => outcome.map(drop),
        }
    }

    fn undo_last(&mut self, key: &str) -> Result<()> {
        let call = self.call(key);
        self.opened()?.undo(&call, &parse(json!({"last": true}))).map(drop)
    }

    /// Runs the first due step of maintenance, if one is due.
    fn compact(&mut self, key: &str) -> Result<()> {
        let call = self.call(key);
        self.opened()?;
        let (writer, reader) = self.store.as_mut().expect("the store is open");
        let plan = reader.plan(call.now)?;
        let Some(Step::Compact(cluster)) = plan.steps.first() else { return Ok(()) };
        let Some(draft) = reader.draft(cluster)? else { return Ok(()) };
        writer.compact(&call, cluster, &draft, &TextEncodings::default())?;
        let seen = cluster
            .members
            .iter()
            .map(|member| (member.seq, Accesses::boosting(1)))
            .take(1)
            .collect();
        writer.touch(&seen, call.now, Boosting::On)
    }
}

/// Returns an encoding near an axis, with the sign codes of the words.
fn encoding(text: &str, axis: usize) -> DocumentEncoding {
    document_encoding(text, between_axes(axis, 200 + axis, 0.8))
}

/// Returns the encodings of a text by both models.
fn encoded(text: &str, axis: usize) -> TextEncodings {
    let by = |model: &str| ModelEncoding { model: model.into(), encoding: encoding(text, axis) };
    ["test", "next"].map(by).into_iter().collect()
}
