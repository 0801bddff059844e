//! Days are those of the person's time zone: in rows, in filters, in words of a query and in charts.

use crate::home::TestHome;
use serde_json::Value;

/// A zone that has no summer time, in the format of POSIX, so that no database of zones is needed: fourteen hours ahead of UTC.
const AHEAD: &str = "AHEAD-14";
/// 2026-03-04 20:00 UTC is 2026-03-05 10:00 there.
const STORED_AT: &str = "1772654400000";

fn text(home: &TestHome, arguments: &[&str]) -> String {
    let output = home.loci(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn rows_filters_and_headings_have_local_days_and_json_has_utc() {
    let home = TestHome::without_model().with("TZ", AHEAD);
    let id = home.session().store("semantic", "The staging server is called heron");
    home.set_stored(&id, "created_at", STORED_AT);
    assert!(home.loci(&["ctl", "stop"]).status.success());
    assert!(text(&home, &["list"]).contains("2026-03-05"), "{}", text(&home, &["list"]));
    assert!(text(&home, &["search", "heron"]).contains("2026-03-05"));
    assert!(text(&home, &["inspect", &id]).contains("2026-03-05 10:00:00 +14:00"));
    assert!(text(&home, &["stats"]).contains("2026-03-05 to 2026-03-05"));
    assert!(text(&home, &["stats", "--chart"]).contains("2026-03"));
    for (command, query) in [("list", None), ("search", Some("heron"))] {
        let found = |from: &str, to: &str| {
            let mut arguments = vec![command];
            arguments.extend(query);
            arguments.extend(["--from", from, "--to", to]);
            text(&home, &arguments).contains("heron")
        };
        assert!(found("2026-03-05", "2026-03-05"), "{command}");
        assert!(!found("2026-03-04", "2026-03-04"), "{command}");
    }
    let listed: Value = serde_json::from_str(&text(&home, &["list", "--json"])).expect("JSON");
    assert_eq!(listed["memories"][0]["created_at"], "2026-03-04T20:00:00.000Z");
}

#[test]
fn every_time_of_the_past_is_given_in_the_same_forms() {
    let home = TestHome::without_model().with("TZ", AHEAD);
    let id = home.session().store("semantic", "The staging server is called heron");
    home.set_stored(&id, "created_at", STORED_AT);
    assert!(home.loci(&["ctl", "stop"]).status.success());
    assert!(
        home.loci(&["edit", &id, "--content", "The staging server is called egret"])
            .status
            .success()
    );
    let forms = [
        "yesterday",
        "today",
        "2026-11-01",
        "2026-11-01 14:30",
        "2026-11-01T14:30",
        "2026-11-01T14:30:00+02:00",
        "3d",
        "90m",
    ];
    for form in forms {
        for arguments in [
            vec!["search", "egret", "--as-of", form],
            vec!["search", "egret", "--valid-at", form],
            vec!["search", "egret", "--from", form],
            vec!["list", "--as-of", form],
            vec!["list", "--from", form],
            vec!["list", "--to", form],
            vec!["list", "--older", form],
            vec!["inspect", &id, "--as-of", form],
            vec!["diff", "--since", form, "--until", form],
            vec!["export", "--as-of", form],
            vec!["wander", "--date", form],
        ] {
            let output = home.loci(&arguments);
            let text = crate::home::printed(&output);
            assert!(
                !text.contains("must be") && !text.contains("is not a time"),
                "{arguments:?}: {text}"
            );
        }
        let condition = format!("older:\"{form}\"");
        let forgotten = crate::home::printed(&home.loci(&["forget", "--where", &condition]));
        assert!(!forgotten.contains("is not a time"), "{form}: {forgotten}");
    }
    assert!(text(&home, &["list", "--older", "2026-03-06"]).contains("egret"));
    assert!(
        !text(&home, &["list", "--older", "2026-03-05"]).contains("egret"),
        "it was stored on that day"
    );
    assert!(!text(&home, &["list", "--from", "yesterday"]).contains("egret"));
    assert!(text(&home, &["list", "--to", "yesterday"]).contains("egret"));
    let undone = text(&home, &["undo", "--since", "today", "--yes"]);
    assert!(undone.contains("Undid 1 act"), "{undone}");
    let refused = home.loci(&["undo", "--since", "soon", "--yes"]);
    let refused = crate::home::printed(&refused);
    assert!(refused.contains("soon is not a time; write a date (2026-12-31)"), "{refused}");
}
