//! RFC 8888 feedback: which packets of each RTP stream arrived, and how long ago (libwebrtc
//! `modules/remote_bitrate_estimator/congestion_control_feedback_generator.cc`).

use std::collections::BTreeMap;

use thalweg_units::{Span, Time};
use thalweg_wire::rtcp::Packet;
use thalweg_wire::rtcp::ccfb::{self, Ecn};

use super::arrivals::{Arrivals, Memory};

/// Chromium's interval for RFC 8888 feedback (specs/measured.md 1).
pub(crate) const INTERVAL: Span = Span::from_millis(31);
/// Number of arrivals remembered for it (libwebrtc `congestion_control_feedback_tracker.cc`,
/// `kMaxPacketsToKeepForReorderCalculation`).
const MEMORY: Memory = Memory::Newest(64);

/// Arrivals by stream, and the messages that report them.
#[derive(Debug)]
pub(crate) struct Congestion {
    streams: BTreeMap<u32, Arrivals>,
    builder: ccfb::Builder,
}

impl Congestion {
    /// Creates feedback sent by `sender_ssrc`.
    pub(crate) fn new(sender_ssrc: u32) -> Congestion {
        let Ok(builder) = (ccfb::Config { sender_ssrc, ..ccfb::Config::default() }).build() else {
            unreachable!("the default limits can be built")
        };
        Congestion { streams: BTreeMap::new(), builder }
    }

    /// Packet `sequence`, unwrapped, of stream `ssrc` arrived; returns whether it is new. The caller must limit the
    /// number of streams.
    pub(crate) fn on_packet(&mut self, here: Time, ssrc: u32, sequence: u64) -> bool {
        self.streams.entry(ssrc).or_insert_with(|| Arrivals::new(MEMORY)).on_packet(here, sequence)
    }

    /// Removes stream `ssrc`.
    pub(crate) fn forget(&mut self, ssrc: u32) {
        self.streams.remove(&ssrc);
    }

    /// Messages with everything not yet reported, which they mark as reported.
    pub(crate) fn messages(&mut self, here: Time) -> Vec<Packet> {
        let mut packets = Vec::new();
        for (&ssrc, arrivals) in &mut self.streams {
            packets.extend(arrivals.take().into_iter().map(|(sequence, at)| ccfb::Received {
                ssrc,
                sequence,
                arrival: at.map(|at| (at, Ecn::NotCapable)),
            }));
        }
        let messages = self.builder.messages(here, &packets).unwrap_or_default();
        messages.into_iter().map(Packet::CongestionFeedback).collect()
    }
}
