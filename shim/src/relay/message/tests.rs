//! Classification of lines: valid messages, refusals, and ids of too long lines.

use crate::relay::message::*;

fn refused(line: &[u8]) -> (i32, Option<String>) {
    let refusal = read(line).expect_err("the line is refused");
    (refusal.code, refusal.id.map(|id| id.as_json().to_owned()))
}

fn request_id(line: &str) -> String {
    match read(line.as_bytes()).expect("the line is valid") {
        Message::Request(request) => request.id.as_json().to_owned(),
        other => panic!("not a request: {other:?}"),
    }
}

#[test]
fn a_line_that_is_not_json_is_a_parse_error_without_an_id() {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{}{}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let unclosed = "[".repeat(1024 * 1024 - 1);
    let cases: [&[u8]; 8] = [
        b"hello",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
        b"\xff\xfe{\x00}\x00",
        br#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"content":"\ud800"}}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"content":"\ud800\u0041"}}"#,
        deep.as_bytes(),
        unclosed.as_bytes(),
    ];
    for line in cases {
        assert_eq!(
            refused(line),
            (PARSE_ERROR, None),
            "{}",
            String::from_utf8_lossy(&line[..line.len().min(80)])
        );
    }
}

#[test]
fn json_that_is_not_a_message_is_an_invalid_request() {
    let cases = [
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
        "42",
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0"}"#,
    ];
    for line in cases {
        assert_eq!(refused(line.as_bytes()), (INVALID_REQUEST, None), "{line}");
    }
}

#[test]
fn a_refusal_has_the_id_if_it_can_be_read() {
    assert_eq!(refused(br#"{"id":7,"method":"ping"}"#), (INVALID_REQUEST, Some("7".into())));
    assert_eq!(
        refused(br#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#),
        (INVALID_REQUEST, Some("\"a\"".into()))
    );
    assert_eq!(
        refused(br#"{"jsonrpc":"2.0","id":7,"method":3}"#),
        (INVALID_REQUEST, Some("7".into()))
    );
}

#[test]
fn a_number_out_of_range_and_a_surrogate_pair_are_accepted() {
    assert_eq!(request_id(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":1e999}}"#), "1");
    assert_eq!(
        request_id(
            r#"{"jsonrpc":"2.0","id":2,"method":"x","params":{"t":"\ud83d\ude00 \\ud800"}}"#
        ),
        "2"
    );
}

#[test]
fn nesting_is_accepted_up_to_the_limit_of_the_daemons_parser() {
    let nested = |levels: usize| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{}{}}}"#,
            "[".repeat(levels),
            "]".repeat(levels)
        )
    };
    let deepest = nested(MAX_DEPTH - 1);
    assert_eq!(request_id(&deepest), "1");
    assert!(serde_json::from_str::<serde_json::Value>(&deepest).is_ok());
    assert_eq!(refused(nested(MAX_DEPTH).as_bytes()).0, PARSE_ERROR);
    assert!(serde_json::from_str::<serde_json::Value>(&nested(MAX_DEPTH)).is_err());
}

#[test]
fn ids_differ_by_type_but_not_by_escaping() {
    let id = |id: &str| request_id(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
    assert_ne!(id("1"), id("\"1\""));
    assert_eq!(id("\"ab\""), id("\"a\\u0062\""));
    assert_eq!(id("1.0"), id("1"));
}

#[test]
fn a_cancellation_has_the_id_of_its_request() {
    let line = br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a","reason":"b"}}"#;
    let Ok(Message::Notification(notification)) = read(line) else { panic!("not a notification") };
    assert_eq!(
        notification.cancelled_request().expect("the notification names a request").as_json(),
        "\"a\""
    );
}

#[test]
fn a_daemon_line_is_an_answer_only_without_a_method() {
    let Ok(Message::Request(request)) = read(br#"{"jsonrpc":"2.0","id":3,"method":"x"}"#) else {
        panic!("not a request")
    };
    assert_eq!(
        read_answer(br#"{"jsonrpc":"2.0","id":3,"result":{}}"#),
        FromDaemon::Answer(request.id)
    );
    assert_eq!(read_answer(br#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#), FromDaemon::Other);
    assert_eq!(read_answer(br#"{"jsonrpc":"2.0","id":null,"error":{}}"#), FromDaemon::Unreadable);
    assert_eq!(read_answer(b"busy"), FromDaemon::Unreadable);
}

#[test]
fn the_id_of_a_too_long_line_is_found_at_either_end() {
    let id = |head: &str, tail: &str| {
        let excerpt = Excerpt { head: head.as_bytes().to_vec(), tail: tail.as_bytes().to_vec() };
        id_of_excerpt(&excerpt).map(|id| id.as_json().to_owned())
    };
    let body = r#""method":"tools/call","params":{"id":5,"content":"aaa"#;
    assert_eq!(id(&format!(r#"{{"jsonrpc":"2.0","id":7,{body}"#), "aaa"), Some("7".into()));
    assert_eq!(
        id(&format!("{{{body}"), r#"aaa"},"jsonrpc":"2.0","id": "x" }"#),
        Some("\"x\"".into())
    );
    assert_eq!(id(&format!("{{{body}"), r#"aaa","id":7}}"#), None, "an id inside the parameters");
    assert_eq!(id(&format!("{{{body}"), r#"aaa,\"id\":7}"#), None, "an id inside a string");
    assert_eq!(id(r#"{"method":"x","id":12"#, "aaa"), None, "a truncated number");
}
