//! Sources against a loopback server and folders; pip itself fetches the model for the other tests.

use super::*;
use crate::embedding::model::{path_of, status};
use crate::embedding::pins::{TOKENIZER, WEIGHTS};
use crate::embedding::testing::config;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

fn tokenizer() -> Vec<u8> {
    fs::read(path_of(&config().models, &TOKENIZER)).expect("is there")
}

/// Serves one answer for each request, then closes; gives the address. `length` is what the header claims.
fn serve(body: Vec<u8>, status: &'static str, length: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let address = format!("http://{}/mirror/", listener.local_addr().expect("is bound"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("connects");
            let mut request = BufReader::new(stream.try_clone().expect("clones")).lines();
            let first = request.next().expect("has a line").expect("is text");
            assert!(first.starts_with("GET /mirror/"), "{first}");
            while request.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            );
            // A client that has seen enough hangs up.
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    address
}

struct Place {
    _folder: tempfile::TempDir,
    config: ModelConfig,
}

fn place() -> Place {
    let folder = tempfile::tempdir().expect("makes a folder");
    let config = ModelConfig { models: folder.path().join("deep/models"), ort_lib: None };
    Place { _folder: folder, config }
}

impl Place {
    fn store(&self) -> Store {
        Store::open(&self.config.models, || ()).expect("opens")
    }

    fn tokenizer(&self) -> std::path::PathBuf {
        path_of(&self.config.models, &TOKENIZER)
    }

    /// Every file but the lock, by name.
    fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        folder::list(&self.config.models, 3, &mut found).expect("lists");
        let names =
            found.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        names.filter(|name| name != ".lock").collect()
    }
}

#[test]
fn a_mirror_gives_the_right_file() {
    let (place, whole) = (place(), tokenizer());
    let url = serve(whole.clone(), "200 OK", whole.len());
    let outcomes = hub::fetch(&Site::Mirror(&url), &[&TOKENIZER], &place.store());
    assert_eq!(outcomes, [(&TOKENIZER, Ok(()))]);
    assert_eq!(fs::read(place.tokenizer()).expect("is there"), whole);
    assert_eq!(place.files(), ["tokenizer.json"]);
}

#[test]
fn a_wrong_short_long_or_broken_answer_leaves_nothing_and_is_told() {
    let whole = tokenizer();
    let mut wrong = whole.clone();
    wrong[99] ^= 1;
    let long = [whole.as_slice(), b"x"].concat();
    for (body, status, length, said) in [
        (wrong, "200 OK", whole.len(), "SHA-256"),
        (long, "200 OK", whole.len() + 1, "more than"),
        (whole[..1000].to_vec(), "200 OK", 1000, "1000 instead of"),
        (whole[..1000].to_vec(), "200 OK", whole.len(), ""),
        (Vec::new(), "404 Not Found", 0, "404"),
    ] {
        let place = place();
        let url = serve(body, status, length);
        let error = fetch_files(&place.config, &[Source::Site(Site::Mirror(&url))])
            .expect_err("has nothing right");
        let FetchError::Sources(failures) = &error else { panic!("{error}") };
        let note =
            failures.notes.iter().find(|(_, file, _)| *file == "tokenizer.json").expect("is told");
        assert!(note.2.contains(said), "{note:?} should hold {said}");
        assert!(place.files().is_empty(), "{:?}", place.files());
        let text = error.to_string();
        assert!(
            text.contains("loci model download --from PATH")
                && text.contains(WEIGHTS.sha256)
                && text.contains(&note.2),
            "{text}"
        );
    }
}

#[test]
fn a_site_that_cannot_be_reached_is_asked_once() {
    let place = place();
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let url = format!("http://anna:secret@{}", listener.local_addr().expect("is bound"));
    drop(listener);
    let site = Site::Mirror(&url);
    assert!(!site.name().contains("secret"));
    let outcomes = hub::fetch(&site, &[&WEIGHTS, &TOKENIZER], &place.store());
    assert_eq!(outcomes.len(), 2);
    assert_eq!(outcomes[0].1, outcomes[1].1);
}

#[test]
fn a_folder_gives_files_by_name_and_what_is_right_is_not_asked_for() {
    let (place, whole) = (place(), tokenizer());
    let brought = tempfile::tempdir().expect("makes a folder");
    let deep = brought.path().join("a/b/c");
    fs::create_dir_all(&deep).expect("makes folders");
    fs::write(brought.path().join("tokenizer.json"), "another one").expect("writes");
    fs::write(deep.join("tokenizer.json"), &whole).expect("writes");
    let error =
        fetch_files(&place.config, &[Source::Folder(brought.path())]).expect_err("has no weights");
    let FetchError::Sources(failures) = error else { panic!("{error}") };
    assert!(failures.missing.iter().all(|artifact| *artifact != &TOKENIZER));
    assert!(
        failures
            .notes
            .iter()
            .any(|(_, file, why)| *file == "model.safetensors" && why == "not there")
    );
    assert_eq!(fs::read(place.tokenizer()).expect("is there"), whole);
}

#[test]
fn a_folder_gives_everything_out_of_another_models_folder() {
    let place = place();
    let fetched = fetch(&place.config, Some(&config().models), Some("http://127.0.0.1:9"))
        .expect("has everything");
    assert_eq!(fetched.files.len(), place.config.artifacts().len());
    assert!(status(&place.config).complete);
    assert_eq!(fetch(&place.config, None, Some("http://127.0.0.1:9")).expect("is there").files, []);
}

#[test]
fn what_an_interrupted_fetch_left_is_removed() {
    let place = place();
    let part = place.tokenizer().with_file_name("tokenizer.json.part");
    fs::create_dir_all(part.parent().expect("has a parent")).expect("makes a folder");
    fs::write(&part, "half").expect("writes");
    let scratch = place.config.models.join(".fetch-dead");
    fs::create_dir_all(&scratch).expect("makes a folder");
    fs::write(scratch.join("half.whl"), "half").expect("writes");
    drop(place.store());
    assert!(place.files().is_empty() && !scratch.exists(), "{:?}", place.files());
}

#[test]
fn a_second_fetch_waits_for_the_first_and_finds_its_files() {
    let (place, whole) = (place(), tokenizer());
    let first = place.store();
    let (waits, waiting) = std::sync::mpsc::channel();
    let models = place.config.models.clone();
    let second = std::thread::spawn(move || {
        let store = Store::open(&models, || waits.send(()).expect("is heard")).expect("opens");
        store.holds(&TOKENIZER)
    });
    waiting.recv().expect("waits");
    first.put(&TOKENIZER, &mut whole.as_slice(), &mut |_| ()).expect("puts");
    drop(first);
    assert!(second.join().expect("ends"));
}
