//! Video packets by sequence number, and their assembly into frames (libwebrtc
//! `modules/video_coding/packet_buffer.cc`).
//!
//! A frame is the run of sequence numbers from its first packet to the one with the marker. Each packet knows its run
//! as soon as no earlier packet of the frame is missing, so the cost per packet does not depend on the frame's length.

use thalweg_units::Time;

use super::output::Origin;
use super::payload::Start;
use super::references::Says;

/// Number of the newest packets remembered (libwebrtc `kPacketBufferMaxSize`).
pub(super) const PACKETS: u64 = 2048;

/// Max bytes in waiting packets and frames; libwebrtc has no such limit. Nearly three times [`PACKETS`] of 1500 bytes.
pub(super) const BYTES: usize = 8 << 20;

/// A packet with a part of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) payload: Vec<u8>,
    pub(super) timestamp: u32,
    /// True for the last packet of its frame.
    pub(super) marker: bool,
    pub(super) start: Start,
    pub(super) picture: Option<u16>,
    pub(super) says: Says,
    pub(super) arrived: Time,
    pub(super) origin: Origin,
}

/// State of one sequence number.
#[derive(Debug, Default)]
enum State {
    /// Not received.
    #[default]
    Missing,
    /// Holds part of an incomplete frame.
    Media(Piece),
    /// Received without a payload.
    Padding,
    /// Was part of a frame that is complete and taken out.
    Done,
}

/// Knowledge about the packet's frame: none while an earlier packet of it is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Run {
    /// The frame continues after this packet.
    Open {
        /// The frame's first sequence number.
        start: u64,
        /// The frame's RTP timestamp.
        timestamp: u32,
    },
    /// The frame ends with this packet.
    Ended,
}

#[derive(Debug, Default)]
struct Slot {
    number: u64,
    state: State,
    run: Option<Run>,
}

/// The result of adding a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// The packet was new.
    New,
    /// The packet is a duplicate.
    Twice,
    /// The packet belongs to an abandoned frame, or is too old.
    Late,
}

/// All packets of a complete frame.
#[derive(Debug)]
pub(super) struct WholeRun {
    /// The first packet's sequence number.
    pub(super) start: u64,
    /// The last packet's sequence number.
    pub(super) end: u64,
    pub(super) pieces: Vec<Piece>,
}

impl WholeRun {
    /// The picture id, if the packets carry one.
    pub(super) fn picture(&self) -> Option<u16> {
        self.pieces.first()?.picture
    }

    /// The frame's declared references.
    pub(super) fn says(&self) -> Option<&Says> {
        self.pieces.first().map(|piece| &piece.says)
    }
}

/// Packets by sequence number.
#[derive(Debug)]
pub(super) struct Buffer {
    /// Ring buffer: number n is at index n modulo its length.
    slots: Vec<Slot>,
    newest: Option<u64>,
    /// Numbers below this are finished.
    floor: u64,
    held: usize,
    bytes: usize,
    abandoned: u64,
    /// RTP timestamp of the last abandoned frame.
    last_abandoned: Option<u32>,
    overrun: bool,
}

impl Buffer {
    pub(super) fn new() -> Buffer {
        let slots = (0..PACKETS).map(|_| Slot::default()).collect();
        let (newest, last_abandoned) = (None, None);
        Buffer { slots, newest, floor: 0, held: 0, bytes: 0, abandoned: 0, last_abandoned, overrun: false }
    }

    /// Number of packets held for incomplete frames.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Payload bytes in those packets.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Number of frames abandoned since the last call, as far as their packets distinguish them.
    pub(super) fn take_abandoned(&mut self) -> u64 {
        std::mem::take(&mut self.abandoned)
    }

    /// Returns true if a packet was evicted since the last call before its frame was complete.
    pub(super) fn take_overrun(&mut self) -> bool {
        std::mem::take(&mut self.overrun)
    }

    /// Returns true if packet `number` was received without a payload.
    pub(super) fn is_padding(&self, number: u64) -> bool {
        self.slot(number).is_some_and(|slot| matches!(slot.state, State::Padding))
    }

    /// Adds a packet with part of a frame; returns the frames it completes, in order.
    pub(super) fn on_piece(&mut self, number: u64, piece: Piece) -> (Taken, Vec<WholeRun>) {
        self.insert(number, State::Media(piece))
    }

    /// Adds a packet without a payload; returns the frames it completes, in order.
    pub(super) fn on_padding(&mut self, number: u64) -> (Taken, Vec<WholeRun>) {
        self.insert(number, State::Padding)
    }

    fn place(number: u64) -> usize {
        (number % PACKETS) as usize
    }

