//! Which packet was sent under which number.

use alloc::collections::{BTreeMap, VecDeque};

use thalweg_control::PacketId;

/// How the sender numbered its packets: needed to extend 16-bit numbers.
pub trait Numbering {
    /// The last packet sent on any stream.
    fn newest(&self) -> Option<PacketId>;

    /// The last RTP sequence number of a stream before truncation to 16 bits; `None` for streams that are not the
    /// sender's.
    fn newest_of(&self, ssrc: u32) -> Option<u64>;

    /// Returns true if frames are sent on this stream: only its packets and pictures can be requested again.
    /// Retransmissions and FEC have sequence numbers of their own, unrelated to media.
    fn is_media(&self, ssrc: u32) -> bool;

    /// The last frame of which a packet was sent; `None` for a sender whose frames have no numbers on the wire.
    fn newest_frame(&self) -> Option<u64>;

    /// The last transport-wide sequence number sent, before truncation to 16 bits.
    fn newest_transport(&self) -> Option<u64> {
        self.newest().map(|id| id.0)
    }

    /// The packet sent under this transport-wide number, which is at most the newest; `None` if none ever was.
    fn transported(&self, number: u64) -> Option<PacketId> {
        Some(PacketId(number))
    }

    /// The packet sent under this number of a stream; `None` if there was none or it is no longer remembered.
    fn packet(&self, ssrc: u32, sequence: u64) -> Option<PacketId>;

    /// Returns true if this number of a stream was skipped, and no packet ever had it.
    fn is_skipped(&self, _ssrc: u32, _sequence: u64) -> bool {
        false
    }

    /// Ticks per second of a stream's RTP clock, in which receipt times are reported: for video 90,000 (RFC 7741,
    /// RFC 6184, RFC 9628).
    fn clock_rate(&self, _ssrc: u32) -> u32 {
        90_000
    }
}

/// Which packet was sent under which number of which RTP stream.
#[derive(Debug, Clone, Default)]
pub struct Streams {
    newest: Option<PacketId>,
    /// The stream on which frames are sent, and the last frame.
    media: Option<(u32, u64)>,
    streams: BTreeMap<u32, Stream>,
    /// Ticks per second of the RTP clocks of streams that are not video.
    clocks: BTreeMap<u32, u32>,
    skipped: Skipped,
}

/// Transport-wide numbers that were never sent.
#[derive(Debug, Clone, Default)]
struct Skipped {
    /// How many there are.
    all: u64,
    /// The newest of them, in order, each with how many came before it.
    newest: VecDeque<(u64, u64)>,
}

#[derive(Debug, Clone, Default)]
struct Stream {
    /// The number of the first remembered packet.
    first: u64,
    /// `None` for a number that was never sent.
    packets: VecDeque<Option<PacketId>>,
}

impl Streams {
    /// Max remembered packets per stream: as many as 16 bits distinguish.
    const REMEMBERED: usize = 1 << 16;

    /// Nothing sent yet.
    pub fn new() -> Streams {
        Streams::default()
    }

    /// Packet `id` was sent as number `sequence` (not truncated to 16 bits) of stream `ssrc`. A stream's numbers are
    /// consecutive, but for one that was skipped; after another jump the earlier ones are forgotten.
    pub fn on_sent(&mut self, id: PacketId, ssrc: u32, sequence: u64) {
        self.newest = self.newest.max(Some(id));
        let stream = self.streams.entry(ssrc).or_default();
        let next = stream.first + stream.packets.len() as u64;
        if sequence == next + 1 && !stream.packets.is_empty() {
            stream.packets.push_back(None);
        } else if sequence != next {
            *stream = Stream { first: sequence, packets: VecDeque::new() };
        }
        stream.packets.push_back(Some(id));
        while stream.packets.len() > Streams::REMEMBERED {
            stream.packets.pop_front();
            stream.first += 1;
        }
    }

    /// The transport-wide number of packet `id`, which was sent last or is sent next: its own, and one more for each that
    /// was skipped.
    pub fn transport_number(&self, id: PacketId) -> u64 {
        id.0 + self.skipped.all
    }

    /// Skips the transport-wide number of packet `next`, which is sent next: it gets the one after it. A receiver that
    /// acknowledges the skipped number acknowledges what it has not received (Savage, Cardwell, Wetherall, Anderson, "TCP
    /// congestion control with a misbehaving receiver", 1999).
    pub fn skip_transport_number(&mut self, next: PacketId) {
        let number = self.transport_number(next);
        self.skipped.newest.push_back((number, self.skipped.all));
        self.skipped.all += 1;
        // No report names a number so old: 16 bits do not tell it from a newer one.
        while self.skipped.newest.front().is_some_and(|(old, _)| old + (Streams::REMEMBERED as u64) < number) {
            self.skipped.newest.pop_front();
        }
    }

    /// Sets the ticks per second of a stream's RTP clock; the default is the 90,000 of video.
    pub fn on_clock(&mut self, ssrc: u32, ticks: u32) {
        self.clocks.insert(ssrc, ticks);
    }

    /// A packet of this frame was sent on stream `ssrc`, not as a retransmission: from now on this is the media stream.
    pub fn on_frame(&mut self, ssrc: u32, frame: u64) {
        self.media = Some((ssrc, self.newest_frame().unwrap_or(0).max(frame)));
    }
}

impl Numbering for Streams {
    fn newest(&self) -> Option<PacketId> {
        self.newest
    }

    fn newest_transport(&self) -> Option<u64> {
        self.newest.map(|id| self.transport_number(id))
    }

    fn transported(&self, number: u64) -> Option<PacketId> {
        let newest = &self.skipped.newest;
        let place = newest.partition_point(|(skipped, _)| *skipped < number);
        let before = newest.get(place).map_or(self.skipped.all, |(_, before)| *before);
        let is_skipped = newest.get(place).is_some_and(|(skipped, _)| *skipped == number);
        (!is_skipped).then(|| PacketId(number.saturating_sub(before)))
    }

    fn newest_of(&self, ssrc: u32) -> Option<u64> {
        let stream = self.streams.get(&ssrc)?;
        (stream.first + stream.packets.len() as u64).checked_sub(1)
    }

    fn is_media(&self, ssrc: u32) -> bool {
        self.media.is_some_and(|(media, _)| media == ssrc)
    }

    fn newest_frame(&self) -> Option<u64> {
        self.media.map(|(_, frame)| frame)
    }

    fn packet(&self, ssrc: u32, sequence: u64) -> Option<PacketId> {
        let stream = self.streams.get(&ssrc)?;
        let index = usize::try_from(sequence.checked_sub(stream.first)?).ok()?;
        stream.packets.get(index).copied().flatten()
    }

    fn is_skipped(&self, ssrc: u32, sequence: u64) -> bool {
        let place = |stream: &Stream| usize::try_from(sequence.checked_sub(stream.first)?).ok();
        let found = self.streams.get(&ssrc).and_then(|stream| stream.packets.get(place(stream)?));
        found.is_some_and(Option::is_none)
    }

    fn clock_rate(&self, ssrc: u32) -> u32 {
        self.clocks.get(&ssrc).copied().unwrap_or(90_000)
    }
}
