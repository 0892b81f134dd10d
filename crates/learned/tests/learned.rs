//! A controller that a policy leads, and GCC that takes over.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use thalweg_control::{Acknowledgement, Controller, Decision, Demand, History, PacketId, SentPacket, Signal};
use thalweg_learned::{Action, Deadline, Learned, Observation, Policy, Terms};
use thalweg_units::{Bytes, Rate, Span, Time};

const TERMS: Terms = Terms {
    observation: Observation::Raw,
    action: Action::Bps,
    interval: Span::from_millis(60),
    start: Rate::from_kbps(300),
};

/// Decisions of a controller, and its limits at the end.
struct Played {
    decisions: Vec<Decision>,
    /// Capacity at the end of each tenth of a second, in kbit/s.
    kbps: Vec<u64>,
}

/// A call of so many seconds over a path of 40 ms that loses nothing, with a packet of 1200 bytes every 10 ms: 960 kbit/s.
fn play(controller: Learned, seconds: u64) -> Played {
    play_over(controller, seconds, 1200, |_| 20)
}

/// The same with packets of this size, over a path with a one-way delay in ms that depends on when a packet was sent.
fn play_over(mut controller: Learned, seconds: u64, bytes: u64, delay: impl Fn(u64) -> u64) -> Played {
    let demand = Demand { min: Rate::from_kbps(100), max: Rate::from_kbps(5000) };
    controller.on_demand(Time::ZERO, demand);
    let mut history = History::default();
    let (mut decisions, mut kbps) = (Vec::new(), Vec::new());
    for ms in 0..seconds * 1000 {
        let now = Time::from_millis(ms);
        if controller.next_timeout() <= now {
            controller.on_timeout(now);
        }
        if ms % 10 == 0 {
            let packet = SentPacket::new(PacketId(ms / 10), now, Bytes::new(bytes));
            controller.on_sent(&history.on_sent(packet));
        }
        if ms % 50 == 45 {
            let first = (ms / 50 * 5).saturating_sub(5);
            let arrived = |id| Acknowledgement::new(PacketId(id), Some(Time::from_millis(10 * id + delay(10 * id))));
            let reported: Vec<_> = (first..first + 5).map(arrived).collect();
            controller.on_feedback(&history.on_report(now, &reported, None));
        }
        decisions.extend(std::iter::from_fn(|| controller.poll_decision()));
        let limits = controller.limits();
        assert!(limits.capacity >= demand.min && limits.capacity <= demand.max, "{limits:?} at {now}");
        if ms % 100 == 99 {
            kbps.push(limits.capacity.as_bps() / 1000);
        }
    }
    Played { decisions, kbps }
}

fn learned(policy: impl Policy + 'static, deadline: Option<Deadline>) -> Learned {
    Learned::new(Box::new(policy), TERMS, deadline).unwrap()
}

/// The changes of who leads, with their times in ms.
fn leads(played: &Played) -> Vec<(u64, &'static str, &'static str)> {
    let changes = played.decisions.iter().filter(|decision| decision.what.ends_with("leads"));
    changes.map(|change| (change.at.as_millis(), change.what, change.why)).collect()
}

#[test]
fn a_sane_policy_leads_from_the_beginning_within_what_the_application_can_use() {
    for (bps, kbps) in [(700e3, 700), (7e6, 5000), (60e3, 100)] {
        let played = play(learned(move |_: &[f32], answer: &mut [f32]| answer.fill(bps), None), 3);
        assert!(played.kbps.iter().all(|found| *found == kbps), "{:?}", played.kbps);
        assert!(played.decisions.is_empty(), "{:?}", played.decisions);
    }
}

#[test]
fn gcc_takes_over_when_answers_are_no_numbers_and_hands_back_when_they_were_sane_for_a_second() {
    for nonsense in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut count = 0;
        // Answers 20 to 29 are nonsense: those of 1.2 s to 1.74 s.
        let policy = move |_: &[f32], answer: &mut [f32]| {
            answer.fill(if (20..30).contains(&count) { nonsense } else { 700e3 });
            count += 1;
        };
        let played = play(learned(policy, None), 5);
        let why = ["the policy's answer is not finite", "its answers were sane for a second"];
        assert_eq!(leads(&played), [(1200, "gcc leads", why[0]), (2820, "policy leads", why[1])]);
        assert!(played.kbps[..11].iter().chain(&played.kbps[29..]).all(|kbps| *kbps == 700), "{:?}", played.kbps);
        // GCC has had the same reports from the beginning: it is beyond its start of 300 kbit/s, and goes on from there.
        let led = &played.kbps[13..27];
        assert!(led.iter().all(|kbps| *kbps > 300 && *kbps < 400) && led.last() > led.first(), "{led:?}");
    }
}

