//! Receiver side: builds feedback messages from arrivals.

use alloc::vec::Vec;

use thalweg_units::{Bytes, Time};

use super::chunk::Chunks;
use super::{Feedback, HEAD, Status, TICK, TICKS_PER_REFERENCE};
use crate::rtcp::header::LARGEST;
use crate::{WriteError, overhead};

/// Configuration of a receiver's messages.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// SSRC of the reporter.
    pub sender_ssrc: u32,
    /// SSRC of any of the streams of the reported packets.
    pub media_ssrc: u32,
    /// Max message size, from its RTCP header to its padding: 24 B to 262144 B, the range of the RTCP length field.
    pub limit: Bytes,
    /// Max number of packets per message, 1 to 65535.
    pub max_statuses: u16,
    /// Max gap within a message. Numbers missing from the list count as missing packets, but after more than this many
    /// consecutive ones a new message begins.
    pub longest_gap: u16,
    /// Includes arrival times; a request of transport-wide-cc-02 may omit them.
    pub timestamps: bool,
}

impl Default for Config {
    /// Messages for IP packets of 1200 bytes (IPv4, SRTCP with AES-GCM), with times, and as many packets as the format
    /// allows.
    fn default() -> Config {
        let around = overhead::IPV4 + overhead::UDP + overhead::SRTP_TAG_GCM + overhead::SRTCP_INDEX;
        Config {
            sender_ssrc: 1,
            media_ssrc: 0,
            limit: Bytes::new(1200) - around,
            max_statuses: u16::MAX,
            // Half the number range: beyond it, ahead and behind cannot be distinguished.
            longest_gap: 0x7fff,
            timestamps: true,
        }
    }
}

impl Config {
    /// Creates a builder of such messages, starting with feedback count 0.
    ///
    /// # Errors
    /// A limit too small for one packet or above the range of the RTCP length field, or a max of zero packets.
    pub fn build(self) -> Result<Builder, WriteError> {
        // The header, a chunk, and an arrival of two bytes.
        let min = HEAD as u64 + 4;
        WriteError::check("limit of a transport feedback message in bytes", self.limit.get(), min, LARGEST)?;
        WriteError::check("most packets of a transport feedback message", self.max_statuses.into(), 1, 65_535)?;
        Ok(Builder { config: self, count: 0, reference: 0 })
    }
}

/// Builds feedback messages.
#[derive(Debug, Clone)]
pub struct Builder {
    config: Config,
    /// Feedback count of the next message.
    count: u8,
    /// Reference time of the last message that had one, before truncation to 24 bits.
    reference: u64,
}

impl Builder {
    /// The messages that report on `packets`: the transport-wide sequence number of each, unwrapped and in increasing
    /// order, and its arrival time by the receiver's clock, `None` if it was not received. A new message begins where
    /// the next arrival is more than 8.19 s from the last one, or where the message would exceed its limits. Times are
    /// rounded to the nearest 250 µs, each individually, so that errors do not accumulate.
    ///
    /// # Errors
    /// Sequence numbers that do not increase; the feedback count is then unchanged.
    pub fn messages(&mut self, packets: &[(u64, Option<Time>)]) -> Result<Vec<Feedback>, WriteError> {
        for pair in packets.windows(2) {
            let min = pair[0].0.saturating_add(1);
            WriteError::check("transport-wide sequence number after another", pair[1].0, min, u64::MAX)?;
        }
        let mut messages = Vec::new();
        let mut draft: Option<Draft> = None;
        for &(sequence, arrival) in packets {
            let next = draft.as_ref().map_or(sequence, Draft::next);
            if sequence.saturating_sub(next) > u64::from(self.config.longest_gap) {
                messages.extend(draft.take().map(|draft| self.finish(draft)));
            } else {
                for missing in next..sequence {
                    self.add(&mut draft, missing, None, &mut messages);
                }
            }
            self.add(&mut draft, sequence, arrival, &mut messages);
        }
        messages.extend(draft.map(|draft| self.finish(draft)));
        Ok(messages)
    }

