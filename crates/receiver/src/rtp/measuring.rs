//! Measures the capacity of the path with real packets: each frame is a packet train, and each packet carries the bytes
//! sent before it (Rebera; specs/rebera.md 3).
//!
//! Measurement and report times are as in the simulator ([`PathReports`]); here a frame is identified by its RTP
//! timestamp, and its last packet by the marker.

use std::collections::BTreeSet;

use thalweg_control::PathReport;
use thalweg_control::estimate::{Arrival, MeasurementConfig};
use thalweg_units::{Bytes, ConfigError, Time};
use thalweg_wire::rtp::BytesBefore;
use thalweg_wire::unwrap::{BytesUnwrapper, TimestampUnwrapper};

use super::config::Config;
use crate::reports::path::PathReports;

/// Number of packets remembered to distinguish duplicates from reordered packets: a second at 10 Mbps.
const REMEMBERED: usize = 1024;

/// A packet that carries the bytes sent before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    pub(super) before: BytesBefore,
    /// Its size on the wire.
    pub(super) size: Bytes,
    /// The RTP timestamp and marker of a media packet; `None` for packets that do not measure the path:
    /// retransmissions, FEC, audio and padding.
    pub(super) media: Option<(u32, bool)>,
}

/// Path measurement of one reception.
#[derive(Debug)]
pub(super) struct Measuring {
    config: MeasurementConfig,
    reports: PathReports,
    counted: BytesUnwrapper,
    timestamps: TimestampUnwrapper,
    /// The last packets, each identified by the bytes sent before it.
    seen: BTreeSet<u64>,
    /// Values below this are older than all in `seen`.
    forgotten: u64,
}

impl Measuring {
    /// The measurement, where it was negotiated.
    pub(super) fn of(config: &Config) -> Result<Option<Measuring>, ConfigError> {
        let agreed =
            config.video.as_ref().is_some_and(|video| video.feedback.path && video.extensions.bytes_before.is_some());
        config.measures.filter(|_| agreed).map(Measuring::new).transpose()
    }

    fn new(config: MeasurementConfig) -> Result<Measuring, ConfigError> {
        Ok(Measuring {
            config,
            reports: PathReports::new(config)?,
            // A sender counts from 0.
            counted: BytesUnwrapper::after(0),
            timestamps: TimestampUnwrapper::new(),
            seen: BTreeSet::new(),
            forgotten: 0,
        })
    }

    /// A new media stream replaced the old one.
    pub(super) fn begin_anew(&mut self) {
        if let Ok(anew) = Measuring::new(self.config) {
            *self = anew;
        }
    }

    /// A packet arrived.
    pub(super) fn on_packet(&mut self, now: Time, packet: &Measured) {
        let before = self.counted.unwrap(packet.before.low());
        if before < self.forgotten || !self.seen.insert(before) {
            return;
        }
        if self.seen.len() > REMEMBERED
            && let Some(oldest) = self.seen.pop_first()
        {
            self.forgotten = oldest + 1;
        }
        let train = packet.media.map(|(timestamp, _)| self.timestamps.unwrap(timestamp));
        self.reports.on_arrival(&Arrival {
            at: now,
            train,
            last: packet.media.is_some_and(|(_, marker)| marker),
            size: packet.size,
            before: Bytes::new(before),
        });
    }

    /// The report to send now.
    pub(super) fn poll(&mut self, now: Time) -> Option<PathReport> {
        self.reports.poll(now)
    }

    /// When [`Measuring::poll`] should be called next.
    pub(super) fn next_event(&self) -> Time {
        self.reports.next_event()
    }
}
