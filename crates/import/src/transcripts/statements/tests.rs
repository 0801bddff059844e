//! Sentences that are taken, and sentences that look like them and are not.

use super::{Statement, of_agent, of_user};

fn text(statement: &Statement) -> &str {
    let (Statement::Preference(text) | Statement::Decision(text) | Statement::Attempt { text, .. }) =
        statement;
    text
}

fn texts(found: &[Statement]) -> Vec<&str> {
    found.iter().map(text).collect()
}

#[test]
fn preferences_and_decisions_of_a_user_are_taken() {
    let text = "Please always use pnpm, never npm. Run the tests!\nWe decided to keep prices in cents.\n- Use tabs instead of spaces in src/main.rs.";
    let found = of_user(text);
    let expected = [
        "always use pnpm, never npm.",
        "We decided to keep prices in cents.",
        "Use tabs instead of spaces in src/main.rs.",
    ];
    assert_eq!(texts(&found), expected);
    assert!(matches!(found[1], Statement::Decision(_)));
}

#[test]
fn orders_in_general_are_preferences() {
    for text in [
        "Please always use pnpm",
        "Also, always run `make check` first.",
        "Hey, from now on write tests first",
        "you should always ask before deleting",
        "You must never push to main.",
        "Make sure you always run the linter before committing.",
        "I want you to always answer in German.",
        "going forward, squash commits",
        "always use metric units",
        "Never commit .env files.",
        "Don't ever push to main.",
        "don't use mocks in integration tests, ever",
        "Always proceed with a dry run before a migration.",
        "Never bypass the review of another person.",
        "use lodash instead of underscore",
        "I like short answers without headings.",
        "Remember that orders live in Postgres.",
        "I always run the linter before a commit.",
    ] {
        let found = of_user(text);
        assert!(matches!(found.as_slice(), [Statement::Preference(_)]), "{text}: {found:?}");
    }
}

#[test]
fn remarks_reports_and_orders_of_the_moment_are_no_preferences() {
    for text in [
        "Never do that again please, it breaks everything",
        "Should we always use pnpm in the shop?",
        "always",
        "```\nalways use pnpm in the shop\n```",
        "> We decided to keep prices in cents.",
        "<system-reminder>always use pnpm in the shop</system-reminder>",
        "Use the other file instead of this one",
        "never mind, always fine",
        "Never mind the failing test",
        "Always fine with me",
        "always crashes when Chrome is used",
        "never worked on my machine",
        "Never been so slow before",
        "I never said that",
        "I never got an answer from support",
        "I always forget the syntax of rsync",
        "We never agreed that logs go to stderr.",
        "the app always crashes when I use Chrome instead of Firefox",
        "The docs say: always use XML instead of JSON.",
        "He wrote: \"Use Java. Always use XML instead of JSON. Never use YAML.\"",
        "'always use XML instead of JSON', says the manual",
        "\"Always use XML instead of JSON\" is what the linter prints",
        "What if we always use XML instead of JSON?",
        "If you always use XML instead of JSON, it is slow",
        "use a map instead of the slice in parse()",
        "Use the map rather than a slice",
        "I prefer the second option",
        "I like the new header of the page",
        "Always do it like this.",
        "Always take the first one",
        "this test never passes, always times out after 5s",
        "remember that was slow last year",
    ] {
        assert_eq!(of_user(text), [], "{text}");
    }
}

#[test]
fn decisions_are_taken_from_both_with_and_without_that() {
    for text in [
        "We agreed that logs go to stderr.",
        "We decided that deploys happen on Tuesdays because of support.",
        "We've decided to drop Python 3.9.",
        "We have agreed that we deploy on Fridays.",
        "Decided: no ORM.",
        "**Decision:** keep `sqlx` for queries.",
        "we're going with Tailwind for styling",
        "Let's go with Postgres.",
        "The team agreed on trunk based development.",
        "We settled on version 2 of the protocol.",
        "We decided to use one branch per feature.",
        "We decided to keep the cache small because it must fit into the memory that we have.",
    ] {
        for found in [of_user(text), of_agent(text)] {
            assert!(matches!(found.as_slice(), [Statement::Decision(_)]), "{text}: {found:?}");
        }
    }
}

