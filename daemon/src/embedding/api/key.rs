//! The key of a provider: read by `locid embed` alone, from a private file or from its environment.
//!
//! Not here: sending it (`http`). It is in no message, log or argument.

use crate::embedding::api::messages::{ApiFailure, FailureKind, Settings};
use nix::unistd::geteuid;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Maximum size of the file.
const MAX_BYTES: u64 = 4096;

/// A key. It has no `Debug`, so that it cannot be printed by mistake.
pub struct Key(String);

impl Key {
    /// Reads the key that the settings name.
    ///
    /// # Errors
    /// Where it was looked for, and what is wrong.
    pub fn read(settings: &Settings) -> Result<Self, ApiFailure> {
        let refused = |reason: String| ApiFailure::new(FailureKind::Key, reason);
        let variable = settings.provider.variable();
        let text = if let Some(path) = &settings.key_file {
            read_file(path).map_err(|reason| {
                refused(format!("embedding.key_file: {}: {reason}", path.display()))
            })?
        } else {
            std::env::var(variable).map_err(|_| {
                refused(format!(
                    "there is no key: set embedding.key_file, or {variable} in the environment of locid"
                ))
            })?
        };
        Self::new(&text).map_err(|reason| {
            let place = settings.key_file.as_ref().map(|path| path.display().to_string());
            refused(format!("{}: {reason}", place.as_deref().unwrap_or(variable)))
        })
    }

    fn new(text: &str) -> Result<Self, String> {
        let key = text.trim();
        if key.is_empty() {
            return Err("is empty".to_owned());
        }
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("has more than one word, or characters that no key has".to_owned());
        }
        Ok(Self(key.to_owned()))
    }

    /// Returns the value of the header `Authorization`.
    #[must_use]
    pub fn authorization(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

fn read_file(path: &Path) -> Result<String, String> {
    // Not blocking, so that a pipe in its place is refused and not waited for.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits())
        .open(path)
        .map_err(|error| error.to_string())?;
    check(&file)?;
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text).map_err(|error| error.to_string())?;
    Ok(text)
}

/// Checks that only the user can read the file.
fn check(file: &File) -> Result<(), String> {
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("is not a file".to_owned());
    }
    if metadata.uid() != geteuid().as_raw() {
        return Err("belongs to another user".to_owned());
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(format!("has mode {:04o}; run chmod 600 on it", metadata.mode() & 0o7777));
    }
    if metadata.len() >= MAX_BYTES {
        return Err(format!("has {} bytes; a key has less", metadata.len()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding::api::provider::Provider;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_is_read_from_a_private_file_only() {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let path = folder.path().join("key");
        let settings = Settings {
            provider: Provider::Openai,
            model: "m".to_owned(),
            dimensions: 384,
            url: "https://api.openai.com/v1".to_owned(),
            key_file: Some(path.clone()),
        };
        let refusal = || Key::read(&settings).err().map(|failure| failure.message);
        assert!(refusal().is_some_and(|text| text.contains("No such file")));
        for (text, mode, expected) in [
            ("k-12345\n", 0o600, None),
            ("k-12345\n", 0o640, Some("has mode 0640; run chmod 600 on it")),
            ("  \n", 0o600, Some("is empty")),
            ("two words", 0o600, Some("more than one word")),
            (&"x".repeat(5000), 0o600, Some("has 5000 bytes")),
        ] {
            fs::write(&path, text).expect("the file is written");
            fs::set_permissions(&path, Permissions::from_mode(mode)).expect("the mode is set");
            let refused = refusal();
            match expected {
                None => assert_eq!(refused, None),
                Some(part) => {
                    let text = refused.expect("the key is refused");
                    assert!(text.contains(part) && !text.contains("two words"), "{text}");
                }
            }
        }
        fs::remove_file(&path).expect("the file is removed");
        fs::create_dir(&path).expect("a folder is created");
        assert!(refusal().is_some_and(|text| text.contains("is not a file")));
    }
}
