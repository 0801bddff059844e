//! The keys of this process, and the text of a key file.
//!
//! Each encrypted file names its key, so the files of a store may have several while its key is
//! changed. Not here: reading and writing the key file (the daemon).

use super::header::{HEADER_BYTES, KeyId, MAGIC};
use loci_proto::error::Failure;
use parking_lot::RwLock;
use std::fmt::{self, Write as _};

/// Bytes of a key.
const KEY_BYTES: usize = 32;
/// The head of a key file.
const ABOUT: &str =
    "# The key of your memories in loci. Who reads this file can read them; without it nobody can.
# Keep a copy where the memories are not. Not to be changed by hand.
";

/// A key of 256 random bits.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; KEY_BYTES]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.id())
    }
}

impl Key {
    /// Makes a key of random bytes.
    #[must_use]
    pub fn new(random: [u8; KEY_BYTES]) -> Self {
        Self(random)
    }

    /// Returns its id.
    #[must_use]
    pub fn id(&self) -> KeyId {
        let hash = blake3::derive_key("loci 2026 id of a key", &self.0);
        let mut id = [0; 8];
        id.copy_from_slice(&hash[..8]);
        KeyId(id)
    }

    /// Returns key and salt in the form that `SQLCipher` takes: the salt is the head of the file.
    pub(crate) fn with_salt(&self) -> String {
        let salt: [u8; HEADER_BYTES] = {
            let mut salt = [0; HEADER_BYTES];
            salt[..8].copy_from_slice(MAGIC);
            salt[8..].copy_from_slice(&self.id().0);
            salt
        };
        format!("{}{}", hex(&self.0), hex(&salt))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut key = [0; KEY_BYTES];
        if text.len() != 2 * KEY_BYTES || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        for (byte, at) in key.iter_mut().zip((0..).step_by(2)) {
            *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
        }
        Some(Self(key))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What is done with a store and its backups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// They are encrypted.
    Encrypt,
    /// They are written as plain files.
    Decrypt,
    /// They get a new key.
    Rekey,
}

impl Conversion {
    const ALL: [Self; 3] = [Self::Encrypt, Self::Decrypt, Self::Rekey];

    /// Returns its name, which is that of its command.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
            Self::Rekey => "rekey",
        }
    }
}

/// All keys of a key file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyRing {
    /// The key of new files; `None` if they are not encrypted.
    pub current: Option<Key>,
    /// Keys that older files may have, newest first. None is ever removed.
    pub earlier: Vec<Key>,
    /// What was begun and is not complete.
    pub unfinished: Option<Conversion>,
    /// Where the keys come from, for messages.
    pub source: String,
}

impl KeyRing {
    /// Reads the text of a key file.
    ///
    /// # Errors
    /// `invalid`, naming the line.
    pub fn parse(text: &str, source: &str) -> Result<Self, Failure> {
        let mut ring = Self { source: source.to_owned(), ..Self::default() };
        for (number, line) in text.lines().enumerate() {
            let mut words = line.split_whitespace();
            let key = |word: Option<&str>| {
                word.and_then(Key::parse).ok_or_else(|| fault(source, number + 1))
            };
            match words.next() {
                None => {}
                Some(word) if word.starts_with('#') => {}
                Some("current") if ring.current.is_none() => {
                    ring.current = Some(key(words.next())?);
                }
                Some("earlier") => ring.earlier.push(key(words.next())?),
                Some("unfinished") => {
                    let named = words.next();
                    let found = Conversion::ALL.into_iter().find(|one| named == Some(one.name()));
                    ring.unfinished = Some(found.ok_or_else(|| fault(source, number + 1))?);
                }
                Some(_) => return Err(fault(source, number + 1)),
            }
        }
        Ok(ring)
    }

