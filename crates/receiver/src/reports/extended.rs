//! Extended reports in addition to receiver reports (RFC 3550, RFC 3611): which packets arrived, when, and which of
//! them too late to be played (RFC 7097, RFC 7243), at the RTCP interval that FBRA wants (specs/fbra.md 1).
//!
//! Each report repeats what the previous one reported for the first time, so that no information is lost with a single
//! report.

mod pace;
mod stream;
mod streams;

use thalweg_units::{Bytes, Seed, Span, Time};
use thalweg_wire::rtcp::{Packet, ReceiverReport, Xr};

use crate::message::datagram;
use crate::rtp::Source;
use pace::Pace;
use stream::{Learned, Reported, Stream, ticks};
pub(crate) use streams::ExtendedStreams;

/// Rate of video's RTP clock in Hz (RFC 7741), the unit of receipt times.
const CLOCK: u32 = 90_000;
/// Max size of a datagram in bytes, so that with 42 bytes of overhead no report takes more than 1,200 on the wire.
const LARGEST: usize = 1_158;
/// Max number of packets in one report: the parser accepts 16,384 lines of a report, and up to three here are about one
/// packet.
const PACKETS: usize = 5_000;

/// Arrivals and discards of one stream, and the datagrams that report them.
#[derive(Debug)]
pub(super) struct Extended {
    sender_ssrc: u32,
    stream: Stream,
    source: Source,
    /// Capture time of the newest frame, which the stream's timestamps follow.
    captured: Time,
    pace: Pace,
}

impl Extended {
    /// Creates reports by `sender_ssrc` on `media_ssrc`.
    pub(super) fn new(sender_ssrc: u32, media_ssrc: u32) -> Extended {
        let (stream, source) = (Stream::new(media_ssrc, CLOCK), Source::new(CLOCK));
        Extended { sender_ssrc, stream, source, captured: Time::ZERO, pace: Pace::new() }
    }

    /// Draws the intervals from `seed` from now on.
    pub(super) fn randomise(&mut self, seed: Seed) {
        self.pace.randomise(seed);
    }

    /// Sets the round-trip time.
    pub(super) fn learn(&mut self, round_trip: Span) {
        self.pace.learn(round_trip);
    }

    /// Packet `number`, unwrapped, arrived at `now`, which is `here` by the receiver's clock; `captured` is the capture
    /// time of its frame, if it belongs to one. Returns whether the packet is new.
    pub(super) fn on_packet(&mut self, now: Time, here: Time, number: u64, captured: Option<Time>) -> bool {
        self.captured = captured.unwrap_or(self.captured);
        self.source.on_packet(here, number as u16, ticks(self.captured, CLOCK));
        let learned = self.stream.on_packet(here, number);
        self.pace.on_packet(now, learned);
        learned != Learned::Nothing
    }

    /// The packet, with this much payload, arrived too late to be played.
    pub(super) fn on_discarded(&mut self, now: Time, number: u64, payload: Bytes) {
        if self.stream.on_discarded(number, payload) {
            self.pace.on_trouble(now);
        }
    }

    /// When the next report is due.
    pub(super) fn next(&self) -> Time {
        self.pace.next()
    }

    /// The report that is due, split into as many datagrams as necessary, each with the number of packets it reports;
    /// marks new items as reported.
    pub(super) fn datagrams(&mut self, now: Time) -> Vec<(Vec<u8>, u32)> {
        self.pace.on_report(now);
        let reported = self.stream.take();
        let blocks = self.source.block(self.stream.ssrc, None).into_iter().collect();
        let plain = ReceiverReport { ssrc: self.sender_ssrc, blocks, ..ReceiverReport::default() };
        let mut datagrams = Vec::new();
        if !reported.is_empty() {
            self.write(&plain, &reported, &mut datagrams);
        }
        datagrams
    }

    /// Writes `reported`, split in halves until each part fits into a datagram.
    fn write(&self, plain: &ReceiverReport, reported: &Reported, datagrams: &mut Vec<(Vec<u8>, u32)>) {
        let extended = Xr { ssrc: self.sender_ssrc, blocks: self.stream.blocks(reported) };
        let datagram = datagram(&[Packet::ReceiverReport(plain.clone()), Packet::Xr(extended)]);
        if reported.len() < 2 || (reported.len() <= PACKETS && datagram.len() <= LARGEST) {
            datagrams.push((datagram, reported.len() as u32));
        } else {
            let (older, newer) = reported.split_at(reported.len() / 2);
            self.write(plain, older, datagrams);
            self.write(plain, newer, datagrams);
        }
    }
}

#[cfg(test)]
mod tests;
