//! Tests of the keys of `config.toml`: unknown keys, values of later versions, ranges, and the example file.

use super::*;

fn refusal_of(text: &str) -> String {
    let parsed = Config::parse(text, Path::new("/x/config.toml"));
    match parsed.and_then(|config| config.check()) {
        Ok(()) => panic!("an invalid configuration was accepted"),
        Err(failure) => failure.to_string(),
    }
}

#[test]
fn an_unknown_key_is_refused_with_file_line_and_column() {
    let refusal = refusal_of("[retrieval]\nrrf_kk = 5\n");
    assert!(
        refusal.contains("/x/config.toml:2:1")
            && refusal.contains("rrf_kk")
            && refusal.contains("rrf_k"),
        "{refusal}"
    );
}

#[test]
fn keys_and_values_of_later_versions_are_refused_by_name() {
    assert!(
        refusal_of("[server]\ntransport = \"sse\"")
            .contains("not_in_this_version: server.transport")
    );
    assert!(refusal_of("[embedding.api]\nmodel = \"x\"").contains("not supported in this version"));
}

#[test]
fn dimensions_belong_to_a_model_that_can_be_cut() {
    for (text, reason) in [
        ("dimensions = 256", "embedding.dimensions"),
        ("model = \"multilingual\"\ndimensions = 256", "does not apply to the model"),
        ("model = \"large\"\ndimensions = 768", "must be from 64 to 384, not 768"),
        ("model = \"tiny\"", "minilm-fast"),
    ] {
        let refusal = refusal_of(&format!("[embedding]\n{text}"));
        assert!(refusal.contains(reason), "{refusal}");
    }
    let parse = |text: &str| {
        let text = format!("[embedding]\nmodel = {text}");
        Config::from_text(&text, Path::new("/x/config.toml")).expect("the text is valid").embedding
    };
    assert_eq!(parse("\"minilm\"").pinned().map(|model| model.id), Some("all-MiniLM-L6-v2"));
    assert_eq!(
        parse("\"minilm-fast\"").pinned().map(|model| model.id),
        Some("all-MiniLM-L6-v2-fast")
    );
    let large = parse("\"large\"\ndimensions = 128").named().expect("the model has a name");
    assert_eq!((large.dimensions, parse("\"large\"").pinned().is_none()), (Some(128), true));
}

#[test]
fn numbers_out_of_range_are_refused() {
    for (text, key) in [
        ("[retrieval]\nrrf_k = 0", "retrieval.rrf_k"),
        ("[retrieval]\ndedup_threshold = 2", "retrieval.dedup_threshold"),
        ("[retrieval]\ndefault_max_results = 21", "retrieval.default_max_results"),
        ("[maintenance]\nepisodic_decay_factor = 1.5", "maintenance.episodic_decay_factor"),
        ("[maintenance]\ninterval_days = 0", "maintenance.interval_days"),
        ("[maintenance]\nsemantic_decay_factor = -1", "maintenance.semantic_decay_factor"),
        ("[maintenance]\nepisodic_decay_factor = nan", "maintenance.episodic_decay_factor"),
        ("[maintenance]\ncompaction_age_days = 0", "maintenance.compaction_age_days"),
        ("[maintenance]\ncompaction_min_group_size = 1", "maintenance.compaction_min_group_size"),
        ("[maintenance]\npromotion_threshold = 1", "maintenance.promotion_threshold"),
        ("[maintenance]\npromotion_similarity = 1.2", "maintenance.promotion_similarity"),
        ("[maintenance]\ncleanup_confidence_floor = -0.1", "maintenance.cleanup_confidence_floor"),
        ("[maintenance]\ncleanup_no_access_days = 0", "maintenance.cleanup_no_access_days"),
    ] {
        let refusal = refusal_of(text);
        assert!(refusal.contains(key) && refusal.contains("must be from"), "{refusal}");
    }
}

#[test]
fn the_example_file_has_the_default_settings() {
    let text = include_str!("../../../config.example.toml");
    let example = Config::parse(text, Path::new("config.example.toml"))
        .expect("the example file is valid TOML");
    example.check().expect("the values of the example file are in range");
    assert_eq!(example.settings(), Config::default().settings());
}

/// Parses a text; whatever is accepted has settings, and a refusal names the reason.
fn check(text: &str) {
    match Config::from_text(text, Path::new("/x/config.toml")) {
        Ok(config) => drop(config.settings()),
        Err(failure) => assert!(failure.to_string().len() > "invalid: ".len(), "{text:?}"),
    }
}

#[test]
fn every_part_of_the_corpus_is_parsed_or_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fuzz/corpus/config");
    let files: Vec<_> = std::fs::read_dir(folder).expect("the folder can be listed").collect();
    assert!(files.len() >= 20, "only {} files", files.len());
    for file in files {
        let path = file.expect("the entry can be read").path();
        let text = std::fs::read_to_string(path).expect("the file can be read");
        for (at, _) in text.char_indices() {
            check(&text[..at]);
            check(&text[at..]);
        }
        check(&text);
    }
}
