//! What is written down of viewers while they watch: a capture of all, and a qlog of each.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;

use thalweg_units::Time;

use super::PublishError;
use super::messages::Key;
use super::viewer::Viewer;
use crate::clock::Clock;
use crate::observe::{Pcap, Qlog};

/// A qlog in the making.
pub(super) type Trace = Qlog<BufWriter<File>>;

/// Where to write.
pub(super) struct Records {
    pcap: Option<Pcap>,
    qlog: Option<PathBuf>,
    clock: Clock,
}

impl Records {
    /// Makes the files and folders.
    pub(super) fn open(pcap: Option<&PathBuf>, qlog: Option<&PathBuf>, clock: Clock) -> Result<Records, PublishError> {
        let pcap = pcap.map(|path| Pcap::create(path, clock).map_err(|error| at(path, error)));
        if let Some(folder) = qlog {
            std::fs::create_dir_all(folder).map_err(|error| at(folder, error))?;
        }
        Ok(Records { pcap: pcap.transpose()?, qlog: qlog.cloned(), clock })
    }

    /// Whether packets are wanted in the clear.
    pub(super) fn captures(&self) -> bool {
        self.pcap.is_some()
    }

    /// The qlog of a viewer who has just joined.
    pub(super) fn begin(&self, viewer: Key, scheme: &str, now: Time) -> Option<Trace> {
        let path = self.qlog.as_ref()?.join(format!("viewer-{viewer}.sqlog"));
        let wall = self.clock.wall(now).duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let begun: io::Result<Trace> = File::create(&path).and_then(|file| {
            let title = format!("viewer {viewer}");
            Qlog::new(BufWriter::new(file), &title, scheme, now, wall.as_nanos() as f64 / 1e6)
        });
        begun.inspect_err(|error| tracing::warn!(path = %path.display(), %error, "no qlog")).ok()
    }

    /// Writes down what passed a viewer; what cannot be written ends the capture, not the call.
    pub(super) fn capture(&mut self, viewer: &mut Viewer) {
        let Some(pcap) = &mut self.pcap else { return };
        let Some((here, there)) = viewer.path() else { return };
        for plain in viewer.outgoing.take_plain() {
            let (from, to) = if plain.leaves { (here, there) } else { (there, here) };
            if let Err(error) = pcap.add(plain.at, from, to, &plain.bytes) {
                tracing::warn!(%error, "the capture ends here");
                self.pcap = None;
                return;
            }
        }
    }

    /// Closes the capture.
    pub(super) fn finish(self) {
        if let Some(Err(error)) = self.pcap.map(Pcap::finish) {
            tracing::warn!(%error, "the end of the capture is lost");
        }
    }
}

fn at(path: &std::path::Path, error: impl std::fmt::Display) -> PublishError {
    PublishError::Config(format!("{}: {error}", path.display()))
}
