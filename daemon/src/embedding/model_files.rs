//! The model's files on this machine: their paths, and the check that they are the pinned files.
//!
//! Not here: the pinned hashes (`pinned_files`), the download (`fetch`), loading the model (`onnx`).

use crate::embedding::pinned_files::{Artifact, PinnedFiles, runtime};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The hint for missing or wrong model files.
pub const DOWNLOAD_HINT: &str = "run `loci model download`";

/// Where the model's files are.
#[derive(Debug, Clone)]
pub struct ModelConfig {
    /// The models folder; it may be a symbolic link.
    pub models: PathBuf,
    /// `LOCI_ORT_LIB`: the user's own ONNX Runtime library, used instead of the pinned one.
    pub ort_lib: Option<PathBuf>,
}

impl ModelConfig {
    /// Returns the pinned runtime, if this process needs it.
    #[must_use]
    pub fn runtime(&self) -> Option<&'static Artifact> {
        runtime().filter(|_| self.ort_lib.is_none()).map(|runtime| &runtime.library)
    }

    /// Returns the runtime library: the user's own, else the pinned one with its pin.
    ///
    /// # Errors
    /// [`LoadError`] if it is missing, or no runtime is pinned for the platform.
    pub fn library(&self) -> Result<(PathBuf, Option<&'static Artifact>), LoadError> {
        match (&self.ort_lib, runtime()) {
            (Some(own), _) if own.is_file() => Ok((own.clone(), None)),
            (Some(own), _) => Err(LoadError::NoSuchLibrary(own.clone())),
            (None, Some(runtime)) => {
                Ok((resolve(&self.models, &runtime.library)?, Some(&runtime.library)))
            }
            (None, None) => Err(LoadError::Platform(format!(
                "{} on {}",
                std::env::consts::OS,
                std::env::consts::ARCH
            ))),
        }
    }
}

/// Size and modification time of the model's files; `None` for a missing file. Equal fingerprints mean that no file has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint(Vec<Option<(u64, Option<SystemTime>)>>);

impl Fingerprint {
    /// Returns the fingerprint of these files.
    pub(crate) fn of(files: impl Iterator<Item = PathBuf>) -> Self {
        let size_and_time = |path: PathBuf| {
            fs::metadata(path).ok().map(|metadata| (metadata.len(), metadata.modified().ok()))
        };
        Self(files.map(size_and_time).collect())
    }
}

/// Why the model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file does not exist.
    #[error("{} is missing", .0.display())]
    Missing(PathBuf),
    /// A file exists, but it is not the pinned one.
    #[error("{} is not the pinned file: {reason}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// How it differs.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// `LOCI_ORT_LIB` does not name a file.
    #[error("LOCI_ORT_LIB names {}, which is not a file", .0.display())]
    NoSuchLibrary(PathBuf),
    /// No runtime is pinned for this platform.
    #[error("no ONNX Runtime is pinned for {0}")]
    Platform(String),
    /// The telemetry of ONNX Runtime was not switched off before the load.
    #[error("ORT_DISABLE_TELEMETRY=1 is not set, so ONNX Runtime is not loaded")]
    Telemetry,
    /// ONNX Runtime or the tokenizer reported an error.
    #[error("{0}")]
    Refused(String),
    /// A model that is not pinned cannot be used.
    #[error("{key}: {}: {reason}", path.display())]
    Custom {
        /// The key of the configuration that selects it.
        key: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        reason: String,
        /// The next step, one sentence without a full stop.
        hint: String,
    },
    /// The model computes other similarities than the published ones.
    #[error("the self-test computed the similarities {computed:.4?}, expected {expected:.4?}")]
    SelfTest {
        /// The computed similarities.
        computed: [f32; 3],
        /// The published similarities.
        expected: [f32; 3],
    },
}

impl LoadError {
    /// Returns the next step for the user, one sentence without a full stop.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NoSuchLibrary(_) => "correct LOCI_ORT_LIB or unset it".to_owned(),
            Self::Platform(_) => {
                "set LOCI_ORT_LIB to an ONNX Runtime library, version 1.24 to 1.28".to_owned()
            }
            Self::Telemetry => "start the process through locid".to_owned(),
            Self::Custom { hint, .. } => hint.clone(),
            _ => DOWNLOAD_HINT.to_owned(),
        }
    }
}

/// The paths of the files that a load needs, with symbolic links of folders resolved.
#[derive(Debug)]
pub struct ModelPaths {
    /// The weights.
    pub weights: PathBuf,
    /// The tokenizer; `None` if the weights have the vocabulary.
    pub tokenizer: Option<PathBuf>,
    /// The graph, in the folder of the weights; written by [`ModelPaths::write_graph`].
    pub graph: PathBuf,
    /// The contents of the graph.
    graph_bytes: &'static [u8],
    /// The runtime library.
    pub library: PathBuf,
    /// The pin of the library; `None` if the user provides the library.
    pub library_pin: Option<&'static Artifact>,
}

impl ModelPaths {
    /// Finds the files. Folders are made canonical, because ONNX Runtime refuses weights behind a symbolic link.
    ///
    /// # Errors
    /// [`LoadError`] if a file is missing or no runtime is pinned for the platform. Hashes are checked by [`verify`].
    pub fn find(config: &ModelConfig, files: &PinnedFiles) -> Result<Self, LoadError> {
        let (graph, graph_bytes) = files.graph;
        let weights = resolve(&config.models, files.weights)?;
        let (library, library_pin) = config.library()?;
        let tokenizer = files.tokenizer.map(|file| resolve(&config.models, file)).transpose()?;
        Ok(Self {
            tokenizer,
            graph: weights.with_file_name(graph),
            graph_bytes,
            weights,
            library,
            library_pin,
        })
    }

