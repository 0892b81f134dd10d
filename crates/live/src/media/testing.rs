//! Files made by tests, and ffmpeg to make them.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of folders made so far.
static FOLDERS: AtomicU32 = AtomicU32::new(0);

/// A temporary folder of a test, removed when dropped.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// A new folder, with this name in its own.
    pub(crate) fn new(name: &str) -> Scratch {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("thalweg-media-{}-{number}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for temporary files");
        Scratch(folder)
    }

    /// The path of a file in it.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a path of characters").into()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs ffmpeg with these arguments until it ends.
pub(crate) fn ffmpeg(arguments: &[&str]) {
    let status = Command::new("ffmpeg").args(["-nostdin", "-v", "error", "-y"]).args(arguments).status();
    assert!(status.expect("ffmpeg starts").success(), "ffmpeg {arguments:?}");
}
