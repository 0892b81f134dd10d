use std::io;
use std::path::PathBuf;

/// An error of the data manifest, of a file, or of fetching one.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such set.
    #[error("unknown data set {name:?}: expected one of {known}")]
    NoSuchSet {
        /// The requested name.
        name: String,
        /// The existing names.
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
    /// The manifest is malformed.
    #[error("the manifest: {0}")]
    Manifest(String),
    /// No environment variable says where data are kept.
    #[error("nothing says where to keep data: set THALWEG_DATA to a folder")]
    NoPlace,
    /// A file has another length than the manifest says.
    #[error("{have} of {wanted} bytes came from {from}: try again, or another --from")]
    Length {
        /// Bytes received; one more than wanted if the file is longer.
        have: u64,
        /// Bytes according to the manifest.
        wanted: u64,
        /// The origin of the file.
        from: String,
    },
    /// A file has the right length, but other contents.
    #[error("the file from {from} has SHA-256 {have}, not {wanted}: it is another file, try another --from")]
    Contents {
        /// SHA-256 of the received file.
        have: String,
        /// SHA-256 according to the manifest.
        wanted: String,
        /// The origin of the file.
        from: String,
    },
    /// The server did not answer with the file.
    #[error("{url}: {what}")]
    Server {
        /// The address.
        url: String,
        /// The HTTP status, or the error of the transfer.
        what: String,
    },
    /// This build has no HTTP client.
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
        /// The system's error.
        error: io::Error,
    },
}

impl Error {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        |error| Error::File { path, error }
    }
}
