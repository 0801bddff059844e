//! `recall_memory` through the shim, with the real model: what is found, by whom, in which order.

use crate::home::{TestHome, contents, printed};
use serde_json::{Value, json};

const NOTES: &[&str] = &[
    "The nightly backup of the database runs at two o'clock and keeps fourteen copies",
    "Customers complain when invoices arrive late",
    "The office plants are watered by the caretaker every Monday",
    "Error E4017 in the importer means that the CSV file has a byte order mark",
    "Marta prefers video calls to long e-mail threads",
    "The mobile app caches map tiles for a week",
    "The importer rejects files that are larger than two gigabytes",
    "Our oldest customer has been with us since the first release",
];

#[test]
fn a_paraphrase_without_a_common_word_is_found() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store_all("episodic", NOTES.iter().copied());
    assert_eq!(agent.recall("Who takes care of our greenery?")[0], NOTES[2]);
    assert_eq!(agent.recall("clients unhappy about slow billing")[0], NOTES[1]);
}

#[test]
fn a_query_in_another_language_finds_its_note_by_inflected_forms() {
    let notes_and_questions = [
        ("Die Ersatzschlüssel hängen hinter dem Kühlschrank", "Wo hängt der Ersatzschlüssel?"),
        ("Olek pożyczył drabiny aż do wiosny", "Kto pożycza od nas drabinę?"),
        ("El dentista limpió dos dientes y no encontró caries", "¿Quién limpia un diente?"),
        ("Olek a emprunté les échelles jusqu'au printemps", "Qui emprunte ?"),
        ("会議室の予備の鍵は冷蔵庫の裏にあります", "予備の鍵はどこ？"),
    ];
    for home in [TestHome::new(), TestHome::without_model()] {
        let mut agent = home.session();
        agent.store_all(
            "semantic",
            notes_and_questions.iter().map(|(note, _)| *note).chain(NOTES.iter().copied()),
        );
        for (note, question) in notes_and_questions {
            assert_eq!(agent.recall(question)[0], note, "{question}");
        }
        assert_eq!(agent.recall("鍵"), [notes_and_questions[4].0], "a query of one character");
    }
}

/// `tests/data/events.json`: notes that differ only in time; the query names the time.
#[test]
fn an_event_or_a_date_selects_one_of_two_notes() {
    let set: Value = serde_json::from_str(include_str!("../data/events.json")).expect("valid JSON");
    let home = TestHome::new();
    let mut agent = home.session();
    for note in set["notes"].as_array().expect("a JSON array") {
        let dated =
            json!({"content": note[1], "type": "episodic", "metadata": {"event_date": note[0]}});
        agent.call("store_memory", dated).expect("the call succeeds");
    }
    let questions = set["questions"].as_array().expect("a JSON array");
    let is_missed = |question: &&Value| {
        agent.recall(question["question"].as_str().unwrap_or_default())[0] != question["answer"]
    };
    let missed: Vec<&Value> =
        questions.iter().filter(is_missed).map(|question| &question["question"]).collect();
    assert!(missed.len() <= 2, "of {}: {missed:?}", questions.len());
}

/// Minutes that differ in one ticket number: equal in meaning, different in words.
fn minutes(ticket: &str) -> String {
    format!(
        "In the weekly meeting the team went through the open points one by one, agreed who takes which, and moved what could wait to the \
         next week. Somebody asked about ticket LOC-{ticket}, which is still open. Then the plan for the holidays was drawn up, and the \
         kitchen duty was shared out among those who were there."
    )
}

