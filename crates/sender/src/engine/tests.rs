//! The engine settles once after each input, and what follows from a change follows in one order.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use thalweg_control::{Acknowledgement, Controller, Decision, Demand, Feedback, PacketId, SendLimits, Signal};
use thalweg_types::{EncodePlan, Target};
use thalweg_units::{Rate, Size, Span, Time};

use super::settle::Changed;
use super::{Camera, Engine, Output};
use crate::event::{Event, Why};
use crate::frames::{FramePlan, FramePolicy, QueueVerdict, QueueView, View};
use crate::pacing;
use crate::parts::Parts;
use crate::scheme::{Scheme, known};
use crate::testing::encoded;

const CAMERA: Camera = Camera { size: Size::HD, interval: Span::from_millis(33) };

/// Allows another rate after each signal, and decides it.
struct Rising {
    rate: Rate,
    decision: Option<Decision>,
}

impl Controller for Rising {
    fn on_feedback(&mut self, _: &Feedback<'_>) {}

    fn on_signal(&mut self, at: Time, _: Signal) {
        let from = self.rate;
        self.rate = from + Rate::from_kbps(100);
        self.decision = Some(Decision { at, what: "increase", from, to: self.rate, why: "a signal" });
    }

    fn limits(&self) -> SendLimits {
        SendLimits::of_rate(self.rate)
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.decision.take()
    }
}

/// Holds pictures while anything is queued, and throws the queue away after 100 ms.
#[derive(Default)]
struct Careful {
    period: Option<Span>,
    forgotten: VecDeque<u64>,
    recovering: bool,
}

impl FramePolicy for Careful {
    fn begins_period(&self, _: &View) -> Option<Span> {
        self.period
    }

    fn plan(&mut self, view: &View) -> FramePlan {
        if view.queue.packets > 0 {
            return FramePlan::Hold(Why::QueueOld);
        }
        FramePlan::Encode(EncodePlan::new(vec![Target::Rate(view.limits.capacity)], view.source, view.interval))
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.recovering = feedback.reports.iter().any(|report| report.arrival().is_none());
    }

    fn on_flushed(&mut self, _: Time) -> bool {
        self.forgotten.push_back(0);
        true
    }

    fn is_recovering(&self, _: Time) -> bool {
        self.recovering
    }

    fn poll_forgotten(&mut self) -> Option<u64> {
        self.forgotten.pop_front()
    }

