//! Writes a tiny embedding model: an ONNX graph encoded by hand, and a tokenizer of the shape that multilingual models have.
//!
//! The graph maps each token id to a row of a table of seeded random numbers: `Mod(input_ids, ROWS)`, then `Gather(table, …)`. Its output
//! `last_hidden_state` has the shape batch × tokens × dimensions, as that of a transformer. `attention_mask` is an input that the graph
//! does not use, since the mean over the tokens is not a part of it. The same seed gives the same bytes.
//!
//! The encoding is that of Protocol Buffers: each field is a tag (its number times 8, plus its kind: 0 for a number, 2 for bytes), followed
//! by a variable-length number, or by a length and the bytes. Numbers of fields are those of `onnx.proto`. The tests of the daemon include this file too. Not here: any test.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// Rows of the table.
pub const ROWS: usize = 1021;
/// `TensorProto.DataType` of 32-bit floats, of 64-bit integers and of truth values.
const FLOAT: u64 = 1;
const INT64: u64 = 7;
const BOOL: u64 = 9;

/// A tiny model.
#[derive(Clone, Copy)]
pub struct TinyModel {
    /// Chooses the numbers of the table.
    pub seed: u64,
    /// Numbers of a vector.
    pub dimensions: usize,
    /// Whether the graph has the input `token_type_ids`, which it adds to the ids.
    pub has_token_types: bool,
    /// The graph does not end if a chunk has more tokens.
    pub endless_above: Option<i64>,
}

impl TinyModel {
    /// Returns a model of 384 dimensions.
    pub fn new(seed: u64) -> Self {
        Self { seed, dimensions: 384, has_token_types: false, endless_above: None }
    }

    /// Writes `model.onnx` and `tokenizer.json` into a folder, which is created.
    pub fn write(self, folder: &Path, tokenizer: &[u8]) {
        std::fs::create_dir_all(folder).expect("the folder is created");
        std::fs::write(folder.join("model.onnx"), self.bytes()).expect("the graph is written");
        std::fs::write(folder.join("tokenizer.json"), tokenizer).expect("the file is written");
    }

    /// Returns the graph: a `ModelProto`.
    pub fn bytes(self) -> Vec<u8> {
        let mut graph = Vec::new();
        let mut ids = "input_ids";
        if self.has_token_types {
            graph.extend(bytes(1, &node("Add", &["input_ids", "token_type_ids"], "ids")));
            ids = "ids";
        }
        graph.extend(bytes(1, &node("Mod", &[ids, "rows"], "row")));
        match self.endless_above {
            None => graph.extend(bytes(1, &node("Gather", &["table", "row"], "last_hidden_state"))),
            Some(most) => {
                graph.extend(bytes(1, &node("Gather", &["table", "row"], "states")));
                graph.extend(endless(1, most));
                graph.extend(bytes(1, &node("Add", &["states", "nothing"], "last_hidden_state")));
            }
        }
        graph.extend(bytes(2, b"tiny"));
        let rows = i64::try_from(ROWS).expect("it fits").to_le_bytes();
        graph.extend(bytes(5, &tensor("rows", &[], INT64, &rows)));
        let shape = [ROWS as u64, self.dimensions as u64];
        let table: Vec<u8> = self.table().iter().flat_map(|number| number.to_le_bytes()).collect();
        graph.extend(bytes(5, &tensor("table", &shape, FLOAT, &table)));
        let mut inputs = vec!["input_ids", "attention_mask"];
        inputs.extend(self.has_token_types.then_some("token_type_ids"));
        for input in inputs {
            let axes = [Axis::Named("batch"), Axis::Named("tokens")];
            graph.extend(bytes(11, &value(input, INT64, &axes)));
        }
        let axes =
            [Axis::Named("batch"), Axis::Named("tokens"), Axis::Fixed(self.dimensions as u64)];
        graph.extend(bytes(12, &value("last_hidden_state", FLOAT, &axes)));
        // ir_version 8, operator set 13.
        [number(1, 8), bytes(7, &graph), bytes(8, &number(2, 13))].concat()
    }

    /// Returns the numbers of the table, row by row.
    pub fn table(self) -> Vec<f32> {
        let mut state = self.seed;
        let mut next = || {
            // splitmix64
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut bits = state;
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let unit = ((bits ^ (bits >> 31)) >> 40) as f32 / (1 << 24) as f32;
            unit - 0.5
        };
        (0..ROWS * self.dimensions).map(|_| next()).collect()
    }
}

/// A tiny cross-encoder: the logit of a pair is the sum of the weights of the tokens of its text, which `token_type_ids` tells from those
/// of the query.
pub struct TinyCrossEncoder {
    /// The weight of each token of the vocabulary.
    pub weights: Vec<f32>,
    /// Numbers for each pair: 1, as a cross-encoder has.
    pub outputs: u64,
    /// The graph does not end if it compares more pairs at once.
    pub endless_above: Option<i64>,
}