    /// Writes the graph into the folder of the weights, unless it is already there.
    ///
    /// # Errors
    /// [`LoadError::File`].
    pub fn write_graph(&self) -> Result<(), LoadError> {
        if fs::read(&self.graph).is_ok_and(|bytes| bytes == self.graph_bytes) {
            return Ok(());
        }
        let write = || -> io::Result<()> {
            let folder = self.graph.parent().unwrap_or(Path::new("."));
            let mut part = tempfile::Builder::new();
            // The graph is readable by every user, like the weights.
            #[cfg(unix)]
            part.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
            let mut part = part.prefix(".graph-").tempfile_in(folder)?;
            io::Write::write_all(&mut part, self.graph_bytes)?;
            part.as_file().sync_all()?;
            part.persist(&self.graph)?;
            Ok(())
        };
        write().map_err(|source| LoadError::File { path: self.graph.clone(), source })
    }
}

/// Returns the path of an artifact in the models folder.
#[must_use]
pub fn path_of(models: &Path, artifact: &Artifact) -> PathBuf {
    models.join(artifact.folder).join(artifact.name)
}

fn resolve(models: &Path, artifact: &Artifact) -> Result<PathBuf, LoadError> {
    let folder = models.join(artifact.folder);
    let path = folder
        .canonicalize()
        .map_err(|_| LoadError::Missing(folder.join(artifact.name)))?
        .join(artifact.name);
    if path.is_file() { Ok(path) } else { Err(LoadError::Missing(path)) }
}

/// Verifies that a file is the pinned one: a regular file (no symbolic link) with the pinned size and SHA-256.
///
/// # Errors
/// [`LoadError::Missing`], [`LoadError::Wrong`] or [`LoadError::File`], each naming the file.
pub fn verify(path: &Path, artifact: &Artifact) -> Result<(), LoadError> {
    check_hash(path, artifact.size, artifact.sha256)
}

/// Verifies that a file is a regular one with this size and SHA-256.
///
/// # Errors
/// As [`verify`].
pub(crate) fn check_hash(path: &Path, size: u64, sha256: &str) -> Result<(), LoadError> {
    let wrong = |reason: String| LoadError::Wrong { path: path.to_owned(), reason };
    let metadata = fs::symlink_metadata(path).map_err(|_| LoadError::Missing(path.to_owned()))?;
    if !metadata.is_file() {
        return Err(wrong(
            "it is a link or a folder, and ONNX Runtime accepts only a regular file".to_owned(),
        ));
    }
    if metadata.len() != size {
        return Err(wrong(format!("{} bytes instead of {size}", metadata.len())));
    }
    let found = fs::File::open(path)
        .and_then(sha256_of)
        .map_err(|source| LoadError::File { path: path.to_owned(), source })?;
    if found == sha256 {
        Ok(())
    } else {
        Err(wrong(format!("SHA-256 {found} instead of {sha256}")))
    }
}

/// Returns the SHA-256 of everything that `from` has, in hexadecimal.
pub(crate) fn sha256_of(mut from: impl Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(format!("{:x}", hash.finalize())),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// State of the models folder, for `loci model status`.
#[derive(Debug, Clone, Serialize)]
pub struct ModelStatus {
    /// The model's id.
    pub id: String,
    /// The models folder.
    pub folder: PathBuf,
    /// True if every file is present and right.
    pub complete: bool,
    /// The library that `LOCI_ORT_LIB` names; it is not verified.
    pub ort_lib: Option<PathBuf>,
    /// Every file that this machine needs.
    pub files: Vec<FileStatus>,
}

/// One file.
#[derive(Debug, Clone, Serialize)]
pub struct FileStatus {
    /// The file's name.
    pub name: &'static str,
    /// Its path.
    pub path: PathBuf,
    /// The pinned size in bytes; of the user's own file its size.
    pub size: u64,
    /// The pinned SHA-256; of the user's own file its SHA-256.
    pub sha256: String,
    /// Whether the file is present and right.
    pub condition: Condition,
    /// True if no hash of the file is known to loci beforehand.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unpinned: bool,
}

/// Whether a pinned file is present and right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Condition {
    /// The file exists and has the pinned hash.
    Present,
    /// The file does not exist.
    Missing,
    /// The file exists, but it is a different one or cannot be read.
    Wrong,
}

impl Condition {
    /// Returns `present`, `missing` or `wrong`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Missing => "missing",
            Self::Wrong => "wrong",
        }
    }
}

/// Verifies pinned files; takes about 0.1 s.
#[must_use]
pub(crate) fn check_files(models: &Path, artifacts: Vec<&'static Artifact>) -> Vec<FileStatus> {
    let file = |artifact: &'static Artifact| {
        let path = path_of(models, artifact);
        let condition = match verify(&path, artifact) {
            Ok(()) => Condition::Present,
            Err(LoadError::Missing(_)) => Condition::Missing,
            Err(_) => Condition::Wrong,
        };
        FileStatus {
            name: artifact.name,
            path,
            size: artifact.size,
            sha256: artifact.sha256.to_owned(),
            condition,
            unpinned: false,
        }
    };
    artifacts.into_iter().map(file).collect()
}
