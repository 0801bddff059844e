//! Tests of [`Request`], and of the JSON examples in the documentation of the requests.

use crate::mcp::{arguments, tools};
use crate::requests::verbs::Powers;
use crate::requests::{
    Request, bridge, cleanup, compact, config, confirm, diff, doctor, edit, eval, export, find,
    forget, forget_many, groups, history, hook, import, incognito, injected, inspect, list,
    maintenance, move_to, pin, purge_backups, recall, redo, reembed, relate, reset, restore,
    review, stats, store, supersede, topics, undo, wander,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn an_unknown_verb_is_refused_by_name() {
    let failure = Request::parse("frobnicate", Map::new()).expect_err("the verb is refused");
    assert_eq!(failure.to_string(), "invalid: there is no verb frobnicate");
}

#[test]
fn every_request_names_its_own_verb() {
    let names: BTreeSet<_> = Request::VERBS.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), Request::VERBS.len());
    for name in names {
        match Request::parse(name, Map::new()) {
            Ok(request) => assert_eq!(request.name(), *name),
            Err(failure) => assert_eq!(failure.message, "is missing", "{name}: {failure}"),
        }
    }
}

#[test]
fn the_agent_tools_are_those_that_mcp_lists() {
    let listed: Vec<&str> = tools::all().iter().map(|tool| tool.name).collect();
    let has_tool = |(_, powers): &&(&str, Powers)| powers.callers.has_tool();
    let in_table: Vec<&str> =
        Request::VERBS.iter().filter(has_tool).map(|(name, _)| *name).collect();
    assert_eq!(in_table, listed);
}

/// Returns the `json` blocks of a module's documentation.
fn examples(source: &str) -> Vec<Value> {
    let documentation: String = source
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .fold(String::new(), |text, line| text + line + "\n");
    let blocks = documentation.split("```json").skip(1);
    blocks
        .map(|block| {
            let json = block.split("```").next().expect("a block has a text");
            serde_json::from_str(json).unwrap_or_else(|e| panic!("{e} in {json}"))
        })
        .collect()
}

#[test]
fn the_module_of_every_verb_has_examples_of_a_request_and_a_reply() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/requests");
    let sources: Vec<String> = fs::read_dir(folder)
        .expect("the folder of the requests is readable")
        .map(|entry| entry.expect("the folder of the requests is readable").path())
        .map(|path| fs::read_to_string(path).expect("a module is readable"))
        .collect();
    for (name, _) in Request::VERBS {
        let verb = format!("`{name}`");
        let documents_verb =
            |source: &&String| source.split(':').next().is_some_and(|title| title.contains(&verb));
        let source = sources.iter().find(documents_verb);
        let source =
            source.unwrap_or_else(|| panic!("no module begins with: //! `{name}`: what it does"));
        assert!(
            examples(source).len() >= 2,
            "the module of {name} needs a JSON example of a request and one of a reply"
        );
    }
}

/// Asserts that the serialised value has every field of the example.
fn assert_contains(written: &Value, example: &Value) {
    match (written, example) {
        (Value::Object(written), Value::Object(example)) => {
            for (key, value) in example {
                let field = written.get(key).unwrap_or_else(|| panic!("{key} is not serialised"));
                assert_contains(field, value);
            }
        }
        (Value::Array(written), Value::Array(example)) => {
            assert_eq!(written.len(), example.len());
            for (item, value) in written.iter().zip(example) {
                assert_contains(item, value);
            }
        }
        _ => assert_eq!(written, example),
    }
}

/// Asserts that an example is a valid request, and that parsing keeps all its fields.
fn assert_request<T>(example: &Value)
where
    T: DeserializeOwned + Serialize + JsonSchema + 'static,
{
    let arguments = example.as_object().expect("the arguments are an object").clone();
    let request: T = arguments::parse(arguments).unwrap_or_else(|e| panic!("{e}: {example}"));
    assert_contains(&serde_json::to_value(request).expect("the value is serialised"), example);
}

/// Asserts that an example is a valid reply, and that parsing keeps all its fields.
fn assert_reply<T: DeserializeOwned + Serialize>(example: &Value) {
    let reply: T =
        serde_json::from_value(example.clone()).unwrap_or_else(|e| panic!("{e}: {example}"));
    assert_contains(&serde_json::to_value(reply).expect("the value is serialised"), example);
}

