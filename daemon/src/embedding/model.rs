//! The model's files on this machine: where they lie, and whether they are the pinned ones.
//!
//! Not here: the pins (`pins`), fetching (`fetch`), running (`onnx`).

use super::pins::{Artifact, GRAPH, MODEL_ID, TOKENIZER, WEIGHTS, runtime};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What to do when the model is not there.
pub const REMEDY: &str = "run `loci model download`";

/// Where a process finds the model.
#[derive(Debug, Clone)]
pub struct ModelConfig {
    /// The models folder; it may be a symbolic link.
    pub models: PathBuf,
    /// `LOCI_ORT_LIB`: a runtime library of the person's own, used instead of the pinned one.
    pub ort_lib: Option<PathBuf>,
}

impl ModelConfig {
    /// The pinned files that this process needs: the runtime only when the person brings none and one is pinned for the platform.
    #[must_use]
    pub fn artifacts(&self) -> Vec<&'static Artifact> {
        let library = runtime().filter(|_| self.ort_lib.is_none()).map(|runtime| &runtime.library);
        [&WEIGHTS, &TOKENIZER].into_iter().chain(library).collect()
    }

    /// Size and age of every file, so that a look at an unchanged folder costs no hashing.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let pinned = self.artifacts().into_iter().map(|artifact| path_of(&self.models, artifact));
        let facts = |path: PathBuf| {
            fs::metadata(path).ok().map(|found| (found.len(), found.modified().ok()))
        };
        Fingerprint(pinned.chain(self.ort_lib.clone()).map(facts).collect())
    }
}

/// What a look at the models folder saw; equal fingerprints mean that nothing changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint(Vec<Option<(u64, Option<SystemTime>)>>);

/// Why the model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file is not there.
    #[error("{} is missing", .0.display())]
    Missing(PathBuf),
    /// A file is there, but it is not the pinned one.
    #[error("{} is not the pinned file: {why}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// How it differs.
        why: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// `LOCI_ORT_LIB` names no file.
    #[error("LOCI_ORT_LIB names {}, which is no file", .0.display())]
    NoSuchLibrary(PathBuf),
    /// No runtime is pinned for this platform.
    #[error("no ONNX Runtime is pinned for {0}")]
    Platform(String),
    /// The runtime's telemetry was not switched off before the load.
    #[error("ORT_DISABLE_TELEMETRY=1 is not in the environment, so ONNX Runtime is not loaded")]
    Telemetry,
    /// ONNX Runtime or the tokenizer refused.
    #[error("{0}")]
    Refused(String),
    /// The model gives other vectors than the published ones.
    #[error("the self-test gave similarities {found:.4?} instead of {expected:.4?}")]
    SelfTest {
        /// What came out.
        found: [f32; 3],
        /// What was published.
        expected: [f32; 3],
    },
}

impl LoadError {
    /// The next step, one sentence without a full stop.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NoSuchLibrary(_) => "correct LOCI_ORT_LIB or unset it".to_owned(),
            Self::Platform(_) => {
                "set LOCI_ORT_LIB to an ONNX Runtime library, version 1.24 to 1.28".to_owned()
            }
            Self::Telemetry => "start the process through locid".to_owned(),
            _ => REMEDY.to_owned(),
        }
    }
}

/// Where the graph is written. Another graph has another name: daemons of two versions may use one models folder.
const GRAPH_NAME: &str = "graph-2.onnx";

/// The files that a load needs, each in its real folder.
#[derive(Debug)]
pub struct Files {
    /// The weights; `graph` lies beside them.
    pub weights: PathBuf,
    /// The tokenizer.
    pub tokenizer: PathBuf,
    /// The graph, written by [`Files::write_graph`].
    pub graph: PathBuf,
    /// The runtime library.
    pub library: PathBuf,
    /// The pin of the library; none for one of the person's own.
    pub library_pin: Option<&'static Artifact>,
}

impl Files {
    /// Finds the files. Folders are made canonical, because ONNX Runtime refuses weights that a link leads to.
    ///
    /// # Errors
    /// [`LoadError`] when a file is missing or no runtime is known. Hashes are checked by [`check`].
    pub fn find(config: &ModelConfig) -> Result<Self, LoadError> {
        let weights = real(&config.models, &WEIGHTS)?;
        let (library, library_pin) = match (&config.ort_lib, runtime()) {
            (Some(own), _) if own.is_file() => (own.clone(), None),
            (Some(own), _) => return Err(LoadError::NoSuchLibrary(own.clone())),
            (None, Some(runtime)) => {
                (real(&config.models, &runtime.library)?, Some(&runtime.library))
            }
            (None, None) => {
                return Err(LoadError::Platform(format!(
                    "{} on {}",
                    std::env::consts::OS,
                    std::env::consts::ARCH
                )));
            }
        };
        Ok(Self {
            tokenizer: real(&config.models, &TOKENIZER)?,
            graph: weights.with_file_name(GRAPH_NAME),
            weights,
            library,
            library_pin,
        })
    }