/// Returns the rank of the expected note for each question with the given ranking settings; smaller
/// is better.
fn ranks(settings: &str) -> Vec<usize> {
    let home = TestHome::new();
    home.configure(&format!("[retrieval]\n{settings}\nrecall_token_budget = 20000\n"));
    let mut agent = home.session();
    let tickets = ["3318", "3381", "3813", "3831", "8313", "8331", "1338", "1383"];
    let by_words =
        tickets.map(|ticket| (format!("What is the state of LOC-{ticket}?"), minutes(ticket)));
    let by_meaning = [
        ("How is our greenery looked after?", NOTES[2]),
        ("clients unhappy about slow billing", NOTES[1]),
    ];
    let by_meaning = by_meaning.map(|(question, note)| (question.to_owned(), note.to_owned()));
    agent.store_all("episodic", NOTES.iter().copied());
    agent.store_all("episodic", tickets.map(minutes).iter().map(String::as_str));
    let rank = |(question, expected): (String, String)| {
        agent.recall(&question).iter().position(|c| *c == expected).unwrap_or(20)
    };
    by_words.into_iter().chain(by_meaning).map(rank).collect()
}

#[test]
fn hybrid_ranking_is_better_than_vectors_alone_and_soft_is_as_good() {
    let weighted = |vector_weight: f64| {
        ranks(&format!("fusion = \"weighted\"\nvector_weight = {vector_weight}"))
    };
    let (hybrid, vectors, soft) = (weighted(0.5), weighted(1.0), ranks("fusion = \"soft\""));
    let total = |ranks: &[usize]| ranks.iter().sum::<usize>();
    assert!(total(&hybrid) < total(&vectors), "hybrid {hybrid:?}, vectors alone {vectors:?}");
    assert!(
        hybrid.iter().zip(&vectors).all(|(h, v)| h <= v),
        "hybrid {hybrid:?}, vectors alone {vectors:?}"
    );
    assert!(soft.iter().zip(&hybrid).all(|(s, h)| s <= h), "soft {soft:?}, hybrid {hybrid:?}");
}

#[test]
fn a_weak_result_is_returned_and_marked_weak() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store_all("episodic", NOTES.iter().copied());
    let good = agent
        .call("recall_memory", json!({"query": "Who takes care of our greenery?"}))
        .expect("the call succeeds");
    assert_eq!((contents(&good)[0].as_str(), &good["weak"]), (NOTES[2], &Value::Null), "{good}");
    let poor = agent
        .call("recall_memory", json!({"query": "Which programming language do we use?"}))
        .expect("the call succeeds");
    assert_eq!((contents(&poor).is_empty(), &poor["weak"]), (false, &json!(true)), "{poor}");
    // The cosine counts more for a long query; that alone must not make a result likely. In so small a store it is not called weak.
    let long = "Which programming language, compiler, linter, formatter, package registry, container image, database engine, message \
                broker and operating system version does the platform group recommend for new services?";
    let poor = agent.call("recall_memory", json!({"query": long})).expect("the call succeeds");
    assert!(poor["results"][0]["score"].as_f64().is_some_and(|fit| fit < 0.25), "{poor}");
}

#[test]
fn two_projects_do_not_see_each_others_group_memories() {
    let home = TestHome::new();
    let (mut one, mut two) = (home.session_in("one"), home.session_in("two"));
    one.store("episodic", "The launch of project one slipped to June");
    two.store("episodic", "The launch of project two is on time");
    two.store("semantic", "Launches are announced in the company newsletter");
    let mut seen = one.recall("launch");
    seen.sort();
    assert_eq!(
        seen,
        [
            "Launches are announced in the company newsletter",
            "The launch of project one slipped to June"
        ]
    );
    let of_two = one
        .call("recall_memory", json!({"query": "launch", "scope": "group"}))
        .expect("the call succeeds");
    assert_eq!(contents(&of_two).len(), 1);
}

#[test]
fn a_small_project_finds_its_own_memories_next_to_a_large_one() {
    let home = TestHome::new();
    let (mut large, mut small) = (home.session_in("large"), home.session_in("small"));
    for i in 0..120 {
        large.store(
            "episodic",
            &format!("Deployment {i} of the web shop went through without trouble"),
        );
    }
    small.store("episodic", "The deployment of the small tool needed a manual restart");
    assert_eq!(
        small.recall("How did the deployment of the web shop go?"),
        ["The deployment of the small tool needed a manual restart"]
    );
}