impl TinyCrossEncoder {
    /// Returns a model for a tokenizer of the shape of BERT; a text has the sum of the weights of these words. Each must be one token.
    pub fn preferring(words: &[(&str, f32)], tokenizer: &[u8]) -> Self {
        let json: Value = serde_json::from_slice(tokenizer).expect("the tokenizer is JSON");
        let vocabulary = json["model"]["vocab"].as_object().expect("it has a vocabulary");
        let mut weights = vec![0.0; vocabulary.len()];
        for (word, weight) in words {
            let id = vocabulary[*word].as_u64().expect("the word is one token");
            weights[usize::try_from(id).expect("it fits")] = *weight;
        }
        Self { weights, outputs: 1, endless_above: None }
    }

    /// Writes `model.onnx` and `tokenizer.json` into a folder, which is created.
    pub fn write(&self, folder: &Path, tokenizer: &[u8]) {
        std::fs::create_dir_all(folder).expect("the folder is created");
        std::fs::write(folder.join("model.onnx"), self.bytes()).expect("the graph is written");
        std::fs::write(folder.join("tokenizer.json"), tokenizer).expect("the file is written");
    }

    /// Returns the graph: a `ModelProto`.
    fn bytes(&self) -> Vec<u8> {
        let mut graph = Vec::new();
        graph.extend(bytes(1, &node("Gather", &["weights", "input_ids"], "weight")));
        graph.extend(bytes(1, &node("Gather", &["of_text", "token_type_ids"], "counts")));
        graph.extend(bytes(1, &node("Mul", &["weight", "counts"], "part")));
        graph.extend(bytes(1, &node("ReduceSum", &["part", "axes"], "sum")));
        let sum = match self.endless_above {
            None => "sum",
            Some(most) => {
                graph.extend(endless(0, most));
                graph.extend(bytes(1, &node("Add", &["sum", "nothing"], "late")));
                "late"
            }
        };
        graph.extend(bytes(1, &node("Mul", &[sum, "ones"], "logits")));
        graph.extend(bytes(2, b"tiny"));
        let floats = |numbers: &[f32]| -> Vec<u8> {
            numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
        };
        let rows = self.weights.len() as u64;
        graph.extend(bytes(5, &tensor("weights", &[rows], FLOAT, &floats(&self.weights))));
        graph.extend(bytes(5, &tensor("of_text", &[2], FLOAT, &floats(&[0.0, 1.0]))));
        graph.extend(bytes(5, &tensor("axes", &[1], INT64, &1_i64.to_le_bytes())));
        let outputs = usize::try_from(self.outputs).expect("it fits");
        let ones = floats(&vec![1.0; outputs]);
        graph.extend(bytes(5, &tensor("ones", &[1, self.outputs], FLOAT, &ones)));
        for input in ["input_ids", "attention_mask", "token_type_ids"] {
            let axes = [Axis::Named("batch"), Axis::Named("tokens")];
            graph.extend(bytes(11, &value(input, INT64, &axes)));
        }
        let axes = [Axis::Named("batch"), Axis::Fixed(self.outputs)];
        graph.extend(bytes(12, &value("logits", FLOAT, &axes)));
        [number(1, 8), bytes(7, &graph), bytes(8, &number(2, 13))].concat()
    }
}

/// Returns a `tokenizer.json` of the shape of XLM-RoBERTa: a unigram model over texts whose spaces are `▁`, between `<s>` and `</s>`. Its
/// vocabulary has the characters of the texts, and the words of the two prefixes.
pub fn unigram_tokenizer(texts: &[&str]) -> Vec<u8> {
    let characters: BTreeSet<char> = texts.iter().flat_map(|text| text.chars()).collect();
    let mut vocabulary = vec![json!(["<s>", 0.0]), json!(["<pad>", 0.0]), json!(["</s>", 0.0])];
    vocabulary.push(json!(["<unk>", 0.0]));
    vocabulary.extend(["▁query", "▁passage", ":"].map(|piece| json!([piece, -4.0])));
    let others = characters.into_iter().filter(|character| !": ".contains(*character));
    vocabulary.push(json!(["▁", -6.0]));
    vocabulary.extend(others.map(|character| json!([character.to_string(), -8.0])));
    let special = |id: usize, content: &str| json!({"id": id, "content": content, "special": true, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false});
    let token = |id: &str| json!({"SpecialToken": {"id": id, "type_id": 0}});
    let text = |id: &str| json!({"Sequence": {"id": id, "type_id": 0}});
    let ids = |id: &str, number: usize| json!({"id": id, "ids": [number], "tokens": [id]});
    let metaspace =
        json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true});
    let tokenizer = json!({
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 512, "strategy": "LongestFirst", "stride": 0},
        "padding": null,
        "added_tokens": [special(0, "<s>"), special(1, "<pad>"), special(2, "</s>"), special(3, "<unk>")],
        "normalizer": {"type": "NFKC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace.clone()]},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [token("<s>"), text("A"), token("</s>")],
            "pair": [token("<s>"), text("A"), token("</s>"), token("</s>"), text("B"), token("</s>")],
            "special_tokens": {"<s>": ids("<s>", 0), "</s>": ids("</s>", 2)}
        },
        "decoder": metaspace,
        "model": {"type": "Unigram", "unk_id": 3, "vocab": vocabulary}
    });
    tokenizer.to_string().into_bytes()
}

