//! Compares importing many memories with storing them one by one, without the model.
//!
//!     cargo run --release -p loci-engine --example bulk [-- MEMORIES]
//!
//! Vectors and sign codes are generated. Every store is one call with its own disk sync; a second
//! measurement commits 64 stores together. Not here: sockets, queues, embedding.

use loci_engine::model::encoding::{
    DIMENSIONS, DocumentEncoding, Embedding, MAX_SIGN_CODES, ModelEncoding, SignCode,
};
use loci_engine::model::time::Timestamp;
use loci_engine::operations::store::Draft;
use loci_engine::transaction::change::CallContext;
use loci_engine::{Actor, Settings, Writer};
use loci_proto::group::Group;
use loci_proto::memory::Origin;
use loci_proto::requests::export::ExportRequest;
use loci_proto::requests::import::ImportRequest;
use serde_json::{Map, Value, json};
use std::io::Cursor;
use std::path::Path;
use std::time::{Duration, Instant};

type Anything = Box<dyn std::error::Error>;

const NOW: Timestamp = Timestamp(1_769_904_000_000);
/// The model that the generated vectors are said to be from.
const MODEL: &str = "made-up";
/// Default number of memories.
const MEMORIES: usize = 10_000;

fn main() -> Result<(), Anything> {
    let memories = std::env::args().nth(1).map_or(Ok(MEMORIES), |count| count.parse())?;
    let folder = tempfile::tempdir()?;
    let mut generator = Generator(7);
    let texts: Vec<(String, DocumentEncoding)> = (0..memories)
        .map(|number| Ok((generator.note(number), generator.encoding()?)))
        .collect::<Result<_, Anything>>()?;

    let mut writer = open(&folder.path().join("single.db"))?;
    let single =
        timed(|| texts.iter().try_for_each(|(text, encoding)| store(&mut writer, text, encoding)))?;
    println!("{memories} single stores: {single}");

    let mut group_writer = open(&folder.path().join("grouped.db"))?;
    let grouped = timed(|| {
        texts.chunks(64).try_for_each(|group| {
            group_writer.begin_group()?;
            group
                .iter()
                .try_for_each(|(text, encoding)| store(&mut group_writer, text, encoding))?;
            Ok(group_writer.commit_group()?)
        })
    })?;
    println!("the same, 64 to a commit: {grouped}: {}", single.ratio_to(grouped));

    let reader = writer.reader()?;
    for vectors in [true, false] {
        let mut file = Vec::new();
        let export = timed(|| {
            Ok(reader.export(&ExportRequest { vectors, ..ExportRequest::default() }, &mut file)?)
        })?;
        let kind = if vectors { "with vectors" } else { "without vectors" };
        println!("export {kind}, {} MB: {export}", file.len() / 1_000_000);
        let mut empty = open(&folder.path().join(format!("import-{vectors}.db")))?;
        let import = timed(|| {
            let reply =
                empty.import(&call(), &ImportRequest::default(), &mut Cursor::new(&file))?;
            assert_eq!((reply.added, reply.vectors > 0), (memories, vectors));
            Ok(())
        })?;
        println!("import {kind}: {import}: {}", single.ratio_to(import));
    }
    Ok(())
}

fn open(path: &Path) -> Result<Writer, Anything> {
    Ok(loci_engine::open(path, Settings::for_model(MODEL), NOW)?)
}

fn call() -> CallContext {
    let group = Group { id: "g_bulk".to_owned(), name: "bulk".to_owned() };
    CallContext {
        now: NOW,
        actor: Actor {
            client: Some("bulk".to_owned()),
            session: Some("s1".to_owned()),
            origin: Origin::Agent,
            group,
            checkout: None,
            is_bound: false,
        },
        key: None,
        shown: None,
    }
}

fn store(writer: &mut Writer, text: &str, encoding: &DocumentEncoding) -> Result<(), Anything> {
    let arguments: Map<String, Value> =
        serde_json::from_value(json!({"content": text, "type": "semantic"}))?;
    // The shim adds a new key to every call.
    let call = CallContext { key: Some(uuid::Uuid::now_v7().to_string()), ..call() };
    let draft = Draft::new(loci_proto::mcp::arguments::parse(arguments)?, call.now)?;
    let encoded = ModelEncoding { model: MODEL.into(), encoding: encoding.clone() };
    writer.store(&call, &draft, &std::iter::once(encoded).collect())?;
    Ok(())
}

/// The time of one measurement.
#[derive(Clone, Copy)]
struct Times {
    wall: Duration,
    cpu: Duration,
}

impl Times {
    fn ratio_to(self, other: Self) -> String {
        let ratio = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64().max(1e-9);
        format!(
            "{:.1} times in wall time, {:.1} in CPU time",
            ratio(self.wall, other.wall),
            ratio(self.cpu, other.cpu)
        )
    }
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2} s, {:.2} s of CPU", self.wall.as_secs_f64(), self.cpu.as_secs_f64())
    }
}

fn timed(work: impl FnOnce() -> Result<(), Anything>) -> Result<Times, Anything> {
    let (start, cpu_before) = (Instant::now(), cpu_time()?);
    work()?;
    Ok(Times { wall: start.elapsed(), cpu: cpu_time()?.saturating_sub(cpu_before) })
}

/// Returns the CPU time of this thread. Linux only.
fn cpu_time() -> Result<Duration, Anything> {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(Duration::from_nanos(schedstat.split(' ').next().ok_or("no time")?.parse()?))
}

/// A deterministic generator of notes and encodings.
struct Generator(u64);

impl Generator {
    /// Returns the next number of splitmix64.
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn note(&mut self, number: usize) -> String {
        let word = |generator: &mut Self| format!("word{}", generator.number() % 5000);
        let words: Vec<String> = (0..12).map(|_| word(self)).collect();
        format!("Ticket {number} about the {} service: {}.", word(self), words.join(" "))
    }

    fn encoding(&mut self) -> Result<DocumentEncoding, Anything> {
        let words = (0..14.min(MAX_SIGN_CODES)).map(|_| SignCode::of(&self.numbers())).collect();
        Ok(DocumentEncoding {
            vectors: vec![Embedding::new(self.numbers()).map_err(|error| error.to_string())?],
            words: Some(words),
        })
    }

    fn numbers(&mut self) -> Vec<f32> {
        (0..DIMENSIONS).map(|_| (self.number() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect()
    }
}
