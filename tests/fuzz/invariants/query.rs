//! Invariants of a query, for any text: it is answered, with the index and by FTS5 alone, within
//! the limits of the reply.

use super::store::{NOW, SmallStore, group, object};
use loci_engine::operations::recall::{RecallContext, prepare};
use loci_engine::{Reader, Settings, Writer, open_cold};
use loci_proto::degraded::Degraded;
use loci_proto::requests::Request;
use serde_json::json;
use tempfile::TempDir;

/// Stores whose index is loaded, and is not: the latter searches FTS5.
struct Stores {
    warm: SmallStore,
    cold: Reader,
    _cold_store: (Writer, TempDir),
}

impl Stores {
    fn new() -> Self {
        let folder = SmallStore::with(20).close();
        let path = folder.path().join("memory.db");
        let writer = open_cold(&path, Settings::for_model("test"), NOW).expect("it opens");
        let cold = writer.reader().expect("the reader opens");
        Self { warm: SmallStore::with(20), cold, _cold_store: (writer, folder) }
    }
}

thread_local! {
    static STORES: Stores = Stores::new();
}

/// Searches the text.
///
/// # Panics
/// When an invariant is violated.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let arguments = object(json!({"query": text, "max_results": 20}));
    let Ok(Request::Recall(request)) = Request::parse("recall_memory", arguments) else { return };
    let Ok(prepared) = prepare(request, NOW) else { return };
    STORES.with(|stores| {
        for reader in [&stores.warm.reader, &stores.cold] {
            let group = group();
            let context = RecallContext {
                client: None,
                viewer: (&group).into(),
                encoding: None,
                now: NOW,
                fusion: None,
                is_agent: false,
                names_project: false,
                files: None,
                rerank: None,
                degraded: &Degraded::default(),
            };
            let answer = reader.recall(&prepared, context).expect("every query is answered");
            assert!(answer.reply.results.len() <= 20);
            assert!(answer.reply.total_matched <= 20);
        }
    });
}
