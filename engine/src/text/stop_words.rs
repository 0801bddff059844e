//! The small words of each language: those that carry no topic, and tell in which language a text is. Pure.
//!
//! The English list is the one that the figures of docs/retrieval.md were made with; the others are our own. Not here: what is made of
//! them (`tongue`, `query`).

use foldhash::{HashMap, HashMapExt};
use std::sync::LazyLock;

/// The bit of English in what [`kinds`] gives; the others follow in the order of `tongue::ALL`.
pub(crate) const ENGLISH: u8 = 1;

/// The lists, in the order of their bits.
const LISTS: [&[&str]; 5] =
    [ENGLISH_WORDS, GERMAN_WORDS, FRENCH_WORDS, SPANISH_WORDS, POLISH_WORDS];

/// Bytes of the longest of them.
const LONGEST: usize = {
    let (mut longest, mut list) = (0, 0);
    while list < LISTS.len() {
        let mut word = 0;
        while word < LISTS[list].len() {
            longest =
                if LISTS[list][word].len() > longest { LISTS[list][word].len() } else { longest };
            word += 1;
        }
        list += 1;
    }
    longest
};

static KINDS: LazyLock<HashMap<&str, u8>> = LazyLock::new(|| {
    let mut kinds = HashMap::new();
    for (number, list) in LISTS.iter().enumerate() {
        list.iter().for_each(|word| *kinds.entry(*word).or_default() |= ENGLISH << number);
    }
    kinds
});

/// The languages in which a word, in lower case, is a small one: a bit for each.
pub(crate) fn kinds(word: &str) -> u8 {
    if word.len() > LONGEST { 0 } else { KINDS.get(word).copied().unwrap_or(0) }
}

/// True for a small word of another language that may well stand in an English text, or in a name there.
pub(crate) fn looks_english(word: &str) -> bool {
    LOOKING_ENGLISH.binary_search(&word).is_ok()
}

const ENGLISH_WORDS: &[&str] = &[
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at",
    "be", "because", "been", "before", "being", "between", "both", "but", "by", "can", "could",
    "d", "did", "do", "does", "doing", "each", "few", "for", "from", "had", "has", "have",
    "having", "he", "her", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its",
    "ll", "m", "me", "more", "most", "my", "no", "nor", "not", "now", "of", "on", "once", "only",
    "or", "other", "our", "ours", "out", "over", "own", "re", "s", "same", "she", "should", "so",
    "some", "such", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "this", "those", "to", "too", "until", "up", "us", "ve", "very", "was", "we", "were", "what",
    "when", "where", "which", "while", "who", "whom", "whose", "why", "will", "with", "would",
    "you", "your",
];

const GERMAN_WORDS: &[&str] = &[
    "aber", "alle", "allem", "allen", "aller", "alles", "als", "also", "am", "an", "ander",
    "andere", "anderen", "auch", "auf", "aus", "bei", "beim", "bin", "bis", "bist", "da", "damit",
    "dann", "das", "dass", "dazu", "daß", "dein", "deine", "dem", "den", "denn", "der", "des",
    "dich", "die", "dies", "diese", "diesem", "diesen", "dieser", "dieses", "dir", "doch", "dort",
    "du", "durch", "ein", "eine", "einem", "einen", "einer", "eines", "er", "es", "etwas", "euch",
    "euer", "für", "gegen", "gibt", "hab", "habe", "haben", "hast", "hat", "hatte", "hatten",
    "her", "hier", "hin", "hinter", "ich", "ihm", "ihn", "ihnen", "ihr", "ihre", "ihrem", "ihren",
    "ihrer", "im", "in", "ins", "ist", "ja", "jede", "jedem", "jeden", "jeder", "jedes", "jetzt",
    "kann", "kein", "keine", "keinem", "keinen", "keiner", "können", "man", "mehr", "mein",
    "meine", "meinem", "meinen", "meiner", "mich", "mir", "mit", "muss", "müssen", "nach", "nicht",
    "nichts", "noch", "nun", "nur", "ob", "oder", "ohne", "schon", "sehr", "sein", "seine",
    "seinem", "seinen", "seiner", "seit", "sich", "sie", "sind", "so", "soll", "sollen", "sollte",
    "um", "und", "uns", "unser", "unsere", "unserem", "unseren", "unserer", "unter", "viel", "vom",
    "von", "vor", "wann", "war", "waren", "warum", "was", "weil", "welche", "welchem", "welchen",
    "welcher", "welches", "wem", "wen", "wenn", "wer", "werden", "weshalb", "wie", "wieder",
    "wieviel", "will", "wir", "wird", "wo", "wofür", "woher", "wohin", "womit", "worin", "wurde",
    "wurden", "während", "würde", "zu", "zum", "zur", "zwischen", "über",
];

const FRENCH_WORDS: &[&str] = &[
    "a", "afin", "ai", "alors", "après", "as", "au", "aucun", "aucune", "aussi", "autre", "autres",
    "aux", "avait", "avant", "avec", "avez", "avons", "c", "car", "ce", "ceci", "cela", "celle",
    "celles", "celui", "ces", "cet", "cette", "ceux", "chaque", "chez", "combien", "comme",
    "comment", "d", "dans", "de", "depuis", "des", "donc", "dont", "du", "elle", "elles", "en",
    "encore", "entre", "es", "est", "et", "eu", "eux", "faut", "il", "ils", "j", "je", "l", "la",
    "laquelle", "le", "lequel", "les", "lesquels", "leur", "leurs", "lui", "là", "m", "ma", "mais",
    "me", "mes", "moi", "mon", "même", "n", "ne", "nos", "notre", "nous", "on", "ont", "or", "ou",
    "où", "par", "parce", "pas", "pendant", "peu", "peut", "plus", "pour", "pourquoi", "puis",
    "qu", "quand", "que", "quel", "quelle", "quelles", "quels", "qui", "quoi", "s", "sa", "sans",
    "se", "sera", "ses", "si", "son", "sont", "sous", "sur", "t", "ta", "te", "tes", "toi", "ton",
    "toujours", "tous", "tout", "toute", "toutes", "tu", "un", "une", "vers", "vos", "votre",
    "vous", "y", "à", "étaient", "était", "été", "êtes", "être",
];

