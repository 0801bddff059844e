//! Tests: hidden characters go, visible text and what scripts need stay.

use super::*;
use serde_json::json;

fn removed(given: &str) -> (String, Vec<String>) {
    let mut removed = Removed::default();
    let clean = text_of("", given, &mut removed);
    (clean, removed.into_list())
}

#[test]
fn what_a_script_or_an_emoji_needs_stays() {
    for intact in [
        "plain ASCII, tab\tand\nnewline",
        "Zażółć gęślą jaźń; e\u{301}, Z\u{342}\u{351}",
        // Persian with U+200C, a heh with U+200D, an Arabic direction mark.
        "می\u{200C}خواهم کتاب\u{200C}ها ه\u{200D} ۱\u{61C}",
        // Devanagari, Malayalam and Sinhala with joiners, also at the end of a word.
        "क्\u{200D}ष र्\u{200D}य क्\u{200C}ष",
        "അവന്\u{200D} ශ්\u{200D}රී",
        "שלום\u{200F}! (abc\u{200E}) עולם",
        // Families, a skin tone, hearts, keycaps, flags.
        "👩\u{200D}👩\u{200D}👧\u{200D}👦 👩🏽\u{200D}💻 ❤\u{FE0F}\u{200D}🔥 🏳\u{FE0F}\u{200D}🌈 1\u{FE0F}\u{20E3} ☎\u{FE0E}",
        "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F} and 🇵🇱",
        "葛\u{E0100}飾区 ᠮᠣᠩ\u{180B} ∩\u{FE00}",
        "ภาษา\u{200B}ไทย ភាសា\u{200B}ខ្មែរ",
    ] {
        assert_eq!(removed(intact), (intact.to_owned(), Vec::new()));
        assert!(matches!(text(intact), Cow::Borrowed(_)) || text(intact) == intact);
    }
}

#[test]
fn hidden_characters_are_removed_and_named_with_their_position() {
    let cases: [(&str, &str, &[&str]); 12] = [
        ("The key is \u{1b}[31mred\u{1b}[0m", "The key is red", &["ansi escape at 11, 1 more"]),
        ("a\u{1b}(Bb\u{9b}1;2mc\u{1b}", "abc", &["ansi escape at 1, 2 more"]),
        (
            "\u{1b}]8;;http://x\u{7}go",
            "]8;;http://xgo",
            &["ansi escape at 0", "control character at 13"],
        ),
        ("a\u{8}b\u{7f}c", "abc", &["control character at 1, 1 more"]),
        ("a\r\nb\rc\u{2028}d\u{85}e", "a\nb\nc\nd\ne", &["line separator at 1, 3 more"]),
        ("x\u{202E}txt.exe\u{202C}", "xtxt.exe", &["bidi override at 1, 1 more"]),
        ("x\u{2066}y\u{2069}", "xy", &["bidi isolate at 1, 1 more"]),
        ("hi\u{E0049}\u{E0047}\u{E004E}", "hi", &["tag character at 2, 2 more"]),
        // An unknown "flag" could spell anything.
        ("\u{1F3F4}\u{E0065}\u{E0076}\u{E007F}", "\u{1F3F4}", &["tag character at 1, 2 more"]),
        (
            "pass\u{200B}wo\u{200D}rd\u{FEFF}\u{200C}",
            "password",
            &["zero-width character at 4, 3 more"],
        ),
        // Bytes hidden in variation selectors after an emoji.
        ("😀\u{FE0F}\u{FE01}\u{E0121}", "😀\u{FE0F}", &["variation selector at 2, 1 more"]),
        ("a\u{2062}b\u{AD}c\u{FFF9}", "abc", &["invisible character at 1, 2 more"]),
    ];
    for (given, clean, list) in cases {
        assert_eq!(
            removed(given),
            (clean.to_owned(), list.iter().map(|s| (*s).to_owned()).collect())
        );
    }
}

#[test]
fn no_second_text_fits_between_the_kept_characters() {
    assert_eq!(text("a\u{200E}\u{200F}\u{200E}b"), "a\u{200E}b");
    assert_eq!(text("می\u{200C}\u{200D}\u{200C}خ"), "می\u{200C}خ");
    assert_eq!(text("👩\u{200D}\u{200D}👧"), "👩\u{200D}👧");
    assert_eq!(text("א\u{34F}\u{34F}\u{34F}"), "א\u{34F}");
}

#[test]
fn sanitising_twice_gives_the_same_text_as_once() {
    let pieces = [
        "\u{1b}",
        "[",
        "31",
        "m",
        "\u{200D}",
        "\u{200C}",
        "👩",
        "\u{FE0F}",
        "می",
        "\u{202E}",
        "\r",
        "\n",
        "\u{E0067}",
        "\u{E007F}",
        "\u{1F3F4}",
        "\u{200E}",
        "1",
        "क्",
        "葛",
        "\u{E0100}",
        "\u{9b}",
        "a",
    ];
    // Every sequence of three pieces, which is longer than the context of any rule on both sides.
    for a in pieces {
        for b in pieces {
            for c in pieces {
                let given = format!("{a}{b}{c}{a}");
                let once = text(&given).into_owned();
                assert_eq!(text(&once), once, "{given:?}");
            }
        }
    }
}

#[test]
fn metadata_is_sanitised_in_keys_and_strings_and_names_the_field() {
    let mut removed = Removed::default();
    let Value::Object(mut metadata) =
        json!({"name": "An\u{200B}na", "a\u{202E}b": ["x", {"k": "\u{1b}[0mv"}]})
    else {
        unreachable!("it is an object")
    };
    fields("metadata", &mut metadata, &mut removed).expect("no key occurs twice");
    assert_eq!(Value::Object(metadata), json!({"name": "Anna", "ab": ["x", {"k": "v"}]}));
    let mut list = removed.into_list();
    list.sort_unstable();
    assert_eq!(
        list,
        [
            "ansi escape in metadata.ab[1].k at 0",
            "bidi override in a key of metadata at 1",
            "zero-width character in metadata.name at 2"
        ]
    );
    let Value::Object(mut twice) = json!({"ab": 1, "a\u{200B}b": 2}) else {
        unreachable!("it is an object")
    };
    let refused = fields("metadata", &mut twice, &mut Removed::default());
    assert_eq!(refused, Err("metadata.ab".to_owned()));
}

#[test]
fn a_long_list_ends_with_how_many_more_there_are() {
    let fields: Map<String, Value> =
        (0..12).map(|i| (format!("k{i:02}"), json!("\u{202E}"))).collect();
    let (mut fields, mut removed) = (fields, Removed::default());
    super::fields("metadata", &mut fields, &mut removed).expect("no key occurs twice");
    let list = removed.into_list();
    assert_eq!((list.len(), list[8].as_str()), (9, "4 more"));
}
