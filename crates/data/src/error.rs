use std::io;
use std::path::PathBuf;

/// What can be wrong with data.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such set.
    #[error("there is no data set {name:?}; there are {known}")]
    NoSuchSet {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Files of a set are not in the place.
    #[error("{path} is not here: `thalweg data fetch {set}` gets it", path = path.display())]
    Missing {
        /// The file or folder.
        path: PathBuf,
        /// The set it belongs to.
        set: String,
    },
    /// The manifest is not what it should be.
    #[error("the manifest: {0}")]
    Manifest(String),
    /// Neither variable says where data are to be kept.
    #[error("nothing says where to keep data: set THALWEG_DATA to a folder")]
    NoPlace,
    /// A file has another length than the manifest says.
    #[error("{have} of {wanted} bytes came from {from}: try again, or another --from")]
    Length {
        /// Bytes that came; one more than wanted where there were more.
        have: u64,
        /// Bytes the manifest says.
        wanted: u64,
        /// Where they came from.
        from: String,
    },
    /// A file has the right length and other contents.
    #[error("what came from {from} has SHA-256 {have}, not {wanted}: it is another file, try another --from")]
    Contents {
        /// The hash of what came.
        have: String,
        /// The manifest's.
        wanted: String,
        /// Where it came from.
        from: String,
    },
    /// The server's answer is no file.
    #[error("{url}: {what}")]
    Server {
        /// The address.
        url: String,
        /// The status or what went wrong on the way.
        what: String,
    },
    /// This build cannot fetch over HTTP.
    #[error("{url}: this build has no HTTP client (feature `http`): give --from a folder")]
    NoClient {
        /// The address.
        url: String,
    },
    /// A file or folder cannot be read or written.
    #[error("{path}: {error}", path = path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

impl Error {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        |error| Error::File { path, error }
    }
}