#[test]
fn previews_first_then_the_full_text_by_id() {
    let home = TestHome::new();
    let mut agent = home.session();
    let long = format!(
        "Minutes of the planning meeting\n{}",
        "Everybody agreed on the order of the work. ".repeat(30)
    );
    agent.store("episodic", &long);
    let scan = agent
        .call(
            "recall_memory",
            json!({"query": "planning meeting", "summary_only": true, "max_results": 10}),
        )
        .expect("the call succeeds");
    let result = &scan["results"][0];
    assert_eq!(result["preview"], "Minutes of the planning meeting");
    assert!(
        result.get("content").is_none() && result["score"].as_f64().expect("a JSON number") > 0.0
    );
    let full =
        agent.call("recall_memory", json!({"ids": [result["id"]]})).expect("the call succeeds");
    assert_eq!(contents(&full), [long]);
    let fields: Vec<&String> = full["results"][0].as_object().expect("an object").keys().collect();
    assert_eq!(fields, ["confidence", "content", "created_at", "id", "type"]);
    assert!(
        full["token_estimate"].as_u64().expect("a JSON number")
            > scan["token_estimate"].as_u64().expect("a JSON number")
    );
}

#[test]
fn the_token_estimate_is_a_quarter_of_the_characters_and_within_the_budget() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store_all("episodic", NOTES.iter().copied());
    let answer = agent
        .call("recall_memory", json!({"query": "importer files customers", "max_results": 20}))
        .expect("the call succeeds");
    let characters = answer.to_string().chars().count() as u64;
    assert_eq!(answer["token_estimate"].as_u64(), Some(characters.div_ceil(4)));
    let small = agent
        .call("recall_memory", json!({"query": "importer files customers", "token_budget": 120}))
        .expect("the call succeeds");
    let fitting = Value::Array(small["results"].as_array().expect("a JSON array").clone());
    assert!(
        !fitting.as_array().expect("a JSON array").is_empty()
            && fitting.to_string().chars().count() / 4 <= 120
    );
    assert!(small["omitted_count"].as_u64().expect("a JSON number") > 0);
    assert!(small["token_estimate"].as_u64().expect("a JSON number") <= 120);
}

#[test]
fn a_reply_to_an_agent_is_small_and_the_command_line_gets_all_fields() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    // Each has 160 characters.
    let texts = [
        "Tea is made in the copper kettle ",
        "Nobody may put the enamel kettle for tea on the gas ",
        "On journeys a camping kettle boils water, tea and soup ",
        "Joan bought an electric kettle, since the tea was always cold ",
        "A whistling kettle wakes the cat when tea is ready ",
    ];
    for text in texts {
        agent.store("semantic", &format!("{text:x<160}"));
    }
    let mut recalled =
        agent.call("recall_memory", json!({"query": "kettle tea"})).expect("it is found");
    assert_eq!(contents(&recalled).len(), 5);
    // Without a model a reply says so as well.
    let reply = recalled.as_object_mut().expect("an object");
    reply.retain(|key, _| key != "degraded" && key != "hint");
    let tokens = recalled.to_string().chars().count().div_ceil(4);
    assert!(tokens <= 420, "{tokens} tokens, of which the texts are 200");
    agent.store_with(
        json!({"content": "The cat drinks milk", "type": "episodic", "confidence": 0.5,
        "metadata": {"subject": "cat"}}),
    );
    let result = agent.call("recall_memory", json!({"query": "cat"})).expect("it is found");
    let mut result = result["results"][0].clone();
    result
        .as_object_mut()
        .expect("an object")
        .retain(|key, _| !["id", "score", "created_at"].contains(&key.as_str()));
    let confidence = result["confidence"].take().as_f64().expect("a number");
    assert!((confidence - 0.5).abs() < 1e-3, "{confidence}");
    let expected = json!({"content": "The cat drinks milk", "type": "episodic", "confidence": null,
        "metadata": {"subject": "cat"}});
    assert_eq!(result, expected);
    let output = home.loci(&["search", "kettle", "--full", "--limit", "1", "--json"]);
    let reply: Value = serde_json::from_slice(&output.stdout).expect("a reply");
    let of_person = &reply["results"][0];
    assert_eq!((&of_person["type"], &of_person["metadata"]), (&json!("semantic"), &json!({})));
    assert!(of_person["confidence"].as_f64() > Some(0.999), "{of_person}");
    assert_eq!(of_person["created_at"].as_str().map(str::len), Some(24), "{of_person}");
}

