//! The engine between a camera, an encoder and a path: everything a program that embeds it has to do.

use std::collections::BTreeMap;

use thalweg::control::{Acknowledgement, PacketId};
use thalweg::netsim::{Link, QueueConfig, Rates, Serial};
use thalweg::prelude::*;
use thalweg::types::{EncodePlan, EncodedFrame, Target};
use thalweg::units::Seed;

const INTERVAL: Span = Span::from_millis(33);
const ENCODING: Span = Span::from_millis(5);
const BACK: Span = Span::from_millis(25);

enum Event {
    Picture(u64),
    Encoded(EncodedFrame),
    Report(Acknowledgement),
}

/// The pending events in order of time; a real program has sockets and timers instead.
#[derive(Default)]
struct Agenda(BTreeMap<(Time, usize), Event>, usize);

impl Agenda {
    fn add(&mut self, at: Time, event: Event) {
        self.1 += 1;
        self.0.insert((at, self.1), event);
    }

    fn next(&self) -> Time {
        self.0.keys().next().map_or(Time::NEVER, |(at, _)| *at)
    }
}

/// An encoder that meets its target exactly.
fn encode(plan: &EncodePlan) -> EncodedFrame {
    let size = match plan.targets[0] {
        Target::Rate(rate) => rate.over(plan.interval),
        Target::Size(size) | Target::Guess(size) => size,
        Target::Quantizer(_) => Bytes::new(4000),
    };
    EncodedFrame::new(size, plan.size).with(|frame| frame.keyframe = plan.keyframe)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let camera = Camera { size: Size::HD, interval: INTERVAL };
    let mut engine = Engine::new(&"vidaptive".parse::<Scheme>()?, camera, Time::ZERO)?;
    let rates = Rates::in_turn(vec![Rate::from_kbps(3000), Rate::from_kbps(1000)], Span::from_secs(10))?;
    let mut path = Serial::new(rates, &QueueConfig::Infinite, Seed::new(1))?;
    let (mut agenda, mut second, mut sent, mut frames) = (Agenda::default(), 1, Bytes::ZERO, 0);
    agenda.add(Time::ZERO, Event::Picture(0));
    let mut wake = Time::NEVER;
    loop {
        let now = agenda.next().min(path.next_event()).min(wake);
        if now > Time::ZERO + Span::from_secs(second) {
            let (rate, estimate) = (sent.per(Span::from_secs(1)), engine.limits().capacity);
            println!("{second:3} s  sent {rate}, {frames} frames, estimate {estimate}, srtt {}", engine.srtt());
            (second, sent, frames) = (second + 1, Bytes::ZERO, 0);
        }
        if second > 20 {
            return Ok(());
        }
        // Everything that has happened is passed to the engine, each at its time ...
        while let Some(left) = path.poll(now) {
            let arrived = Acknowledgement::new(PacketId(left.packet), Some(left.at));
            agenda.add(left.at + BACK, Event::Report(arrived));
        }
        match agenda.0.first_entry().filter(|entry| entry.key().0 <= now).map(|entry| entry.remove()) {
            Some(Event::Picture(number)) => {
                engine.on_picture(now, number);
                agenda.add(now + INTERVAL, Event::Picture(number + 1));
            }
            Some(Event::Encoded(frame)) => engine.on_encoded(now, &[frame]),
            Some(Event::Report(report)) => engine.on_feedback(now, &[report], None),
            None => engine.on_timeout(now),
        }
        // ... and its outputs are handled until it has nothing to do before a later time.
        wake = loop {
            match engine.poll() {
                Output::Encode { plan, .. } => {
                    frames += 1;
                    agenda.add(now + ENCODING, Event::Encoded(encode(&plan)));
                }
                Output::Transmit(packet) => {
                    sent += packet.sent.size;
                    path.offer(now, packet.sent.size, packet.sent.id.0);
                }
                Output::Wait { until, .. } => break until,
                // The chosen candidate, and states to forget: only for codecs that keep several.
                _ => {}
            }
        };
        engine.drain_events().for_each(drop);
    }
}
