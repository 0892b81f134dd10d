//! Fetching from a folder and from a web server on this machine: complete files are kept, everything else leaves
//! nothing behind.
#![cfg(feature = "http")]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use tempfile::TempDir;
use thalweg_data::{Error, Manifest, Origin, Outcome, Place, State, fetch};

/// The contents of the file "whole", as in the manifest.
const CONTENTS: &[u8] = b"whole\n";
const MANIFEST: &str = r#"
[sources.theirs]
repository = "owner/name"
commit = "0000000000000000000000000000000000000000"
licence = "MIT"
[sources.thalweg]
licence = "MIT"
[[sets]]
name = "set"
folder = "a folder"
about = "of a test"
files = [
  { name = "sub/file", source = "theirs", bytes = 6, sha256 = "3661291e28107bb940142d346bdb3a86da68415ae7fe451374d403c6037b9fa5" },
  { name = "ours", source = "thalweg", bytes = 6, sha256 = "3661291e28107bb940142d346bdb3a86da68415ae7fe451374d403c6037b9fa5" },
]
"#;

fn manifest() -> Manifest {
    Manifest::parse(MANIFEST).unwrap()
}

/// How the server answers a request.
#[derive(Clone, Copy)]
enum Answer {
    Whole,
    /// The announced length is that of the whole file, but only half of it is sent.
    CutOff,
    /// Half of the file, with the length of that half.
    Half,
    Longer,
    OtherContents,
    NotFound,
}

/// A web server for one request; returns its address, and the requested path.
fn serve(answer: Answer) -> (String, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/mirror/", listener.local_addr().unwrap());
    let serving = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            request.push(byte[0]);
        }
        let (status, length, body): (_, _, &[u8]) = match answer {
            Answer::Whole => ("200 OK", 6, CONTENTS),
            Answer::CutOff => ("200 OK", 6, b"who"),
            Answer::Half => ("200 OK", 3, b"who"),
            Answer::Longer => ("200 OK", 9, b"whole\nand"),
            Answer::OtherContents => ("200 OK", 6, b"other\n"),
            Answer::NotFound => ("404 Not Found", 9, b"not here\n"),
        };
        write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n").unwrap();
        stream.write_all(body).unwrap();
        let line = String::from_utf8(request).unwrap();
        line.split_whitespace().nth(1).unwrap().to_string()
    });
    (address, serving)
}

/// Fetches the first file from a server; returns the outcome, and the place.
fn fetched(answer: Answer) -> (Outcome, TempDir) {
    let (address, serving) = serve(answer);
    let folder = tempfile::tempdir().unwrap();
    let outcome = first(&Place::at(folder.path()), &address);
    assert_eq!(serving.join().unwrap(), "/mirror/a%20folder/sub/file");
    (outcome, folder)
}

fn first(place: &Place, from: &str) -> Outcome {
    let manifest = manifest();
    let set = manifest.set("set").unwrap();
    fetch(&manifest, place, &from.parse::<Origin>().unwrap(), set, &set.files[0])
}

fn files(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
}

#[track_caller]
fn failed(outcome: &Outcome, words: &[&str]) {
    let Outcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    let said = error.to_string();
    assert!(words.iter().all(|word| said.contains(word)), "{said}");
}

#[test]
fn a_whole_file_is_kept_under_its_name_and_not_fetched_again() {
    let (outcome, folder) = fetched(Answer::Whole);
    assert!(matches!(outcome, Outcome::Fetched), "{outcome:?}");
    assert_eq!(fs::read(folder.path().join("a folder/sub/file")).unwrap(), CONTENTS);
    assert_eq!(files(folder.path()), 1);
    // No server runs any more, and no request is made.
    let again = first(&Place::at(folder.path()), "http://127.0.0.1:9/");
    assert!(matches!(again, Outcome::Kept), "{again:?}");
}

#[test]
fn a_file_that_is_cut_off_short_long_or_another_leaves_nothing_behind() {
    for (answer, words) in [
        (Answer::CutOff, &["http://127.0.0.1"][..]),
        (Answer::Half, &["3 of 6 bytes", "--from"]),
        (Answer::Longer, &["7 of 6 bytes"]),
        (Answer::OtherContents, &["SHA-256", "another file"]),
    ] {
        let (outcome, folder) = fetched(answer);
        failed(&outcome, words);
        assert_eq!(files(folder.path()), 0);
    }
}

#[test]
fn a_server_that_does_not_have_a_file_is_named_with_its_status() {
    let (outcome, folder) = fetched(Answer::NotFound);
    failed(&outcome, &["404", "/mirror/a%20folder/sub/file"]);
    assert_eq!(files(folder.path()), 0);
}

#[test]
fn a_server_that_is_not_there_is_an_error_and_not_a_wait() {
    let folder = tempfile::tempdir().unwrap();
    failed(&first(&Place::at(folder.path()), "http://127.0.0.1:9"), &["http://127.0.0.1:9/a%20folder"]);
}

#[test]
fn a_folder_is_copied_from_and_a_corrupt_file_replaced() {
    let (from, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let write = |root: &Path, contents: &[u8]| {
        fs::create_dir_all(root.join("a folder/sub")).unwrap();
        fs::write(root.join("a folder/sub/file"), contents).unwrap();
    };
    let place = Place::at(folder.path());
    let manifest = manifest();
    let set = manifest.set("set").unwrap();
    write(from.path(), CONTENTS);
    write(folder.path(), b"other\n");
    assert_eq!(place.state(set, &set.files[0]).unwrap(), State::Corrupt);
    let outcome = first(&place, from.path().to_str().unwrap());
    assert!(matches!(outcome, Outcome::Fetched), "{outcome:?}");
    assert_eq!(place.state(set, &set.files[0]).unwrap(), State::Here);
    assert_eq!(place.state(set, &set.files[1]).unwrap(), State::Missing);
    // One of the set's two files is present: the set is incomplete.
    let missing = place.folder_of(set).unwrap_err();
    assert!(matches!(missing, Error::Missing { .. }) && missing.to_string().contains("thalweg data fetch set"));
    let other = tempfile::tempdir().unwrap();
    failed(&first(&Place::at(other.path()), "/nowhere/at/all"), &["/nowhere/at/all/a folder/sub/file"]);
}

#[test]
fn what_was_measured_for_this_project_has_no_upstream() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = manifest();
    let set = manifest.set("set").unwrap();
    let outcome = fetch(&manifest, &Place::at(folder.path()), &Origin::Upstream, set, &set.files[1]);
    assert!(matches!(outcome, Outcome::NoUpstream), "{outcome:?}");
}