#[test]
fn an_access_is_counted_for_full_content_and_raises_confidence() {
    let home = TestHome::new();
    let mut agent = home.session();
    let stored = agent.store_with(
        json!({"content": "The kitchen tap drips", "type": "semantic", "confidence": 0.5}),
    );
    let confidence = |agent: &mut crate::home::Agent| {
        let shown =
            agent.call("recall_memory", json!({"ids": [stored["id"]]})).expect("the call succeeds");
        shown["results"][0]["confidence"].as_f64().expect("a JSON number")
    };
    assert!((confidence(&mut agent) - 0.5).abs() < 1e-3);
    // The boost is written within a second after the reply, at most once an hour, so the next
    // reading is final.
    let raised = (0..10_000).map(|_| confidence(&mut agent)).find(|c| *c > 0.51);
    assert!((raised.expect("the confidence rises") - 0.55).abs() < 1e-3);
}

#[test]
fn a_dry_run_and_an_explanation_count_no_access_and_change_no_result() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store_all("episodic", NOTES.iter().copied());
    let recall_with = |agent: &mut crate::home::Agent, more: Value| {
        let mut arguments =
            json!({"query": "Who takes care of our greenery?", "max_results": 2, "dry_run": true});
        more.as_object()
            .expect("a JSON object")
            .iter()
            .for_each(|(name, value)| arguments[name] = value.clone());
        agent.call("recall_memory", arguments).expect("the call succeeds")
    };
    let plain = recall_with(&mut agent, json!({}));
    let mut explained = recall_with(&mut agent, json!({"explain": true}));
    let (explain, why) = (explained["explain"].clone(), explained["results"][0]["why"].clone());
    let counted = ["in_store", "visible", "admitted"].map(|count| explain[count].as_u64());
    assert_eq!((explain["ranking"].as_str(), counted), (Some("soft"), [Some(8); 3]), "{explain}");
    assert_eq!(why["vector"]["rank"], 1, "{why}");
    let fit = |value: &Value| value.as_f64().expect("a JSON number");
    assert!(why["parts"].as_array().is_some_and(|parts| parts.len() > 2), "{why}");
    assert!(fit(&explained["results"][0]["score"]) <= fit(&explain["fit"]), "{explained}");
    explained["results"]
        .as_array_mut()
        .expect("a JSON array")
        .iter_mut()
        .for_each(|result| drop(result.as_object_mut().map(|r| r.remove("why"))));
    assert_eq!(explained["results"], plain["results"]);
    let id = plain["results"][0]["id"].clone();
    agent.call("recall_memory", json!({"ids": [id], "dry_run": true})).expect("the call succeeds");
    let shown = agent.call("memory_inspect", json!({"memory_id": id})).expect("the call succeeds");
    assert_eq!(
        shown["memory"]["access_count"], 0,
        "pending accesses are written before the memory is shown"
    );
    agent.call("recall_memory", json!({"ids": [id]})).expect("the call succeeds");
    let shown = agent.call("memory_inspect", json!({"memory_id": id})).expect("the call succeeds");
    assert_eq!(shown["memory"]["access_count"], 1);
}

