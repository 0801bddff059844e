//! The language of the system, as far as it matters: whether it is English.

/// Returns the language of the environment (`LC_ALL`, `LC_MESSAGES`, `LANG`), for example `de`; `None` for English and where none is set.
#[must_use]
pub fn foreign_language() -> Option<String> {
    let names = ["LC_ALL", "LC_MESSAGES", "LANG"];
    let value =
        names.into_iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    language_of(&value?)
}

fn language_of(locale: &str) -> Option<String> {
    let language = locale.split(['_', '.', '@', '-']).next().unwrap_or_default();
    let is_language =
        (2..=3).contains(&language.len()) && language.chars().all(|c| c.is_ascii_lowercase());
    (is_language && language != "en").then(|| language.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locale_names_a_language_unless_it_is_english_or_none() {
        for (locale, language) in [
            ("de_DE.UTF-8", Some("de")),
            ("pt-BR", Some("pt")),
            ("fil", Some("fil")),
            ("en_GB.UTF-8", None),
            ("C.UTF-8", None),
            ("POSIX", None),
            ("", None),
        ] {
            assert_eq!(language_of(locale).as_deref(), language, "{locale}");
        }
    }
}
