//! Recordings made while viewers watch: a capture of all packets, and a qlog of each viewer. Writing may block on the
//! disk, so a separate thread does it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use thalweg_sender::Timed;
use thalweg_session::outgoing::Plain;
use thalweg_units::Time;

use super::PublishError;
use super::messages::Key;
use crate::observe::{Pcap, Qlog};
use thalweg_emulate::clock::Clock;
use thalweg_emulate::thread::spawn;

/// Maximum number of entries that wait for the disk: some seconds of a busy publisher, at most 25 MB of packets. When
/// there are more, recording ends.
const WAITING: usize = 1 << 14;

/// An entry to write.
enum Entry {
    Joined { viewer: Key, scheme: String, at: Time },
    Passed { from: SocketAddr, to: SocketAddr, packet: Plain },
    Happened { viewer: Key, event: Timed },
    Left { viewer: Key },
}

/// The handle of the recordings.
pub(super) struct Records {
    /// `None` when nothing is recorded, or no longer.
    entries: Option<SyncSender<Entry>>,
    captures: bool,
    traces: bool,
    thread: Option<JoinHandle<()>>,
}

impl Records {
    /// Creates the capture and the folder of qlogs, if they are requested.
    ///
    /// # Errors
    /// When either cannot be created.
    pub(super) fn open(pcap: Option<&PathBuf>, qlog: Option<&PathBuf>, clock: Clock) -> Result<Records, PublishError> {
        let (captures, traces) = (pcap.is_some(), qlog.is_some());
        let pcap = pcap.map(|path| Pcap::create(path, clock).map_err(|error| at(path, error))).transpose()?;
        if let Some(folder) = qlog {
            std::fs::create_dir_all(folder).map_err(|error| at(folder, error))?;
        }
        if !captures && !traces {
            return Ok(Records { entries: None, captures, traces, thread: None });
        }
        let writer = Writer { clock, pcap, folder: qlog.cloned(), qlogs: BTreeMap::new() };
        let (entries, inbox) = sync_channel(WAITING);
        let thread = spawn("records", move || writer.run(&inbox))?;
        Ok(Records { entries: Some(entries), captures, traces, thread: Some(thread) })
    }

    /// Returns true if unencrypted packets are needed.
    pub(super) fn captures(&self) -> bool {
        self.captures
    }

    /// A viewer has joined, served by a scheme.
    pub(super) fn joined(&mut self, viewer: Key, scheme: &str, at: Time) {
        if self.traces {
            self.add(Entry::Joined { viewer, scheme: scheme.into(), at });
        }
    }

    /// An event of a viewer's engine.
    pub(super) fn happened(&mut self, viewer: Key, event: Timed) {
        if self.traces {
            self.add(Entry::Happened { viewer, event });
        }
    }

    /// A packet was sent to `there` or received from it.
    pub(super) fn passed(&mut self, here: SocketAddr, there: SocketAddr, packet: Plain) {
        let (from, to) = if packet.leaves { (here, there) } else { (there, here) };
        self.add(Entry::Passed { from, to, packet });
    }

    /// A viewer has gone.
    pub(super) fn left(&mut self, viewer: Key) {
        if self.traces {
            self.add(Entry::Left { viewer });
        }
    }

