//! `locid encryption`: encrypts and decrypts the store, changes its key, and shows the keys. Short-lived commands that print JSON for
//! `loci`.
//!
//! Not here: stopping the daemon before (`loci`), the conversion itself (the engine).

use crate::config::options::EncryptionCommand;
use crate::process::backup_commands::print_outcome;
use crate::process::startup;
use loci_proto::error::Exit;
#[cfg(not(feature = "encrypted"))]
use loci_proto::error::Failure;
use loci_proto::paths::Paths;

/// Runs a command; prints its reply, or the failure, as one line of JSON.
#[must_use]
pub fn run(paths: &Paths, command: EncryptionCommand) -> Exit {
    startup::make_private();
    print_outcome(run_command(paths, command))
}

#[cfg(not(feature = "encrypted"))]
fn run_command(_: &Paths, _: EncryptionCommand) -> Result<String, Failure> {
    use loci_proto::error::Code;
    Err(Failure::new(Code::NotInThisVersion, "this build of loci has no encryption")
        .hint("Install one with it: cargo install --path packaging/cargo --features encrypted"))
}

#[cfg(feature = "encrypted")]
use with_keys::run_command;

#[cfg(feature = "encrypted")]
mod with_keys {
    //! The commands of a build with encryption.

    use crate::config::options::EncryptionCommand;
    use crate::config::{Config, key_file};
    use crate::process::backup_commands::{json, take_locks, target};
    use loci_engine::encryption;
    use loci_engine::encryption::convert::{self, Converted};
    use loci_engine::encryption::keys::{self, Conversion, Key, KeyRing};
    use loci_proto::encryption::{EncryptionReply, KeyReply, LeftFile};
    use loci_proto::error::{Code, Failure};
    use loci_proto::paths::Paths;
    use std::path::Path;

    pub fn run_command(paths: &Paths, command: EncryptionCommand) -> Result<String, Failure> {
        let config = Config::read(&paths.config)?;
        let file = key_file::path(paths, &config)?;
        match command {
            EncryptionCommand::Check => return key_file::read(&file).map(|_| "{}".to_owned()),
            EncryptionCommand::Key => return json(&show(&file, &key_file::read(&file)?)?),
            _ => {}
        }
        let mut target = target(paths)?;
        let _locks = take_locks(paths, &target.database)?;
        let mut ring = key_file::read(&file)?;
        keys::use_keys(ring.clone());
        // Before the key file is changed.
        encryption::require_readable(&target.database)?;
        let begun = begin(command, &mut ring)?;
        ring.unfinished = Some(begun);
        key_file::write(&file, &ring)?;
        keys::use_keys(ring.clone());
        target.settings.key = encryption::key_of_new_files();
        let converted = convert::convert(&target, target.settings.key)?;
        ring.unfinished = None;
        key_file::write(&file, &ring)?;
        json(&reply(&file, &ring, converted))
    }

    /// Gives the ring the key of new files, unless the same command was interrupted.
    fn begin(command: EncryptionCommand, ring: &mut KeyRing) -> Result<Conversion, Failure> {
        match command {
            EncryptionCommand::Decrypt if !ring.has_keys() => Err(not_encrypted()),
            EncryptionCommand::Decrypt => {
                ring.set_current(None);
                Ok(Conversion::Decrypt)
            }
            EncryptionCommand::Rekey if ring.current.is_none() => Err(not_encrypted()),
            EncryptionCommand::Rekey => {
                if ring.unfinished != Some(Conversion::Rekey) {
                    ring.set_current(Some(new_key()?));
                }
                Ok(Conversion::Rekey)
            }
            _ => {
                if ring.current.is_none() {
                    ring.set_current(Some(new_key()?));
                }
                Ok(Conversion::Encrypt)
            }
        }
    }

    fn show(file: &Path, ring: &KeyRing) -> Result<KeyReply, Failure> {
        if !ring.has_keys() {
            let message = format!("there is no key in {}", file.display());
            return Err(Failure::new(Code::NotFound, message).hint("Make one: loci encrypt"));
        }
        Ok(KeyReply { key_file: file.display().to_string(), text: ring.text() })
    }

    fn not_encrypted() -> Failure {
        Failure::new(Code::Conflict, "the store is not encrypted").hint("Run loci encrypt")
    }

    fn new_key() -> Result<Key, Failure> {
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(|error| {
            Failure::new(Code::Internal, format!("the system gives no random bytes: {error}"))
        })?;
        Ok(Key::new(random))
    }

    fn reply(file: &Path, ring: &KeyRing, converted: Converted) -> EncryptionReply {
        let left = converted.left.into_iter();
        EncryptionReply {
            key: ring.current.as_ref().map(|key| key.id().to_string()),
            key_file: file.display().to_string(),
            memories: converted.memories,
            database_converted: converted.database,
            backups_converted: converted.backups,
            left: left
                .map(|(path, reason)| LeftFile { path: path.display().to_string(), reason })
                .collect(),
        }
    }
}