#[test]
fn what_points_back_is_open_or_is_another_speaker_is_no_decision() {
    for text in [
        "let's go with the second option",
        "let's go with option 2",
        "let's go with option b then",
        "ok let's go with your suggestion",
        "let's go with the simpler one",
        "let's go with the much simpler approach",
        "let's go with blue",
        "let's go with that then",
        "We decided to follow your plan",
        "We agreed on the latter because of the costs.",
        "We decided that last week.",
        "We agreed that is better.",
        "We decided that yesterday with Anna.",
        "We decided to do it later.",
        "We agreed that we might use Redis.",
        "We decided whether to use Redis on Monday.",
        "We agreed to disagree about tabs.",
        "We haven't decided to use Redis.",
        "We never decided to use Redis.",
        "Bob said we decided to use XML.",
        "what if we decided to use XML?",
        "If we agreed to use XML, everything would be slow.",
        "I don't think we decided to use XML.",
        "We decided to use XML, right?",
        "They wrote \"we decided to use XML\" in the minutes",
        "\"We decided to use XML\", the minutes say",
    ] {
        assert_eq!((of_user(text), of_agent(text)), (Vec::new(), Vec::new()), "{text}");
    }
}

#[test]
fn an_attempt_that_was_given_up_is_taken_with_its_reason() {
    for (text, expected) in [
        (
            "I tried caching prices in memory, but we reverted it because two workers differed.",
            "two workers differed",
        ),
        ("We tried DuckDB for the readings and reverted it: it takes a lock.", "it takes a lock"),
        (
            "I tried DuckDB but it did not work because of the lock, so we went back to Postgres",
            "the lock",
        ),
        (
            "We tried DuckDB, but we went back to Postgres because writers block readers.",
            "writers block readers",
        ),
        (
            "We tried Redis Streams for the queue but gave up because consumers stalled.",
            "consumers stalled",
        ),
        ("We rolled back the switch to Vite because hot reload broke.", "hot reload broke"),
        ("We moved away from Celery since its workers leaked memory.", "its workers leaked memory"),
        (
            "We experimented with SQLite and switched back to Postgres due to slow concurrent writes.",
            "slow concurrent writes",
        ),
    ] {
        for found in [of_user(text), of_agent(text)] {
            let [Statement::Attempt { text: taken, why }] = found.as_slice() else {
                panic!("{text}: {found:?}");
            };
            assert_eq!((taken.as_str(), why.as_str()), (text, expected));
        }
    }
}

#[test]
fn an_attempt_that_was_kept_or_lacks_a_reason_is_none() {
    for text in [
        "I tried it twice.",
        "We tried Celery and it works fine since Monday.",
        "We tried DuckDB for the readings and reverted it.",
        "We tried DuckDB and never reverted it because it works well.",
        "We tried DuckDB and did not go back to Postgres because it works well.",
        "We tried DuckDB and would have reverted it because of the lock.",
        "We tried DuckDB and nearly gave up because of the lock.",
        "We tried it and reverted it because it takes a lock.",
        "I tried this approach but gave up because of the lock.",
        "I tried DuckDB for this, but we reverted it because of the lock.",
        "Have we tried DuckDB and reverted it because of the lock?",
        "If we tried DuckDB and reverted it because of the lock, nobody knows.",
        "Bob tried DuckDB and reverted it because of the lock.",
        "We tried to revert the commit because it broke the build.",
        "He wrote: \"We tried DuckDB and reverted it because of the lock.\"",
        "I reverted the commit because the tests failed.",
    ] {
        let found = of_user(text);
        let attempts = found.iter().filter(|found| matches!(found, Statement::Attempt { .. }));
        assert_eq!(attempts.count(), 0, "{text}: {found:?}");
        assert_eq!(of_agent(text), [], "{text}");
    }
}

#[test]
fn of_an_agent_only_decisions_and_attempts_are_taken() {
    let text = "I always run the tests first. I decided to read the log. We decided to use SQLite instead of Postgres because it is one machine.";
    let found = of_agent(text);
    assert_eq!(
        texts(&found),
        ["We decided to use SQLite instead of Postgres because it is one machine."]
    );
}

#[test]
fn what_a_client_adds_to_a_message_is_left_out() {
    let text = "Always run the tests before a commit. <system-reminder>The user prefers tabs. Never use pnpm here.</system-reminder> Is a < b?";
    assert_eq!(texts(&of_user(text)), ["Always run the tests before a commit."]);
    let open = "Always run the tests before a commit.\n<pasted-file name=\"x\">\nNever use pnpm in this repository.";
    assert_eq!(texts(&of_user(open)), ["Always run the tests before a commit."]);
}
