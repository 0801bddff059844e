//! Downloads the files of a model with a name, which are not pinned: from `--from PATH`, else from the hub or a mirror.
//!
//! Their own hashes are recorded, so that a later change of a file is noticed. Not here: the pinned files (`super::fetch_files`).

use crate::embedding::fetch::error::FetchError;
use crate::embedding::fetch::hub;
use crate::embedding::fetch::local_folder::list_files;
use crate::embedding::fetch::models_folder::ModelsFolder;
use crate::embedding::fetch::progress::{Progress, print_line};
use crate::embedding::model_files::sha256_of;
use crate::embedding::named_models::{FILES, NamedModel};
use crate::embedding::recorded_files::{self, Record};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Maximum depth of subfolders of `--from` that are searched.
const MAX_DEPTH: usize = 3;
/// A file with weights outside the graph, which some exports have; taken from `--from` where it exists.
const WEIGHTS: &str = "model.onnx_data";

/// Downloads the files that are missing or changed, and records the hashes of all; returns them with the names of their sources.
///
/// # Errors
/// [`FetchError`]; complete files stay.
pub(crate) fn fetch(
    folder: &ModelsFolder,
    model: &'static NamedModel,
    from: Option<&Path>,
    url: Option<&str>,
) -> Result<Vec<(&'static str, String)>, FetchError> {
    let own = folder.join(model.folder);
    let (old, mut record, mut fetched) = (recorded_files::read(&own), Record::new(), Vec::new());
    for (name, path_on_hub) in FILES {
        let present = File::open(own.join(name)).and_then(sha256_of).ok();
        let is_right = |sha256: &String| old.get(name).is_none_or(|recorded| recorded == sha256);
        let sha256 = if let Some(sha256) = present.filter(is_right) {
            sha256
        } else {
            let source = Source::new(model, from, url, [name, path_on_hub]);
            let sha256 = source.copy_to(folder, model, name)?;
            print_line(&format!("{name}: from {}, not pinned, SHA-256 {sha256}", source.name()));
            fetched.push((name, source.name()));
            sha256
        };
        record.insert(name.to_owned(), sha256);
    }
    if let Some(Source::File(weights)) = from.map(|from| Source::File(from.join(WEIGHTS)))
        && weights.is_file()
    {
        let sha256 = Source::File(weights).copy_to(folder, model, WEIGHTS)?;
        record.insert(WEIGHTS.to_owned(), sha256);
    } else if let Some(sha256) = old.get(WEIGHTS) {
        record.insert(WEIGHTS.to_owned(), sha256.clone());
    }
    if record != old {
        recorded_files::write(&own, &record)
            .map_err(|source| FetchError::Folder { path: own, source })?;
    }
    Ok(fetched)
}

enum Source {
    File(PathBuf),
    Address(String),
}

impl Source {
    /// Returns the source of a file: in the user's folder if there is one, else on the mirror, else on the hub.
    fn new(
        model: &NamedModel,
        from: Option<&Path>,
        url: Option<&str>,
        [name, path_on_hub]: [&str; 2],
    ) -> Self {
        match (from, url) {
            (Some(from), _) => Self::File(find(from, name).unwrap_or_else(|| from.join(name))),
            (None, Some(url)) => Self::Address(format!("{}/{name}", url.trim_end_matches('/'))),
            (None, None) => Self::Address(hub::unpinned_address(model.repository, path_on_hub)),
        }
    }

    /// The name in messages.
    fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Address(url) => hub::Site::Mirror(url).name(),
        }
    }

    /// Copies the file into the folder of the model; returns its SHA-256.
    fn copy_to(
        &self,
        folder: &ModelsFolder,
        model: &'static NamedModel,
        file: &'static str,
    ) -> Result<String, FetchError> {
        let to = Path::new(model.folder).join(file);
        let copied = match self {
            Self::File(path) => File::open(path)
                .map_err(|error| error.to_string())
                .and_then(|mut from| folder.put_unpinned(&to, &mut from, &mut |_| ())),
            Self::Address(address) => hub::open(address).and_then(|(mut from, size)| {
                let mut progress = Progress::start(&format!("{file} of {}", model.name), size);
                folder.put_unpinned(&to, &mut from, &mut |done| progress.update(done))
            }),
        };
        copied.map_err(|reason| FetchError::Unpinned {
            model: model.name,
            file,
            errors: vec![format!("{}: {reason}", self.name())],
        })
    }
}

/// Returns the first file of this name in a folder and its subfolders.
fn find(from: &Path, name: &str) -> Option<PathBuf> {
    let mut files = Vec::new();
    list_files(from, MAX_DEPTH, &mut files).ok()?;
    files.sort();
    files.into_iter().find(|path| path.file_name().is_some_and(|own| own == name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding::named_models::Named;
    use std::fs;

    fn model() -> &'static NamedModel {
        Named::find("large", None).expect("the name is known").model
    }

    #[test]
    fn files_are_recorded_by_their_own_hash_and_a_changed_one_is_copied_again() {
        let home = tempfile::tempdir().expect("a folder is created");
        let from = home.path().join("from");
        fs::create_dir_all(from.join("onnx")).expect("a folder is created");
        fs::write(from.join("onnx/model.onnx"), "graph").expect("the file is written");
        fs::write(from.join("tokenizer.json"), "{}").expect("the file is written");
        let folder = ModelsFolder::lock(&home.path().join("models"), || ()).expect("is locked");
        let copy = || fetch(&folder, model(), Some(&from), None).expect("the files are copied");
        assert_eq!(copy().len(), 2);
        let own = folder.join(model().folder);
        let record = recorded_files::read(&own);
        let sha256 = File::open(from.join("onnx/model.onnx")).and_then(sha256_of);
        assert_eq!(record.get("model.onnx"), sha256.ok().as_ref());
        assert!(copy().is_empty(), "the files are there");

        fs::write(own.join("model.onnx"), "other").expect("the file is written");
        let copied: Vec<&str> = copy().into_iter().map(|(name, _)| name).collect();
        assert_eq!(copied, ["model.onnx"]);
        assert_eq!(fs::read(own.join("model.onnx")).expect("the file exists"), b"graph");
        assert_eq!(recorded_files::read(&own), record);
    }

    #[test]
    fn a_file_that_no_source_has_is_named_and_nothing_is_left() {
        let home = tempfile::tempdir().expect("a folder is created");
        let folder = ModelsFolder::lock(&home.path().join("models"), || ()).expect("is locked");
        let empty = home.path().join("empty");
        fs::create_dir_all(&empty).expect("a folder is created");
        // Port 9 of this machine refuses connections.
        for (from, url) in [(Some(&*empty), None), (None, Some("http://127.0.0.1:9/x"))] {
            let error = fetch(&folder, model(), from, url).expect_err("no source has the file");
            let message = error.to_string();
            assert!(message.contains("model.onnx of the model large"), "{message}");
        }
        fs::write(empty.join("model.onnx"), "").expect("the file is written");
        let error = fetch(&folder, model(), Some(&empty), None).expect_err("the file is refused");
        assert!(error.to_string().contains("the file is empty"), "{error}");
        let own = folder.join(model().folder);
        assert_eq!(fs::read_dir(own).expect("the folder exists").count(), 0);
    }
}
