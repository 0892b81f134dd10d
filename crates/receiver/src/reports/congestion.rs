//! RFC 8888: what came of each RTP stream and how long ago (libwebrtc
//! `modules/remote_bitrate_estimator/congestion_control_feedback_generator.cc`).

use std::collections::BTreeMap;

use thalweg_units::{Span, Time};
use thalweg_wire::rtcp::Packet;
use thalweg_wire::rtcp::ccfb::{self, Ecn};

use super::arrivals::{Arrivals, Memory};

/// Chromium's interval for RFC 8888 (specs/measured.md 1).
pub(crate) const INTERVAL: Span = Span::from_millis(31);
/// How many arrivals are remembered for it (libwebrtc `congestion_control_feedback_tracker.cc`,
/// `kMaxPacketsToKeepForReorderCalculation`).
const MEMORY: Memory = Memory::Newest(64);

/// Arrivals by stream, and the messages that tell them.
#[derive(Debug)]
pub(crate) struct Congestion {
    streams: BTreeMap<u32, Arrivals>,
    builder: ccfb::Builder,
}

impl Congestion {
    /// Feedback by `sender_ssrc`.
    pub(crate) fn new(sender_ssrc: u32) -> Congestion {
        let Ok(builder) = (ccfb::Config { sender_ssrc, ..ccfb::Config::default() }).build() else {
            unreachable!("the default limits can be built")
        };
        Congestion { streams: BTreeMap::new(), builder }
    }

    /// Packet `sequence`, unwrapped, of stream `ssrc` came. Whether that is news. How many streams there are is the
    /// caller's to bound.
    pub(crate) fn on_packet(&mut self, here: Time, ssrc: u32, sequence: u64) -> bool {
        self.streams.entry(ssrc).or_insert_with(|| Arrivals::new(MEMORY)).on_packet(here, sequence)
    }

    /// Stream `ssrc` is no more.
    pub(crate) fn forget(&mut self, ssrc: u32) {
        self.streams.remove(&ssrc);
    }

    /// What was not reported yet; it counts as reported then.
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
