//! The file of the weights of the large products in blocks, which this machine makes of the downloaded weights.
//!
//! Every machine makes the same bytes, so the file is pinned by its hash like a downloaded one. Those of MiniLM have 8 bits: 64 neighbouring
//! numbers of a row share one scale, and the file has for each product its blocks and then its scales, in the order of
//! `bench/fast_graph.py`, which makes the graph. Not here: those of 4 bits (`q4_file`), running the graph (`onnx`).

use crate::embedding::model_files::{LoadError, check_hash};
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The file, beside the weights. A later version has another number, because daemons of two versions may share a models folder.
pub const BLOCKS_NAME: &str = "blocks-1.bin";

/// The file of a model.
#[derive(Debug)]
pub struct Blocks {
    /// Its size in bytes.
    pub size: u64,
    /// Its SHA-256 in hexadecimal.
    pub sha256: &'static str,
    /// Writes it from the weights at the path.
    pub write: fn(&Path, &mut dyn Write) -> io::Result<()>,
}

/// Numbers that share one scale.
const BLOCK: usize = 64;
/// Layers of the model.
const LAYERS: usize = 6;
/// The products of a layer, by the ends of the names of their weights.
const PRODUCTS: [&str; 6] = [
    "attention.self.query.weight",
    "attention.self.key.weight",
    "attention.self.value.weight",
    "attention.output.dense.weight",
    "intermediate.dense.weight",
    "output.dense.weight",
];
/// Stands for 0 in a block.
const ZERO: f32 = 128.0;
/// The largest number of a block is this far from [`ZERO`].
const LARGEST: f32 = 127.0;
/// Maximum size of the header of the weights.
const MAX_HEADER: u64 = 1 << 20;

/// Returns the file of the blocks in the folder of the weights.
#[must_use]
pub fn path_beside(weights: &Path) -> PathBuf {
    weights.with_file_name(BLOCKS_NAME)
}

impl Blocks {
    /// Makes the file from verified weights, unless it is there and whole. A damaged one is replaced.
    ///
    /// # Errors
    /// [`LoadError::File`], or [`LoadError::Wrong`] if this machine computes other numbers.
    pub fn ensure(&self, weights: &Path) -> Result<(), LoadError> {
        let path = path_beside(weights);
        if check_hash(&path, self.size, self.sha256).is_ok() {
            return Ok(());
        }
        self.make(weights, &path)
            .map_err(|source| LoadError::File { path: path.clone(), source })?;
        check_hash(&path, self.size, self.sha256)
    }

    fn make(&self, weights: &Path, path: &Path) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut part = tempfile::Builder::new();
        // Readable by every user, like the weights.
        #[cfg(unix)]
        part.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
        let mut part = part.prefix(".blocks-").tempfile_in(folder)?;
        let mut out = BufWriter::new(part.as_file_mut());
        (self.write)(weights, &mut out)?;
        out.flush()?;
        drop(out);
        part.as_file().sync_all()?;
        part.persist(path)?;
        Ok(())
    }
}

/// Writes the products of MiniLM in 8 bits.
///
/// # Errors
/// A file cannot be read or written.
pub(crate) fn write_eight_bits(weights: &Path, out: &mut dyn Write) -> io::Result<()> {
    let mut weights = Weights::open(weights)?;
    for layer in 0..LAYERS {
        for product in PRODUCTS {
            let numbers = weights.read(&format!("encoder.layer.{layer}.{product}"))?;
            let (blocks, scales) = quantise(&numbers);
            out.write_all(&blocks)?;
            scales.iter().try_for_each(|scale| out.write_all(&scale.to_le_bytes()))?;
        }
    }
    Ok(())
}

/// Returns the numbers in 8 bits, and the scale of each block.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is clamped to 1 to 255"
)]
fn quantise(numbers: &[f32]) -> (Vec<u8>, Vec<f32>) {
    let (mut quantised, mut scales) = (Vec::with_capacity(numbers.len()), Vec::new());
    for block in numbers.chunks(BLOCK) {
        let largest = block.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        // A block of zeros stays one.
        let scale = if largest == 0.0 { 1.0 } else { largest / LARGEST };
        scales.push(scale);
        let code = |number: &f32| ((number / scale).round_ties_even() + ZERO).clamp(1.0, 255.0);
        quantised.extend(block.iter().map(|number| code(number) as u8));
    }
    (quantised, scales)
}

/// A safetensors file: the length of the header, the header in JSON, the numbers.
struct Weights {
    file: File,
    header: Value,
    data_start: u64,
}

impl Weights {
    fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut length = [0; 8];
        file.read_exact(&mut length)?;
        let length = u64::from_le_bytes(length);
        let header = serde_json::from_reader((&mut file).take(length.min(MAX_HEADER)))?;
        Ok(Self { file, header, data_start: 8 + length })
    }

    fn read(&mut self, name: &str) -> io::Result<Vec<f32>> {
        let offsets = &self.header[name]["data_offsets"];
        let (Some(start), Some(end)) = (offsets[0].as_u64(), offsets[1].as_u64()) else {
            return Err(io::Error::other(format!("the weights have no {name}")));
        };
        self.file.seek(SeekFrom::Start(self.data_start + start))?;
        let mut bytes = Vec::new();
        (&mut self.file).take(end.saturating_sub(start)).read_to_end(&mut bytes)?;
        let number =
            |bytes: &[u8]| bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u32::from(*byte));
        Ok(bytes.chunks_exact(4).map(|four| f32::from_bits(number(four))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_keeps_its_numbers_to_half_a_step() {
        let numbers: Vec<f32> =
            (0..200).map(|at| (at as f32 * 0.7).sin() * (1 + at / 64) as f32).collect();
        let (quantised, scales) = quantise(&numbers);
        assert_eq!((quantised.len(), scales.len()), (200, 4));
        for (at, (code, number)) in quantised.iter().zip(&numbers).enumerate() {
            let scale = scales[at / BLOCK];
            let restored = (f32::from(*code) - ZERO) * scale;
            assert!((restored - number).abs() <= scale * 0.501, "{restored} {number}");
        }
        assert_eq!(quantise(&[0.0; 64]), (vec![128; 64], vec![1.0]));
    }
}