    fn on_queue(&mut self, now: Time, queue: &QueueView) -> QueueVerdict {
        if queue.age(now) >= Span::from_millis(100) { QueueVerdict::Flush } else { QueueVerdict::Keep }
    }
}

fn engine(policy: Careful) -> Engine {
    let controller = Rising { rate: Rate::from_kbps(1000), decision: None };
    let mut engine = Engine::with(Parts::new(Box::new(controller), Box::new(policy)), CAMERA, Time::ZERO).unwrap();
    engine.drain_events().for_each(drop);
    engine
}

/// Outputs up to the next wait.
fn drain(engine: &mut Engine) -> Vec<Output> {
    let mut outputs = Vec::new();
    loop {
        match engine.poll() {
            Output::Wait { .. } => return outputs,
            output => outputs.push(output),
        }
    }
}

fn events(engine: &mut Engine) -> Vec<Event> {
    let events = engine.drain_events().map(|timed| timed.event);
    events.filter(|event| !matches!(event, Event::Variable { .. })).collect()
}

fn place(events: &[Event], of: impl Fn(&Event) -> bool) -> usize {
    events.iter().position(of).unwrap_or_else(|| panic!("no such event in {events:?}"))
}

#[test]
fn a_signal_to_the_controller_changes_the_limits_once_and_tells_its_decision_before_them() {
    let mut engine = engine(Careful::default());
    engine.on_signal(Time::ZERO, Signal::ReceiverLimit(None));
    assert_eq!(engine.limits().capacity, Rate::from_kbps(1100));
    let events = events(&mut engine);
    assert!(matches!(events[..], [Event::Decision(_), Event::SendLimits { .. }]), "{events:?}");
}

#[test]
fn a_receivers_limit_holds_for_each_scheme_that_a_call_changes_to_until_it_is_lifted() {
    let schemes = ["gcc", "nada", "gcc", "thalweg"].map(|name| name.parse::<Scheme>().unwrap());
    let mut engine = Engine::new(&schemes[3], CAMERA, Time::ZERO).unwrap();
    let start = |scheme: &Scheme| scheme.controller.build().unwrap().limits().capacity;
    engine.on_signal(Time::ZERO, Signal::ReceiverLimit(Some(Rate::from_kbps(200))));
    for scheme in &schemes {
        assert!(engine.limits().capacity <= Rate::from_kbps(200), "{}", engine.limits().capacity);
        engine.change_scheme(Time::ZERO, scheme).unwrap();
    }
    engine.on_signal(Time::ZERO, Signal::Bounds(Demand { min: Rate::ZERO, max: Rate::from_kbps(100) }));
    assert!(engine.limits().capacity <= Rate::from_kbps(100), "the least of both: {}", engine.limits().capacity);
    engine.on_signal(Time::ZERO, Signal::ReceiverLimit(None));
    assert!(engine.limits().capacity <= Rate::from_kbps(100), "the other stays: {}", engine.limits().capacity);
    engine.on_signal(Time::ZERO, Signal::Bounds(Demand { min: Rate::ZERO, max: Rate::MAX }));
    assert_eq!(engine.limits().capacity, start(&schemes[3]));
}

#[test]
fn a_queue_too_old_is_thrown_away_and_what_the_policy_concludes_from_that_follows() {
    let mut engine = engine(Careful::default());
    engine.on_picture(Time::ZERO, 0);
    assert!(matches!(drain(&mut engine)[..], [Output::Encode { .. }]));
    engine.on_encoded(Time::ZERO, &[encoded(50_000)]);
    drain(&mut engine);
    engine.on_picture(Time::from_millis(33), 1);
    engine.on_timeout(Time::from_millis(100));
    let events = events(&mut engine);
    let reset = place(&events, |event| matches!(event, Event::Reset { .. }));
    assert!(matches!(events[reset + 1], Event::FrameFlushed { frame: 0, .. }), "{events:?}");
    assert!(events.contains(&Event::PictureSkipped { picture: 1, why: Why::QueueFlushed }));
    assert_eq!(drain(&mut engine), [Output::Forget { frame: 0 }]);
}

#[test]
fn a_loss_begins_recovery_once() {
    let mut engine = engine(Careful::default());
    engine.on_picture(Time::ZERO, 0);
    drain(&mut engine);
    engine.on_encoded(Time::ZERO, &[encoded(5_000)]);
    let mut sent = 0;
    for ms in 0..50 {
        engine.on_timeout(Time::from_millis(ms));
        sent += drain(&mut engine).iter().filter(|output| matches!(output, Output::Transmit(_))).count();
    }
    assert_eq!(sent, 5);
    events(&mut engine);
    let now = Time::from_millis(60);
    let report = [Acknowledgement::new(PacketId(0), None), Acknowledgement::new(PacketId(4), Some(now))];
    engine.on_feedback(now, &report, None);
    engine.on_feedback(now + Span::from_millis(400), &[], None);
    let began = events(&mut engine).iter().filter(|event| **event == Event::RecoveryBegan).count();
    assert_eq!(began, 1);
}

/// The packets of a frame that leave at once, after a frame whose probes are over.
fn at_once(scheme: &Scheme) -> usize {
    let mut engine = Engine::new(scheme, CAMERA, Time::ZERO).unwrap();
    let mut show = |picture: u64, at: Time, bytes: u64| {
        engine.on_picture(at, picture);
        drain(&mut engine);
        engine.on_encoded(at, &[encoded(bytes)]);
        let outputs = drain(&mut engine);
        for ms in 1..1000 {
            engine.on_timeout(at + Span::from_millis(ms));
            drain(&mut engine);
        }
        outputs.iter().filter(|output| matches!(output, Output::Transmit(_))).count()
    };
    show(0, Time::ZERO, 20_000);
    show(1, Time::from_millis(1000), 5_000)
}

#[test]
fn tokens_let_a_packet_leave_at_once_that_the_pacer_does_not_count() {
    let ace_n: Scheme = "ace-n".parse().unwrap();
    let paced = Scheme { pacing: pacing::Config { bucket: None, ..ace_n.pacing }, ..ace_n.clone() };
    assert_eq!([at_once(&paced), at_once(&ace_n)], [1, 2]);
}

#[test]
fn a_held_picture_is_encoded_after_the_packet_that_empties_the_queue() {
    let mut engine = engine(Careful::default());
    engine.on_picture(Time::ZERO, 0);
    drain(&mut engine);
    engine.on_encoded(Time::ZERO, &[encoded(2_000)]);
    drain(&mut engine);
    engine.on_picture(Time::from_millis(1), 1);
    assert!(events(&mut engine).contains(&Event::PictureHeld { picture: 1, why: Why::QueueOld }));
    let mut outputs = Vec::new();
    for ms in 1..50 {
        engine.on_timeout(Time::from_millis(ms));
        outputs.extend(drain(&mut engine));
    }
    assert!(matches!(outputs[..], [Output::Transmit(_), Output::Encode { picture: 1, .. }]), "{outputs:?}");
    let events = events(&mut engine);
    let last_sent = place(&events, |event| matches!(event, Event::FrameSent { frame: 0, .. }));
    assert!(place(&events, |event| matches!(event, Event::EncodeStarted { picture: 1, .. })) > last_sent);
}

#[test]
fn a_picture_that_waited_for_the_encoder_is_encoded_as_soon_as_it_is_free() {
    let mut engine = engine(Careful::default());
    engine.on_picture(Time::ZERO, 0);
    engine.on_picture(Time::from_millis(33), 1);
    assert!(matches!(drain(&mut engine)[..], [Output::Encode { picture: 0, .. }]));
    engine.on_encoded(Time::from_millis(40), &[]);
    assert!(matches!(drain(&mut engine)[..], [Output::Encode { picture: 1, .. }]));
}

#[test]
fn a_plan_sees_what_the_controller_allows_for_the_period_that_it_begins() {
    let mut engine = engine(Careful { period: Some(Span::from_secs(1)), ..Careful::default() });
    engine.on_picture(Time::ZERO, 0);
    let outputs = drain(&mut engine);
    let [Output::Encode { plan, .. }] = &outputs[..] else { panic!("{outputs:?}") };
    assert_eq!(plan.targets, [Target::Rate(Rate::from_kbps(1100))]);
}

#[test]
fn a_frame_changes_the_limits_before_it_is_recorded() {
    let mut engine = engine(Careful::default());
    engine.on_picture(Time::ZERO, 0);
    drain(&mut engine);
    events(&mut engine);
    engine.on_encoded(Time::ZERO, &[encoded(2_000)]);
    let events = events(&mut engine);
    let limits = place(&events, |event| matches!(event, Event::SendLimits { .. }));
    assert!(place(&events, |event| matches!(event, Event::FrameQueued { .. })) > limits);
}

#[derive(Debug, Clone)]
enum Input {
    Picture,
    Encoded(u64),
    Report { newest: u64, lost: bool },
    Timeout,
    Missing(u64),
    KeyframeRequest,
    Audio,
    Ceiling(Option<Rate>),
    Limit(Option<Rate>),
    Change(usize),
}

fn input() -> impl Strategy<Value = Input> {
    prop_oneof![
        4 => Just(Input::Picture),
        6 => prop_oneof![Just(0), 200_u64..60_000].prop_map(Input::Encoded),
        4 => (0_u64..8, any::<bool>()).prop_map(|(newest, lost)| Input::Report { newest, lost }),
        6 => Just(Input::Timeout),
        1 => (0_u64..100).prop_map(Input::Missing),
        1 => Just(Input::KeyframeRequest),
        1 => Just(Input::Audio),
        1 => prop::option::of(100_u64..5_000).prop_map(|kbps| Input::Ceiling(kbps.map(Rate::from_kbps))),
        1 => prop::option::of(0_u64..5_000).prop_map(|kbps| Input::Limit(kbps.map(Rate::from_kbps))),
        1 => any::<prop::sample::Index>().prop_map(|index| Input::Change(index.index(known().len()))),
    ]
}

/// A caller that answers what the engine asks for in any order.
struct Caller {
    engine: Engine,
    now: Time,
    pictures: u64,
    candidates: Option<usize>,
    sent: Vec<PacketId>,
}

impl Caller {
    fn give(&mut self, input: &Input) {
        let (engine, now) = (&mut self.engine, self.now);
        match input {
            Input::Picture => {
                engine.on_picture(now, self.pictures);
                self.pictures += 1;
            }
            Input::Encoded(bytes) => {
                let Some(count) = self.candidates.take() else { return };
                let mut frame = encoded(*bytes);
                frame.keyframe = self.pictures % 7 == 1;
                let candidates = vec![frame; if *bytes == 0 { 0 } else { count }];
                engine.on_encoded(now, &candidates);
            }
            Input::Report { newest, lost } => {
                let reported = self.sent.len().min(*newest as usize + 1);
                let acknowledge = |(place, id)| Acknowledgement::new(id, (!*lost || place % 3 > 0).then_some(now));
                let report: Vec<_> = self.sent.drain(..reported).enumerate().map(acknowledge).collect();
                engine.on_feedback(now, &report, None);
            }
            Input::Timeout => engine.on_timeout(now),
            Input::Missing(sequence) => engine.on_missing(now, &[*sequence]),
            Input::KeyframeRequest => engine.on_keyframe_request(now),
            Input::Audio => engine.on_audio(now, 0, 80),
            Input::Ceiling(rate) => engine.set_ceiling(now, *rate),
            Input::Limit(rate) => engine.on_signal(now, Signal::ReceiverLimit(*rate)),
            Input::Change(scheme) => engine.change_scheme(now, &known()[*scheme].scheme()).unwrap(),
        }
    }

    /// Checks that nothing was left for the next input to settle; the engine asserts that settling leaves nothing.
    fn has_settled(&self) {
        assert_eq!(self.engine.changed, Changed::default());
    }

    fn drain(&mut self) {
        loop {
            let output = self.engine.poll();
            self.has_settled();
            match output {
                Output::Encode { plan, .. } => self.candidates = Some(plan.targets.len()),
                Output::Transmit(packet) => self.sent.push(packet.sent.id),
                Output::Commit { .. } | Output::Forget { .. } => {}
                Output::Wait { .. } => return,
            }
        }
    }
}

proptest! {
    #[test]
    fn after_every_input_the_engine_has_settled(
        scheme in any::<prop::sample::Index>(),
        inputs in prop::collection::vec((input(), 0_i64..30_000), 1..80),
    ) {
        let scheme = known()[scheme.index(known().len())].scheme();
        let engine = Engine::new(&scheme, CAMERA, Time::ZERO).unwrap();
        let mut caller = Caller { engine, now: Time::ZERO, pictures: 0, candidates: None, sent: Vec::new() };
        for (input, after) in inputs {
            caller.now += Span::from_micros(after);
            caller.give(&input);
            caller.has_settled();
            caller.drain();
        }
    }
}
