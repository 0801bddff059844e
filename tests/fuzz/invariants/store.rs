//! A small store in a temporary folder for the targets that need one. Not here: any invariant.

use loci_engine::model::encoding::TextEncodings;
use loci_engine::model::time::Timestamp;
use loci_engine::operations::store::Draft;
use loci_engine::transaction::change::CallContext;
use loci_engine::{Actor, Reader, Settings, Writer};
use loci_proto::group::{Group, GroupName};
use loci_proto::requests::Request;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// The time of every call: 2026-02-01.
pub const NOW: Timestamp = Timestamp(1_769_904_000_000);

/// A store with some memories.
pub struct SmallStore {
    folder: TempDir,
    pub writer: Writer,
    pub reader: Reader,
}

impl SmallStore {
    /// Creates a store with this many memories.
    pub fn with(memories: usize) -> Self {
        let folder = tempfile::tempdir().expect("the folder is created");
        let path = folder.path().join("memory.db");
        let mut writer =
            loci_engine::open(&path, Settings::for_model("test"), NOW).expect("the store opens");
        for number in 0..memories {
            let text = format!("Drawer {number} has C++ notes, user's keys and foo-bar {number}");
            let arguments = object(json!({"content": text, "type": "semantic"}));
            let Ok(Request::Store(request)) = Request::parse("store_memory", arguments) else {
                panic!("the request is valid")
            };
            let call = call();
            let draft = Draft::new(request, call.now).expect("the text is valid");
            writer.store(&call, &draft, &TextEncodings::default()).expect("it is stored");
        }
        let reader = writer.reader().expect("the reader opens");
        Self { folder, writer, reader }
    }

    /// Closes the store; returns its folder.
    pub fn close(self) -> TempDir {
        let Self { folder, writer, reader } = self;
        drop(reader);
        writer.close().expect("the store closes");
        folder
    }

    /// Returns the number of memories.
    pub fn memories(&self) -> usize {
        let Ok(Request::Stats(request)) = Request::parse("memory_stats", Map::new()) else {
            panic!("the request is valid")
        };
        let counted = self.reader.stats(&request, &group(), NOW).expect("they are counted");
        usize::try_from(counted.total_memories).expect("the count fits")
    }
}

/// The context of every call.
pub fn call() -> CallContext {
    CallContext {
        now: NOW,
        actor: Actor {
            origin: loci_proto::memory::Origin::Agent,
            client: None,
            session: None,
            group: group(),
            checkout: None,
            is_bound: false,
        },
        key: None,
        shown: None,
    }
}

/// The project of every call.
pub fn group() -> Group {
    Group::named(&"a".parse::<GroupName>().expect("the name is valid"))
}

/// Returns the fields of an object.
pub fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => panic!("not an object: {other}"),
    }
}
