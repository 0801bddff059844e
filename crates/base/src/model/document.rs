//! What is searched of a memory: its text, and the questions that it answers. Pure.
//!
//! An agent may name questions when it stores a memory, in words that the text does not have. They
//! are kept in the metadata (`questions`), indexed with the words of the text, and encoded as
//! another chunk. Not here: comparing texts (`duplicate`), which reads the text alone.

use crate::model::encoding::{DocumentEncoding, Embedding, MAX_SIGN_CODES};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The metadata field of the questions.
pub const QUESTIONS: &str = "questions";

/// The searched texts of one memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Document {
    /// Its text.
    pub content: String,
    /// The questions that it answers, one a line; empty for none.
    pub questions: String,
}

impl Document {
    /// Returns the searched texts of a memory.
    #[must_use]
    pub fn new(content: &str, metadata: &Map<String, Value>) -> Self {
        Self { content: content.to_owned(), questions: questions(metadata) }
    }

    /// Returns both texts as one, for the words.
    pub fn words(&self) -> Cow<'_, str> {
        if self.questions.is_empty() {
            Cow::Borrowed(&self.content)
        } else {
            Cow::Owned(format!("{}\n{}", self.content, self.questions))
        }
    }
}

impl From<String> for Document {
    fn from(content: String) -> Self {
        Self { content, questions: String::new() }
    }
}

/// Returns the questions of a memory, one a line; empty for none.
pub fn questions(metadata: &Map<String, Value>) -> String {
    let questions = metadata.get(QUESTIONS).and_then(Value::as_array);
    let texts: Vec<&str> = questions.into_iter().flatten().filter_map(Value::as_str).collect();
    texts.join("\n")
}

/// Adds the encoding of the questions to that of the text: one more vector, and sign codes while
/// there is room.
pub fn with_questions(mut text: DocumentEncoding, questions: DocumentEncoding) -> DocumentEncoding {
    // Questions of several chunks are represented by the first.
    text.vectors.extend(questions.vectors.into_iter().next());
    if let (Some(words), Some(more)) = (&mut text.words, questions.words) {
        words.extend(more);
        words.truncate(MAX_SIGN_CODES);
    }
    text
}

/// Returns the vectors of the text alone, out of those of a [`Document`].
pub fn text_vectors<'a>(vectors: &'a [Embedding], questions: &str) -> &'a [Embedding] {
    match vectors {
        [text @ .., _] if !questions.is_empty() && !text.is_empty() => text,
        _ => vectors,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::encoding::{DIMENSIONS, Embedding, SIGN_CODE_BYTES, SignCode};
    use serde_json::json;

    fn metadata(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().expect("an object")
    }

    #[test]
    fn questions_are_words_of_the_document_and_not_of_its_text() {
        let with = metadata(&json!({"questions": ["Who mends it?", "Whom do I call?"]}));
        let document = Document::new("Piotr looks after the kiln", &with);
        assert_eq!(document.content, "Piotr looks after the kiln");
        assert_eq!(document.words(), "Piotr looks after the kiln\nWho mends it?\nWhom do I call?");
        let without = Document::new("Piotr looks after the kiln", &Map::new());
        assert_eq!(without.words(), "Piotr looks after the kiln");
    }

    fn axis(number: usize) -> Embedding {
        let mut values = vec![0.0; DIMENSIONS];
        values[number] = 1.0;
        Embedding::new(values).expect("the vector is not zero")
    }

    #[test]
    fn the_vector_of_the_questions_is_the_last() {
        let [one, two] = [axis(1), axis(2)];
        let encoding = |vector: &Embedding, words| DocumentEncoding {
            vectors: vec![vector.clone()],
            words: Some(vec![SignCode::from_bytes(&[0; SIGN_CODE_BYTES]); words]),
        };
        let both = with_questions(encoding(&one, 60), encoding(&two, 9));
        assert_eq!(both.vectors, [one.clone(), two]);
        assert_eq!(both.words.map(|words| words.len()), Some(MAX_SIGN_CODES));
        assert_eq!(text_vectors(&both.vectors, "Who mends it?"), [one]);
        assert_eq!(text_vectors(&both.vectors, "").len(), 2);
    }
}
