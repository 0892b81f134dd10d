//! Calls with audio beside the video, and with a change of scheme.

use std::collections::BTreeMap;
use std::str::FromStr;

use thalweg_control::{Acknowledgement, fixed};
use thalweg_sender::frames::{EncodePlan, EncodedFrame, StateHash, Target, Transition};
use thalweg_sender::scheme::ControllerConfig;
use thalweg_sender::{Camera, Content, Engine, Event, Output, Packet, Scheme, repair, scheme};
use thalweg_units::{Bytes, Rate, Size, Span, Time};

const INTERVAL: Span = Span::from_millis(33);
const DELAY: Span = Span::from_millis(20);
const AUDIO: Span = Span::from_millis(20);

enum Happening {
    Picture(u64),
    Audio(u64),
    Encoded(Vec<EncodedFrame>),
    Report(Acknowledgement),
}

/// A sender on a path of 3 Mbps with an unlimited queue, with an encoder that produces exactly its target.
struct Call {
    engine: Engine,
    happenings: BTreeMap<(Time, u64), Happening>,
    count: u64,
    free: Time,
    sent: Vec<(Time, Packet)>,
    events: Vec<Event>,
    states: u64,
}

impl Call {
    fn new(scheme: &Scheme) -> Call {
        let camera = Camera { size: Size::HD, interval: INTERVAL };
        Call {
            engine: Engine::new(scheme, camera, Time::ZERO).unwrap(),
            happenings: BTreeMap::new(),
            count: 0,
            free: Time::ZERO,
            sent: Vec::new(),
            events: Vec::new(),
            states: 0,
        }
    }

    fn happens(&mut self, at: Time, what: Happening) {
        self.count += 1;
        self.happenings.insert((at, self.count), what);
    }

    fn run(&mut self, from: Time, until: Time, audio: bool) {
        let (mut at, mut number) = (from, from.as_nanos() / INTERVAL.as_nanos() as u64);
        while at < until {
            self.happens(at, Happening::Picture(number));
            (at, number) = (at + INTERVAL, number + 1);
        }
        let mut at = from;
        while audio && at < until {
            self.happens(at, Happening::Audio(at.as_nanos()));
            at += AUDIO;
        }
        let mut wake = from;
        loop {
            let next = self.happenings.keys().next().map_or(Time::NEVER, |(at, _)| *at);
            let now = next.min(wake);
            if now >= until {
                break;
            }
            if next <= now {
                let Some((_, what)) = self.happenings.pop_first() else { break };
                match what {
                    Happening::Picture(number) => self.engine.on_picture(now, number),
                    Happening::Audio(number) => self.engine.on_audio(now, number, 80),
                    Happening::Encoded(frames) => self.engine.on_encoded(now, &frames),
                    Happening::Report(reported) => self.engine.on_feedback(now, &[reported], None),
                }
            } else {
                self.engine.on_timeout(now);
            }
            wake = self.pump(now);
        }
    }

    fn pump(&mut self, now: Time) -> Time {
        loop {
            match self.engine.poll() {
                Output::Transmit(packet) => {
                    let begins = self.free.max(now + DELAY);
                    self.free = begins + Rate::from_kbps(3000).time_for(packet.sent.size);
                    let reported = Acknowledgement { id: packet.sent.id, arrival: Some(self.free), ce: false };
                    self.happens(self.free + DELAY, Happening::Report(reported));
                    self.sent.push((now, packet));
                }
                Output::Encode { plan, .. } => {
                    let frames = self.encode(&plan);
                    self.happens(now + Span::from_millis(5), Happening::Encoded(frames));
                }
                Output::Commit { .. } | Output::Forget { .. } => {}
                Output::Wait { until, .. } => {
                    self.events.extend(self.engine.drain_events().map(|timed| timed.event));
                    return until;
                }
            }
        }
    }

    fn encode(&mut self, plan: &EncodePlan) -> Vec<EncodedFrame> {
        let frame = |target: &Target| {
            self.states += 1;
            let size = match target {
                Target::Rate(rate) => rate.over(INTERVAL),
                Target::Size(size) | Target::Guess(size) => *size,
                Target::Quantizer(_) => Bytes::new(4000),
            };
            let transition = Transition { source: StateHash(1), target: StateHash(self.states + 1) };
            EncodedFrame {
                size: size.max(Bytes::new(200)),
                keyframe: plan.keyframe,
                layer: 0,
                quantizer: Some(40),
                picture: plan.size,
                transition: Some(transition),
            }
        };
        plan.targets.iter().map(frame).collect()
    }