/// Declares one test per module: its documentation has one example of a request and one of a reply.
macro_rules! one_example {
    ($($module:ident: $request:ident, $reply:ty;)+) => {
        $(#[test]
        fn $module() {
            let examples = examples(include_str!(concat!(stringify!($module), ".rs")));
            let [request, reply] = examples.as_slice() else { panic!("one request, one reply") };
            assert_request::<$module::$request>(request);
            assert_reply::<$reply>(reply);
        })+
    };
}

mod the_example_is_parsed_and_serialised_for {
    use super::*;

    one_example! {
        cleanup: CleanupRequest, cleanup::CleanupReply;
        compact: CompactRequest, compact::CompactReply;
        confirm: ConfirmRequest, confirm::ConfirmReply;
        diff: DiffRequest, diff::DiffReply;
        doctor: DoctorRequest, doctor::DoctorReply;
        edit: EditRequest, edit::ChangedReply;
        eval: EvalRequest, eval::EvalReply;
        find: FindRequest, find::FindReply;
        forget: ForgetRequest, forget::ForgetReply;
        forget_many: ForgetManyRequest, forget_many::ForgetManyReply;
        history: HistoryRequest, history::HistoryReply;
        hook: HookRequest, hook::HookReply;
        import: ImportRequest, import::ImportReply;
        incognito: IncognitoRequest, incognito::IncognitoReply;
        injected: InjectedRequest, injected::InjectedReply;
        inspect: InspectRequest, inspect::InspectReply;
        list: ListRequest, list::ListReply;
        maintenance: MaintenanceRequest, maintenance::MaintenanceReply;
        move_to: MoveRequest, move_to::MoveReply;
        pin: PinRequest, edit::ChangedReply;
        purge_backups: PurgeBackupsRequest, purge_backups::PurgeBackupsReply;
        recall: RecallRequest, recall::RecallReply;
        redo: RedoRequest, redo::RedoReply;
        reembed: ReembedRequest, reembed::ReembedReply;
        relate: RelateRequest, relate::RelateReply;
        reset: ResetRequest, reset::ResetReply;
        restore: RestoreRequest, restore::RestoreReply;
        review: ReviewRequest, review::ReviewReply;
        stats: StatsRequest, stats::StatsReply;
        store: StoreRequest, store::StoreReply;
        supersede: SupersedeRequest, supersede::SupersedeReply;
        topics: TopicsRequest, topics::TopicsReply;
        undo: UndoRequest, undo::UndoReply;
        wander: WanderRequest, wander::WanderReply;
    }

    #[test]
    fn config() {
        let examples = examples(include_str!("config.rs"));
        let [request, reply, reload] = examples.as_slice() else { panic!("three examples") };
        assert_request::<config::ConfigRequest>(request);
        assert_reply::<config::ConfigReply>(reply);
        assert_reply::<config::ReloadReply>(reload);
    }

    #[test]
    fn bridge() {
        let examples = examples(include_str!("bridge.rs"));
        let [status, state, switch, switched, file, versions, block, lines] = examples.as_slice()
        else {
            panic!("eight examples")
        };
        assert_request::<bridge::BridgeRequest>(status);
        assert_reply::<bridge::BridgeReply>(state);
        assert_request::<bridge::BridgeSwitchRequest>(switch);
        assert_reply::<bridge::BridgeSwitchReply>(switched);
        assert_request::<bridge::BridgeFileRequest>(file);
        assert_reply::<bridge::BridgeFileReply>(versions);
        assert_request::<bridge::BridgeBlockRequest>(block);
        assert_reply::<bridge::BridgeBlockReply>(lines);
    }

    #[test]
    fn groups() {
        let examples = examples(include_str!("groups.rs"));
        let [list, listed, rename, renamed, merge, merged, rest @ ..] = examples.as_slice() else {
            panic!("twelve examples")
        };
        let [join, joined, alias, aliased, switch, switched] = rest else {
            panic!("twelve examples")
        };
        assert_request::<groups::JoinRequest>(join);
        assert_request::<groups::SwitchRequest>(switch);
        assert_reply::<groups::GroupSwitchedReply>(switched);
        assert_request::<groups::GroupsRequest>(list);
        assert_reply::<groups::GroupsReply>(listed);
        assert_request::<groups::RenameRequest>(rename);
        assert_request::<groups::MergeRequest>(merge);
        assert_request::<groups::AliasRequest>(alias);
        for reply in [renamed, merged, joined, aliased] {
            assert_reply::<groups::GroupChangedReply>(reply);
        }
    }

    #[test]
    fn export() {
        let examples = examples(include_str!("export.rs"));
        let [request] = examples.as_slice() else { panic!("one request") };
        assert_request::<export::ExportRequest>(request);
    }
}
