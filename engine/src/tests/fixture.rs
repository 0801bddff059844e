//! A store in a temporary folder, and vectors with chosen cosines, for tests of the engine.

use crate::db::memories;
use crate::db::memories::StatusChange;
use crate::error::Result;
use crate::handles::open::open;
use crate::handles::reader::Reader;
use crate::handles::settings::Settings;
use crate::handles::writer::Writer;
use crate::model::actor::Actor;
use crate::model::document::Document;
use crate::model::encoding::{
    DocumentEncoding, Embedding, ModelEncoding, QueryEncoding, TextEncodings,
};
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::operations::recall::{Answer, RecallContext, prepare};
use crate::operations::store::Draft;
use crate::transaction::backfill::EncodedLater;
use crate::transaction::change::CallContext;
pub(crate) use loci_testkit::{T0, axis, between_axes, code, query_encoding, seeded_vector};

use loci_proto::degraded::Degraded;
use loci_proto::group::{Group, GroupName};
use loci_proto::memory::{MemoryId, Origin};
use loci_proto::requests::doctor::Finding;
use loci_proto::requests::forget::ForgetReply;
use loci_proto::requests::inspect::InspectReply;
use loci_proto::requests::recall::RecallRequest;
use loci_proto::requests::relate::RelateReply;
use loci_proto::requests::store::{StoreReply, StoreRequest};
use loci_proto::requests::undo::UndoReply;
use serde_json::{Map, Value};
use tempfile::TempDir;

/// Returns a temporary folder in memory where the system has one: for tests that open many stores
/// and lose no power.
pub(crate) fn folder_in_memory() -> TempDir {
    let memory = std::path::Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
    tempfile::tempdir_in(folder).expect("the folder is created")
}

/// A store with one writer and one reader.
pub(crate) struct TestStore {
    pub folder: TempDir,
    pub writer: Writer,
    pub reader: Reader,
    /// The time of the next call.
    pub now: Timestamp,
    /// The session of the next call.
    pub session: String,
    /// What kind of caller the next call is from.
    pub origin: Origin,
    /// What is checked out at its calls.
    pub checkout: Option<loci_proto::hello::Checkout>,
    /// Sequence numbers of the memories that the session of the next store has been shown.
    pub shown: Vec<i64>,
}

impl TestStore {
    pub(crate) fn new() -> Self {
        Self::with(Settings::for_model("test"))
    }

    pub(crate) fn with(settings: Settings) -> Self {
        Self::in_folder(tempfile::tempdir().expect("the folder is created"), settings)
    }

    /// Returns a store in a folder.
    pub(crate) fn in_folder(folder: TempDir, settings: Settings) -> Self {
        let writer = open(&folder.path().join("memory.db"), settings, T0).expect("the store opens");
        let reader = writer.reader().expect("the reader opens");
        Self::of(folder, writer, reader, T0)
    }

    /// A store that is open.
    pub(crate) fn of(folder: TempDir, writer: Writer, reader: Reader, now: Timestamp) -> Self {
        let (session, origin) = ("s1".to_owned(), Origin::Agent);
        let (checkout, shown) = (None, Vec::new());
        Self { folder, writer, reader, now, session, origin, checkout, shown }
    }

    /// Closes the store and opens it again, as a restart does.
    pub(crate) fn reopened(self) -> Self {
        let Self { folder, writer, reader, now, .. } = self;
        drop(reader);
        writer.close().expect("the store closes");
        let writer = open(&folder.path().join("memory.db"), Settings::for_model("test"), now)
            .expect("the store opens");
        let reader = writer.reader().expect("the reader opens");
        Self::of(folder, writer, reader, now)
    }

