//! The stems of the index equal those of FTS5.

use crate::text::stem::stem_plain;
use crate::text::tokenize::{Grams, lower, unmarked, words};
use rusqlite::Connection;

fn stem_word(word: &str) -> String {
    stem_plain(unmarked(&lower(word)))
}

fn stems(text: &str) -> impl Iterator<Item = String> {
    words(text, Grams::Pairs).into_iter().map(|word| stem_word(&text[word]))
}

/// The terms that FTS5 extracts from a text.
fn fts5_terms(text: &str) -> Vec<String> {
    let conn = Connection::open_in_memory().expect("the database opens");
    crate::db::lexical::terms(&conn, text).expect("the terms are read")
}

#[test]
fn words_of_every_step_have_the_stem_of_fts5() {
    let text = "caresses ponies ties caress cats feed agreed plastered bled motoring sing conflated troubled sized hopping tanned \
        falling hissing fizzed failing filing happy sky relational conditional rational valency hesitancy digitizer conformably \
        radically differently vilely analogously vietnamization predication operator feudalism decisiveness hopefulness callousness \
        formality sensitivity sensibility triplicate formative formalize electricity electrical hopeful goodness revival allowance \
        inference airliner gyroscopic adjustable defensible irritant replacement adjustment dependent adoption homologou communism \
        activate angularity homologous effective bowdlerize probate rate cease controll roll by as is yes eyes says dying lies ses \
        archaeology apology generalization oscillators running run ran syzygy why toy boys used use being ing ed eed sses ies 2nd x1";
    assert_eq!(stems(text).collect::<Vec<_>>(), fts5_terms(text));
}

#[test]
fn letters_are_folded_and_other_characters_separate() {
    let text = "Über-Strasse, CAFÉ naïve! foo_bar user's C++ 3.14 Ångström ŻÓĆ Crème brûlée e\u{301}tude 東京 Ωmega";
    assert_eq!(stems(text).collect::<Vec<_>>(), fts5_terms(text));
    assert_eq!(
        (stem_word("Łódź"), fts5_terms("Łódź")),
        ("lodz".to_owned(), vec!["łodz".to_owned()]),
        "FTS5 does not fold the letter ł"
    );
}

proptest::proptest! {
    #[test]
    fn any_english_looking_word_has_the_stem_of_fts5(word in "[a-z]{1,5}(ational|ization|iveness|fulness|ousli|ing|ed|eed|s|ies|sses|ement|ion|ly|y|e|ll|abl|)") {
        proptest::prop_assert_eq!(stems(&word).collect::<Vec<_>>(), fts5_terms(&word));
    }
}