/// Nodes whose output `nothing` is 0, and comes only after 2^55 rounds for each unit by which an axis of `input_ids` is longer than `most`.
fn endless(axis: i64, most: i64) -> Vec<u8> {
    let scalar = |name: &str, value: i64| tensor(name, &[], INT64, &value.to_le_bytes());
    let named = |name: &str, kind: u64| value(name, kind, &[]);
    let mut body = bytes(1, &node("Identity", &["again"], "again_next"));
    body.extend(bytes(1, &node("Identity", &["number"], "number_next")));
    body.extend(bytes(2, b"body"));
    for (name, kind) in [("round", INT64), ("again", BOOL), ("number", FLOAT)] {
        body.extend(bytes(11, &named(name, kind)));
    }
    for (name, kind) in [("again_next", BOOL), ("number_next", FLOAT)] {
        body.extend(bytes(12, &named(name, kind)));
    }
    // An attribute with a graph, which has the type 5.
    let attribute = [bytes(1, b"body"), bytes(6, &body), number(20, 5)].concat();
    let mut rounds = node("Loop", &["rounds", "true", "zero"], "nothing");
    rounds.extend(bytes(5, &attribute));
    let nodes = [
        node("Shape", &["input_ids"], "sizes"),
        node("Gather", &["sizes", "axis"], "size"),
        node("Sub", &["size", "most"], "difference"),
        node("Max", &["difference", "none"], "excess"),
        node("Mul", &["excess", "many"], "rounds"),
        rounds,
    ];
    let numbers = [
        scalar("axis", axis),
        scalar("most", most),
        scalar("none", 0),
        scalar("many", 1 << 55),
        tensor("true", &[], BOOL, &[1]),
        tensor("zero", &[], FLOAT, &0_f32.to_le_bytes()),
    ];
    let nodes = nodes.iter().flat_map(|node| bytes(1, node));
    nodes.chain(numbers.iter().flat_map(|number| bytes(5, number))).collect()
}

/// A dimension of a tensor.
enum Axis {
    Named(&'static str),
    Fixed(u64),
}

/// A variable-length number.
fn varint(mut number: u64) -> Vec<u8> {
    let mut encoded = Vec::new();
    loop {
        let low = u8::try_from(number & 0x7f).expect("seven bits fit");
        number >>= 7;
        if number == 0 {
            encoded.push(low);
            return encoded;
        }
        encoded.push(low | 0x80);
    }
}

/// A field with a number.
fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

/// A field with bytes, a text or a message.
fn bytes(field: u64, value: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
}

/// A `NodeProto`.
fn node(operator: &str, inputs: &[&str], output: &str) -> Vec<u8> {
    let mut node: Vec<u8> = inputs.iter().flat_map(|input| bytes(1, input.as_bytes())).collect();
    node.extend(bytes(2, output.as_bytes()));
    node.extend(bytes(4, operator.as_bytes()));
    node
}

/// A `TensorProto` with its numbers as raw bytes.
fn tensor(name: &str, shape: &[u64], kind: u64, raw: &[u8]) -> Vec<u8> {
    let mut tensor: Vec<u8> = shape.iter().flat_map(|size| number(1, *size)).collect();
    tensor.extend(number(2, kind));
    tensor.extend(bytes(8, name.as_bytes()));
    tensor.extend(bytes(9, raw));
    tensor
}

/// A `ValueInfoProto` of a tensor.
fn value(name: &str, kind: u64, axes: &[Axis]) -> Vec<u8> {
    let dimension = |axis: &Axis| match axis {
        Axis::Fixed(size) => bytes(1, &number(1, *size)),
        Axis::Named(name) => bytes(1, &bytes(2, name.as_bytes())),
    };
    let shape: Vec<u8> = axes.iter().flat_map(dimension).collect();
    let tensor = [number(1, kind), bytes(2, &shape)].concat();
    [bytes(1, name.as_bytes()), bytes(2, &bytes(1, &tensor))].concat()
}
