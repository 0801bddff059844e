//! A store in a folder of its own, and vectors whose cosines are chosen. For tests of the engine alone.

use crate::db::memories;
use crate::db::memories::StatusChange;
use crate::error::Result;
use crate::handles::open::open;
use crate::handles::reader::Reader;
use crate::handles::settings::Settings;
use crate::handles::writer::Writer;
use crate::model::actor::Actor;
use crate::model::encoding::{DIMENSIONS, DocumentEncoding, Embedding, QueryEncoding, SignCode};
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::operations::recall::{Answer, RecallContext, prepare};
use crate::operations::store::Draft;
use crate::transaction::change::CallContext;
use loci_proto::degraded::Degraded;
use loci_proto::group::{Group, GroupName};
use loci_proto::memory::MemoryId;
use loci_proto::requests::forget::ForgetReply;
use loci_proto::requests::inspect::InspectReply;
use loci_proto::requests::recall::RecallRequest;
use loci_proto::requests::relate::RelateReply;
use loci_proto::requests::store::{StoreReply, StoreRequest};
use loci_proto::requests::undo::UndoReply;
use serde_json::{Map, Value};
use tempfile::TempDir;

/// A moment for tests: 2026-02-01T00:00:00Z.
pub(crate) const T0: Timestamp = Timestamp(1_769_904_000_000);

pub(crate) struct TestStore {
    pub folder: TempDir,
    pub writer: Writer,
    pub reader: Reader,
    pub now: Timestamp,
}

impl TestStore {
    pub(crate) fn new() -> Self {
        Self::with(Settings::for_model("test"))
    }

    pub(crate) fn with(settings: Settings) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let writer = open(&folder.path().join("memory.db"), settings, T0).expect("opens");
        let reader = writer.reader().expect("opens");
        Self { folder, writer, reader, now: T0 }
    }

    /// Closes the store and opens it again, as a restart does.
    pub(crate) fn reopened(self) -> Self {
        let Self { folder, writer, reader, now } = self;
        drop(reader);
        writer.close().expect("closes");
        let writer = open(&folder.path().join("memory.db"), Settings::for_model("test"), now)
            .expect("opens");
        let reader = writer.reader().expect("opens");
        Self { folder, writer, reader, now }
    }

    pub(crate) fn try_store(
        &mut self,
        group: &str,
        arguments: Value,
        vector: Option<&Embedding>,
    ) -> Result<StoreReply> {
        let draft = Draft::new(parse::<StoreRequest>(arguments))?;
        let text = DocumentEncoding::from(vector.into_iter().cloned().collect::<Vec<_>>());
        self.writer.store(&self.call(group, None), &draft, &text)
    }

    /// Stores a text whose words have been read.
    pub(crate) fn store_coded(
        &mut self,
        group: &str,
        arguments: Value,
        text: &DocumentEncoding,
    ) -> StoreReply {
        let draft = Draft::new(parse::<StoreRequest>(arguments)).expect("is fine");
        self.writer.store(&self.call(group, None), &draft, text).expect("is stored")
    }

    pub(crate) fn store(
        &mut self,
        group: &str,
        arguments: Value,
        vector: Option<&Embedding>,
    ) -> StoreReply {
        self.try_store(group, arguments, vector).expect("is stored")
    }

    pub(crate) fn call(&self, group: &str, key: Option<&str>) -> CallContext {
        let actor = Actor {
            client: Some("test".to_owned()),
            session: Some("s1".to_owned()),
            group: named(group),
        };
        CallContext { now: self.now, actor, key: key.map(str::to_owned) }
    }

    pub(crate) fn recall(
        &self,
        group: &str,
        arguments: Value,
        vector: Option<&Embedding>,
    ) -> Answer {
        let asked =
            vector.map(|vector| QueryEncoding { vector: vector.clone(), words: Vec::new() });
        self.recall_asked(group, arguments, asked.as_ref())
    }

    /// A recall by a question whose words have been read.
    pub(crate) fn recall_asked(
        &self,
        group: &str,
        arguments: Value,
        asked: Option<&QueryEncoding>,
    ) -> Answer {
        let request = parse::<RecallRequest>(arguments);
        let degraded = Degraded::default();
        self.reader
            .recall(
                &prepare(request).expect("is valid"),
                RecallContext {
                    group: &named(group),
                    encoding: asked,
                    now: self.now,
                    degraded: &degraded,
                    fusion: None,
                },
            )
            .expect("is answered")
    }

    /// Every row that a person could miss, as text: equal dumps are equal stores.
    pub(crate) fn dump(&self) -> String {
        let mut graph = crate::index::Graph::default();
        crate::db::entity_links::all(&self.writer.conn)
            .expect("are read")
            .into_iter()
            .for_each(|link| graph.set(link));
        assert_eq!(
            self.writer.shared.index().graph().sorted(),
            graph.sorted(),
            "what is kept in memory is what the store says"
        );
        crate::db::dump::all(&self.writer.conn).expect("is read")
    }

    pub(crate) fn forget(&mut self, group: &str, arguments: Value) -> Result<ForgetReply> {
        self.writer.forget(&self.call(group, None), &parse(arguments))
    }

    pub(crate) fn inspect(&self, group: &str, arguments: Value) -> Result<InspectReply> {
        self.reader.inspect(&parse(arguments), &named(group), self.now)
    }

    pub(crate) fn relate(&mut self, group: &str, arguments: Value) -> Result<RelateReply> {
        self.writer.relate(&self.call(group, None), &parse(arguments))
    }

    pub(crate) fn undo_last(&mut self) -> Result<UndoReply> {
        self.writer.undo(&self.call("a", None), &parse(serde_json::json!({"last": true})))
    }

    /// The contents found, best first.
    pub(crate) fn found(
        &self,
        group: &str,
        arguments: Value,
        vector: Option<&Embedding>,
    ) -> Vec<String> {
        self.recall(group, arguments, vector)
            .reply
            .results
            .into_iter()
            .filter_map(|r| r.content)
            .collect()
    }
}

