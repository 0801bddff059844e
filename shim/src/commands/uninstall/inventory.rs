//! The files of loci on this machine, by their names: what `loci uninstall` may delete, and what it keeps with the reason.
//!
//! Symbolic links are never followed into a folder. A file whose name is not loci's is kept. Not here: deleting (`mod`).

use super::names;
use loci_proto::admin::Places;
use loci_proto::paths::{self, Paths};
use serde::Serialize;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Where SQLite keeps the application id in a database file, and that of loci.
const APPLICATION_ID: (std::ops::Range<usize>, &[u8; 4]) = (68..72, b"LOCI");
/// The file in which `loci setup` lists what it has written.
pub const CLIENT_ENTRIES: &str = "setup.json";
const NOT_OURS: &str = "loci did not write it";

/// A file or folder that stays, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// The file or folder.
    pub path: PathBuf,
    /// The reason.
    pub why: String,
}

/// The file of the tokens of HTTP clients.
const HTTP_TOKENS: &str = "http_tokens.toml";
/// The key file of an encrypted store. It is never deleted: backups elsewhere may need it.
const KEY: &str = "key";

/// What can be deleted and what stays.
#[derive(Debug, Default)]
pub struct Inventory {
    /// Files and symbolic links to delete.
    pub files: Vec<PathBuf>,
    /// Folders to delete if they are empty then, the innermost first.
    pub folders: Vec<PathBuf>,
    /// What stays.
    pub kept: Vec<Kept>,
}

impl Inventory {
    /// Lists sockets, locks and the log; these go in any case.
    #[must_use]
    pub fn of_runtime(paths: &Paths) -> Self {
        let mut found = Self::default();
        let locks = [
            paths.lock.clone(),
            paths.spawn_lock.clone(),
            paths.spawn_lock.with_extension("restore"),
        ];
        let log = paths.logs.join("locid.log");
        let files = [paths.socket.clone(), paths.admin_socket.clone(), paths.hold.clone(), log];
        let files = files.into_iter().chain([paths.missed_hooks.clone()]);
        found.files.extend(files.chain(locks).filter(|path| exists(path)));
        let folders = [&paths.runtime, &paths.logs];
        found.folders.extend(folders.into_iter().filter(|path| is_folder(path)).cloned());
        found
    }

    /// Lists what stays of the data folder without `--delete-data`: its entries, except those of the runtime.
    pub fn keep_data(&mut self, paths: &Paths, places: Option<&Places>) {
        let gone: Vec<&PathBuf> = self.files.iter().chain(&self.folders).collect();
        let entries = entries(&paths.home).into_iter().filter(|path| !gone.contains(&path));
        self.kept.extend(entries.map(|path| {
            let why = describe(&name(&path), &file_name(&paths.db)).to_owned();
            Kept { path, why }
        }));
        let elsewhere = places
            .map(|places| [(&places.database, "your memories"), (&places.models, "the model")]);
        for (path, why) in elsewhere.into_iter().flatten() {
            if exists(path) && !path.starts_with(&paths.home) {
                self.keep(path, why);
            }
        }
    }

    /// Lists the data too: database, backups, configuration and model, as far as loci wrote them.
    pub fn add_data(&mut self, paths: &Paths, places: &Places) {
        let home = paths::canonical(&paths.home);
        let database = paths::canonical(&places.database);
        let is_in_home = database.parent() == Some(home.as_path());
        let name_of_database = file_name(&database);
        let has_other = !is_in_home && exists(&home.join("memory.db"));
        for path in entries(&home) {
            let entry = name(&path);
            if path.is_symlink() && !self.files.contains(&path) {
                if names::is_in_data_folder(&entry, &name_of_database) {
                    self.link(&path, &database);
                } else {
                    self.keep(&path, NOT_OURS);
                }
                continue;
            }
            match entry.as_str() {
                "config.toml" | HTTP_TOKENS => self.files.push(path),
                KEY => self.keep(&path, describe(&entry, &name_of_database)),
                "backups" if has_other => {
                    self.keep(&path, "there is another database in this folder");
                }
                "backups" => self.take(&path, names::is_backup),
                "quarantine" if is_in_home => self.take_quarantine(&path, &name_of_database),
                "models" => self.take_models(&path),
                "logs" | "run" => self.take(&path, |_| false),
                CLIENT_ENTRIES => self.keep(&path, describe(&entry, "memory.db")),
                _ if is_in_home && names::is_of_database(&entry, &name_of_database) => {
                    self.take_entry(path);
                }
                _ if self.files.contains(&path) => {}
                _ if has_other && names::is_of_database(&entry, "memory.db") => {
                    self.keep(&path, "another database");
                }
                _ => self.keep(&path, NOT_OURS),
            }
        }
        if !is_in_home {
            self.add_database_elsewhere(&database);
        }
        if !paths::canonical(&places.models).starts_with(&home) && is_folder(&places.models) {
            self.keep(&places.models, "the folder of models is not in the data folder");
        }
        if !paths.config.starts_with(&paths.home) && exists(&paths.config) {
            self.keep(&paths.config, "the configuration is not in the data folder");
        }
        if paths.home.is_symlink() {
            self.keep(&paths.home, "a symbolic link that you made, and its folder");
        } else if is_folder(&home) {
            self.folders.push(home);
        }
    }