    /// Returns all findings of doctor about the store.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let mut check = self.reader.full_check().expect("the store is checked");
        let finished = self.writer.finish_full_check(&mut check, self.now);
        finished.expect("the check is finished");
        check.findings.push(self.reader.examine_index().expect("the index is compared"));
        check.findings
    }

    /// Stores a text with an optional vector and without sign codes.
    pub(crate) fn try_store(
        &mut self,
        group: &str,
        arguments: Value,
        vector: Option<&Embedding>,
    ) -> Result<StoreReply> {
        let draft =
            Draft::new(parse::<StoreRequest>(arguments), self.now)?.with_shown(self.shown.clone());
        let encoding = DocumentEncoding::from(vector.into_iter().cloned().collect::<Vec<_>>());
        self.writer.store(&self.call(group, None), &draft, &by_test_model(encoding))
    }

    /// Stores a text with a whole encoding.
    pub(crate) fn store_encoded(
        &mut self,
        group: &str,
        arguments: Value,
        encoding: &DocumentEncoding,
    ) -> StoreReply {
        let draft = Draft::new(parse::<StoreRequest>(arguments), self.now);
        let draft = draft.expect("the request is valid");
        let encodings = by_test_model(encoding.clone());
        self.writer
            .store(&self.call(group, None), &draft, &encodings)
            .expect("the memory is stored")
    }

    /// Stores the encoding of a memory later, as the daemon does.
    pub(crate) fn fill(&mut self, seq: i64, encoding: DocumentEncoding) {
        let memory = memories::by_seq(&self.writer.conn, seq).expect("the memory is readable");
        let memory = memory.expect("the memory exists");
        let document = Document::new(&memory.content, &memory.metadata);
        let encoded = ModelEncoding { model: "test".into(), encoding };
        let filled = self.writer.fill(&EncodedLater { seq, document, encoded });
        filled.expect("the encoding is stored");
    }

    /// As [`Self::try_store`], for a valid request.
    pub(crate) fn store(
        &mut self,
        group: &str,
        arguments: Value,
        vector: Option<&Embedding>,
    ) -> StoreReply {
        self.try_store(group, arguments, vector).expect("the memory is stored")
    }

    /// Returns the context of a call of a group, with an optional idempotency key.
    pub(crate) fn call(&self, group: &str, key: Option<&str>) -> CallContext {
        let actor = Actor {
            client: Some("test".to_owned()),
            session: Some(self.session.clone()),
            origin: self.origin,
            group: named(group),
            checkout: self.checkout.clone(),
            is_bound: false,
        };
        CallContext { now: self.now, actor, key: key.map(str::to_owned), shown: None }
    }

    /// Recalls with an optional vector and without sign codes.
    pub(crate) fn recall(
        &self,
        group: &str,
        arguments: Value,
        vector: Option<&Embedding>,
    ) -> Answer {
        let encoding = vector.map(|vector| QueryEncoding {
            model: "test".into(),
            vector: vector.clone(),
            words: Vec::new(),
            has_sign_codes: true,
        });
        self.recall_encoded(group, arguments, encoding.as_ref())
    }

    /// Recalls with a whole encoding of the query.
    pub(crate) fn recall_encoded(
        &self,
        group: &str,
        arguments: Value,
        encoding: Option<&QueryEncoding>,
    ) -> Answer {
        let request = parse::<RecallRequest>(arguments);
        let degraded = Degraded::default();
        self.reader
            .recall(
                &prepare(request, self.now).expect("the request is valid"),
                RecallContext {
                    viewer: (&named(group)).into(),
                    client: None,
                    encoding,
                    now: self.now,
                    rerank: None,
                    degraded: &degraded,
                    fusion: None,
                    is_agent: false,
                    names_project: false,
                    files: None,
                },
            )
            .expect("the recall is answered")
    }

    /// Dumps the store as text, so that tests can compare stores. Checks the graph of the index.
    pub(crate) fn dump(&self) -> String {
        let mut graph = crate::index::Graph::default();
        crate::db::entity_links::all(&self.writer.conn)
            .expect("the links are readable")
            .into_iter()
            .for_each(|link| graph.set(link));
        assert_eq!(
            self.writer.shared.index().graph().sorted(),
            graph.sorted(),
            "the graph of the index equals that of the database"
        );
        crate::db::dump::all(&self.writer.conn).expect("the tables are readable")
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

    /// Returns the contents of the results, best first.
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

/// Returns the group of this name.
pub(crate) fn named(group: &str) -> Group {
    Group::named(&group.parse::<GroupName>().expect("the name is valid"))
}

/// Parses the arguments of a call.
pub(crate) fn parse<T: serde::de::DeserializeOwned + schemars::JsonSchema + 'static>(
    arguments: Value,
) -> T {
    let map: Map<String, Value> =
        serde_json::from_value(arguments).expect("the arguments are an object");
    loci_proto::mcp::arguments::parse(map).expect("the arguments are valid")
}

/// Sets the status of a memory to compacted, into `summary` if one is given.
pub(crate) fn mark_compacted(
    test_store: &mut TestStore,
    id: &MemoryId,
    summary: Option<&MemoryId>,
) {
    let call = test_store.call("a", None);
    let change_to =
        StatusChange { status: Status::Compacted, by: summary.map(MemoryId::as_str), reason: None };
    let outcome = test_store.writer.run_idempotent(&call, |change| {
        let seq = memories::by_id(change.conn, id)?.expect("the memory exists").seq;
        change.touch(seq);
        memories::set_status(change.conn, seq, change_to, call.now)
    });
    outcome.expect("the memory is compacted");
}

/// Returns an encoding as that of the model of the test stores; none if it is empty.
pub(crate) fn by_test_model(encoding: DocumentEncoding) -> TextEncodings {
    let is_empty = encoding.vectors.is_empty() && encoding.words.is_none();
    let encoded = ModelEncoding { model: "test".into(), encoding };
    (!is_empty).then_some(encoded).into_iter().collect()
}

/// Returns the encoding of a text: the given vector, and the sign codes of all words.
pub(crate) fn document_encoding(text: &str, vector: Embedding) -> DocumentEncoding {
    DocumentEncoding {
        vectors: vec![vector],
        words: Some(text.split(' ').map(|word| code(&word.to_lowercase())).collect()),
    }
}

/// Returns the id of the stored memory.
pub(crate) fn id(reply: &StoreReply) -> &MemoryId {
    &reply.id
}
