//! Random sequences of operations on a store, for the property tests.

use crate::db::memories;
use crate::db::memories::StatusChange;
use crate::model::encoding::TextEncodings;
use crate::model::status::Status;
use crate::tests::fixture::{TestStore, axis, between_axes, parse};
use loci_proto::memory::MemoryId;
use proptest::prelude::*;
use serde_json::json;

const TYPES: [&str; 4] = ["episodic", "semantic", "procedural", "entity"];

/// One operation on a store. A number selects one of the memories of the history, modulo their
/// count.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Store { kind: u8, group: u8, vector: Option<u8>, confidence: f64, metadata: bool },
    StoreVariant(usize),
    Supersede(usize),
    Forget { which: usize, hard: bool },
    Compact { which: usize, into: usize },
    Relate { subject: usize, object: usize, evidence: usize },
    Pin(usize),
    Edit(usize),
    Restore(usize),
    Undo,
}

impl Step {
    /// Generates any step.
    pub(super) fn any() -> impl Strategy<Value = Self> {
        let which = 0..40_usize;
        let store =
            (0..4_u8, 0..3_u8, proptest::option::of(0..200_u8), 0.0..=1.0_f64, any::<bool>())
                .prop_map(|(kind, group, vector, confidence, metadata)| Self::Store {
                    kind,
                    group,
                    vector,
                    confidence,
                    metadata,
                });
        let relate = (which.clone(), which.clone(), which.clone())
            .prop_map(|(subject, object, evidence)| Self::Relate { subject, object, evidence });
        prop_oneof![
            6 => store,
            1 => which.clone().prop_map(Self::StoreVariant),
            2 => which.clone().prop_map(Self::Supersede),
            2 => (which.clone(), any::<bool>()).prop_map(|(which, hard)| Self::Forget { which, hard }),
            1 => (which.clone(), which.clone()).prop_map(|(which, into)| Self::Compact { which, into }),
            2 => relate,
            1 => which.clone().prop_map(Self::Pin),
            1 => which.clone().prop_map(Self::Edit),
            1 => which.prop_map(Self::Restore),
            1 => Just(Self::Undo),
        ]
    }
}

/// A store, and the memories that the steps may select, each with its group.
pub(super) struct History {
    pub(super) test_store: TestStore,
    pub(super) memories: Vec<(String, MemoryId)>,
}

impl History {
    /// Applies the steps to an empty store and returns the store.
    pub(super) fn of(steps: &[Step]) -> TestStore {
        let mut history = Self { test_store: TestStore::new(), memories: Vec::new() };
        for (number, step) in steps.iter().enumerate() {
            history.apply(number, step);
        }
        history.test_store
    }

    /// Applies a step 977 ms after the previous one. `number` makes its texts unique.
    ///
    /// Requests that the engine refuses (for example a relation of memories that are not entities)
    /// have no effect.
    pub(super) fn apply(&mut self, number: usize, step: &Step) {
        self.test_store.now = self.test_store.now.plus(977);
        match step {
            Step::Store { .. } => self.store(number, step),
            Step::StoreVariant(which) => self.store_variant(*which),
            Step::Supersede(which) => self.supersede(number, *which),
            Step::Forget { which, hard } => self.forget(*which, *hard),
            Step::Compact { which, into } => self.compact(*which, *into),
            Step::Relate { subject, object, evidence } => {
                self.relate(*subject, *object, *evidence);
            }
            Step::Pin(which) => self.pin(*which),
            Step::Edit(which) => self.edit(number, *which),
            Step::Restore(which) => self.restore(*which),
            Step::Undo => {
                let call = self.test_store.call("project 0", None);
                drop(self.test_store.writer.undo(&call, &parse(json!({"last": true}))));
            }
        }
    }

    fn pick(&self, which: usize) -> Option<(String, MemoryId)> {
        self.memories.get(which % self.memories.len().max(1)).cloned()
    }