    /// Adds a packet to the draft, or to a new one if it does not fit.
    fn add(&mut self, draft: &mut Option<Draft>, sequence: u64, arrival: Option<Time>, messages: &mut Vec<Feedback>) {
        if draft.as_mut().is_some_and(|draft| draft.add(arrival, &self.config)) {
            return;
        }
        messages.extend(draft.take().map(|draft| self.finish(draft)));
        let mut fresh = Draft::new(sequence);
        let added = fresh.add(arrival, &self.config);
        debug_assert!(added, "one packet fits every message");
        *draft = Some(fresh);
    }

    fn finish(&mut self, draft: Draft) -> Feedback {
        self.reference = draft.reference.unwrap_or(self.reference);
        let feedback_count = self.count;
        self.count = self.count.wrapping_add(1);
        Feedback {
            sender_ssrc: self.config.sender_ssrc,
            media_ssrc: self.config.media_ssrc,
            base_sequence: draft.base as u16,
            reference_time: (self.reference & 0xff_ffff) as u32,
            feedback_count,
            statuses: draft.statuses,
        }
    }
}

/// A message under construction.
#[derive(Debug)]
struct Draft {
    base: u64,
    statuses: Vec<Status>,
    /// The reference time; `None` before the first arrival.
    reference: Option<u64>,
    /// The last arrival, in ticks.
    ticks: u64,
    /// Bytes so far, without the incomplete chunk.
    size: usize,
    chunks: Chunks,
}

impl Draft {
    fn new(base: u64) -> Draft {
        Draft { base, statuses: Vec::new(), reference: None, ticks: 0, size: HEAD, chunks: Chunks::default() }
    }

    /// The sequence number after the last.
    fn next(&self) -> u64 {
        self.base.saturating_add(self.statuses.len() as u64)
    }

    /// Adds the next packet, if it fits.
    fn add(&mut self, arrival: Option<Time>, config: &Config) -> bool {
        let ticks = arrival.map(ticks);
        let reference = self.reference.or(ticks.map(|ticks| ticks / TICKS_PER_REFERENCE));
        let from = if self.reference.is_some() { self.ticks } else { reference.unwrap_or(0) * TICKS_PER_REFERENCE };
        let status = match ticks {
            None => Status::Missing,
            Some(_) if !config.timestamps => Status::Untimed,
            Some(ticks) => match i16::try_from(ticks as i64 - from as i64) {
                Ok(delta) => Status::Arrived(delta),
                Err(_) => return false,
            },
        };
        let closed = if self.chunks.has_room(status.symbol()) { 0 } else { 2 };
        let size = self.size + closed + status.size();
        let whole = (size + 2).next_multiple_of(4) as u64;
        if whole > config.limit.get() || self.statuses.len() >= config.max_statuses.into() {
            return false;
        }
        self.chunks.push(status.symbol());
        self.statuses.push(status);
        self.size = size;
        self.reference = reference;
        self.ticks = ticks.unwrap_or(self.ticks);
        true
    }
}

