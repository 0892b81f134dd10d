//! Access to the recorded files.
#![allow(dead_code)] // Each test target uses some of it.

use std::path::{Path, PathBuf};

/// The files of `rtp-interop/<folder>` and its subfolders, sorted by name, if they are present.
pub fn found(folder: &str) -> Option<Vec<(PathBuf, Vec<u8>)>> {
    let root = thalweg_data::testing::folder("rtp-interop")?.join(folder);
    let mut found = Vec::new();
    collect(&root, &mut found);
    found.sort();
    assert!(!found.is_empty(), "no files in {}", root.display());
    Some(found)
}

/// The same, for a test that requires them.
pub fn files(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    found(folder).expect("rtp-interop is here")
}

/// One file of `rtp-interop`.
pub fn file(path: &str) -> Vec<u8> {
    let (folder, name) = path.rsplit_once('/').expect("folder/name");
    files(folder).into_iter().find(|(path, _)| path.ends_with(name)).expect(name).1
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).expect("readable folder") {
        let path = entry.expect("readable entry").path();
        if path.is_dir() {
            collect(&path, found);
        } else {
            let bytes = std::fs::read(&path).expect("readable file");
            found.push((path, bytes));
        }
    }
}
