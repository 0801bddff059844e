//! Summaries of summaries: a month's when it has settled, what is left of a year with the year.

use crate::maintain::tests::*;
use crate::model::time::moment_of;
use loci_proto::requests::forget::ForgetRequest;

/// Stores five episodes on each of so many days of 2025, a week apart, in turn about two subjects, and sums the weeks up; their ids.
fn weeks(house: &mut House, days: &[&str]) -> Vec<MemoryId> {
    let mut ids = Vec::new();
    for (week, day) in days.iter().enumerate() {
        for i in 0..5 {
            let text = format!("Event {week}-{i} of the gateway, kept apart by {week}{i}");
            ids.push(episode(house, "a", &text, day, Some(&about(0, week * 10 + i))));
        }
    }
    let done = run(house);
    assert_eq!(done.len(), days.len(), "a summary for each week");
    ids
}

const OCTOBER: [&str; 5] = ["2025-10-01", "2025-10-06", "2025-10-14", "2025-10-21", "2025-10-28"];

fn goes_to(house: &mut House, date: &str) {
    house.now = moment_of(date).expect("is a date");
}

#[test]
fn the_weeks_of_a_month_that_has_settled_become_one_summary_of_their_lines() {
    let mut house = house(Rules::default());
    let ids = weeks(&mut house, &OCTOBER);
    assert_eq!(plan(&house).steps.len(), 1, "three months have gone by");
    goes_to(&mut house, "2026-01-28");
    assert_eq!(plan(&house), Plan::default(), "not quite");
    goes_to(&mut house, "2026-01-30");
    let deed = run(&mut house).remove(0);
    let month = memory(&house, &deed.made.clone().expect("is made"));
    assert_eq!((deed.week.as_deref(), deed.members.len()), (Some("2025-10"), 5));
    assert_eq!((field(&month, "month"), field(&month, "week")), (json!("2025-10"), Value::Null));
    assert!(
        month.content.lines().next().is_some_and(|line| line.starts_with("2025-10-01: Event 0-")),
        "{}",
        month.content
    );
    assert!(
        month.content.contains("\n2025-10-28: Event 4-"),
        "each line keeps its own date: {}",
        month.content
    );
    assert!(
        month.content.ends_with("(From 5 summaries; source_ids names them.)"),
        "{}",
        month.content
    );
    assert!(deed.members.iter().all(|week| status(&house, week) == "compacted"));
    assert_eq!(status(&house, &ids[0]), "compacted");
    assert_eq!(plan(&house), Plan::default(), "nothing is done twice");
}

#[test]
fn what_is_left_of_a_year_becomes_its_summary_when_the_year_has_settled() {
    let mut house = house(Rules::default());
    weeks(&mut house, &OCTOBER);
    goes_to(&mut house, "2026-01-30");
    run(&mut house);
    weeks(&mut house, &["2025-02-05", "2025-03-05", "2025-06-05", "2025-09-05"]);
    assert_eq!(plan(&house), Plan::default(), "no month of these has five");
    goes_to(&mut house, "2026-04-02");
    let deed = run(&mut house).remove(0);
    assert_eq!(
        (deed.week.as_deref(), deed.members.len()),
        (Some("2025"), 5),
        "four weeks and a month"
    );
    assert_eq!(plan(&house), Plan::default());
}

#[test]
fn a_summary_of_summaries_is_undone_exactly() {
    let mut house = house(Rules::default());
    weeks(&mut house, &OCTOBER);
    let before = dump(&house);
    run(&mut house);
    assert_ne!(dump(&house), before);
    undo_last(&mut house);
    assert_eq!(dump(&house), before);
    assert_eq!(plan(&house), Plan::default(), "and is not made again");
}

#[test]
fn a_hard_forgotten_memory_leaves_every_summary_above_it() {
    let mut house = house(Rules::default());
    let ids = weeks(&mut house, &OCTOBER);
    let month = run(&mut house)[0].made.clone().expect("is made");
    let quoted = |house: &House, number: usize| {
        memory(house, &month).content.contains(&format!("Event {}-{} ", number / 5, number % 5))
    };
    let number = (0..ids.len()).find(|number| quoted(&house, *number)).expect("quotes something");
    let lines = memory(&house, &month).content.lines().count();
    let reply = hard(&mut house, &ids[number]);
    assert!(!quoted(&house, number), "{}", memory(&house, &month).content);
    assert_eq!(memory(&house, &month).content.lines().count(), lines - 1, "and nothing else is");
    assert_eq!(
        field(&memory(&house, &month), "source_ids").as_array().map(Vec::len),
        Some(5),
        "its week's summary stays"
    );
    assert_eq!(reply.note, None, "nothing is left to remove by hand");
    let text = format!("Event {}-{} ", number / 5, number % 5);
    assert!(!house.dump().contains(&text), "no trace");
}