pub(crate) fn named(group: &str) -> Group {
    Group::named(&group.parse::<GroupName>().expect("is a name"))
}

pub(crate) fn parse<T: serde::de::DeserializeOwned + schemars::JsonSchema + 'static>(
    arguments: Value,
) -> T {
    let map: Map<String, Value> = serde_json::from_value(arguments).expect("is an object");
    loci_proto::mcp::arguments::parse(map).expect("are arguments")
}

/// A summary stands for this memory from now on.
pub(crate) fn compacted(test_store: &mut TestStore, id: &MemoryId, summary: Option<&MemoryId>) {
    let call = test_store.call("a", None);
    let standing =
        StatusChange { status: Status::Compacted, by: summary.map(MemoryId::as_str), reason: None };
    let compact = test_store.writer.run_idempotent(&call, |change| {
        let seq = memories::by_id(change.conn, id)?.expect("is there").seq;
        change.touch(seq);
        memories::set_status(change.conn, seq, standing, call.now)
    });
    compact.expect("is compacted");
}

/// A unit vector along one axis.
pub(crate) fn axis(number: usize) -> Embedding {
    leaning(number, number, 1.0)
}

/// A unit vector with this cosine to axis `a`, leaning towards axis `b`.
pub(crate) fn leaning(a: usize, b: usize, cosine: f32) -> Embedding {
    let mut values = vec![0.0; DIMENSIONS];
    values[b] = (1.0 - cosine * cosine).max(0.0).sqrt();
    values[a] += cosine;
    Embedding::new(values).expect("has a direction")
}

/// A code for a word that is as good as any: the same for the same word, and half of its signs differ from any other's.
pub(crate) fn code(word: &str) -> SignCode {
    let mut hash = blake3::Hasher::new().update(word.as_bytes()).finalize_xof();
    let mut bytes = [0; crate::model::encoding::SIGN_CODE_BYTES];
    hash.fill(&mut bytes);
    SignCode::from_bytes(&bytes)
}

/// What a model would read in a text: a vector, and the codes of all its words.
pub(crate) fn coded(text: &str, vector: Embedding) -> DocumentEncoding {
    DocumentEncoding {
        pieces: vec![vector],
        words: Some(text.split(' ').map(|word| code(&word.to_lowercase())).collect()),
    }
}

/// What a model would read in a question.
pub(crate) fn asked(text: &str, vector: Embedding) -> QueryEncoding {
    QueryEncoding {
        vector,
        words: text
            .split(' ')
            .map(|word| (word.to_lowercase(), code(&word.to_lowercase())))
            .collect(),
    }
}

pub(crate) fn id(reply: &StoreReply) -> &MemoryId {
    &reply.id
}