const SPANISH_WORDS: &[&str] = &[
    "a", "al", "algo", "algunos", "ante", "antes", "así", "aunque", "bajo", "cada", "como", "con",
    "contra", "cual", "cuando", "cuál", "cuáles", "cuándo", "cuánta", "cuántas", "cuánto",
    "cuántos", "de", "del", "desde", "donde", "durante", "dónde", "e", "el", "ella", "ellas",
    "ellos", "en", "entre", "era", "eran", "es", "esa", "esas", "ese", "eso", "esos", "esta",
    "estaba", "estas", "este", "esto", "estos", "estoy", "está", "están", "fue", "fueron", "ha",
    "había", "han", "hasta", "hay", "he", "la", "las", "le", "les", "lo", "los", "me", "mi", "mis",
    "mucho", "muy", "más", "nada", "ni", "no", "nos", "nosotros", "nuestra", "nuestras", "nuestro",
    "nuestros", "o", "os", "otra", "otras", "otro", "otros", "para", "pero", "poco", "por",
    "porque", "que", "quien", "quienes", "quién", "qué", "se", "sea", "ser", "si", "sido", "sin",
    "sobre", "solo", "somos", "son", "soy", "su", "sus", "sí", "sólo", "también", "tan", "te",
    "tengo", "tiene", "tienen", "toda", "todas", "todo", "todos", "tu", "tus", "tú", "u", "un",
    "una", "uno", "unos", "y", "ya", "yo", "él",
];

const POLISH_WORDS: &[&str] = &[
    "a",
    "aby",
    "albo",
    "ale",
    "ani",
    "az",
    "aż",
    "bardzo",
    "bez",
    "bo",
    "by",
    "być",
    "był",
    "była",
    "było",
    "były",
    "będzie",
    "będą",
    "ci",
    "co",
    "czego",
    "czemu",
    "czy",
    "czyj",
    "czyja",
    "czyje",
    "dla",
    "dlaczego",
    "do",
    "dokąd",
    "gdy",
    "gdzie",
    "go",
    "i",
    "ich",
    "ile",
    "im",
    "iż",
    "ja",
    "jak",
    "jaka",
    "jaki",
    "jakich",
    "jakie",
    "jakiego",
    "jakiej",
    "jakim",
    "jako",
    "jaką",
    "je",
    "jego",
    "jej",
    "jemu",
    "jest",
    "jestem",
    "jeszcze",
    "jeśli",
    "już",
    "ją",
    "każda",
    "każde",
    "każdy",
    "kiedy",
    "kim",
    "kogo",
    "komu",
    "kto",
    "która",
    "które",
    "którego",
    "której",
    "który",
    "których",
    "którym",
    "którzy",
    "którą",
    "lub",
    "ma",
    "mają",
    "mam",
    "mi",
    "mnie",
    "mną",
    "moja",
    "moje",
    "mojego",
    "mojej",
    "może",
    "można",
    "my",
    "mój",
    "na",
    "nad",
    "nam",
    "nami",
    "nas",
    "nasi",
    "nasz",
    "nasza",
    "nasze",
    "naszego",
    "naszej",
    "nic",
    "nich",
    "nie",
    "niej",
    "nim",
    "niż",
    "no",
    "o",
    "od",
    "on",
    "ona",
    "one",
    "oni",
    "ono",
    "oraz",
    "po",
    "pod",
    "poza",
    "przed",
    "przez",
    "przy",
    "sie",
    "się",
    "skąd",
    "swoje",
    "swoją",
    "swój",
    "są",
    "ta",
    "tak",
    "taka",
    "taki",
    "takie",
    "tam",
    "te",
    "tego",
    "tej",
    "temu",
    "ten",
    "to",
    "tobie",
    "tu",
    "twoja",
    "twój",
    "ty",
    "tych",
    "tylko",
    "tym",
    "u",
    "w",
    "we",
    "więc",
    "wszystkie",
    "wszystko",
    "z",
    "za",
    "ze",
    "że",
    "żeby",
];

const LOOKING_ENGLISH: &[&str] = &[
    "c", "car", "con", "d", "dem", "den", "die", "due", "era", "fin", "fort", "hat", "hin", "ins",
    "j", "l", "m", "man", "men", "mi", "mit", "n", "o", "once", "os", "plan", "pod", "pour", "s",
    "sin", "son", "sur", "t", "ten", "ton", "tout", "u", "van", "vos", "war",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_known_in_each_language_that_has_it() {
        assert_eq!((kinds("the"), kinds("kettle")), (ENGLISH, 0));
        assert_eq!(kinds("was"), ENGLISH | ENGLISH << 1, "English and German");
        assert!(
            LISTS.iter().flat_map(|list| list.iter()).all(|word| kinds(word) != 0),
            "long ones too"
        );
        assert!(looks_english("die") && LOOKING_ENGLISH.is_sorted());
    }
}