    fn frames(&self, from: Time) -> Vec<(u64, bool)> {
        let media = self.sent.iter().filter(|(at, _)| *at >= from).filter_map(|(_, packet)| match packet.content {
            Content::Media { fragment, .. } if fragment.index == 0 => Some((fragment.frame, fragment.keyframe)),
            _ => None,
        });
        media.collect()
    }
}

#[test]
fn audio_leaves_the_moment_it_is_made_under_every_scheme() {
    for known in scheme::known() {
        let mut call = Call::new(&known.scheme());
        call.run(Time::ZERO, Time::from_millis(3000), true);
        let audio_packets: Vec<(Time, u64)> = (call.sent.iter())
            .filter_map(|(at, packet)| match packet.content {
                Content::Audio { number, .. } => Some((*at, number)),
                _ => None,
            })
            .collect();
        assert_eq!(audio_packets.len(), 150, "{}", known.name);
        for (at, number) in audio_packets {
            assert_eq!(at.as_nanos(), number, "{}: audio waited", known.name);
        }
        assert!(call.frames(Time::ZERO).len() > 20, "{}: frames go beside it", known.name);
    }
}

#[test]
fn audio_is_taken_off_what_the_encoder_is_aimed_at() {
    let target = |audio| {
        let controller = ControllerConfig::Fixed(fixed::Config { rate: Rate::from_kbps(1000) });
        let mut call = Call::new(&Scheme { controller, ..Scheme::from_str("gcc").unwrap() });
        call.run(Time::ZERO, Time::from_millis(20_000), audio);
        let targets = call.events.iter().rev().filter_map(|event| match event {
            Event::EncodeStarted { target, .. } => Some(target.as_bps_f64()),
            _ => None,
        });
        targets.take(30).sum::<f64>() / 30.0
    };
    // 150 bytes 50 times a second are 60 kbps of 1 Mbps.
    let (with, without) = (target(true), target(false));
    assert!((0.91..0.97).contains(&(with / without)), "{with} against {without}");
}

#[test]
fn a_scheme_with_a_parameter_out_of_range_is_refused_and_nothing_has_changed() {
    let (change, end) = (Time::from_millis(2000), Time::from_millis(4000));
    let play = |scheme: Option<&Scheme>| {
        let mut call = Call::new(&"vidaptive".parse().unwrap());
        call.run(Time::ZERO, change, true);
        if let Some(scheme) = scheme {
            let problem = call.engine.change_scheme(change, scheme).unwrap_err().to_string();
            assert!(problem.contains("repair.packets is 0"), "{problem}");
        }
        call.run(change, end, true);
        (call.sent, call.events)
    };
    // The last part to be built: all parts before it were valid.
    let gcc: Scheme = "gcc".parse().unwrap();
    let repair = gcc.repair.map(|repair| repair::Config { packets: 0, ..repair });
    assert_eq!(play(Some(&Scheme { repair, ..gcc })), play(None));
}

#[test]
fn any_scheme_can_follow_any_other_and_numbers_go_on() {
    let (change, end) = (Time::from_millis(2000), Time::from_millis(5000));
    for before in ["gcc", "vidaptive", "camel", "salsify", "bbr"] {
        for after in scheme::known() {
            let mut call = Call::new(&before.parse().unwrap());
            call.run(Time::ZERO, change, true);
            call.engine.change_scheme(change, &after.scheme()).unwrap();
            call.pump(change);
            let name = format!("{before} then {}", after.name);
            call.run(change, end, true);
            let ids: Vec<u64> = call.sent.iter().map(|(_, packet)| packet.sent.id.0).collect();
            assert!(ids.iter().enumerate().all(|(place, id)| place as u64 == *id), "{name}: packets' numbers go on");
            let media: Vec<u64> = (call.sent.iter())
                .filter_map(|(_, packet)| match packet.content {
                    Content::Media { sequence, .. } => Some(sequence),
                    _ => None,
                })
                .collect();
            assert!(media.iter().enumerate().all(|(place, sequence)| place as u64 == *sequence), "{name}");
            let frames = call.frames(change);
            // No receiver here reports times between arrivals, so Salsify allows only small frames, and one guess in a
            // hundred fits.
            let min = if after.name.contains("conventional") { 1 } else { 15 };
            assert!(frames.len() >= min, "{name}: {} frames in 3 s", frames.len());
            assert!(frames[0].1, "{name}: the first frame is a keyframe");
            assert!(call.events.contains(&Event::SchemeChanged));
        }
    }
}