fn hard(house: &mut House, id: &MemoryId) -> loci_proto::requests::forget::ForgetReply {
    let call = house.call("a", None);
    let request =
        ForgetRequest { memory_id: id.clone(), reason: None, hard_delete: true, group: None };
    house.writer.forget(&call, &request).expect("is forgotten")
}

/// The month's summary, one of the memories that it quotes, and what it says of it.
fn quoted(house: &mut House) -> (MemoryId, MemoryId, String) {
    let ids = weeks(house, &OCTOBER);
    let month = run(house)[0].made.clone().expect("is made");
    let text = |n: usize| format!("Event {}-{} ", n / 5, n % 5);
    let number = (0..ids.len())
        .find(|n| memory(house, &month).content.contains(&text(*n)))
        .expect("quotes something");
    (month, ids[number].clone(), text(number))
}

fn edit(house: &mut House, id: &MemoryId, change: Value) {
    let mut arguments = change;
    arguments["memory_id"] = json!(id);
    let call = house.call("a", None);
    house
        .writer
        .edit(&call, &crate::tests::fixture::parse(arguments), &DocumentEncoding::default())
        .expect("is edited");
}

#[test]
fn a_summary_that_a_person_has_edited_is_theirs_and_is_named_when_what_it_quoted_goes() {
    let mut house = house(Rules::default());
    let (month, id, text) = quoted(&mut house);
    let content = memory(&house, &month).content.replacen("Event", "An event", 1);
    edit(
        &mut house,
        &month,
        json!({"content": format!("{content}\nRoot cause found later: the kumquat firmware")}),
    );
    assert_eq!(
        (field(&memory(&house, &month), "method"), field(&memory(&house, &month), "quotes")),
        (json!("edited"), Value::Null)
    );
    let found = house.recall("a", json!({"query": "kumquat firmware"}), None).reply.results;
    assert_eq!(
        found.first().map(|result| &result.id),
        Some(&month),
        "found by the person's own words"
    );
    let note = hard(&mut house, &id).note.expect("says what is left");
    assert!(note.contains(month.as_str()), "{note}");
    hard(&mut house, &month);
    assert!(!house.dump().contains(&text), "neither in the journal of the edit");
}

#[test]
fn what_a_summary_was_made_of_outlives_an_edit_of_its_metadata() {
    let mut house = house(Rules::default());
    let (month, id, text) = quoted(&mut house);
    edit(&mut house, &month, json!({"metadata": {"topic": "gateways"}}));
    let summary = memory(&house, &month);
    assert_eq!(
        (field(&summary, "topic"), field(&summary, "method")),
        (json!("gateways"), json!("extractive"))
    );
    assert_eq!(hard(&mut house, &id).note, None);
    assert!(!house.dump().contains(&text));
}

#[test]
fn a_month_loses_all_lines_of_a_week_that_was_rewritten_by_hand() {
    let mut house = house(Rules::default());
    let (month, id, text) = quoted(&mut house);
    let week: MemoryId =
        memory(&house, &id).superseded_by.expect("stands below a week").parse().expect("is an id");
    let call = house.call("a", None);
    let request = crate::tests::fixture::parse(json!({"memory_id": week}));
    house.writer.restore(&call, &request).expect("is restored");
    let content = memory(&house, &week).content.replace("Event", "Incident");
    edit(&mut house, &week, json!({"content": content}));
    assert!(memory(&house, &month).content.contains(&text));
    let note = hard(&mut house, &id).note.expect("the week is in a person's words");
    assert!(note.contains(week.as_str()) && !note.contains(month.as_str()), "{note}");
    assert!(!memory(&house, &month).content.contains(&text), "{}", memory(&house, &month).content);
}

#[test]
fn what_was_forgotten_is_carried_into_no_new_summary() {
    let mut house = house(Rules::default());
    let ids = weeks(&mut house, &OCTOBER);
    let call = house.call("a", None);
    for id in &ids[..3] {
        let request =
            ForgetRequest { memory_id: id.clone(), reason: None, hard_delete: false, group: None };
        house.writer.forget(&call, &request).expect("is forgotten");
    }
    let month = run(&mut house)[0].made.clone().expect("is made");
    let content = memory(&house, &month).content;
    assert!(
        ["0-0", "0-1", "0-2"].iter().all(|event| !content.contains(&format!("Event {event} "))),
        "{content}"
    );
    assert!(content.contains("Event 1-"), "{content}");
}

