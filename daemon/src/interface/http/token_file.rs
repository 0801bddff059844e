//! The file of the tokens: `http_tokens.toml` in the data folder, which only its owner can read.
//!
//! Not here: which token a request has (`tokens`).

use loci_proto::error::{Code, Failure};
use loci_proto::group::GroupName;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Name of the file in the data folder.
pub const FILE_NAME: &str = "http_tokens.toml";
/// Name of the token that is created with the file.
pub const FIRST_TOKEN: &str = "default";
/// The beginning of every secret that loci makes, so that it is recognised as one.
const PREFIX: &str = "loci_";
/// Bytes of a secret, from the operating system.
const SECRET_BYTES: usize = 32;
/// Minimum length of a secret that a person has written.
const MIN_SECRET_CHARS: usize = 32;
/// Maximum length of a secret.
const MAX_SECRET_CHARS: usize = 256;
/// Maximum number of tokens.
const MAX_TOKENS: usize = 64;
/// Maximum length of a token's name.
const MAX_NAME_CHARS: usize = 64;
/// Maximum size of the file, in bytes.
const MAX_FILE_BYTES: u64 = 64 * 1024;
/// The first lines of the file.
const HEADER: &str = "\
# The tokens of HTTP clients. Who has one of these secrets can read and store memories: keep this file private.
# loci serve token add, remove and show change and print it. A changed file is in force with the next request.

";

/// A token as the file has it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredToken {
    /// Its name, for status, logs and commands.
    pub name: String,
    /// What the client sends.
    pub secret: String,
    /// The only project that it may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<GroupName>,
}

impl StoredToken {
    /// Creates a token with a new secret.
    ///
    /// # Errors
    /// `invalid` for the name; `internal` if the system has no random numbers.
    pub fn generate(name: &str, project: Option<GroupName>) -> Result<Self, Failure> {
        check_name(name)?;
        let mut bytes = [0; SECRET_BYTES];
        getrandom::fill(&mut bytes).map_err(|e| {
            Failure::new(Code::Internal, format!("the system gives no random numbers: {e}"))
        })?;
        let secret = bytes.iter().fold(PREFIX.to_owned(), |mut secret, byte| {
            // Writing to a string cannot fail.
            let _ = write!(secret, "{byte:02x}");
            secret
        });
        Ok(Self { name: name.to_owned(), secret, project })
    }
}

/// The whole file.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    #[serde(default)]
    token: Vec<StoredToken>,
}

/// What identifies one state of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

/// Returns the state of the file; `None` if there is none.
#[must_use]
pub fn stamp(path: &Path) -> Option<FileStamp> {
    let metadata = path.metadata().ok()?;
    Some(FileStamp {
        inode: metadata.ino(),
        size: metadata.size(),
        // Also changes with the permissions.
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    })
}

/// Reads the file; `None` if there is none.
///
/// # Errors
/// `invalid`, naming the file and its fault, but never a secret.
pub fn read(path: &Path) -> Result<Option<Vec<StoredToken>>, Failure> {
    let refuse = |fault: String| Failure::new(Code::Invalid, format!("{} {fault}", path.display()));
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(refuse(format!("cannot be read: {e}"))),
    };
    if !metadata.is_file() {
        return Err(refuse("is not a file".to_owned()).hint("Move it away"));
    }
    if metadata.uid() != nix::unistd::geteuid().as_raw() {
        return Err(refuse("belongs to another user".to_owned()).hint("Remove it"));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(refuse("can be opened by other users".to_owned())
            .hint(format!("Run: chmod 600 {}", path.display())));
    }
    if metadata.len() > MAX_FILE_BYTES {
        return Err(refuse(format!("has more than {MAX_FILE_BYTES} bytes")));
    }
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES).read_to_string(&mut text))
        .map_err(|e| refuse(format!("cannot be read: {e}")))?;
    let contents: Contents = toml::from_str(&text).map_err(|fault| {
        // The parser's message may quote a line, and so a secret.
        let start = fault.span().map_or(0, |span| span.start);
        let line = text.get(..start).unwrap_or_default().matches('\n').count() + 1;
        refuse(format!("line {line}: is not a list of [[token]] with name, secret and project"))
    })?;
    check(&contents.token).map_err(|fault| refuse(fault.message))?;
    Ok(Some(contents.token))
}

