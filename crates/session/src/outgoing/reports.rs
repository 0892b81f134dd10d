//! Sender reports: their interval and contents.

use thalweg_units::{Span, Time};
use thalweg_wire::rtcp::{Bye, Chunk, Item, NtpTime, Packet, ReceiverReport, Sdes};

use super::writer::Writer;

/// The interval of sender reports: video's in libwebrtc (`kDefaultVideoReportInterval`, 1 s). Some 200 bytes with all
/// headers, neither paced nor counted.
const INTERVAL: Span = Span::from_secs(1);

/// Sender reports.
#[derive(Debug)]
pub(super) struct Reports {
    next: Time,
    wall: NtpTime,
    cname: Vec<u8>,
}

impl Reports {
    /// The first report is due at once, so that audio and pictures can be synchronized from the beginning.
    pub(super) fn new(now: Time, wall: NtpTime, cname: &str) -> Reports {
        Reports { next: now, wall, cname: cname.as_bytes().to_vec() }
    }

    /// When the next report is due.
    pub(super) fn next(&self) -> Time {
        self.next
    }

    pub(super) fn due(&self, now: Time) -> bool {
        self.next <= now
    }

    /// The report that is due; empty if nothing was sent yet.
    pub(super) fn compound(&mut self, now: Time, writer: &Writer) -> Vec<Packet> {
        let mut packets = self.of_senders(now, writer);
        // Until the first packet has left, check again soon.
        self.next = now + if packets.is_empty() { INTERVAL / 20 } else { INTERVAL };
        if !packets.is_empty() {
            packets.push(self.names(writer));
        }
        packets
    }

    /// The last report, with the word that all streams end: a goodbye ends a compound (RFC 3550 section 6.1).
    pub(super) fn goodbye(&self, now: Time, writer: &Writer) -> Vec<Packet> {
        let (mut packets, sources) = (self.of_senders(now, writer), writer.sources());
        if packets.is_empty() {
            let ssrc = sources.first().copied().unwrap_or_default();
            packets.push(Packet::ReceiverReport(ReceiverReport { ssrc, ..ReceiverReport::default() }));
        }
        packets.extend([self.names(writer), Packet::Bye(Bye { sources, reason: None })]);
        packets
    }

    fn of_senders(&self, now: Time, writer: &Writer) -> Vec<Packet> {
        let ntp = NtpTime::from_bits(self.wall.bits().wrapping_add(NtpTime::at(now).bits()));
        writer.reports(now, ntp).map(Packet::SenderReport).collect()
    }

    fn names(&self, writer: &Writer) -> Packet {
        let chunk = |source| Chunk { source, items: vec![Item { kind: Item::CNAME, text: self.cname.clone() }] };
        Packet::Sdes(Sdes { chunks: writer.sources().into_iter().map(chunk).collect() })
    }
}
