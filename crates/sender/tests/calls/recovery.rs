//! Recovery over a bad path, from the sender's plans to the receiver's pictures: every decoded frame is as the encoder
//! made it.

use proptest::prelude::*;
use thalweg_sender::frames::{StateHash, recovery};
use thalweg_sender::repair::fec;
use thalweg_sender::scheme::FramesConfig;
use thalweg_sender::{Event, Scheme};
use thalweg_types::feedback::DecoderReport;
use thalweg_types::{ReceiverKind, StatefulReceiver};
use thalweg_units::{Span, Time};

use crate::world::{Outcome, Path, World, truth};

fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

const GOOD_FROM: Time = Time::from_millis(5000);
const END: Time = Time::from_millis(12_000);
/// Nothing happens to packets, but a queue that gets too long loses them.
const BAD: Path = Path { bad_until: GOOD_FROM, ..Path::GOOD };

fn stateful(max_states: usize) -> Option<ReceiverKind> {
    Some(ReceiverKind::Stateful(StatefulReceiver { max_states, ..StatefulReceiver::default() }))
}

fn any_path() -> impl Strategy<Value = Path> {
    (0.0..0.4, 0.0..0.6, 0.0..0.3, 0i64..150, 0i64..150, 0u64..4000, 0u64..3000).prop_map(
        |(loss, report_loss, duplicates, jitter, report_jitter, from, lasts)| Path {
            loss,
            report_loss,
            duplicates,
            jitter: Span::from_millis(jitter),
            report_jitter: Span::from_millis(report_jitter),
            outage: (ms(from), ms((from + lasts).min(5000))),
            bad_until: GOOD_FROM,
        },
    )
}

/// The scheme of this name, with recovery for a standard receiver if `standard` is set.
fn scheme(name: &str, standard: bool) -> Scheme {
    let mut scheme: Scheme = name.parse().unwrap();
    let recovery = match &mut scheme.frames {
        FramesConfig::LateChoice(frames) => &mut frames.recovery,
        FramesConfig::Budgeted(frames) => &mut frames.recovery,
        other => panic!("{other:?}"),
    };
    if standard {
        *recovery = recovery::Config::LongTerm(recovery::long_term::Config::default());
    }
    scheme
}

/// The last one sends FEC.
const SCHEMES: [&str; 3] = ["salsify", "vidaptive+functional", "thalweg"];

/// Allows time for a sender whose window is full of lost packets to run twice into a feedback timeout of 2 s. After
/// that every frame is decoded and none is a keyframe.
fn recovers(outcome: &Outcome) -> Result<(), TestCaseError> {
    let frames = outcome.frames(GOOD_FROM + Span::from_millis(4500), END - Span::from_secs(1));
    prop_assert!(frames.len() >= 10, "{} frames in the last seconds", frames.len());
    let missed: Vec<_> = frames.iter().filter(|frame| !outcome.exact.contains(frame)).collect();
    prop_assert!(missed.is_empty(), "{missed:?} of {frames:?}");
    prop_assert!(!frames.iter().any(|frame| outcome.keyframes.contains(frame)));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn whatever_an_standard_receiver_may_decode_is_what_was_meant(path in any_path(), seed: u64, which in 0..SCHEMES.len()) {
        let scheme = scheme(SCHEMES[which], true);
        recovers(&World::new(&scheme, Some(ReceiverKind::Standard), path, seed, truth).finished(END))?;
    }

    #[test]
    fn a_receiver_that_keeps_states_is_never_asked_for_one_that_it_let_go(
        path in any_path(), seed: u64, which in 0..SCHEMES.len(),
    ) {
        let outcome = World::new(&scheme(SCHEMES[which], false), stateful(64), path, seed, truth).finished(END);
        recovers(&outcome)?;
        let acknowledged = outcome.acknowledged.unwrap();
        // One frame may be in the encoder when the first report arrives.
        let after = |frame: &&u64| outcome.queued[**frame as usize] > acknowledged + Span::from_millis(60);
        prop_assert_eq!(outcome.keyframes.iter().filter(after).count(), 0);
    }

    #[test]
    fn whatever_a_receiver_says_of_its_states_plans_stay_valid(
        path in any_path(), seed: u64, which in 0..SCHEMES.len(), kinds: u8,
    ) {
        let mut reported: Vec<DecoderReport> = Vec::new();
        let lies = |report: Option<DecoderReport>, lie: u64| {
            let mut report = report?;
            reported.push(report.clone());
            let one_in = |shift: u32, of: u64| kinds & (1 << shift) != 0 && (lie >> (8 * shift)).is_multiple_of(of);
            if one_in(0, 3) {
                report.current = StateHash(lie);
            }
            if one_in(1, 3) {
                report.complete = (0..40).map(|state| StateHash(lie ^ state)).collect();
            }
            if one_in(2, 5) {
                report = reported[(lie % reported.len() as u64) as usize].clone();
            }
            if one_in(3, 7) {
                report.frame = lie >> (lie % 64);
            }
            if one_in(4, 5) {
                report.fragment = lie as u16;
                report.complete.reverse();
            }
            if one_in(5, 3) {
                report.complete.clear();
            }
            (!one_in(6, 2)).then_some(report)
        };
        // The encoder panics on plans that name forgotten states, on states forgotten twice and on too many kept
        // states.
        let mut world = World::new(&scheme(SCHEMES[which], false), stateful(8), path, seed, lies);
        world.unpredictable = true;
        let outcome = world.finished(END);
        prop_assert!(outcome.queued.len() > 20, "{} frames", outcome.queued.len());
    }
}