/// Writes the file in one step.
///
/// # Errors
/// `invalid` for a name that is taken, or too many tokens; `storage_failed`.
pub fn write(path: &Path, tokens: Vec<StoredToken>) -> Result<(), Failure> {
    check(&tokens)?;
    let failed = |e: &dyn std::fmt::Display| {
        Failure::new(Code::StorageFailed, format!("{} cannot be written: {e}", path.display()))
    };
    let text = toml::to_string(&Contents { token: tokens }).map_err(|e| failed(&e))?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    // Created with mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|e| failed(&e))?;
    file.write_all(HEADER.as_bytes())
        .and_then(|()| file.write_all(text.as_bytes()))
        .and_then(|()| file.as_file().sync_all())
        .map_err(|e| failed(&e))?;
    file.persist(path).map_err(|e| failed(&e.error))?;
    Ok(())
}

fn check(tokens: &[StoredToken]) -> Result<(), Failure> {
    if tokens.len() > MAX_TOKENS {
        let message = format!("has {} tokens; the limit is {MAX_TOKENS}", tokens.len());
        return Err(Failure::new(Code::Invalid, message));
    }
    for (at, token) in tokens.iter().enumerate() {
        check_name(&token.name)?;
        if tokens[..at].iter().any(|other| other.name == token.name) {
            let message = format!("has two tokens named {}", token.name);
            return Err(Failure::new(Code::Invalid, message));
        }
        if tokens[..at].iter().any(|other| other.secret == token.secret) {
            let message = format!("has two tokens with the secret of {}", token.name);
            return Err(Failure::new(Code::Invalid, message));
        }
        let is_plain = token.secret.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain || !(MIN_SECRET_CHARS..=MAX_SECRET_CHARS).contains(&token.secret.len()) {
            let message = format!(
                "the secret of {} must have {MIN_SECRET_CHARS} to {MAX_SECRET_CHARS} visible ASCII characters",
                token.name
            );
            return Err(Failure::new(Code::Invalid, message));
        }
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), Failure> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if (1..=MAX_NAME_CHARS).contains(&name.len()) && name.chars().all(is_plain) {
        return Ok(());
    }
    Err(Failure::invalid("name", "is not the name of a token")
        .hint(format!("Use 1 to {MAX_NAME_CHARS} letters, digits, dots, hyphens or underscores")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn token(name: &str) -> StoredToken {
        StoredToken::generate(name, None).expect("the token is made")
    }

    #[test]
    fn a_written_file_is_private_and_read_back() {
        let folder = tempfile::tempdir().expect("the folder is created");
        let path = folder.path().join(FILE_NAME);
        assert!(read(&path).is_ok_and(|tokens| tokens.is_none()));
        let mut bound = token("phone");
        bound.project = Some("shop".parse().expect("the name is valid"));
        let tokens = vec![token(FIRST_TOKEN), bound];
        write(&path, tokens.clone()).expect("the file is written");
        let mode = path.metadata().expect("the file is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let read_back = read(&path).expect("the file is valid").expect("the file is there");
        assert!(read_back == tokens);
        assert_eq!(tokens[0].secret.len(), PREFIX.len() + 2 * SECRET_BYTES);
        assert_ne!(tokens[0].secret, tokens[1].secret);
    }

    #[test]
    fn a_file_that_others_can_read_is_refused_with_the_command_that_closes_it() {
        let folder = tempfile::tempdir().expect("the folder is created");
        let path = folder.path().join(FILE_NAME);
        write(&path, vec![token("a")]).expect("the file is written");
        let opened = std::fs::Permissions::from_mode(0o640);
        std::fs::set_permissions(&path, opened).expect("the mode is set");
        let failure = read(&path).err().expect("an open file is refused");
        assert!(failure.to_string().contains("chmod 600"), "{failure}");
    }

    #[test]
    fn faults_of_the_file_are_named_without_a_secret() {
        let folder = tempfile::tempdir().expect("the folder is created");
        let path = folder.path().join(FILE_NAME);
        let secret = "s".repeat(40);
        for (text, fault) in [
            (format!("[[token]]\nname = \"a\"\nsecret = \"{secret}\"\nfoo = 1\n"), "[[token]]"),
            (format!("[[token]]\nname = \"a\"\nsecret = {secret}\n"), "line 3"),
            ("[[token]]\nname = \"a\"\nsecret = \"short\"\n".to_owned(), "secret of a"),
            (format!("[[token]]\nname = \"a b\"\nsecret = \"{secret}\"\n"), "name of a token"),
            (
                format!("[[token]]\nname = \"a\"\nsecret = \"{secret}\"\n").repeat(2),
                "two tokens named a",
            ),
        ] {
            std::fs::write(&path, text).expect("the file is written");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))
                .expect("the mode is set");
            let failure = read(&path).err().expect("the file is refused").to_string();
            assert!(failure.contains(fault) && !failure.contains(&secret), "{failure}");
        }
    }
}
