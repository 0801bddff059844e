//! Stored answers: the reply to a repeated call, answers that cannot be encoded or decoded, expiry.

use crate::db::idempotency;
use crate::error::Result;
use crate::model::encoding::TextEncodings;
use crate::model::time::HOUR;
use crate::tests::fixture::{T0, TestStore, named, parse};
use loci_proto::error::{Code, Failure};
use loci_proto::group::GroupName;
use loci_proto::requests::groups::GroupChangedReply;
use loci_proto::requests::store::StoreReply;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;

const KEY: &str = "session-1:7";

/// An answer that cannot be encoded as JSON: the keys of its map are not strings.
#[derive(Debug, Serialize, Deserialize)]
struct Unencodable {
    pairs: BTreeMap<(u8, u8), u8>,
}

fn failure_of<T: std::fmt::Debug>(outcome: Result<T>) -> Failure {
    Failure::from(outcome.expect_err("the call is refused"))
}

/// Returns the ids of all groups.
fn groups(test_store: &TestStore) -> Vec<String> {
    test_store
        .reader
        .groups(&named("a"))
        .expect("the groups are listed")
        .groups
        .into_iter()
        .map(|group| group.id)
        .collect()
}

#[test]
fn an_answer_that_cannot_be_encoded_is_an_error_and_nothing_is_written() {
    let mut test_store = TestStore::new();
    let call = test_store.call("shop", Some(KEY));
    let outcome = test_store.writer.run_idempotent(&call, |change| {
        crate::db::groups::ensure(change.conn, &named("new"), call.now)?;
        Ok(Unencodable { pairs: BTreeMap::from([((1, 2), 3)]) })
    });
    let failure = failure_of(outcome);
    assert_eq!(failure.code, Code::Internal);
    assert!(failure.message.contains(KEY), "{failure}");
    assert!(failure.message.contains("nothing was stored"), "{failure}");
    assert!(failure.hint.is_some(), "{failure}");
    assert_eq!(groups(&test_store), Vec::<String>::new());
    assert_eq!(
        idempotency::find(&test_store.writer.conn, KEY).expect("the answers are readable"),
        None
    );
}

#[test]
fn a_stored_answer_that_cannot_be_decoded_is_an_error_and_the_call_does_not_run() {
    // Damaged JSON, JSON of another shape, and the reply of another verb.
    for stored in ["", "{\"id\":", "[]", "{\"moved\":0}"] {
        let mut test_store = TestStore::new();
        idempotency::keep(&test_store.writer.conn, KEY, stored, T0).expect("the answer is stored");
        let call = test_store.call("shop", Some(KEY));
        let mut has_run = false;
        let outcome: Result<GroupChangedReply> =
            test_store.writer.run_idempotent(&call, |change| {
                has_run = true;
                crate::db::groups::ensure(change.conn, &named("new"), call.now)?;
                Err(Failure::new(Code::Internal, "ran again").into())
            });
        let failure = failure_of(outcome);
        assert_eq!(failure.code, Code::StorageFailed, "{failure}");
        assert!(failure.message.contains(KEY), "{failure}");
        assert!(failure.hint.is_some_and(|hint| hint.contains("new key")), "{stored}");
        assert!(!has_run, "{stored}");
        assert_eq!(groups(&test_store), Vec::<String>::new());
        let read = test_store.reader.answered::<StoreReply>(KEY);
        assert!(failure_of(read).message.contains(KEY), "{stored}");
    }
}

#[test]
fn the_answer_to_another_verb_is_an_error_even_where_its_json_can_be_decoded() {
    /// Can be decoded from any object.
    #[derive(Debug, Serialize, Deserialize)]
    struct Lenient {
        #[serde(default)]
        other: Option<String>,
    }
    let mut test_store = TestStore::new();
    let call = test_store.call("shop", Some(KEY));
    let arguments = json!({"content": "Tea at four", "type": "semantic"});
    let draft = crate::operations::store::Draft::new(parse(arguments), test_store.now);
    let draft = draft.expect("the request is valid");
    let first = test_store
        .writer
        .store(&call, &draft, &TextEncodings::default())
        .expect("the memory is stored");
    let outcome: Result<Lenient> = test_store
        .writer
        .run_idempotent(&call, |_| Err(Failure::new(Code::Internal, "ran again").into()));
    assert!(failure_of(outcome).message.contains(KEY));
    let again = test_store
        .writer
        .store(&call, &draft, &TextEncodings::default())
        .expect("the repeated call is answered");
    assert_eq!(again.id, first.id, "a repeated store gets the stored answer");
}

#[test]
fn stored_answers_expire_after_a_day() {
    let mut test_store = TestStore::new();
    let call = test_store.call("shop", Some(KEY));
    let name: GroupName = "shop".parse().expect("the name is valid");
    test_store.store("shop", json!({"content": "Tea at four", "type": "semantic"}), None);
    let rename = |test_store: &mut TestStore| {
        let request = parse(json!({"group": name, "to": "the shop"}));
        test_store.writer.rename_group(&call, &request).map(|done| done.group.name)
    };
    assert_eq!(rename(&mut test_store).expect("the group is renamed"), "the shop");
    let day_before = |hours: i64| T0.plus(hours * HOUR).plus(-24 * HOUR);
    assert_eq!(
        test_store.writer.expire_answers(day_before(24)).expect("the old answers are deleted"),
        0
    );
    assert!(
        idempotency::find(&test_store.writer.conn, KEY)
            .expect("the answers are readable")
            .is_some()
    );
    assert_eq!(
        test_store
            .writer
            .expire_answers(day_before(24).plus(1))
            .expect("the old answers are deleted"),
        1
    );
    assert_eq!(
        idempotency::find(&test_store.writer.conn, KEY).expect("the answers are readable"),
        None
    );
}
