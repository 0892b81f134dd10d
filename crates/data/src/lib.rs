//! Recordings and clips that Thalweg is tested and compared with. None of them is in the repository: the [`Manifest`] lists each
//! file with the repository, commit and path it comes from, its licence and its SHA-256; a [`Place`] keeps them; [`fetch`]
//! gets what is missing, from upstream, a mirror or a folder.
//!
//! ```no_run
//! use thalweg_data::{Manifest, Place};
//!
//! let place = Place::of_user()?;
//! let traces = place.folder_of(Manifest::built_in().set("mahimahi")?)?; // or says: `thalweg data fetch mahimahi`
//! # Ok::<(), thalweg_data::Error>(())
//! ```

mod error;
mod fetch;
#[cfg(feature = "http")]
mod http;
mod manifest;
mod place;
mod recording;
#[cfg(feature = "testing")]
pub mod testing;

pub use error::Error;
pub use fetch::{Origin, Outcome, fetch};
pub use manifest::{File, Manifest, Set, Source};
pub use place::{Place, State, VARIABLE, sha256};
pub use recording::recording;