#[test]
fn date_filters_apply_and_invalid_dates_are_refused_by_name() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store_with(json!({"content": "The roof was mended", "type": "episodic", "metadata": {"event_date": "2024-03-05"}}));
    agent.store("episodic", "[2024-04-09] The roof leaked again");
    agent.store("episodic", "The roof is dry");
    let mut found = |days: Value| {
        let mut arguments = json!({"query": "roof"});
        days.as_object()
            .expect("a JSON object")
            .iter()
            .for_each(|(name, value)| arguments[name] = value.clone());
        agent.call("recall_memory", arguments).map(|answer| contents(&answer).len())
    };
    assert_eq!(found(json!({"date_from": "2024-03-05", "date_to": "2024-03-31"})), Ok(1));
    assert_eq!(found(json!({"date_from": "2024-03-06T00:00:00Z"})), Ok(2));
    assert_eq!(found(json!({"date_to": "2024-12-31"})), Ok(2));
    let refused = found(json!({"date_to": "soon"})).expect_err("the recall fails");
    assert!(refused.starts_with("invalid: date_to must be a date (2026-12-31)"), "{refused}");
    let refused = found(json!({"date_from": "2025-01-01", "date_to": "2024-01-01"}))
        .expect_err("the recall fails");
    assert!(refused.starts_with("invalid: date_from is after date_to"), "{refused}");
}

#[test]
fn stats_count_what_was_stored() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store("episodic", "One thing happened");
    agent.store("entity", "Globex is a customer in Springfield");
    let stats = agent.call("memory_stats", json!({})).expect("the call succeeds");
    assert_eq!((&stats["total_memories"], &stats["active_memories"]), (&json!(2), &json!(2)));
    assert_eq!(
        stats["by_type"],
        json!({"entity": 1, "episodic": 1, "procedural": 0, "semantic": 0})
    );
    assert_eq!(stats["by_scope"], json!({"global": 1, "group": 1}));
    assert!(
        stats["db_size_bytes"].as_u64().expect("a JSON number") > 0
            && stats["oldest_memory"].is_string()
    );
    assert_eq!((&stats["without_vector"], &stats["entity_relations"]), (&json!(0), &json!(0)));
}

#[test]
fn a_named_time_finds_the_events_of_that_day() {
    let home = TestHome::new();
    let mut agent = home.session();
    let today = chrono::Local::now().date_naive();
    let days_ago = |days| (today - chrono::TimeDelta::days(days)).format("%Y-%m-%d").to_string();
    let event = "The sieve arrived at the mill";
    let notes = ["The kettle is blue", "Use pnpm, never yarn", "Ben cleaned the kiln"];
    agent
        .call(
            "store_memory",
            json!({"content": event, "type": "episodic", "metadata": {"event_date": days_ago(7)}}),
        )
        .expect("the call succeeds");
    for (note, day) in notes.into_iter().zip([40, 50, 60]) {
        let metadata = json!({"event_date": days_ago(day)});
        agent
            .call(
                "store_memory",
                json!({"content": note, "type": "episodic", "metadata": metadata}),
            )
            .expect("the call succeeds");
    }
    for query in [
        "last week",
        "what did we do last week?",
        "la semaine dernière",
        "la semana pasada",
        "letzte Woche",
        "săptămâna trecută",
        "на прошлой неделе",
        "geçen hafta",
        "上周",
        "الأسبوع الماضي",
        "tuần trước",
        &days_ago(7),
    ] {
        let found =
            agent.call("recall_memory", json!({"query": query})).expect("the call succeeds");
        assert_eq!(contents(&found).first().map(String::as_str), Some(event), "{query}: {found}");
        assert!(found["weak"].is_null(), "{query}: {found}");
    }
}

#[test]
fn people_get_the_nearest_where_nothing_matches_and_agents_nothing() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store("semantic", "Patients log in with the code that the practice sends");
    let none = agent.call("recall_memory", json!({"query": "xyzzy"})).expect("the call succeeds");
    assert!(contents(&none).is_empty(), "{none}");
    let shown = printed(&home.loci(&["search", "--explain", "xyzzy"]));
    assert!(shown.contains("Nothing fits well. The nearest:"), "{shown}");
    assert!(shown.contains("Patients log in") && shown.contains("best_score"), "{shown}");
}
