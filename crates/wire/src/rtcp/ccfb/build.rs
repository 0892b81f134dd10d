//! Receiver side: builds feedback messages from arrivals.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use thalweg_units::{Bytes, Ecn, Span, Time};

use super::{Feedback, MAX_REPORTS, Offset, Status, Stream};
use crate::rtcp::header::LARGEST;
use crate::rtcp::{NtpShort, ntp};
use crate::{WriteError, overhead};

/// Bytes of a message outside its streams: the RTCP header, the sender's SSRC and the report timestamp.
const AROUND: u64 = 12;
/// Header bytes of a stream before its reports.
const STREAM: u64 = 8;

/// Configuration of a receiver's messages.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// SSRC of the reporter.
    pub sender_ssrc: u32,
    /// Max message size, RTCP header included: 24 B to 262144 B, the range of the RTCP length field.
    pub limit: Bytes,
    /// Max gap within a message. Numbers missing from the list count as missing packets, but after more than this many
    /// consecutive ones a new message begins.
    pub longest_gap: u16,
}

impl Default for Config {
    /// Messages for IP packets of 1200 bytes (IPv4, SRTCP with AES-GCM); gaps up to the max that a block may report.
    fn default() -> Config {
        let around = overhead::IPV4 + overhead::UDP + overhead::SRTP_TAG_GCM + overhead::SRTCP_INDEX;
        Config { sender_ssrc: 1, limit: Bytes::new(1200) - around, longest_gap: MAX_REPORTS }
    }
}

impl Config {
    /// Creates a builder of such messages.
    ///
    /// # Errors
    /// A limit too small for one packet, or above the range of the RTCP length field.
    pub fn build(self) -> Result<Builder, WriteError> {
        let min = AROUND + STREAM + 4;
        WriteError::check("limit of a congestion feedback message in bytes", self.limit.get(), min, LARGEST)?;
        Ok(Builder { config: self })
    }
}

/// One packet to report on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// SSRC of its stream.
    pub ssrc: u32,
    /// Its RTP sequence number, unwrapped.
    pub sequence: u64,
    /// Arrival time by the receiver's clock, and ECN mark; `None` if it was not received.
    pub arrival: Option<(Time, Ecn)>,
}

/// Builds feedback messages.
#[derive(Debug, Clone)]
pub struct Builder {
    config: Config,
}

impl Builder {
    /// The messages that report on `packets`, made at `now` by the receiver's clock. Packets of a stream must be in
    /// increasing order, streams may be in any order; the output is ordered by SSRC. A message has at most one block
    /// per stream; whatever exceeds its limits goes into another message with the same time.
    ///
    /// # Errors
    /// Sequence numbers of a stream that do not increase.
    pub fn messages(&self, now: Time, packets: &[Received]) -> Result<Vec<Feedback>, WriteError> {
        let reported = NtpShort::at(now);
        // The report timestamp is up to 15 µs before `now`; offsets are relative to it.
        let dated = ntp::instant(ntp::units(now));
        let mut streams: BTreeMap<u32, Vec<(u64, Status)>> = BTreeMap::new();
        for packet in packets {
            let stream = streams.entry(packet.ssrc).or_default();
            if let Some((last, _)) = stream.last() {
                let min = last.saturating_add(1);
                WriteError::check("RTP sequence number after another", packet.sequence, min, u64::MAX)?;
            }
            let status = packet.arrival.map_or(Status::Missing, |(at, ecn)| {
                let offset = if at > now { Offset::UNAVAILABLE } else { Offset::of((dated - at).max(Span::ZERO)) };
                Status::Arrived { ecn, offset }
            });
            stream.push((packet.sequence, status));
        }
        let mut draft =
            Draft { limit: self.config.limit.get(), size: AROUND, streams: Vec::new(), next: 0, done: Vec::new() };
        for (ssrc, statuses) in streams {
            let mut next = statuses[0].0;
            for (sequence, status) in statuses {
                if sequence - next <= self.config.longest_gap.into() {
                    (next..sequence).for_each(|missing| draft.add(ssrc, missing, Status::Missing));
                }
                draft.add(ssrc, sequence, status);
                next = sequence.saturating_add(1);
            }
        }
        draft.finish();
        let message = |streams| Feedback { sender_ssrc: self.config.sender_ssrc, streams, reported };
        Ok(draft.done.into_iter().map(message).collect())
    }
}

/// A message under construction; holds its streams only.
struct Draft {
    limit: u64,
    /// Bytes of the message with `streams`.
    size: u64,
    streams: Vec<Stream>,
    /// The sequence number that would continue the last block.
    next: u64,
    done: Vec<Vec<Stream>>,
}

impl Draft {
    /// Adds a packet to its stream's last block, to a new block if the stream has none, or else to the next message.
    fn add(&mut self, ssrc: u32, sequence: u64, status: Status) {
        let follows = sequence == self.next;
        self.next = sequence.saturating_add(1);
        if let Some(last) = self.streams.last_mut().filter(|last| last.ssrc == ssrc) {
            let count = last.statuses.len();
            // The second status of a pair replaces padding.
            let more = if count % 2 == 0 { 4 } else { 0 };
            if follows && count < MAX_REPORTS.into() && self.size + more <= self.limit {
                last.statuses.push(status);
                self.size += more;
                return;
            }
            self.finish();
        } else if self.size + STREAM + 4 > self.limit {
            self.finish();
        }
        self.streams.push(Stream { ssrc, begin: sequence as u16, statuses: [status].to_vec() });
        self.size += STREAM + 4;
    }