    fn add(&mut self, entry: Entry) {
        let Some(entries) = &self.entries else { return };
        match entries.try_send(entry) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                tracing::warn!(waiting = WAITING, "the disk does not keep up: capture and qlogs end here");
                self.entries = None;
            }
            // The writer has ended and already reported why.
            Err(TrySendError::Disconnected(_)) => self.entries = None,
        }
    }

    /// Waits until everything is written.
    pub(super) fn finish(mut self) {
        self.entries = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The state of the writer's thread.
struct Writer {
    clock: Clock,
    pcap: Option<Pcap>,
    folder: Option<PathBuf>,
    qlogs: BTreeMap<Key, Qlog<BufWriter<File>>>,
}

impl Writer {
    fn run(mut self, inbox: &Receiver<Entry>) {
        for entry in inbox {
            self.write(entry);
            if self.pcap.is_none() && self.folder.is_none() {
                return;
            }
        }
        if let Some(Err(error)) = self.pcap.map(Pcap::finish) {
            tracing::warn!(%error, "the end of the capture is lost");
        }
        self.qlogs.into_iter().for_each(|(viewer, qlog)| finish(viewer, qlog));
    }

    /// A write error ends that file, not the call.
    fn write(&mut self, entry: Entry) {
        match entry {
            Entry::Joined { viewer, scheme, at } => {
                let Some(folder) = &self.folder else { return };
                let path = folder.join(format!("viewer-{viewer}.sqlog"));
                let wall = self.clock.wall(at).duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
                let begun = File::create(&path).and_then(|file| {
                    let title = format!("viewer {viewer}");
                    Qlog::new(BufWriter::new(file), &title, &scheme, at, wall.as_nanos() as f64 / 1e6)
                });
                match begun {
                    Ok(qlog) => drop(self.qlogs.insert(viewer, qlog)),
                    Err(error) => tracing::warn!(path = %path.display(), %error, "no qlog"),
                }
            }
            Entry::Happened { viewer, event } => {
                if let Some(Err(error)) = self.qlogs.get_mut(&viewer).map(|qlog| qlog.add(&event)) {
                    tracing::warn!(viewer, %error, "the qlog ends here");
                    self.qlogs.remove(&viewer);
                }
            }
            Entry::Left { viewer } => {
                if let Some(qlog) = self.qlogs.remove(&viewer) {
                    finish(viewer, qlog);
                }
            }
            Entry::Passed { from, to, packet } => {
                let added = self.pcap.as_mut().map(|pcap| pcap.add(packet.at, from, to, &packet.bytes));
                if let Some(Err(error)) = added {
                    tracing::warn!(%error, "the capture ends here");
                    self.pcap = None;
                }
            }
        }
    }
}

fn finish(viewer: Key, qlog: Qlog<BufWriter<File>>) {
    if let Err(error) = qlog.finish() {
        tracing::warn!(viewer, %error, "the end of the qlog is lost");
    }
}

fn at(path: &Path, error: impl std::fmt::Display) -> PublishError {
    PublishError::Config(format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_sender::Event;

    #[test]
    fn a_capture_and_a_qlog_of_each_viewer_are_whole_when_it_is_over() {
        let folder = std::env::temp_dir().join(format!("thalweg-records-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (pcap, qlog) = (folder.join("all.pcap"), folder.join("qlog"));
        let mut records = Records::open(Some(&pcap), Some(&qlog), Clock::new()).unwrap();
        assert!(records.captures());
        let [here, there] = ["127.0.0.1:1", "127.0.0.1:2"].map(|address| address.parse().unwrap());
        for viewer in [3, 4] {
            records.joined(viewer, "gcc", Time::ZERO);
            for millis in 0..100 {
                let at = Time::from_millis(millis);
                records.happened(viewer, Timed { at, event: Event::SchemeChanged });
                records.passed(here, there, Plain { at, leaves: millis % 2 == 0, bytes: vec![0; 72] });
            }
        }
        records.left(3);
        records.finish();
        // A header of 24 bytes; 16 before each packet, 28 of IP and UDP.
        let captured = std::fs::metadata(&pcap).unwrap().len();
        let lines = [3, 4].map(|viewer| {
            let text = std::fs::read_to_string(qlog.join(format!("viewer-{viewer}.sqlog"))).unwrap();
            text.lines().count()
        });
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!((captured, lines), (24 + 200 * (16 + 28 + 72), [101, 101]));
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error_with_its_name() {
        let error = Records::open(None, Some(&"/proc/nowhere/qlog".into()), Clock::new()).err().unwrap().to_string();
        assert!(error.starts_with("cannot write /proc/nowhere/qlog: "), "{error}");
    }
}