    /// The database is in a folder of the user's: only files with its name, and only if it is one of loci.
    fn add_database_elsewhere(&mut self, database: &Path) {
        if !exists(database) {
            return;
        }
        if !is_loci_database(database) {
            return self.keep(database, "it is not a database of loci");
        }
        let (Some(folder), database) = (database.parent(), file_name(database)) else { return };
        for path in entries(folder) {
            let entry = name(&path);
            if names::is_of_database(&entry, &database) {
                self.take_entry(path);
            } else if entry == "quarantine" && is_folder(&path) {
                self.take_quarantine(&path, &database);
            }
        }
    }

    /// A symbolic link in the data folder: the link goes, what it leads to stays, except the database.
    fn link(&mut self, path: &Path, database: &Path) {
        self.files.push(path.to_path_buf());
        let target = paths::canonical(path);
        if target != database && exists(&target) {
            self.keep(&target, &format!("{} is a symbolic link to it", path.display()));
        }
    }

    /// Takes the files of a folder whose names are loci's, and the folder if nothing else is in it.
    fn take(&mut self, folder: &Path, is_ours: impl Fn(&str) -> bool) {
        for path in entries(folder) {
            if is_ours(&name(&path)) {
                self.take_entry(path);
            } else if !self.files.contains(&path) {
                self.keep(&path, NOT_OURS);
            }
        }
        if !self.folders.iter().any(|known| known == folder) {
            self.folders.push(folder.to_path_buf());
        }
    }

    /// Takes a file, or a folder with everything in it; of a symbolic link only the link.
    fn take_entry(&mut self, path: PathBuf) {
        if !is_folder(&path) {
            self.files.push(path);
            return;
        }
        for entry in entries(&path) {
            self.take_entry(entry);
        }
        self.folders.push(path);
    }

    fn take_quarantine(&mut self, folder: &Path, database: &str) {
        for path in entries(folder) {
            let is_ours = |entry: &PathBuf| {
                let entry = name(entry);
                entry == "report.txt" || names::is_of_database(&entry, database)
            };
            if is_folder(&path) && entries(&path).iter().all(is_ours) {
                self.take_entry(path);
            } else {
                self.keep(&path, NOT_OURS);
            }
        }
        self.folders.push(folder.to_path_buf());
    }

    fn take_models(&mut self, folder: &Path) {
        for path in entries(folder) {
            let entry = name(&path);
            if is_folder(&path) && names::is_model(&entry) {
                self.take(&path, names::is_of_model);
            } else if is_folder(&path) && names::is_runtime(&entry) {
                self.take(&path, names::is_of_runtime);
            } else if names::is_in_models(&entry) {
                self.take_entry(path);
            } else {
                self.keep(&path, NOT_OURS);
            }
        }
        self.folders.push(folder.to_path_buf());
    }

    fn keep(&mut self, path: &Path, why: &str) {
        self.kept.push(Kept { path: path.to_path_buf(), why: why.to_owned() });
    }
}

/// What an entry of the data folder is, for people.
fn describe(name: &str, database: &str) -> &'static str {
    match name {
        "config.toml" => "your configuration",
        HTTP_TOKENS => "the tokens of HTTP clients",
        KEY => "the key of encrypted memories, for copies that you have elsewhere",
        "backups" => "backups of your memories",
        "quarantine" => "database files that were kept after a repair",
        "models" => "the model; loci model download fetches it again",
        CLIENT_ENTRIES => "the list of clients' entries",
        _ if name == database => "your memories",
        _ if names::is_of_database(name, database) => "belongs to the database",
        _ => NOT_OURS,
    }
}

/// Whether the file begins like a database of loci.
fn is_loci_database(path: &Path) -> bool {
    let mut header = [0; 100];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut header));
    let is_plain = header.starts_with(b"SQLite format 3\0")
        && header[APPLICATION_ID.0] == APPLICATION_ID.1[..];
    read.is_ok() && (is_plain || header.starts_with(b"loci enc"))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    file_name(path)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}