#[test]
fn what_gcc_decides_is_said_only_while_it_leads() {
    let mut count = 0;
    // From answer 34 on, at 2.04 s, nonsense.
    let policy = move |_: &[f32], answer: &mut [f32]| {
        answer.fill(if count < 34 { 700e3 } else { f32::NAN });
        count += 1;
    };
    // Of 240 kbit/s; a queue that grows by half of the time that passes: in the first second, and in the third.
    let delay = |ms: u64| 20 + if (ms / 1000).is_multiple_of(2) { ms % 1000 / 2 } else { 0 };
    let played = play_over(learned(policy, None), 4, 300, delay);
    let own = played.decisions.iter().filter(|decision| !decision.what.ends_with("leads"));
    let times: Vec<u64> = own.map(|decision| decision.at.as_millis()).collect();
    assert!(!times.is_empty() && times.iter().all(|ms| *ms > 2040), "{times:?}");
}

#[test]
fn a_single_answer_that_is_nonsense_begins_the_second_anew() {
    let mut count = 0;
    let policy = move |_: &[f32], answer: &mut [f32]| {
        answer.fill(if [20, 30].contains(&count) { f32::NAN } else { 700e3 });
        count += 1;
    };
    let changes = play(learned(policy, None), 5);
    let at: Vec<u64> = leads(&changes).iter().map(|change| change.0).collect();
    // Sane from answer 31 on, at 1.86 s; a second later the next time to answer is 2.88 s.
    assert_eq!(at, [1200, 2880]);
}

/// A policy that fails, and counts how often it is made to forget.
struct Failing(Arc<AtomicU64>);

impl Policy for Failing {
    fn answer(&mut self, _: &[f32], _: &mut [f32]) -> Result<(), String> {
        Err("out of order".into())
    }

    fn restart(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_policy_that_cannot_answer_never_leads_and_forgets_each_time() {
    let forgotten = Arc::new(AtomicU64::new(0));
    let played = play(learned(Failing(forgotten.clone()), None), 3);
    assert_eq!(leads(&played), [(0, "gcc leads", "the policy's answer cannot be computed")]);
    assert_eq!(forgotten.load(Ordering::Relaxed), 50);
}

#[test]
fn a_late_answer_is_none_where_time_passes_while_a_policy_computes() {
    // A clock that only the policy advances: by 4 ms, and from the tenth answer on by 6 ms.
    let clock = Arc::new(AtomicU64::new(0));
    let (advanced, mut count) = (clock.clone(), 0);
    let policy = move |_: &[f32], answer: &mut [f32]| {
        advanced.fetch_add(if count < 10 { 4 } else { 6 }, Ordering::Relaxed);
        count += 1;
        answer.fill(700e3);
    };
    let read = move || Time::from_millis(clock.load(Ordering::Relaxed));
    let deadline = Deadline { within: Span::from_millis(5), clock: Arc::new(read) };
    let played = play(learned(policy, Some(deadline)), 3);
    assert_eq!(leads(&played), [(600, "gcc leads", "the policy's answer is late")]);
}

#[test]
fn the_receivers_limit_holds_whatever_the_policy_wants() {
    let mut controller = learned(|_: &[f32], answer: &mut [f32]| answer.fill(700e3), None);
    controller.on_demand(Time::ZERO, Demand { min: Rate::from_kbps(100), max: Rate::from_kbps(5000) });
    controller.on_timeout(Time::ZERO);
    for (limit, kbps) in [(Some(400), 400), (Some(50), 100), (Some(900), 700), (None, 700)] {
        controller.on_signal(Time::ZERO, Signal::ReceiverLimit(limit.map(Rate::from_kbps)));
        assert_eq!(controller.limits().capacity, Rate::from_kbps(kbps));
    }
}

#[test]
fn a_packet_that_leaves_before_the_first_answer_belongs_to_the_first_interval() {
    let seen = Arc::new(AtomicU64::new(0));
    let sent = seen.clone();
    let policy = move |observation: &[f32], answer: &mut [f32]| {
        // Sent in the newest interval, in kbit/s.
        sent.store((observation[0] * 1000.0) as u64, Ordering::Relaxed);
        answer.fill(700e3);
    };
    let terms = Terms { observation: Observation::Mowgli, ..TERMS };
    let mut controller = Learned::new(Box::new(policy), terms, None).unwrap();
    let begin = Time::from_millis(1000);
    controller.on_sent(&History::default().on_sent(SentPacket::new(PacketId(0), begin, Bytes::new(1200))));
    controller.on_timeout(begin);
    assert_eq!((seen.load(Ordering::Relaxed), controller.limits().capacity), (0, Rate::from_kbps(700)));
    controller.on_timeout(begin + TERMS.interval);
    assert_eq!(seen.load(Ordering::Relaxed), 160);
}
