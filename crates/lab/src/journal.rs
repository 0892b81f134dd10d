//! A file of lines that grows while something is played: what was finished is there whatever ends the program.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Opens the journal at `path`, which is created if need be, and returns its lines. What an interruption left of
    /// another line is removed.
    ///
    /// # Errors
    /// When it cannot be read or written, or another process has it open.
    pub fn open(path: &Path) -> io::Result<(Journal, Vec<String>)> {
        let mut file = OpenOptions::new().create(true).append(true).read(true).open(path)?;
        // A file system without locks is none that another process is known to write to.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(io::Error::new(
                io::ErrorKind::WouldBlock,
                "another process is writing it: wait for its end, or give another folder",
            ));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole = whole(&bytes);
        file.set_len(whole.len() as u64)?;
        file.seek(io::SeekFrom::End(0))?;
        let lines = lines(whole);
        Ok((Journal { file, path: path.into() }, lines))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a line, which is in the file when this returns.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&mut self, line: &str) -> io::Result<()> {
        self.file.write_all(format!("{line}\n").as_bytes())
    }

    /// Has the lines survive the machine, not only the program.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// The whole lines of a journal that another process may be writing.
///
/// # Errors
/// When it cannot be read.
pub fn read(path: &Path) -> io::Result<Vec<String>> {
    Ok(lines(whole(&std::fs::read(path)?)))
}

fn whole(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    &bytes[..end]
}

fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_interruption_left_of_a_line_is_gone_and_the_lines_before_it_stay() {
        let path = std::env::temp_dir().join(format!("thalweg-journal-{}", std::process::id()));
        std::fs::write(&path, "one\ntwo\nthr").unwrap();
        let (mut journal, lines) = Journal::open(&path).unwrap();
        assert_eq!(lines, ["one", "two"]);
        assert_eq!(Journal::open(&path).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        journal.append("three").unwrap();
        journal.sync().unwrap();
        assert_eq!(read(&path).unwrap(), ["one", "two", "three"]);
        drop(journal);
        assert_eq!(Journal::open(&path).unwrap().1, ["one", "two", "three"]);
        std::fs::remove_file(&path).unwrap();
    }
}
