//! Where the files are.

use std::path::{Path, PathBuf};

/// The files of `rtp-interop/<folder>` and the folders in it by name; `None`, and a line on stdout, where they are not.
pub fn files(folder: &str) -> Option<Vec<(PathBuf, Vec<u8>)>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/rtp-interop").join(folder);
    if !root.is_dir() {
        println!("skipped: ../shared/data is not here");
        return None;
    }
    let mut found = Vec::new();
    collect(&root, &mut found);
    found.sort();
    assert!(!found.is_empty(), "no files in {}", root.display());
    Some(found)
}

/// One file of `rtp-interop`.
pub fn file(path: &str) -> Option<Vec<u8>> {
    let (folder, name) = path.rsplit_once('/').expect("folder/name");
    let (_, bytes) = files(folder)?.into_iter().find(|(path, _)| path.ends_with(name)).expect(name);
    Some(bytes)
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