/// The reports on some packets are lost, but not those on their copies. A receiver that acknowledged copies with their own
/// times made a frame look decoded that a later one had overtaken, and no frame after it could be decoded.
#[test]
fn a_copy_that_arrives_later_than_its_packet_does_not_hide_which_frame_came_first() {
    let path = Path {
        loss: 0.0629891791957673,
        report_loss: 0.12622778412516525,
        duplicates: 0.25089397703338256,
        jitter: Span::from_millis(79),
        report_jitter: Span::from_millis(78),
        ..BAD
    };
    let scheme = scheme("salsify", true);
    let outcome =
        World::new(&scheme, Some(ReceiverKind::Standard), path, 12_126_094_467_795_856_969, truth).finished(END);
    recovers(&outcome).unwrap();
}

/// FEC recovers packets that are still on their way: a frame was taken for overtaken by none, because a packet of the next
/// had come later than all of its own, but that packet had been recovered before.
#[test]
fn what_fec_recovers_before_it_arrives_does_not_hide_which_frame_came_first() {
    let path = Path {
        loss: 0.2740553474134045,
        report_loss: 0.007524623898216713,
        duplicates: 0.1669452943579731,
        jitter: Span::from_millis(98),
        report_jitter: Span::from_millis(24),
        outage: (ms(2305), ms(3657)),
        bad_until: GOOD_FROM,
    };
    let mut scheme = scheme("thalweg", true);
    let fec = scheme.repair.as_mut().and_then(|repair| repair.fec.as_mut()).unwrap();
    fec.amount = fec::Amount::Residual(0.05);
    let outcome =
        World::new(&scheme, Some(ReceiverKind::Standard), path, 13_224_065_080_422_302_722, truth).finished(END);
    recovers(&outcome).unwrap();
}

#[test]
fn a_receiver_that_never_acknowledges_a_state_costs_no_memory_and_no_keyframe_on_a_good_path() {
    let none = |report: Option<DecoderReport>, _| report.map(|report| DecoderReport { complete: Vec::new(), ..report });
    let no_reports = |_: Option<DecoderReport>, _| None;
    let scheme = scheme("salsify", false);
    let outcome = World::new(&scheme, stateful(64), BAD, 1, none).finished(END);
    assert_eq!(outcome.keyframes, [0]);
    assert!(outcome.frames(Time::ZERO, END - Span::from_secs(1)).iter().all(|frame| outcome.exact.contains(frame)));
    let outcome = World::new(&scheme, stateful(64), BAD, 1, no_reports).finished(END);
    assert_eq!(outcome.keyframes, [0]);
}

#[test]
fn an_outage_is_gone_through_without_a_keyframe_although_the_queue_is_thrown_away() {
    let path = Path { outage: (ms(2000), ms(4500)), ..BAD };
    for standard in [false, true] {
        let scheme = scheme("vidaptive+functional", standard);
        let receiver = if standard { Some(ReceiverKind::Standard) } else { stateful(64) };
        let outcome = World::new(&scheme, receiver, path, 5, truth).finished(END);
        assert!(outcome.events.iter().any(|event| matches!(event, Event::Reset { .. })), "the queue was thrown away");
        assert!(outcome.events.contains(&Event::RecoveryBegan));
        assert!(!outcome.events.iter().any(|event| matches!(event, Event::KeyframeForced { .. })));
        assert_eq!(outcome.keyframes, [0]);
        recovers(&outcome).unwrap();
    }
}

/// In an outage 70 keyframes are lost, and meanwhile the only frame that arrived before is forgotten; after the outage
/// its arrival no longer helps.
#[test]
fn what_was_forgotten_in_a_long_outage_is_not_gone_back_to() {
    let path =
        Path { loss: 0.187, report_loss: 0.508, jitter: Span::from_millis(66), outage: (ms(144), ms(2594)), ..BAD };
    let outcome =
        World::new(&scheme("salsify", false), stateful(64), path, 14_390_015_233_044_359_895, truth).finished(END);
    assert!(outcome.keyframes.len() > 64, "{:?}", outcome.keyframes);
    recovers(&outcome).unwrap();
}