    /// Returns the text of a key file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = ABOUT.to_owned();
        for (word, key) in self.current.iter().map(|key| ("current", key)) {
            let _ = writeln!(text, "{word} {}", hex(&key.0));
        }
        for key in &self.earlier {
            let _ = writeln!(text, "earlier {}", hex(&key.0));
        }
        if let Some(conversion) = self.unfinished {
            let _ = writeln!(text, "unfinished {}", conversion.name());
        }
        text
    }

    /// Makes a key the one of new files; `None`: they are not encrypted any more.
    pub fn set_current(&mut self, key: Option<Key>) {
        if let Some(before) = self.current.take().filter(|before| Some(before) != key.as_ref()) {
            self.earlier.insert(0, before);
        }
        self.earlier.retain(|earlier| Some(earlier) != key.as_ref());
        self.current = key;
    }

    /// Returns whether there is any key.
    #[must_use]
    pub fn has_keys(&self) -> bool {
        self.current.is_some() || !self.earlier.is_empty()
    }

    fn get(&self, id: KeyId) -> Option<Key> {
        self.current.iter().chain(&self.earlier).find(|key| key.id() == id).cloned()
    }
}

fn fault(source: &str, line: usize) -> Failure {
    Failure::invalid("storage.key_file", format!("{source} has no key of loci in line {line}"))
        .hint("Put back the copy of the key file that you kept")
}

/// The keys of this process. Every function that opens a database by its path needs them.
static KEYS: RwLock<KeyRing> = RwLock::new(KeyRing {
    current: None,
    earlier: Vec::new(),
    unfinished: None,
    source: String::new(),
});

/// Makes keys known to this process, before it opens a database.
pub fn use_keys(ring: KeyRing) {
    *KEYS.write() = ring;
}

/// Returns the key of new files; `None` if they are not encrypted.
#[must_use]
pub fn current() -> Option<KeyId> {
    KEYS.read().current.as_ref().map(Key::id)
}

/// Returns the keys of this process; `None` if it has none.
#[must_use]
pub fn in_use() -> Option<KeyRing> {
    Some(KEYS.read().clone()).filter(KeyRing::has_keys)
}

/// Returns a key of this process.
pub(crate) fn key(id: KeyId) -> Option<Key> {
    KEYS.read().get(id)
}

/// Returns why a file cannot be read whose key is not known, and the next step.
pub(crate) fn missing(id: KeyId) -> (String, String) {
    let source = KEYS.read().source.clone();
    (
        format!("with the key {id}, which {source} does not have"),
        format!("Put the key file back as {source}, or set storage.key_file"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_file_is_read_as_it_was_written() {
        let mut ring = KeyRing { source: "key".to_owned(), ..KeyRing::default() };
        ring.set_current(Some(Key::new([1; KEY_BYTES])));
        ring.set_current(Some(Key::new([2; KEY_BYTES])));
        ring.unfinished = Some(Conversion::Rekey);
        let read = KeyRing::parse(&ring.text(), "key").expect("it is valid");
        assert_eq!(read, ring);
        assert_eq!(read.earlier, [Key::new([1; KEY_BYTES])]);
        assert_eq!(read.get(Key::new([1; KEY_BYTES]).id()), Some(Key::new([1; KEY_BYTES])));
    }

    #[test]
    fn a_key_that_comes_back_is_there_once() {
        let mut ring = KeyRing::default();
        for number in [1, 2, 1] {
            ring.set_current(Some(Key::new([number; KEY_BYTES])));
        }
        assert_eq!(ring.earlier, [Key::new([2; KEY_BYTES])]);
        ring.set_current(None);
        assert_eq!(ring.earlier.len(), 2);
    }

    #[test]
    fn a_faulty_key_file_is_refused_with_its_line() {
        for text in [
            "current 12",
            "current",
            "key 00",
            "unfinished 1",
            &format!("# x\ncurrent {}", "g".repeat(64)),
        ] {
            let failure = KeyRing::parse(text, "/home/anna/.loci/key").expect_err("it is refused");
            assert_eq!(failure.field.as_deref(), Some("storage.key_file"), "{text}");
            assert!(!failure.message.contains("12"), "{failure}");
        }
    }
}
