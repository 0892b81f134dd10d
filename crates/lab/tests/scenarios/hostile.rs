//! Broken or lying receivers: they reduce quality, but never affect correctness or memory.

use std::collections::VecDeque;

use crate::scenarios::by_hand::{Call, Decoded, Modelled, Real, Report, Seen, truth};
use thalweg_control::PacketId;
use thalweg_netsim::LossModel;
use thalweg_sender::frames::StateHash;
use thalweg_units::{Random, Seed, Span, Time};

/// Max number of states that a sender keeps, including one being dropped.
const MAX_KEPT: usize = 65;

/// Transforms a receiver's reports, with its own random numbers.
type Saying = fn(&mut Random, &mut VecDeque<Report>, Report) -> Vec<Report>;

fn made_up(random: &mut Random, _: &mut VecDeque<Report>, mut report: Report) -> Vec<Report> {
    if let Some(decoder) = &mut report.decoder {
        decoder.current = StateHash(random.bits());
        decoder.complete = (0..random.below(100)).map(|_| StateHash(random.bits())).collect();
        decoder.interarrival = Span::from_nanos((random.bits() >> random.below(64)) as i64 & i64::MAX);
    }
    vec![report]
}

/// Hashes that were correct earlier, in any order.
fn out_of_date(random: &mut Random, before: &mut VecDeque<Report>, report: Report) -> Vec<Report> {
    before.push_back(report.clone());
    let index = random.below(before.len() as u64) as usize;
    let decoder = before[index].decoder.clone();
    if before.len() > 500 {
        before.pop_front();
    }
    vec![Report { decoder, ..report }]
}

/// Old states reported as those of the newest frame.
fn in_the_past(random: &mut Random, before: &mut VecDeque<Report>, report: Report) -> Vec<Report> {
    let mut said = out_of_date(random, before, report.clone());
    if let (Some(old), Some(new)) = (&mut said[0].decoder, &report.decoder) {
        (old.frame, old.fragment) = (new.frame, new.fragment);
    }
    said
}

/// Every report three times, the last one for a frame that was never sent.
fn thrice(random: &mut Random, _: &mut VecDeque<Report>, report: Report) -> Vec<Report> {
    let mut other = report.clone();
    if let Some(decoder) = &mut other.decoder {
        decoder.frame = random.bits() >> random.below(64);
    }
    vec![report.clone(), report, other]
}

/// Arrivals of packets that were never sent, or at arbitrary times.
fn wrong_arrivals(random: &mut Random, _: &mut VecDeque<Report>, mut report: Report) -> Vec<Report> {
    for acknowledgement in &mut report.acknowledgements {
        if random.chance(0.2) {
            acknowledgement.id = PacketId(random.bits() >> random.below(64));
        }
        if random.chance(0.2) {
            acknowledgement.arrival = random.chance(0.5).then(|| Time::from_millis(random.below(1 << 30)));
        }
    }
    vec![report]
}

fn nothing_of_states(_: &mut Random, _: &mut VecDeque<Report>, report: Report) -> Vec<Report> {
    vec![Report { decoder: None, ..report }]
}

fn no_state(_: &mut Random, _: &mut VecDeque<Report>, mut report: Report) -> Vec<Report> {
    if let Some(decoder) = &mut report.decoder {
        decoder.current = StateHash::UNKNOWN;
        decoder.complete.clear();
    }
    vec![report]
}

fn nothing(_: &mut Random, _: &mut VecDeque<Report>, _: Report) -> Vec<Report> {
    Vec::new()
}

const SAYINGS: [(&str, Saying); 8] = [
    ("made up", made_up),
    ("out of date", out_of_date),
    ("in the past", in_the_past),
    ("thrice", thrice),
    ("wrong arrivals", wrong_arrivals),
    ("nothing of states", nothing_of_states),
    ("no state", no_state),
    ("nothing", nothing),
];

fn saying(saying: Saying) -> impl FnMut(Report) -> Vec<Report> {
    let mut random = Seed::new(5).child("lies").random();
    let mut before = VecDeque::new();
    move |report| saying(&mut random, &mut before, report)
}

fn lossy(scheme: &'static str, duration: Span) -> Call {
    Call { scheme, duration, loss: vec![LossModel::Random { probability: 0.05 }], ..Call::default() }
}

fn print(scheme: &str, name: &str, seen: &Seen) {
    println!(
        "{scheme}, {name}: {} frames at {:.0}, {} exact, {} damaged, {} wrong, {} keyframes, {} recoveries, kept {:?}",
        seen.frames.len(),
        seen.coarseness(),
        seen.count(Decoded::Exact),
        seen.count(Decoded::Damaged),
        seen.count(Decoded::Wrong),
        seen.keyframes(),
        seen.recoveries,
        seen.max_kept
    );
}

#[test]
fn whatever_a_receiver_says_for_two_minutes_no_state_is_mistaken_and_memory_is_bounded() {
    for scheme in ["salsify", "salsify:paper", "vidaptive+functional"] {
        let call = lossy(scheme, Span::from_secs(120));
        let honest = call.play(&mut Modelled::new(call.size, call.seed), &mut truth);
        print(scheme, "truth", &honest);
        for (name, lie) in SAYINGS {
            let seen = call.play(&mut Modelled::new(call.size, call.seed), &mut saying(lie));
            print(scheme, name, &seen);
            assert_eq!(seen.count(Decoded::Wrong), 0, "{scheme}, {name}");
            // A sender without state reports does not know that the first frame was lost.
            let hears = !name.starts_with("nothing");
            // A window that hears nothing opens at feedback timeouts, ever further apart, and for probes.
            let min = if hears { 100 } else { 50 };
            assert!(seen.frames.len() > min && (!hears || seen.count(Decoded::Exact) > 500), "{scheme}, {name}");
            assert!(seen.max_kept.0 <= MAX_KEPT && seen.max_kept.1 <= MAX_KEPT, "{scheme}, {name}");
        }
    }
}

#[test]
fn whatever_a_receiver_says_pictures_that_are_taken_for_exact_are() {
    let call = lossy("salsify", Span::from_secs(8));
    let honest = call.play(&mut Real::new(call.size), &mut truth);
    print("salsify", "truth", &honest);
    for (name, lie) in SAYINGS {
        let seen = call.play(&mut Real::new(call.size), &mut saying(lie));
        print("salsify", name, &seen);
        assert_eq!(seen.count(Decoded::Wrong), 0, "{name}");
        assert!(seen.count(Decoded::Exact) > 0, "{name}");
        // States that the sender cannot return to cost keyframes, which reduce quality.
        if seen.keyframes() > 100 {
            assert!(seen.coarseness() > honest.coarseness() + 5.0, "{name}: {:.1}", seen.coarseness());
        }
    }
}
