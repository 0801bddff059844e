//! An embedding API on loopback, with the requests and replies of the two providers, that answers as a test says.
//!
//! Its vectors are sums of hashed words, in which some words count as the same one: so a vector finds what no keyword does. Not here: any
//! test.

use crate::home::TestHome;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

/// The key that clients must send.
pub const KEY: &str = "sk-loopback-0123456789";
/// Words that mean the same to the API.
const SYNONYMS: [(&str, &str); 3] =
    [("car", "automobile"), ("keys", "latchkeys"), ("broken", "defective")];

/// How the API answers.
#[derive(Debug, Clone, Copy)]
pub enum Answer {
    /// With the vectors.
    Vectors,
    /// With this status and `Retry-After`.
    Status(u16, Option<u32>),
    /// With this body in place of the vectors.
    Body(&'static str),
    /// With one vector too few.
    TooFew,
    /// With vectors of one number too few.
    TooShort,
    /// Never: the connection stays open.
    Never,
}

/// A request that has arrived.
#[derive(Debug, Clone)]
pub struct Received {
    /// The request line and the headers.
    pub head: String,
    /// The body.
    pub body: Value,
}

impl Received {
    /// The texts.
    pub fn texts(&self) -> Vec<String> {
        let texts = self.body["input"].as_array().expect("a JSON array").iter();
        texts.map(|text| text.as_str().expect("a JSON string").to_owned()).collect()
    }
}

struct Shared {
    answer: Answer,
    connections: usize,
    received: Vec<Received>,
}

/// The API; its threads end with the test.
pub struct EmbeddingApi {
    address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
}

impl EmbeddingApi {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("the listener has an address");
        let shared = Shared { answer: Answer::Vectors, connections: 0, received: Vec::new() };
        let shared = Arc::new(Mutex::new(shared));
        let of_thread = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&of_thread);
                shared.lock().expect("the lock is not poisoned").connections += 1;
                std::thread::spawn(move || serve(&stream, &shared));
            }
        });
        Self { address, shared }
    }

    /// The keys of `[embedding]` for this API, with the key in a private file.
    pub fn keys(&self, home: &TestHome, provider: &str, model: &str) -> String {
        let file = home.path("key");
        std::fs::write(&file, format!("{KEY}\n")).expect("the file is written");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600))
            .expect("is private");
        format!("{}key_file = \"{}\"\n", self.keys_without_file(provider, model), file.display())
    }

    /// The same without a file of the key.
    pub fn keys_without_file(&self, provider: &str, model: &str) -> String {
        let address = self.address;
        format!(
            "[embedding]\ndownload = false\nprovider = \"{provider}\"\nmodel = \"{model}\"\napi_url = \"http://{address}/v1\"\nconsent = \"send my memories and questions to {address}\"\nflush_ms = 0\n"
        )
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn set(&self, answer: Answer) {
        self.shared.lock().expect("the lock is not poisoned").answer = answer;
    }

    pub fn received(&self) -> Vec<Received> {
        self.shared.lock().expect("the lock is not poisoned").received.clone()
    }

    pub fn connections(&self) -> usize {
        self.shared.lock().expect("the lock is not poisoned").connections
    }
}

/// Answers the requests of a connection.
fn serve(stream: &TcpStream, shared: &Mutex<Shared>) {
    let mut reader = BufReader::new(stream);
    while let Some(received) = read_request(&mut reader) {
        let answer = {
            let mut shared = shared.lock().expect("the lock is not poisoned");
            shared.received.push(received.clone());
            shared.answer
        };
        if matches!(answer, Answer::Never) {
            // Until the client gives up.
            let _ = reader.read(&mut [0]);
            return;
        }
        let (status, headers, body) = reply(&answer, &received);
        let mut stream = stream;
        let written = write!(
            stream,
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        if written.is_err() {
            return;
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<Received> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        let line = line.to_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Received { head, body: serde_json::from_slice(&body).ok()? })
}

fn reply(answer: &Answer, received: &Received) -> (u16, String, String) {
    let mut vectors = vectors(received);
    match answer {
        Answer::Status(status, retry_after) => {
            let header = retry_after.map(|s| format!("retry-after: {s}\r\n")).unwrap_or_default();
            // A provider may repeat what it was sent.
            return (*status, header, json!({"error": {"message": received.body}}).to_string());
        }
        Answer::Body(body) => return (200, String::new(), (*body).to_owned()),
        Answer::TooFew => drop(vectors.pop()),
        Answer::TooShort => vectors.iter_mut().for_each(|vector| vector.truncate(vector.len() - 1)),
        Answer::Vectors | Answer::Never => {}
    }
    if !received.head.contains(&format!("authorization: bearer {KEY}")) {
        return (401, String::new(), "{}".to_owned());
    }
    let tokens: usize = received.texts().iter().map(|text| text.len() / 4 + 1).sum();
    let item = |(index, vector): (usize, &Vec<f32>)| json!({"object": "embedding", "index": index, "embedding": vector});
    // In the reverse order: the index counts.
    let data: Vec<Value> = vectors.iter().enumerate().rev().map(item).collect();
    let usage = json!({"prompt_tokens": tokens, "total_tokens": tokens});
    (200, String::new(), json!({"object": "list", "data": data, "usage": usage}).to_string())
}

fn vectors(received: &Received) -> Vec<Vec<f32>> {
    let dimensions = ["dimensions", "output_dimension"].map(|name| received.body[name].as_u64());
    let dimensions = dimensions.into_iter().flatten().next().expect("the dimensions are given");
    let dimensions = usize::try_from(dimensions).expect("a small number");
    received.texts().iter().map(|text| vector(text, dimensions)).collect()
}

fn vector(text: &str, dimensions: usize) -> Vec<f32> {
    let mut vector = vec![0.0; dimensions];
    vector[0] = 0.1;
    let text = text.to_lowercase();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2) {
        let same = SYNONYMS.iter().find(|(_, other)| *other == word).map_or(word, |(one, _)| one);
        let hash =
            same.bytes().fold(7_usize, |hash, byte| hash.wrapping_mul(31) + usize::from(byte));
        vector[hash % dimensions] += 1.0;
    }
    vector
}