    fn store(&mut self, number: usize, step: &Step) {
        let Step::Store { kind, group, vector, confidence, metadata } = step else { return };
        let group = format!("project {group}");
        let kind = TYPES[usize::from(*kind)];
        let details = match (kind, metadata) {
            ("entity", _) => {
                json!({"name": format!("Thing {number}"), "properties": {"b": 0.1 + confidence, "a": [1, null]}})
            }
            (_, true) => json!({"z": confidence / 3.0, "a": {"y": "ü\u{1}", "x": []}}),
            _ => json!({}),
        };
        let text = format!("Text {number} of Thing {} \u{7f}\u{2028} \"quoted\"\n", number / 2);
        let request =
            json!({"content": text, "type": kind, "confidence": confidence, "metadata": details});
        let vector = vector.map(|v| between_axes(usize::from(v), 300, 0.3));
        let reply = self.test_store.store(&group, request, vector.as_ref());
        self.memories.push((group, reply.id));
    }

    fn store_variant(&mut self, which: usize) {
        if let Some((group, id)) = self.pick(which)
            && let Ok(Some(memory)) = memories::by_id(&self.test_store.reader.conn, &id)
        {
            let request =
                json!({"content": memory.content.to_uppercase(), "type": memory.kind.as_str()});
            let _ = self.test_store.try_store(&group, request, None);
        }
    }

    fn supersede(&mut self, number: usize, which: usize) {
        let Some((group, id)) = self.pick(which) else { return };
        let request =
            json!({"content": format!("Newer {number}"), "type": "semantic", "supersedes": id});
        if let Ok(reply) = self.test_store.try_store(&group, request, Some(&axis(number % 300))) {
            self.memories.push((group, reply.id));
        }
    }

    fn forget(&mut self, which: usize, hard: bool) {
        let Some((group, id)) = self.pick(which) else { return };
        let call = self.test_store.call(&group, None);
        let request = json!({"memory_id": id, "reason": "why not", "hard_delete": hard});
        let _ = self.test_store.writer.forget(&call, &parse(request));
    }

    fn compact(&mut self, which: usize, into: usize) {
        let (Some((_, source)), Some((group, summary))) = (self.pick(which), self.pick(into))
        else {
            return;
        };
        let call = self.test_store.call(&group, None);
        let outcome = self.test_store.writer.run_idempotent(&call, |change| {
            let memory = |id| memories::by_id(change.conn, id);
            let (Some(source), Some(summary)) = (memory(&source)?, memory(&summary)?) else {
                return Ok(());
            };
            if source.seq < summary.seq && source.status == Status::Active {
                memories::set_status(
                    change.conn,
                    source.seq,
                    StatusChange::compacted(&summary.id),
                    change.call.now,
                )?;
                memories::add_source(change.conn, summary.seq, source.seq)?;
                change.touch(source.seq);
            }
            Ok(())
        });
        outcome.expect("the memory is compacted");
    }

    fn relate(&mut self, subject: usize, object: usize, evidence: usize) {
        let (Some((group, subject)), Some((_, object)), Some((_, evidence))) =
            (self.pick(subject), self.pick(object), self.pick(evidence))
        else {
            return;
        };
        let call = self.test_store.call(&group, None);
        let request = json!({"subject_id": subject, "predicate": "knows", "object_id": object, "evidence": [evidence]});
        let _ = self.test_store.writer.relate(&call, &parse(request));
    }

    fn pin(&mut self, which: usize) {
        let Some((group, id)) = self.pick(which) else { return };
        let call = self.test_store.call(&group, None);
        let _ = self.test_store.writer.pin(&call, &parse(json!({"memory_id": id, "pinned": true})));
    }

    fn edit(&mut self, number: usize, which: usize) {
        let Some((group, id)) = self.pick(which) else { return };
        let call = self.test_store.call(&group, None);
        let request = json!({"memory_id": id, "content": format!("Edited {number}"), "confidence": 1.0 / 3.0, "expires_at": "9999-12-31"});
        let _ = self.test_store.writer.edit(&call, &parse(request), &TextEncodings::default());
    }

    fn restore(&mut self, which: usize) {
        let Some((group, id)) = self.pick(which) else { return };
        let call = self.test_store.call(&group, None);
        let _ = self.test_store.writer.restore(&call, &parse(json!({"memory_id": id})));
    }
}