#[test]
fn what_a_removed_summary_stood_for_stands_for_itself_again() {
    let mut house = house(Rules::default());
    let (month, id, _) = quoted(&mut house);
    let week: MemoryId =
        memory(&house, &id).superseded_by.expect("stands below a week").parse().expect("is an id");
    hard(&mut house, &month);
    assert_eq!((status(&house, &week), memory(&house, &week).superseded_by), ("active", None));
    hard(&mut house, &week);
    assert_eq!(status(&house, &id), "active");
    assert_eq!(memory(&house, &id).superseded_by, None);
}

#[test]
fn what_was_brought_back_is_not_summed_up_again() {
    let mut house = house(Rules::default());
    let ids = weeks(&mut house, &OCTOBER[..1]);
    let call = house.call("a", None);
    for id in &ids[..3] {
        house
            .writer
            .restore(&call, &crate::tests::fixture::parse(json!({"memory_id": id})))
            .expect("is restored");
    }
    assert_eq!(plan(&house), Plan::default());
}

#[test]
fn a_summary_that_alone_is_sure_enough_is_found_by_its_own_words() {
    let mut house = house(Rules::default());
    for i in 0..6 {
        let (text, sure) = if i == 0 {
            ("The pelican contract was signed".to_owned(), 0.2)
        } else {
            (format!("Event {i} of the gateway"), 1.0)
        };
        let arguments = json!({"content": text, "type": "episodic", "confidence": sure, "metadata": {"event_date": "2025-12-15"}});
        house.store("a", arguments, Some(&about(0, i)));
    }
    let made = run(&mut house)[0].made.clone().expect("is made");
    assert!(memory(&house, &made).content.contains("pelican"));
    let found = house
        .recall("a", json!({"query": "pelican contract", "min_confidence": 0.3}), None)
        .reply
        .results;
    assert_eq!(found.first().map(|result| &result.id), Some(&made));
}

#[test]
fn who_calls_a_note_extractive_hides_it_from_nobody() {
    let mut house = house(Rules::default());
    for i in 0..6 {
        let text = if i == 0 {
            "Purification of the enzyme papain".to_owned()
        } else {
            format!("Event {i} of the gateway")
        };
        let metadata = json!({"event_date": "2025-12-15", "method": "extractive"});
        house.store(
            "a",
            json!({"content": text, "type": "episodic", "metadata": metadata}),
            Some(&about(0, i)),
        );
    }
    run(&mut house);
    assert!(!house.recall("a", json!({"query": "papain enzyme"}), None).reply.results.is_empty());
}

#[test]
fn a_memory_of_long_ago_is_found_by_the_summary_that_speaks_for_it() {
    let mut house = house(Rules::default());
    let ids = weeks(&mut house, &OCTOBER);
    let month = run(&mut house)[0].made.clone().expect("is made");
    let hidden = (0..ids.len())
        .find(|n| !memory(&house, &month).content.contains(&format!("Event {}-{} ", n / 5, n % 5)));
    let hidden = hidden.expect("not all are quoted");
    for i in 0..8 {
        episode(
            &mut house,
            "a",
            &format!("Lunch {i} near the gateway"),
            "2026-01-30",
            Some(&about(3, i)),
        );
    }
    let query =
        json!({"query": format!("kept apart by {}{}", hidden / 5, hidden % 5), "max_results": 20});
    let results = house.recall("a", query, None).reply.results;
    assert_eq!(results[0].id, month, "the only summary in use comes first");
    assert_eq!(
        results[0].sources.first().map(|source| &source.id),
        Some(&ids[hidden]),
        "and names what it is given for"
    );
    assert!(results[0].sources[0].preview.starts_with(&format!(
        "Event {}-{}",
        hidden / 5,
        hidden % 5
    )));
    let own = results.iter().find(|result| result.id == ids[hidden]).expect("is found itself, too");
    assert!(
        (own.score.unwrap_or_default() * 2.0 - results[0].score.unwrap_or_default()).abs() < 2e-4,
        "at half the score"
    );
    let named = house.recall("a", json!({"query": "lunch"}), None).reply.results;
    assert!(
        named.iter().all(|result| result.sources.is_empty()),
        "who speaks for nobody names nobody"
    );
}