    fn finish(&mut self) {
        if !self.streams.is_empty() {
            self.done.push(core::mem::take(&mut self.streams));
        }
        self.size = AROUND;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(ssrc: u32, sequence: u64, arrival: Option<(u64, Ecn)>) -> Received {
        let arrival = arrival.map(|(millis, ecn)| (Time::from_millis(millis), ecn));
        Received { ssrc, sequence, arrival }
    }

    fn shape(messages: &[Feedback]) -> Vec<Vec<(u32, u16, usize)>> {
        let block = |stream: &Stream| (stream.ssrc, stream.begin, stream.statuses.len());
        messages.iter().map(|message| message.streams.iter().map(block).collect()).collect()
    }

    #[test]
    fn a_message_worked_by_hand_comes_out() {
        let packets = [
            packet(9, 65_535, Some((1000, Ecn::Ce))),
            packet(4, 7, Some((1500, Ecn::NotCapable))),
            packet(9, 65_537, Some((1250, Ecn::Ect1))),
        ];
        let config = Config { sender_ssrc: 0x0102_0304, ..Config::default() };
        let messages = config.build().unwrap().messages(Time::from_millis(1500), &packets).unwrap();
        let mut out = Vec::new();
        messages[0].write(&mut out).unwrap();
        // Stream 4: received now. Stream 9: 512/1024 s ago with CE, missing, 256/1024 s ago with ECT(1). The time is
        // 1.5 s.
        let bytes = [
            0x8b, 205, 0, 9, 1, 2, 3, 4, 0, 0, 0, 4, 0, 7, 0, 1, 0x80, 0, 0, 0, 0, 0, 0, 9, 0xff, 0xff, 0, 3, 0xe2, 0,
            0, 0, 0xa1, 0, 0, 0, 0, 1, 0x80, 0,
        ];
        assert_eq!((messages.len(), out), (1, bytes.to_vec()));
    }

    #[test]
    fn what_came_long_ago_or_after_the_report_has_no_offset() {
        let packets = [packet(1, 1, Some((0, Ecn::Ce))), packet(1, 2, Some((10_001, Ecn::Ce)))];
        let messages = Config::default().build().unwrap().messages(Time::from_millis(10_000), &packets).unwrap();
        let offsets = [Offset::OVER_RANGE, Offset::UNAVAILABLE].map(|offset| Status::Arrived { ecn: Ecn::Ce, offset });
        assert_eq!(messages[0].streams[0].statuses, offsets);
    }

    #[test]
    fn a_message_ends_before_it_outgrows_its_limits() {
        let packets: Vec<Received> = (0..5).map(|sequence| packet(1, sequence, None)).collect();
        let other = [&packets[..], &[packet(2, 0, None)]].concat();
        let built = |limit: u64, packets: &[Received]| {
            let config = Config { limit: Bytes::new(limit), ..Config::default() };
            shape(&config.build().unwrap().messages(Time::ZERO, packets).unwrap())
        };
        assert_eq!(built(24, &other), [[(1, 0, 2)], [(1, 2, 2)], [(1, 4, 1)], [(2, 0, 1)]]);
        assert_eq!(built(28, &packets), [[(1, 0, 4)], [(1, 4, 1)]]);
        assert_eq!(built(44, &other), [[(1, 0, 5), (2, 0, 1)]]);
        for bad in [23, (1 << 18) + 1] {
            assert!(Config { limit: Bytes::new(bad), ..Config::default() }.build().is_err());
        }
    }

    #[test]
    fn the_largest_message_can_be_written() {
        let packets: Vec<Received> = (0..30_000).map(|number| packet(number / 3, number.into(), None)).collect();
        let config = Config { limit: Bytes::new(1 << 18), ..Config::default() };
        let messages = config.build().unwrap().messages(Time::ZERO, &packets).unwrap();
        assert!(messages.iter().all(|message| message.write(&mut Vec::new()).is_ok()));
        assert_eq!(messages.iter().map(|message| message.streams.len()).sum::<usize>(), 10_000);
        // 16 bytes per stream plus 12: the max of the length field.
        assert!(
            Config { limit: Bytes::new(160_012), ..Config::default() }
                .build()
                .unwrap()
                .messages(Time::ZERO, &packets)
                .unwrap()
                .len()
                == 1
        );
    }

    #[test]
    fn a_long_gap_and_a_full_block_go_on_in_another_message() {
        let built = |packets: &[Received]| {
            let config = Config { limit: Bytes::new(1 << 18), ..Config::default() };
            shape(&config.build().unwrap().messages(Time::ZERO, packets).unwrap())
        };
        assert_eq!(built(&[packet(1, 0, None), packet(1, 16_385, None)]), [[(1, 0, 16_384)], [(1, 16_384, 2)]]);
        assert_eq!(built(&[packet(1, 0, None), packet(1, 16_386, None)]), [[(1, 0, 1)], [(1, 16_386, 1)]]);
        // Exactly 2^16 apart: not the next number, although it looks like it in 16 bits.
        assert_eq!(built(&[packet(1, 0, None), packet(1, 65_537, None)]), [[(1, 0, 1)], [(1, 1, 1)]]);
    }

    #[test]
    fn numbers_that_do_not_increase_are_refused() {
        let builder = Config::default().build().unwrap();
        assert!(builder.messages(Time::ZERO, &[packet(1, 5, None), packet(2, 5, None), packet(1, 5, None)]).is_err());
        assert_eq!(builder.messages(Time::ZERO, &[]), Ok(Vec::new()));
    }
}
