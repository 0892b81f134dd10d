//! An RTP stream: its sequence numbers, its clock, and its counts.

use thalweg_units::{Random, Span, Time};
use thalweg_wire::rtcp::{NtpTime, SenderReport};
use thalweg_wire::rtp::Header;

/// An RTP stream of this sender.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    pub(super) ssrc: u32,
    /// The sequence number of the next packet, not truncated to 16 bits.
    next: u64,
    /// True if a number is skipped before it.
    skips: bool,
    /// Ticks per second of the media clock.
    clock: u64,
    /// The timestamp at [`Time::ZERO`].
    origin: u32,
    packets: u32,
    payload_bytes: u32,
}

impl Stream {
    /// A stream that begins somewhere in the lower half of its sequence numbers, so that a receiver cannot take a
    /// packet before the first for one after the next wraparound (libsrtp's advice; RFC 3711 section 3.3.1 would lose
    /// synchrony).
    pub(super) fn new(ssrc: u32, clock: u64, random: &mut Random) -> Stream {
        let (next, origin) = (random.below(1 << 15), random.bits() as u32);
        Stream { ssrc, next, skips: false, clock, origin, packets: 0, payload_bytes: 0 }
    }

    /// The timestamp of media captured at `at`.
    pub(super) fn timestamp(&self, at: Time) -> u32 {
        let ticks = u128::from(at.as_nanos()) * u128::from(self.clock) / 1_000_000_000;
        self.origin.wrapping_add(ticks as u32)
    }

    /// The timestamp `ticks` after the origin.
    pub(super) fn timestamp_of(&self, ticks: u64) -> u32 {
        self.origin.wrapping_add(ticks as u32)
    }

    /// The header of the next packet, which carries `payload` bytes, and its sequence number.
    pub(super) fn next(&mut self, payload_type: u8, timestamp: u32, marker: bool, payload: usize) -> (Header, u64) {
        let number = self.next + u64::from(std::mem::take(&mut self.skips));
        self.next = number + 1;
        self.packets = self.packets.wrapping_add(1);
        self.payload_bytes = self.payload_bytes.wrapping_add(payload as u32);
        let header = Header { marker, payload_type, sequence: number as u16, timestamp, ssrc: self.ssrc };
        (header, number)
    }

    /// Skips a sequence number before the next packet.
    pub(super) fn skip(&mut self) {
        self.skips = true;
    }

    /// The counts so far, at wall-clock time `ntp` and media time `timestamp`; `None` before the first packet.
    pub(super) fn report(&self, ntp: NtpTime, timestamp: u32) -> Option<SenderReport> {
        let report = SenderReport {
            ssrc: self.ssrc,
            ntp,
            rtp_timestamp: timestamp,
            packets: self.packets,
            payload_bytes: self.payload_bytes,
            ..SenderReport::default()
        };
        (self.packets > 0).then_some(report)
    }

    /// `span` in ticks of the media clock.
    pub(super) fn ticks(&self, span: Span) -> i64 {
        (i128::from(span.as_nanos()) * i128::from(self.clock) / 1_000_000_000) as i64
    }
}