/// A time in ticks, rounded to the nearest.
fn ticks(time: Time) -> u64 {
    let tick = TICK.as_nanos() as u64;
    time.as_nanos() / tick + u64::from(time.as_nanos() % tick >= tick / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn builder(config: Config) -> Builder {
        config.build().unwrap()
    }

    fn at(micros: u64) -> Option<Time> {
        Some(Time::from_micros(micros))
    }

    #[test]
    fn a_message_worked_by_hand_comes_out() {
        // 130 ms is 2 references and 8 ticks; 130.3 ms rounds to 9 ticks; then one tick back, one missing, and 64 ms
        // forward.
        let packets = [(65_535, at(130_000)), (65_536, at(130_300)), (65_537, at(130_000)), (65_539, at(194_000))];
        let config = Config { sender_ssrc: 0x0102_0304, media_ssrc: 0x0506_0708, ..Config::default() };
        let messages = builder(config).messages(&packets).unwrap();
        assert_eq!(messages.len(), 1);
        let mut out = Vec::new();
        messages[0].write(&mut out).unwrap();
        let head = [0x8f, 205, 0, 6, 1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0xff, 0, 5, 0, 0, 2, 0];
        // Two-bit symbols 1, 1, 2, 0, 2; arrivals 8, 1, -1, 256.
        assert_eq!(out, [&head[..], &[0xd6, 0x20, 8, 1, 0xff, 0xff, 1, 0]].concat());
    }

    #[test]
    fn a_difference_past_16_bits_begins_a_message() {
        let far = 32_768 * 250;
        let apart = |first: u64, second: u64| {
            let messages = builder(Config::default()).messages(&[(7, at(first)), (8, at(second))]).unwrap();
            messages.iter().map(|message| (message.base_sequence, message.feedback_count)).collect::<Vec<_>>()
        };
        assert_eq!(apart(0, far - 250), [(7, 0)]);
        assert_eq!(apart(0, far), [(7, 0), (8, 1)]);
        assert_eq!(apart(far, 0), [(7, 0)]);
        assert_eq!(apart(far + 250, 0), [(7, 0), (8, 1)]);
    }

    #[test]
    fn a_message_ends_before_it_outgrows_its_limits() {
        let packets: Vec<_> = (0..10).map(|number| (number, at(number * 100_000))).collect();
        let lengths = |config: Config| {
            let messages = builder(config).messages(&packets).unwrap();
            messages.iter().map(|message| message.statuses.len()).collect::<Vec<_>>()
        };
        assert_eq!(lengths(Config { max_statuses: 4, ..Config::default() }), [4, 4, 2]);
        // 24 bytes hold the header, a chunk and two bytes of arrivals: the first arrival of each message is small, the
        // second is not.
        assert_eq!(lengths(Config { limit: Bytes::new(24), ..Config::default() }), [1; 10]);
        assert_eq!(lengths(Config { limit: Bytes::new(28), ..Config::default() }), [3, 3, 3, 1]);
        for bad in
            [Config { limit: Bytes::new(23), ..Config::default() }, Config { max_statuses: 0, ..Config::default() }]
        {
            assert!(bad.build().is_err());
        }
    }

    #[test]
    fn more_packets_than_16_bits_count_take_two_messages() {
        let packets: Vec<_> = (0..70_000).map(|number| (number, None)).collect();
        let messages = builder(Config::default()).messages(&packets).unwrap();
        let lengths: Vec<usize> = messages.iter().map(|message| message.statuses.len()).collect();
        assert_eq!(lengths, [65_535, 70_000 - 65_535]);
        assert_eq!(messages[1].base_sequence, 65_535);
    }

    #[test]
    fn a_gap_longer_than_half_the_numbers_is_left_out() {
        let lengths = |second: u64| {
            let messages = builder(Config::default()).messages(&[(5, at(0)), (second, at(0))]).unwrap();
            messages.iter().map(|message| (message.base_sequence, message.statuses.len())).collect::<Vec<_>>()
        };
        assert_eq!(lengths(6 + 0x7fff), [(5, 0x8001)]);
        assert_eq!(lengths(7 + 0x7fff), [(5, 1), (0x8006, 1)]);
        assert_eq!(lengths(u64::MAX), [(5, 1), (0xffff, 1)]);
    }

    #[test]
    fn numbers_that_do_not_increase_are_refused() {
        let mut builder = builder(Config::default());
        assert!(builder.messages(&[(5, None), (5, None)]).is_err());
        assert_eq!(builder.messages(&[]), Ok(Vec::new()));
        assert_eq!(builder.messages(&[(5, None)]).unwrap()[0].feedback_count, 0);
    }

    #[test]
    fn without_timestamps_any_times_share_a_message() {
        let config = Config { timestamps: false, ..Config::default() };
        let messages = builder(config).messages(&[(1, at(0)), (2, None), (3, at(3_600_000_000))]).unwrap();
        assert_eq!(messages.len(), 1);
        assert_eq!(messages[0].statuses, [Status::Untimed, Status::Missing, Status::Untimed]);
    }
}
