//! The conformance streams.

use std::path::{Path, PathBuf};

use md5::{Digest, Md5};
use thalweg_vp8::ivf;

/// A conformance stream.
pub struct Vector {
    /// Its file's name.
    pub name: String,
    /// Its frames.
    pub frames: Vec<Vec<u8>>,
    /// The MD5 of each shown picture's I420, or a single one of all of them.
    pub digests: Vec<String>,
}

/// All streams.
pub fn vectors() -> Vec<Vector> {
    let folder = thalweg_data::testing::needed("vp8-test-vectors");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ivf"));
    paths.sort();
    assert_eq!(paths.len(), 61);
    paths.iter().map(|path| vector(path)).collect()
}

fn vector(path: &Path) -> Vector {
    let file = std::fs::read(path).unwrap();
    let frames = ivf::Reader::new(&file[..], &[ivf::VP8]).unwrap().map(|frame| frame.unwrap().bytes).collect();
    let digests = std::fs::read_to_string(path.with_extension("ivf.md5")).unwrap();
    let digests = digests.lines().map(|line| line.split_whitespace().next().unwrap().to_owned()).collect();
    Vector { name: path.file_name().unwrap().to_string_lossy().into_owned(), frames, digests }
}

/// The MD5 of bytes, as text.
pub fn md5(bytes: &[u8]) -> String {
    Md5::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