    /// Writes the graph beside the weights, unless it is there already.
    ///
    /// # Errors
    /// [`LoadError::File`].
    pub fn write_graph(&self) -> Result<(), LoadError> {
        if fs::read(&self.graph).is_ok_and(|found| found == GRAPH) {
            return Ok(());
        }
        let write = || -> io::Result<()> {
            let folder = self.graph.parent().unwrap_or(Path::new("."));
            let mut part = tempfile::Builder::new();
            // Whoever may read the weights may read the graph.
            #[cfg(unix)]
            part.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
            let mut part = part.prefix(".graph-").tempfile_in(folder)?;
            io::Write::write_all(&mut part, GRAPH)?;
            part.as_file().sync_all()?;
            part.persist(&self.graph)?;
            Ok(())
        };
        write().map_err(|source| LoadError::File { path: self.graph.clone(), source })
    }
}

/// Where an artifact belongs.
#[must_use]
pub fn path_of(models: &Path, artifact: &Artifact) -> PathBuf {
    models.join(artifact.folder).join(artifact.name)
}

fn real(models: &Path, artifact: &Artifact) -> Result<PathBuf, LoadError> {
    let folder = models.join(artifact.folder);
    let path = folder
        .canonicalize()
        .map_err(|_| LoadError::Missing(folder.join(artifact.name)))?
        .join(artifact.name);
    if path.is_file() { Ok(path) } else { Err(LoadError::Missing(path)) }
}

/// Checks that a file is the pinned one: a real file (no link), the size, the SHA-256.
///
/// # Errors
/// [`LoadError::Missing`], [`LoadError::Wrong`] or [`LoadError::File`], each naming the file.
pub fn check(path: &Path, artifact: &Artifact) -> Result<(), LoadError> {
    let wrong = |why: String| LoadError::Wrong { path: path.to_owned(), why };
    let found = fs::symlink_metadata(path).map_err(|_| LoadError::Missing(path.to_owned()))?;
    if !found.is_file() {
        return Err(wrong(
            "it is a link or a folder, and ONNX Runtime takes only a file of its own".to_owned(),
        ));
    }
    if found.len() != artifact.size {
        return Err(wrong(format!("{} bytes instead of {}", found.len(), artifact.size)));
    }
    let sha256 = fs::File::open(path)
        .and_then(sha256_of)
        .map_err(|source| LoadError::File { path: path.to_owned(), source })?;
    if sha256 == artifact.sha256 {
        Ok(())
    } else {
        Err(wrong(format!("SHA-256 {sha256} instead of {}", artifact.sha256)))
    }
}

fn sha256_of(mut from: impl Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(format!("{:x}", hash.finalize())),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// The model folder at a glance, for `loci model status`.
#[derive(Debug, Clone, Serialize)]
pub struct ModelStatus {
    /// The model.
    pub id: &'static str,
    /// The models folder.
    pub folder: PathBuf,
    /// True when every file is present.
    pub complete: bool,
    /// The library that `LOCI_ORT_LIB` names, which no pin covers.
    pub ort_lib: Option<PathBuf>,
    /// Every pinned file that this machine needs.
    pub files: Vec<FileStatus>,
}

/// One pinned file.
#[derive(Debug, Clone, Serialize)]
pub struct FileStatus {
    /// The file's name.
    pub name: &'static str,
    /// Where it belongs.
    pub path: PathBuf,
    /// The size that it must have, in bytes.
    pub size: u64,
    /// The SHA-256 that it must have.
    pub sha256: &'static str,
    /// How it is.
    pub condition: Condition,
}

/// How a pinned file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Condition {
    /// There, with the right hash.
    Present,
    /// Not there.
    Missing,
    /// There, but another file, or unreadable.
    Wrong,
}

impl Condition {
    /// `present`, `missing` or `wrong`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Missing => "missing",
            Self::Wrong => "wrong",
        }
    }
}

/// Looks at every file and hashes it; about 0.1 s.
#[must_use]
pub fn status(config: &ModelConfig) -> ModelStatus {
    let file = |artifact: &'static Artifact| {
        let path = path_of(&config.models, artifact);
        let condition = match check(&path, artifact) {
            Ok(()) => Condition::Present,
            Err(LoadError::Missing(_)) => Condition::Missing,
            Err(_) => Condition::Wrong,
        };
        FileStatus {
            name: artifact.name,
            path,
            size: artifact.size,
            sha256: artifact.sha256,
            condition,
        }
    };
    let files: Vec<FileStatus> = config.artifacts().into_iter().map(file).collect();
    ModelStatus {
        id: MODEL_ID,
        folder: config.models.clone(),
        complete: files.iter().all(|file| file.condition == Condition::Present),
        ort_lib: config.ort_lib.clone(),
        files,
    }
}
