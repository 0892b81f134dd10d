//! The hand-written files of a repository.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders of built, fetched or recorded files; and this program's own, whose tests have wrong citations.
const SKIPPED: [&str; 8] =
    ["target", "node_modules", "out", "corpus", "artifacts", "proptest-regressions", "citations", "graphs"];
const EXTENSIONS: [&str; 11] = ["rs", "md", "toml", "py", "sh", "js", "mjs", "go", "html", "css", "yml"];

/// The files to check below `root`, sorted by path.
pub(crate) fn files(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = folder.join(&name);
            if entry.file_type()?.is_dir() {
                if !SKIPPED.contains(&name.as_str()) && (!name.starts_with('.') || name == ".ci") {
                    folders.push(path);
                }
            } else if is_text(&path, &name) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn is_text(path: &Path, name: &str) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy());
    let known = extension.as_ref().is_some_and(|extension| EXTENSIONS.contains(&&**extension));
    known || name == "Makefile" || (path.starts_with(".ci") && extension.is_none())
}