    fn slot(&self, number: u64) -> Option<&Slot> {
        let slot = &self.slots[Buffer::place(number)];
        (slot.number == number && !matches!(slot.state, State::Missing)).then_some(slot)
    }

    fn insert(&mut self, number: u64, state: State) -> (Taken, Vec<WholeRun>) {
        if self.slot(number).is_some() {
            return (Taken::Twice, Vec::new());
        }
        let newest = self.newest.unwrap_or(number);
        if number < self.floor || number + PACKETS <= newest {
            return (Taken::Late, Vec::new());
        }
        self.make_room(newest, number);
        if let State::Media(piece) = &state {
            self.held += 1;
            self.bytes += piece.payload.len();
        }
        self.slots[Buffer::place(number)] = Slot { number, state, run: None };
        (Taken::New, self.follow(number))
    }

    /// Clears the slots needed for numbers up to `number`.
    fn make_room(&mut self, newest: u64, number: u64) {
        for next in (newest + 1).max((number + 1).saturating_sub(PACKETS))..=number {
            self.overrun |= self.drop_piece(Buffer::place(next));
            self.slots[Buffer::place(next)] = Slot { number: next, state: State::Missing, run: None };
        }
        self.newest = Some(newest.max(number));
    }

    /// Drops the part of a frame in a slot; returns whether there was one.
    fn drop_piece(&mut self, place: usize) -> bool {
        let slot = &mut self.slots[place];
        let State::Media(piece) = &slot.state else { return false };
        self.held -= 1;
        self.bytes -= piece.payload.len();
        if self.last_abandoned.replace(piece.timestamp) != Some(piece.timestamp) {
            self.abandoned += 1;
        }
        (slot.state, slot.run) = (State::Missing, None);
        true
    }

    /// Numbers below `number` are no longer needed.
    pub(super) fn clear_up_to(&mut self, number: u64) {
        if let Some(newest) = self.newest {
            for gone in self.floor.max((newest + 1).saturating_sub(PACKETS))..number.min(newest + 1) {
                if self.slots[Buffer::place(gone)].number == gone {
                    self.drop_piece(Buffer::place(gone));
                }
            }
        }
        self.floor = self.floor.max(number);
    }

    /// Drops all received packets.
    pub(super) fn clear(&mut self) {
        if let Some(newest) = self.newest {
            self.clear_up_to(newest + 1);
        }
    }

    /// Updates the runs of packet `number` and of the packets after it that waited for it; returns the completed
    /// frames.
    fn follow(&mut self, number: u64) -> Vec<WholeRun> {
        let mut whole = Vec::new();
        let mut number = number;
        while let Some(slot) = self.slot(number).filter(|slot| slot.run.is_none()) {
            let Some(run) = self.run_of(number, slot) else { break };
            if let (Run::Open { start, .. }, State::Media(Piece { marker: true, .. })) = (run, &slot.state) {
                whole.push(self.take(start, number));
            } else {
                self.slots[Buffer::place(number)].run = Some(run);
            }
            number += 1;
        }
        whole
    }

    /// The run of a packet together with those before it; still [`Run::Open`] where the packet is the frame's last.
    fn run_of(&self, number: u64, slot: &Slot) -> Option<Run> {
        let before = number.checked_sub(1).and_then(|before| self.slot(before));
        let State::Media(piece) = &slot.state else {
            return before.and_then(|before| before.run);
        };
        let begins = Run::Open { start: number, timestamp: piece.timestamp };
        match (piece.start, before.and_then(|before| before.run)) {
            (_, Some(run @ Run::Open { timestamp, .. })) if timestamp == piece.timestamp => Some(run),
            (Start::Yes, _) => Some(begins),
            (Start::No, _) => None,
            (Start::AfterAnother, Some(_)) => Some(begins),
            // Only the beginning of the frame before it is missing.
            (Start::AfterAnother, None) => match before.map(|before| &before.state) {
                Some(State::Media(last)) if last.marker || last.timestamp != piece.timestamp => Some(begins),
                _ => None,
            },
        }
    }

    /// Removes the packets of a complete frame.
    fn take(&mut self, start: u64, end: u64) -> WholeRun {
        let mut pieces = Vec::with_capacity((end + 1 - start) as usize);
        for number in start..=end {
            let slot = &mut self.slots[Buffer::place(number)];
            slot.run = Some(Run::Ended);
            if let State::Media(piece) = &slot.state {
                self.held -= 1;
                self.bytes -= piece.payload.len();
                if let State::Media(piece) = std::mem::replace(&mut slot.state, State::Done) {
                    pieces.push(piece);
                }
            }
        }
        WholeRun { start, end, pieces }
    }
}

#[cfg(test)]
mod tests;
