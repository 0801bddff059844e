//! The requests and replies of the embedding APIs of `OpenAI` and Voyage. PURE: no connection.
//!
//! Both have `POST /embeddings` with a list of texts; they differ in the names of two fields. Not here: sending (`http`).

use crate::embedding::profile::TextKind;
use loci_engine::model::encoding::{DIMENSIONS, Embedding};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A provider of embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// `OpenAI`, and servers with the same API.
    Openai,
    /// Voyage AI.
    Voyage,
}

/// The parts of a reply that are read.
#[derive(Debug, Deserialize)]
struct Reply {
    data: Vec<Item>,
    #[serde(default)]
    usage: Usage,
}

#[derive(Debug, Deserialize)]
struct Item {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Debug, Default, Deserialize)]
struct Usage {
    #[serde(default)]
    total_tokens: Option<u64>,
}

/// The vectors of a reply, in the order of the texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Vectors {
    /// One vector per text.
    pub vectors: Vec<Vec<f32>>,
    /// How many tokens the provider counted; `None` if it does not say.
    pub tokens: Option<u64>,
}

impl Provider {
    /// All providers.
    pub const ALL: [Self; 2] = [Self::Openai, Self::Voyage];

    /// Returns the value of `embedding.provider`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Voyage => "voyage",
        }
    }

    /// Returns the provider's own host.
    #[must_use]
    pub fn host(self) -> &'static str {
        match self {
            Self::Openai => "api.openai.com",
            Self::Voyage => "api.voyageai.com",
        }
    }

    /// Returns the base URL of the provider's own server.
    #[must_use]
    pub fn url(self) -> String {
        format!("https://{}/v1", self.host())
    }

    /// Returns the environment variable of the key.
    #[must_use]
    pub fn variable(self) -> &'static str {
        match self {
            Self::Openai => "OPENAI_API_KEY",
            Self::Voyage => "VOYAGE_API_KEY",
        }
    }

    /// Returns a model of the provider, for messages.
    #[must_use]
    pub fn example_model(self) -> &'static str {
        match self {
            Self::Openai => "text-embedding-3-small",
            Self::Voyage => "voyage-3.5-lite",
        }
    }

    /// Returns how many numbers a vector has if the configuration does not say. Voyage's models can be cut to 256, 512, 1024 or 2048.
    #[must_use]
    pub fn default_dimensions(self) -> u16 {
        match self {
            Self::Openai => 384,
            Self::Voyage => 256,
        }
    }

    /// Returns the body of a request.
    #[must_use]
    pub fn body(self, model: &str, dimensions: usize, kind: TextKind, texts: &[String]) -> Value {
        match self {
            Self::Openai => json!({
                "model": model, "input": texts, "dimensions": dimensions, "encoding_format": "float",
            }),
            Self::Voyage => {
                let input_type = if kind == TextKind::Query { "query" } else { "document" };
                json!({
                    "model": model, "input": texts, "input_type": input_type,
                    "output_dimension": dimensions, "output_dtype": "float",
                })
            }
        }
    }
}

/// Reads the reply to a request with `count` texts.
///
/// # Errors
/// What is wrong with it; nothing of its contents is repeated.
pub fn read_reply(body: &[u8], count: usize, dimensions: usize) -> Result<Vectors, String> {
    let reply: Reply = serde_json::from_slice(body).map_err(|error| {
        format!(
            "it is not the JSON of embeddings (line {}, column {})",
            error.line(),
            error.column()
        )
    })?;
    let given = reply.data.len();
    if given != count {
        return Err(format!("{count} texts were sent and {given} vectors came back"));
    }
    let mut vectors = vec![Vec::new(); count];
    for (position, Item { index, embedding }) in reply.data.into_iter().enumerate() {
        if embedding.len() != dimensions {
            return Err(format!("a vector has {} numbers, not {dimensions}", embedding.len()));
        }
        if embedding.iter().any(|number| !number.is_finite()) {
            return Err("a vector has a number that is not finite".to_owned());
        }
        match vectors.get_mut(index.unwrap_or(position)) {
            Some(vector) if vector.is_empty() => *vector = embedding,
            _ => return Err("the indexes of its vectors are not those of the texts".to_owned()),
        }
    }
    Ok(Vectors { vectors, tokens: reply.usage.total_tokens })
}

/// Returns a vector as it is stored: padded with zeros, which changes no cosine, and of length 1.
///
/// # Errors
/// What is wrong with the numbers.
pub fn to_embedding(mut vector: Vec<f32>) -> Result<Embedding, String> {
    if vector.len() < DIMENSIONS {
        vector.resize(DIMENSIONS, 0.0);
    }
    Embedding::new(vector).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requests_are_those_of_the_providers() {
        let texts = ["a".to_owned(), "b".to_owned()];
        assert_eq!(
            Provider::Openai.body("text-embedding-3-small", 384, TextKind::Query, &texts),
            json!({"model": "text-embedding-3-small", "input": ["a", "b"], "dimensions": 384, "encoding_format": "float"})
        );
        let body = Provider::Voyage.body("voyage-3.5-lite", 256, TextKind::Document, &texts);
        assert_eq!(
            (&body["output_dimension"], &body["input_type"]),
            (&json!(256), &json!("document"))
        );
    }

    #[test]
    fn vectors_are_in_the_order_of_the_texts_and_padded() {
        let body = br#"{"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 4]}], "usage": {"total_tokens": 7}}"#;
        let read = read_reply(body, 2, 2).expect("the reply is valid");
        assert_eq!(
            read,
            Vectors { vectors: vec![vec![3.0, 4.0], vec![0.0, 2.0]], tokens: Some(7) }
        );
        let embedding = to_embedding(read.vectors[0].clone()).expect("the vector is valid");
        assert_eq!(embedding.as_slice()[..3], [0.6, 0.8, 0.0]);
        assert!(to_embedding(vec![0.0; 2]).is_err());
    }

    #[test]
    fn a_reply_that_does_not_fit_is_refused_without_its_contents() {
        for (body, reason) in [
            ("<html>secret</html>", "not the JSON"),
            (r#"{"error": "secret"}"#, "not the JSON"),
            (r#"{"data": [{"embedding": [1, NaN]}]}"#, "not the JSON"),
            (r#"{"data": [{"embedding": [1, 1e39]}]}"#, "not the JSON"),
            (r#"{"data": [{"embedding": [1]}]}"#, "has 1 numbers, not 2"),
            (r#"{"data": []}"#, "1 texts were sent and 0 vectors came back"),
            (r#"{"data": [{"index": 5, "embedding": [1, 2]}]}"#, "indexes"),
        ] {
            let refused = read_reply(body.as_bytes(), 1, 2).expect_err("the reply is refused");
            assert!(refused.contains(reason) && !refused.contains("secret"), "{refused}");
        }
        let twice =
            r#"{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 0, "embedding": [1, 2]}]}"#;
        assert!(read_reply(twice.as_bytes(), 2, 2).expect_err("is refused").contains("indexes"));
    }
}
