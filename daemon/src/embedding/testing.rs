//! What the tests of this room share: the real model, and a stand-in that obeys.

use super::fetch;
use super::model::{Fingerprint, LoadError, ModelConfig, status};
use super::onnx::{INTRA_THREADS, Model, Run, switch_off_telemetry};
use super::pieces::{Piece, Use};
use super::thread::{Encoder, Opened, Source};
use loci_engine::embedding::DIMENSIONS;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError};

/// The model folder of this machine: `LOCI_MODELS`, else `~/.loci/models`; filled once if need be.
pub fn config() -> ModelConfig {
    static CONFIG: OnceLock<ModelConfig> = OnceLock::new();
    quiet();
    let find = || {
        let home =
            || directories::BaseDirs::new().expect("has a home").home_dir().join(".loci/models");
        let config = ModelConfig {
            models: std::env::var_os("LOCI_MODELS").map_or_else(home, PathBuf::from),
            ort_lib: None,
        };
        if !status(&config).complete {
            fetch::fetch(&config, None, None).expect("the model can be fetched");
        }
        config
    };
    CONFIG.get_or_init(find).clone()
}

/// Telemetry off, once for all tests.
pub fn quiet() {
    static QUIET: Once = Once::new();
    QUIET.call_once(switch_off_telemetry);
}

/// The real model, one for all tests.
pub fn model() -> MutexGuard<'static, Model> {
    static MODEL: OnceLock<Mutex<Model>> = OnceLock::new();
    let load = || Mutex::new(Model::load(&config(), INTRA_THREADS).expect("the model loads").0);
    MODEL.get_or_init(load).lock().unwrap_or_else(PoisonError::into_inner)
}

/// A source whose encoder says of each run which texts it held, and waits to be let on.
pub struct Obedient {
    /// Each run's ids, before it runs.
    runs: Sender<Vec<u32>>,
    /// What to do: a run waits for one word.
    words: Arc<Mutex<Receiver<Word>>>,
}

/// What a run is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    Work,
    Fail,
    Panic,
    GiveNan,
}

impl Obedient {
    /// The source, what its runs hold, and the words for them.
    pub fn new() -> (Self, Receiver<Vec<u32>>, Sender<Word>) {
        let ((runs, seen), (word, words)) = (channel(), channel());
        (Self { runs, words: Arc::new(Mutex::new(words)) }, seen, word)
    }
}

impl Source for Obedient {
    fn fingerprint(&self) -> Option<Fingerprint> {
        None
    }

    fn open(&self) -> Result<Opened, LoadError> {
        let encoder = Encoding { runs: self.runs.clone(), words: Arc::clone(&self.words) };
        Ok(Opened {
            encoder: Box::new(encoder),
            sha256: "obedient".to_owned(),
            warnings: Vec::new(),
        })
    }
}

struct Encoding {
    runs: Sender<Vec<u32>>,
    words: Arc<Mutex<Receiver<Word>>>,
}

impl Encoder for Encoding {
    /// One piece for each line, all of its number, and so long that no two share a run.
    fn pieces(&self, text: &str, _: Use) -> Result<Vec<Piece>, String> {
        text.lines()
            .map(|line| {
                line.parse()
                    .map(|id| Piece { ids: vec![id; 1500], words: Vec::new() })
                    .map_err(|_| "not a number".to_owned())
            })
            .collect()
    }

    fn run(&mut self, batch: &[&Piece]) -> Result<Vec<Run>, String> {
        let all = |value: f32| {
            batch
                .iter()
                .map(|_| Run { vector: vec![value; DIMENSIONS], codes: Vec::new() })
                .collect()
        };
        self.runs
            .send(batch.iter().map(|piece| piece.ids[0]).collect())
            .map_err(|e| e.to_string())?;
        match self.words.lock().unwrap_or_else(PoisonError::into_inner).recv().unwrap_or(Word::Work)
        {
            Word::Work => Ok(all(1.0)),
            Word::GiveNan => Ok(all(f32::NAN)),
            Word::Fail => Err("told to fail".to_owned()),
            Word::Panic => panic!("told to panic"),
        }
    }
}
