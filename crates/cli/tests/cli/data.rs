//! `thalweg data`, from a folder: fetching over HTTP is tested in `thalweg-data`.

use std::path::Path;
use std::process::{Command, Output};

use crate::Folder;

fn data(place: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_thalweg")).args(arguments).env("THALWEG_DATA", place).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

#[test]
fn sets_are_listed_with_size_licence_and_what_is_here() {
    let place = Folder::new("data-list");
    let listed = data(&place.0, &["data", "list"]);
    assert!(listed.status.success());
    let said = said(&listed);
    for words in
        ["vp8-test-vectors", "3.7 MB", "0 of 124 files", "ravinet/mahimahi", "BSD-3-Clause", "made for this project"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn what_is_missing_or_corrupt_is_named_with_the_command_that_gets_it_and_exit_code_1() {
    let place = Folder::new("data-verify");
    let folder = place.0.join("traces/salsify");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("12mbps.up"), "2\n").unwrap();
    let verified = data(&place.0, &["data", "verify", "salsify-traces"]);
    assert_eq!(verified.status.code(), Some(1));
    let said = said(&verified);
    let corrupt =
        format!("corrupt {}: `thalweg data fetch salsify-traces` gets it", folder.join("12mbps.up").display());
    assert!(said.contains(&corrupt) && said.contains("missing ") && said.contains("5 files"), "{said}");
}

#[test]
fn a_set_is_copied_from_a_folder_checked_and_then_verified() {
    let (place, from) = (Folder::new("data-place"), Folder::new("data-from"));
    let folder = from.0.join("traces/salsify");
    std::fs::create_dir_all(&folder).unwrap();
    // One of the set's five files is correct.
    std::fs::write(folder.join("12mbps.up"), "1\n").unwrap();
    let fetched = data(&place.0, &["data", "fetch", "salsify-traces", "--from", from.0.to_str().unwrap()]);
    assert_eq!(fetched.status.code(), Some(1));
    assert!(said(&fetched).contains("1 fetched") && said(&fetched).contains("4 files"), "{}", said(&fetched));
    assert_eq!(std::fs::read(place.0.join("traces/salsify/12mbps.up")).unwrap(), b"1\n");
}

#[test]
fn a_recording_is_played_by_its_name_or_how_to_get_it_is_said() {
    let place = Folder::new("data-by-name");
    let inspect = || data(&place.0, &["trace", "inspect", "12mbps.up"]);
    assert!(said(&inspect()).contains("`thalweg data fetch salsify-traces` gets it"), "{}", said(&inspect()));
    let folder = place.0.join("traces/salsify");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("12mbps.up"), "1\n").unwrap();
    assert!(said(&inspect()).contains("12.000 Mbps"), "{}", said(&inspect()));
    let figure = data(&place.0, &["reproduce", "vidaptive-fig7", "--duration", "1s"]);
    assert_eq!(figure.status.code(), Some(1));
    assert!(said(&figure).contains("`thalweg data fetch mahimahi`"), "{}", said(&figure));
}
