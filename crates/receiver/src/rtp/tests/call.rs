//! Complete calls over a path that loses, reorders and duplicates packets.

use std::collections::BTreeMap;

use super::*;
use proptest::prelude::*;
use thalweg_units::{Ecn, Random, Seed, Span};

/// Impairments of the path.
#[derive(Debug, Clone, Copy)]
struct Path {
    loss: f64,
    copies: f64,
    /// Max additional delay per packet.
    jitter: Span,
}

struct Call {
    now: Time,
    reception: Reception,
    sender: Sender,
    path: Path,
    random: Random,
    /// Packets in flight, by arrival time.
    queue: BTreeMap<(Time, u64), Vec<u8>>,
    sent: BTreeMap<u16, Vec<u8>>,
    count: u64,
    shown: Vec<VideoFrame>,
    keyframe_wanted: bool,
}

impl Call {
    fn new(path: Path, seed: u64) -> Call {
        Call {
            now: Time::ZERO,
            reception: Reception::new(config()).unwrap(),
            sender: Sender::new(),
            path,
            random: Seed::new(seed).child("path").random(),
            queue: BTreeMap::new(),
            sent: BTreeMap::new(),
            count: 0,
            shown: Vec::new(),
            keyframe_wanted: false,
        }
    }

    fn send(&mut self, packet: &[u8]) {
        if self.random.chance(self.path.loss) {
            return;
        }
        for _ in 0..1 + u64::from(self.random.chance(self.path.copies)) {
            let late = Span::from_nanos(self.random.below(self.path.jitter.as_nanos() as u64 + 1) as i64);
            self.count += 1;
            self.queue.insert((self.now + Span::from_millis(20) + late, self.count), packet.to_vec());
        }
    }

    fn frame(&mut self, frame: &[u8]) {
        let timestamp = (self.now.as_millis() * 90) as u32;
        for packet in self.sender.frame(timestamp, frame) {
            self.sent.insert(Packet::parse(&packet).unwrap().header.sequence, packet.clone());
            self.send(&packet);
        }
    }

    /// Requests reach the sender immediately; its retransmissions take the path like all packets.
    fn heed(&mut self, datagram: &[u8]) {
        for packet in rtcp::parse(datagram).unwrap() {
            match packet {
                Rtcp::Nack(nack) => {
                    for sequence in nack.lost() {
                        let retransmission = self.sender.retransmission(&self.sent[&sequence]);
                        self.send(&retransmission);
                    }
                }
                Rtcp::Pli(_) => self.keyframe_wanted = true,
                _ => {}
            }
        }
    }

    fn run(&mut self, until: Time) {
        loop {
            let due = loop {
                match self.reception.poll() {
                    Output::Wait { until } => break until,
                    Output::Frame(frame) => self.shown.push(frame),
                    Output::Rtcp(datagram) => self.heed(&datagram),
                    Output::Audio(_) | Output::Abandoned(_) => {}
                }
            };
            let arrival = self.queue.keys().next().copied().unwrap_or((Time::NEVER, 0));
            if due.min(arrival.0) > until {
                self.now = until;
                return;
            }
            if due < arrival.0 {
                assert!(due > self.now, "it wakes up for nothing at {due}");
                self.now = due;
                self.reception.on_timeout(due);
            } else if let Some(packet) = self.queue.remove(&arrival) {
                self.now = self.now.max(arrival.0);
                self.reception.on_rtp(self.now, Ecn::NotCapable, &packet);
            }
        }
    }
}

/// The frames of a call of three seconds at 30 fps, and the frames shown.
fn call(path: Path, seed: u64, sizes: &[usize]) -> (Vec<Vec<u8>>, Call) {
    let mut call = Call::new(path, seed);
    let mut sent = Vec::new();
    for index in 0..90 {
        call.run(at(33 * index));
        let keyframe = index == 0 || std::mem::take(&mut call.keyframe_wanted);
        let frame = picture(keyframe, index as u8 & 0x7f, sizes[index as usize % sizes.len()]);
        call.frame(&frame);
        sent.push(frame);
    }
    call.run(at(6000));
    (sent, call)
}

#[test]
fn with_a_tenth_lost_every_frame_is_shown_by_retransmissions_alone() {
    let path = Path { loss: 0.1, copies: 0.0, jitter: Span::ZERO };
    let (sent, call) = call(path, 1, &[700, 300, 50]);
    let shown: Vec<&Vec<u8>> = call.shown.iter().map(|frame| &frame.data).collect();
    // The very last packet may be lost with no later packet to reveal it.
    assert!(shown.len() + 1 >= sent.len() && sent.iter().zip(&shown).all(|(sent, shown)| sent == *shown));
    let statistics = call.reception.statistics();
    assert_eq!((statistics.video.keyframes, statistics.video.abandoned), (1, 0));
    assert!(statistics.video.retransmitted > 20, "{statistics:?}");
    assert!(
        call.shown.iter().map(|frame| u64::from(frame.retransmitted)).sum::<u64>() == statistics.video.retransmitted
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn frames_are_shown_as_they_were_sent_and_in_order(
        loss in prop_oneof![Just(0.0), 0.0..0.4], copies in 0.0..0.3, jitter in 0i64..80,
        sizes in prop::collection::vec(1usize..1500, 1..7), seed: u64,
    ) {
        let path = Path { loss, copies, jitter: Span::from_millis(jitter) };
        let (sent, call) = call(path, seed, &sizes);
        let mut from = 0;
        for (place, shown) in call.shown.iter().enumerate() {
            let found = sent[from..].iter().position(|frame| *frame == shown.data);
            prop_assert!(found.is_some(), "frame {} is none that was sent after the one before", place);
            let index = from + found.unwrap_or(0);
            // No frames are skipped between keyframes.
            prop_assert!(shown.keyframe || index == from, "{} frames left out before {}", index - from, index);
            prop_assert_eq!(shown.keyframe, sent[index][0] & 1 == 0);
            prop_assert_eq!(shown.number, place as u64);
            from = index + 1;
        }
        if loss == 0.0 {
            prop_assert_eq!(call.shown.len(), sent.len());
        }
        let counts = call.reception.statistics().video;
        prop_assert!(counts.frames + counts.abandoned <= sent.len() as u64);
    }
}
