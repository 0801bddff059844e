//! Tests of the duplicate guard on single pairs and on the three corpora of `tests/data`.

use crate::duplicate::{Equivalence, equivalence, judge, normalised, same_fact};
use proptest::prelude::*;

/// Two texts of a corpus.
#[derive(Clone)]
struct TextPair {
    a: String,
    b: String,
    /// The kind of the changed word, if the file has it.
    changed: String,
}

/// Reads a file of pairs in `tests/data`.
fn pairs(file: &str) -> Vec<TextPair> {
    let path = format!("{}/../tests/data/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let field =
        |line: &serde_json::Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{path}: {e}: {line}")))
        .map(|line| TextPair {
            a: field(&line, "a"),
            b: field(&line, "b"),
            changed: field(&line, "changed"),
        })
        .collect()
}

fn assert_same(a: &str, b: &str) {
    assert!(judge(a, b).is_ok(), "{a} | {b}");
    assert!(judge(b, a).is_ok(), "{b} | {a}");
}

fn assert_different(a: &str, b: &str) {
    assert!(!same_fact(a, b), "{a} | {b}");
    assert!(!same_fact(b, a), "{b} | {a}");
}

#[test]
fn a_correction_of_one_value_is_never_the_same_fact() {
    let corrections = [pairs("corrections.jsonl"), pairs("exchanges.jsonl")].concat();
    let merged: Vec<String> = corrections
        .iter()
        .filter(|TextPair { a, b, .. }| same_fact(a, b) || same_fact(b, a))
        .map(|TextPair { a, b, changed }| format!("{changed}: {a} | {b}"))
        .collect();
    assert!(corrections.len() >= 713);
    assert!(
        merged.is_empty(),
        "{} of {} merged:\n{}",
        merged.len(),
        corrections.len(),
        merged.join("\n")
    );
}

#[test]
fn nearly_all_paraphrases_are_the_same_fact() {
    let paraphrases = pairs("paraphrases.jsonl");
    let not_merged: Vec<String> = paraphrases
        .iter()
        .filter_map(|TextPair { a, b, .. }| {
            judge(a, b).err().map(|difference| format!("{difference}: {a} | {b}"))
        })
        .collect();
    assert_eq!(paraphrases.len(), 60);
    assert_eq!(paraphrases.len() - not_merged.len(), 58, "not merged:\n{}", not_merged.join("\n"));
}

#[test]
fn replacing_any_content_word_of_a_note_is_a_correction() {
    let function_words = "a about along am an and are as at be between by do during for from has have in into is it its must of on or out over \
        past per remember so such that the them there this through to up was were who with within";
    for TextPair { a: note, .. } in pairs("corrections.jsonl") {
        let words: Vec<&str> = note.split(' ').collect();
        for (at, word) in words.iter().enumerate() {
            let core = word.trim_matches(|c: char| !c.is_alphanumeric());
            let lower = core.to_lowercase();
            if core.is_empty() || function_words.split_whitespace().any(|listed| listed == lower) {
                continue;
            }
            let mut other = words.clone();
            let changed = word.replace(core, "zebra");
            other[at] = &changed;
            assert_different(&note, &other.join(" "));
        }
    }
}

#[test]
fn normalised_only_folds_white_space_and_removes_the_last_full_stop() {
    assert_eq!(normalised("  Use\u{a0}tabs,\n\talways. "), "Use tabs, always");
    assert_eq!(normalised("Wait ..."), "Wait ...");
    assert_eq!(normalised("Use Tabs!"), "Use Tabs!");
    assert_eq!(normalised("Use tabs."), "Use tabs");
    assert_eq!(normalised("Two  spaces"), "Two spaces");
    assert_eq!(normalised("At the end "), "At the end");
    assert_eq!(normalised("."), ".");
    assert_eq!(normalised(" \n"), "");
}

#[test]
fn numbers_and_units_are_equal_in_any_spelling() {
    assert_same("The fee is $1,200", "The fee is 1200 dollars");
    assert_same("Wake me at 7 a.m.", "Wake me at 7am");
    assert_same("It weighs twelve kilograms", "It weighs 12kg");
    assert_different("The fee is 1.5 percent", "The fee is 15 percent");
    assert_different("The delay is .5 s", "The delay is 5 s");
    assert_different("It was -5 degrees", "It was 5 degrees");
    assert_different("The limit is 5", "The limit is 5k");
    assert_different("Pin it to 2.0.0", "Pin it to 2.0.0-beta");
}

#[test]
fn parts_that_swap_around_a_third_make_another_fact() {
    assert_different("Anna Smith reports to Bob Jones", "Bob Jones reports to Anna Smith");
    assert_different(
        "Redis runs in prod, Postgres runs in dev",
        "Postgres runs in prod, Redis runs in dev",
    );
    assert_different("The gift for Mia is with Ben", "The gift for Ben is with Mia");
    assert_different("The coordinates are 10 20", "The coordinates are 20 10");
    assert_different("Tell Ann Bob left", "Tell Bob Ann left");
    assert_different("Ann Bob says hello to", "Bob Ann says hello to");
    assert_same("On Fridays the gate is locked", "The gate is locked on Fridays");
    assert_same("Port 8080 is the staging port", "The staging port is port 8080");
    assert_same("The flag is red and blue", "The flag is blue and red");
    assert_same("Ann and Bob left", "Bob and Ann left");
    assert_same("We gave Ann, Bob and Cleo keys", "We gave Bob, Ann and Cleo keys");
    assert_same("Tea is what Anna drinks", "What Anna drinks is tea");
    assert_same("Anna is Bob's manager", "Bob's manager is Anna");
    assert_same("In Rome we met on Monday", "We met in Rome on Monday");
    assert_same("A server is down", "The server is down");
}

#[test]
fn owning_something_differs_from_being_it() {
    assert_different("Anna's laptop is new", "Anna is a laptop and new");
    assert_different("The developers' manager left", "The managers' developer left");
    assert_different("His brother called her", "He called her brother");
    assert_same("Anna's a nurse", "Anna is a nurse");
}

#[test]
fn a_passive_keeps_its_roles() {
    assert_same("Anna reviews the migrations", "The migrations are reviewed by Anna");
    assert_same("He hired Bob", "Bob was hired by him");
    assert_same("The book was read by Anna", "Anna read the book");
    assert_same("The price rose by 5 percent", "The price rose 5 percent");
    assert_different("He was hired by Ruth", "He has hired Ruth");
    assert_different("The firm founded by Lee moved", "The firm that founded Lee moved");
    assert_different("Anna manages Bob", "Anna is managed by Bob");
    assert_different("Bob manages Anna", "Bob is managed by Anna");
    assert_different("The ticket is blocking", "The ticket is blocked");
}

#[test]
fn tense_doubt_and_reversal_make_another_fact() {
    assert_different("The server is in the basement", "The server was in the basement");
    assert_different("User works at the port", "User worked at the port");
    assert_different("User worked at the port", "User used to work at the port");
    assert_different("Anna is the treasurer", "Anna is the former treasurer");
    assert_different("The move is done", "The move is almost done");
    assert_different("The ferry runs", "The ferry will run");
    assert_different(
        "User is not allergic to nuts but to milk",
        "User is allergic to nuts but not to milk",
    );
    assert_different("The API is public.", "Is the API public?");
}

#[test]
fn an_extended_name_or_list_is_another_fact() {
    assert_different("The field app uses React", "The field app uses React Native");
    assert_different("User has a Pixel 8", "User has a Pixel 8 Pro");
    assert_different("User lives in York", "User lives in New York");
    assert_different("The members are Anna and Ben", "The members are Anna, Ben and Cleo");
    assert_different("Merge into release", "Merge into release-next");
    assert_same("User lives in Lyon", "User lives in Lyon, France");
}

#[test]
fn a_named_person_differs_from_a_pronoun() {
    assert_different("The user prefers coffee", "Sofie prefers coffee");
    assert_different("My sister has a boat", "Your sister has a boat");
    assert_same("I prefer coffee", "The user prefers coffee");
}

#[test]
fn other_scripts_and_symbols_are_compared() {
    assert_different("会議は金曜日です", "会議は土曜日です");
    assert_different("Сервер работает", "Сервер не работает");
    assert_different("Status: ✅", "Status: ❌");
    assert_different("The value is x", "The value is !x");
    assert_different("ที่นี่ไม่", "ที่นี่ไม");
    assert_same("Deploy is done", "Deploy is done 🎉");
}

#[test]
fn a_huge_text_is_rejected_without_comparison() {
    let long = "the cat and 5 dogs, ".repeat(50_000);
    assert_different(&long, &format!("{long} too"));
    let wide = (1..500).map(|i| "ab".repeat(i % 40 + 1)).collect::<Vec<_>>().join(" in ");
    assert_different(&wide, &wide.replace('a', "o"));
}

/// Generates notes from words that the rules treat in a special way.
fn notes() -> impl Strategy<Value = String> {
    let words = "the a A is was not don't by to from used using and of group Anna Bob one first few over 5 5mg -3 v2 New York us-east-1 \
        a/b.rs runs ran running blocked B- C++ !x , ✅ may May €5 ° ' n't v @ - . said,";
    let words = prop::sample::select(words.split_whitespace().collect::<Vec<_>>());
    prop::collection::vec(words, 0..14).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn a_text_is_the_same_fact_as_itself(text in any::<String>()) {
        prop_assert!(same_fact(&text, &text));
        let spaced = format!(" {text}\n");
        prop_assert!(same_fact(&text, &spaced));
    }

    #[test]
    fn normalised_is_idempotent(text in any::<String>()) {
        let once = normalised(&text).into_owned();
        prop_assert_eq!(normalised(&once), once.as_str());
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        prop_assert_eq!(normalised(&words), normalised(&text));
    }

    #[test]
    fn the_result_is_symmetric_for_any_two_texts(a in any::<String>(), b in any::<String>()) {
        prop_assert_eq!(same_fact(&a, &b), same_fact(&b, &a));
    }

    #[test]
    fn the_result_is_symmetric_for_two_notes(a in notes(), b in notes()) {
        prop_assert_eq!(same_fact(&a, &b), same_fact(&b, &a));
    }

    #[test]
    fn the_result_is_symmetric_for_a_note_with_reordered_words(
        (a, b) in notes().prop_flat_map(|a| {
            let words: Vec<String> = a.split(' ').map(str::to_owned).collect();
            (Just(a), Just(words).prop_shuffle().prop_map(|words| words.join(" ")))
        })
    ) {
        prop_assert_eq!(same_fact(&a, &b), same_fact(&b, &a));
    }
}

#[test]
fn two_differing_values_make_another_event_and_one_or_none_does_not() {
    let values = super::TextValues::of;
    let describes_other_event = |a, b| {
        [values(a).describes_other_event(&values(b)), values(b).describes_other_event(&values(a))]
    };
    assert_eq!(
        describes_other_event("Release 12 went out on Monday", "Release 13 went out on Tuesday"),
        [true, true]
    );
    assert_eq!(
        describes_other_event(
            "The New York office moved to Lima",
            "The Porto office moved to Cape Town"
        ),
        [true, true]
    );
    assert_eq!(
        describes_other_event("The New York office moved", "The Porto office moved"),
        [false, false],
        "a name of two words is one value"
    );
    assert_eq!(
        describes_other_event("The user prefers tabs", "Tabs are what the user likes best"),
        [false, false]
    );
    assert_eq!(
        describes_other_event("Release 12 went out", "Release 12 went out on Monday to Lima"),
        [false, false],
        "an additional value is not a differing value"
    );
}

#[test]
fn synonyms_state_the_same_fact() {
    assert_same("A man jogs in the park", "A man runs in the park");
    assert_same("The answer was incorrect", "The answer was wrong");
    assert_same("We watch TV on the sofa", "We watch television on the couch");
    assert_different("The tests are in JS", "The tests are in TS");
    assert_different("The man jogs", "The man is wrong");
}

#[test]
fn the_same_words_in_another_voice_or_order_are_equivalent_in_words() {
    let equivalence_of = |a, b| {
        assert_eq!(equivalence(a, b), equivalence(b, a), "{a} | {b}");
        equivalence(a, b)
    };
    assert_eq!(
        equivalence_of("Anna reviews the migrations", "The migrations are being reviewed by Anna"),
        Some(Equivalence::InWords)
    );
    assert_eq!(
        equivalence_of("A black dog is on the lawn", "The dog, which is black, is on the lawn"),
        Some(Equivalence::InWords)
    );
    assert_eq!(
        equivalence_of("A man slices bread", "A man is cutting bread"),
        Some(Equivalence::InMeaning),
        "a synonym"
    );
    assert_eq!(
        equivalence_of("A man is baking", "A person is baking"),
        Some(Equivalence::InMeaning),
        "a more general word"
    );
    assert_eq!(
        equivalence_of("The gate is locked", "The iron gate is locked"),
        Some(Equivalence::InMeaning),
        "a word on one side only"
    );
    assert_eq!(
        equivalence_of("We lock the gate", "The gate is locked"),
        Some(Equivalence::InMeaning),
        "a pronoun on one side only"
    );
    assert_eq!(
        equivalence_of("The gate on the hill", "The hill gate"),
        Some(Equivalence::InMeaning),
        "a preposition on one side only"
    );
    assert_eq!(
        equivalence_of("Anna reviews the migrations", "Anna is reviewed by the migrations"),
        None
    );
}

#[test]
fn a_passive_of_a_significant_verb_keeps_its_roles_and_tense() {
    assert_same("Omar stopped the run", "The run was stopped by Omar");
    assert_different("Nina was replaced by Omar", "Nina replaced Omar");
    assert_different("The job stopped", "The job stops");
    assert_different("The bridge is built", "The bridge is being built");
    assert_different("Anna moved to Oslo", "Anna is moving to Oslo");
    assert_different("Sara quit the band", "Sara is quitting the band");
}
