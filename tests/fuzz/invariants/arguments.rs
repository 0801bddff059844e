//! Invariants of the arguments of every verb, for any JSON: a refusal names the reason, and what is
//! accepted can be prepared without a panic.

use super::store::NOW;
use loci_engine::operations::recall::prepare;
use loci_engine::operations::store::Draft;
use loci_proto::error::Failure;
use loci_proto::requests::Request;
use serde_json::Value;

/// Takes the first byte as the number of the verb, and the others as its arguments.
///
/// # Panics
/// When an invariant is violated.
pub fn check(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let name = Request::VERBS[usize::from(*first) % Request::VERBS.len()].0;
    let Ok(Value::Object(arguments)) = serde_json::from_slice(rest) else { return };
    match Request::parse(name, arguments.clone()) {
        Ok(request) => {
            assert_eq!(request.name(), name);
            check_accepted(request);
            let mut more = arguments;
            more.insert("no_such_argument".to_owned(), Value::Null);
            assert!(Request::parse(name, more).is_err(), "an unknown argument is refused");
        }
        Err(failure) => check_refusal(&failure),
    }
}

fn check_accepted(request: Request) {
    match request {
        Request::Store(request) => {
            if let Err(error) = Draft::new(request, NOW) {
                check_refusal(&Failure::from(error));
            }
        }
        Request::Recall(request) => match prepare(request, NOW) {
            Ok(prepared) => drop(prepared.text_to_embed().map(str::to_owned)),
            Err(error) => check_refusal(&Failure::from(error)),
        },
        _ => {}
    }
}

fn check_refusal(failure: &Failure) {
    assert!(!failure.message.is_empty(), "a refusal has a reason");
    assert!(failure.to_string().len() < 4096, "a refusal does not repeat the input");
}
