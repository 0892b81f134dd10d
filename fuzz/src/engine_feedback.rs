//! A sender whose receiver reports whatever it likes.

use thalweg_control::{Acknowledgement, PacketId, PathReport};
use thalweg_sender::frames::{EncodedFrame, StateHash, Target, Transition};
use thalweg_sender::{Camera, Engine, Event, Output, Why, scheme};
use thalweg_units::{Bytes, Ecn, Rate, Size, Span, Time};

use crate::steps::Steps;

const INTERVAL: Span = Span::from_millis(33);
/// Depth of the bucket of a ceiling (`thalweg_sender::frames::CAP_DEPTH`).
const DEPTH: Span = thalweg_sender::frames::CAP_DEPTH;
/// The longest packet, with all that is around it.
const PACKET: Bytes = Bytes::new(1500);
/// The least time between two keyframes that are made because the receiver asks (libwebrtc `EncoderRtcpFeedback`).
const KEYFRAMES: Span = Span::from_millis(300);
/// More outputs at one instant than any sender has a reason for.
const MOST: usize = 20_000;

/// A scheme under a ceiling, both of the first bytes, with a camera and an encoder that makes what it is asked for, and
/// reports of the rest: never is more sent than the ceiling allows, nor a keyframe made on request within 300 ms of
/// another.
pub fn engine_feedback(data: &[u8]) {
    let mut steps = Steps(data);
    let known = scheme::known();
    let scheme = known[usize::from(steps.byte()) % known.len()].scheme();
    let ceiling = Rate::from_kbps(100 + 20 * u64::from(steps.byte()));
    let camera = Camera { size: Size::new(320, 180), interval: INTERVAL };
    let mut engine = Engine::new(&scheme, camera, Time::ZERO).expect("a good scheme");
    engine.set_ceiling(Time::ZERO, Some(ceiling));
    let mut world = World { ceiling, ..World::default() };
    let (mut now, mut picture) = (Time::ZERO, 0);
    while steps.more() {
        let what = steps.byte();
        now += Span::from_millis(i64::from(what >> 4) * 4);
        while Time::ZERO + INTERVAL * picture <= now {
            // What is due before has its own time.
            let at = Time::ZERO + INTERVAL * picture;
            world.pass(&mut engine, at);
            engine.on_picture(at, picture as u64);
            world.drain(&mut engine, at);
            picture += 1;
        }
        world.pass(&mut engine, now);
        match what & 7 {
            0 => {}
            1 => engine.on_keyframe_request(now),
            2 => {
                let first = world.next.saturating_sub(steps.number(1) * 4);
                let sequences: Vec<u64> = (first..first + u64::from(steps.byte())).collect();
                engine.on_missing(now, &sequences);
            }
            3 => engine.on_path_report(
                now,
                &PathReport {
                    capacity: Some(Rate::from_bps(steps.number(5))),
                    received: Bytes::new(steps.number(4)),
                    lost: Bytes::new(steps.number(3)),
                },
            ),
            _ => {
                let acknowledgements = world.reported(&mut steps, now);
                let hold = (what & 1 != 0).then(|| Span::from_micros(steps.number(3) as i64));
                engine.on_feedback(now, &acknowledgements, hold);
            }
        }
        world.drain(&mut engine, now);
    }
}

/// Packets sent, and those of them that count.
#[derive(Default)]
struct World {
    ceiling: Rate,
    /// The number of the next packet.
    next: u64,
    /// When the bucket that the ceiling is would be full again, if nothing more were sent.
    full: Time,
    keyframe_made: Option<Time>,
}

impl World {
    /// Does what is due up to `until`.
    fn pass(&mut self, engine: &mut Engine, until: Time) {
        for _ in 0..MOST {
            let due = self.drain(engine, engine.view().now);
            if due > until {
                engine.on_timeout(until);
                self.drain(engine, until);
                return;
            }
            engine.on_timeout(due);
        }
        panic!("no end before {until}");
    }

    /// Takes every output; returns when the next is due.
    fn drain(&mut self, engine: &mut Engine, now: Time) -> Time {
        for _ in 0..MOST {
            match engine.poll() {
                Output::Transmit(packet) => {
                    let size = packet.sent.size;
                    assert!(size <= PACKET, "{size} in a packet");
                    self.next = packet.sent.id.0 + 1;
                    self.full = self.full.max(now) + self.ceiling.time_for(size);
                    let most = now + DEPTH + self.ceiling.time_for(PACKET);
                    assert!(self.full <= most, "more than {} at {now}", self.ceiling);
                }
                Output::Encode { plan, .. } => {
                    let size = |target: &Target| match target {
                        Target::Rate(rate) => rate.over(plan.interval),
                        Target::Size(size) | Target::Guess(size) => *size,
                        Target::Quantizer(_) => Bytes::new(4000),
                    };
                    let frames: Vec<EncodedFrame> = plan
                        .targets
                        .iter()
                        .map(|target| {
                            EncodedFrame::new(Bytes::new(size(target).get().clamp(20, 100_000)), plan.size).with(
                                |frame| {
                                    frame.keyframe = plan.keyframe;
                                    frame.layer = plan.layer.number;
                                    frame.transition =
                                        Some(Transition { source: StateHash(7), target: StateHash(self.next) });
                                },
                            )
                        })
                        .collect();
                    engine.on_encoded(now, &frames);
                }
                Output::Wait { until, .. } => {
                    for event in engine.drain_events() {
                        if let Event::KeyframeForced { why: Why::ReceiverRequest } = event.event {
                            let soon = self.keyframe_made.is_some_and(|last| event.at - last < KEYFRAMES);
                            assert!(!soon, "another keyframe at {}", event.at);
                            self.keyframe_made = Some(event.at);
                        }
                    }
                    return until;
                }
                _ => {}
            }
        }
        panic!("no end at {now}");
    }

    /// Acknowledgements of packets before and after the newest, arrived at any time or lost.
    fn reported(&self, steps: &mut Steps<'_>, now: Time) -> Vec<Acknowledgement> {
        let (back, count) = (steps.number(1) * 2, steps.byte());
        let (first, arrived) = (self.next.saturating_sub(back), steps.byte());
        let (delay, spacing) = (Span::from_micros(steps.number(3) as i64), Span::from_micros(steps.number(2) as i64));
        let then = if arrived & 1 != 0 { now + delay } else { now - delay };
        let one = |index: u64| {
            let arrival = (arrived >> (index % 8) & 1 == 0).then(|| then + spacing * index as i64);
            Acknowledgement::new(PacketId(first + index), arrival).with_ecn(Ecn::ALL[usize::from(arrived >> 6)])
        };
        (0..u64::from(count)).map(one).collect()
    }
}
