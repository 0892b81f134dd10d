//! The bounds as they are played against the direct computation, and what no scheme exceeds.

use proptest::prelude::*;
use std::sync::Arc;
use thalweg_codecs::Codec;
use thalweg_codecs::model::{Config, ContentPreset};

use thalweg_netsim::{Jitter, QueueConfig, Rates, Trace};
use thalweg_sender::{Registry, Scheme};

use super::*;
use crate::outcome::FrameRecord;
use crate::scenario::Scenario;
use crate::simulate::Run;
use crate::{simulate, unattended};

use thalweg_netsim::{HopConfig, PathConfig};

/// Opportunities in gaps, a fast and a slow time, and an outage of 400 ms, every 4 s.
fn link() -> Arc<Trace> {
    let fast = (1..1000).filter(|at| at % 3 == 0 || at % 50 < 8);
    let slow = (1000..3600).filter(|at| at % 11 == 0);
    Arc::new(Trace::new(fast.chain(slow).chain([4000]).collect()).unwrap())
}

fn play(scenario: &Scenario, sender: &dyn SenderFactory, link: &Arc<Trace>) -> Run {
    simulate(scenario, sender, &mut |_| Ok(link.clone()), &mut unattended).unwrap()
}

fn bound(name: &str) -> Bound {
    name.parse().unwrap()
}

fn direct(name: &str, scenario: &Scenario, link: &Arc<Trace>) -> Vec<FrameRecord> {
    frames(&bound(name), scenario, &mut |_| Ok(link.clone())).unwrap()
}

/// A codec model that meets any size from a byte on, also with a keyframe.
fn any_size() -> Codec {
    let mut content = ContentPreset::Scene.content();
    content.functional.floor.bits_per_pixel = 1e-6;
    content.functional.keyframe_floor = 1e-6;
    Codec::Model(Config { content: ContentPreset::Custom(content), ..Config::default() })
}

fn twenty_seconds() -> Scenario {
    Scenario { duration: Span::from_secs(20), ..Scenario::over("link") }
}

/// Bits per second of shown frames, and their P95 latency in ms.
fn figures(frames: &[FrameRecord], seconds: f64) -> (f64, f64) {
    let shown: u64 = frames.iter().filter(|frame| frame.displayed_s.is_some()).map(|frame| frame.bytes).sum();
    (shown as f64 * 8.0 / seconds, crate::metrics::latency(frames).unwrap().p95_ms)
}

#[test]
fn a_worked_example_of_four_frames() {
    // A frame at 0, 33.3 and 66.7 ms, encoded in 5.07 ms: within 33 ms after its capture the first has the opportunities at
    // 10 and 20, the second one at 40, the third none.
    let link = Arc::new(Trace::new(vec![3, 10, 20, 36, 40, 200]).unwrap());
    let scenario = Scenario { duration: Span::from_millis(199), ..Scenario::over("link") };
    let frames = direct("bound:omniscient:33ms", &scenario, &link);
    let payloads: Vec<u64> = frames.iter().map(|frame| frame.bytes).collect();
    // Two opportunities are 3008 bytes: three packets with 78 bytes of headers each. One: two packets.
    assert_eq!(payloads, [3008 - 3 * 78, 1504 - 2 * 78, 0, 0, 0, 0]);
    let shown: Vec<_> = frames.iter().map(|frame| frame.displayed_s.map(|at| (at * 1e5).round())).collect();
    // Delay 25 ms, decoding 1.57 ms.
    assert_eq!(shown, [Some(4657.0), Some(6657.0), None, None, None, None]);
}

#[test]
fn the_bounds_as_played_are_the_direct_computation_to_ten_microseconds_where_the_encoder_meets_every_size() {
    let scenario = Scenario { codec: any_size(), ..twenty_seconds() };
    let rates: Rates = "3Mbps@2s/400kbps@1s/0bps@500ms".parse().unwrap();
    let hops = vec![
        HopConfig::delay(Span::from_millis(3)),
        HopConfig::Rate { rate: rates, queue: QueueConfig::Infinite },
        HopConfig::delay(Span::from_millis(20)),
    ];
    let rates = Scenario { forward: PathConfig { hops }, ..scenario.clone() };
    for scenario in [&scenario, &rates] {
        for name in ["bound:omniscient", "bound:omniscient:33ms", "bound:omniscient:100ms", "bound:causal"] {
            let (played, link) = (play(scenario, &bound(name), &link()), link());
            let direct = direct(name, scenario, &link);
            let sent = played.outcome.frames.iter().filter(|frame| frame.bytes > 0).count();
            assert!(sent > 350 && played.outcome.frames.len() == direct.len(), "{name}: {sent} frames");
            // A packet on a rate takes whole nanoseconds, a frame here only as a whole.
            for (number, (played, direct)) in played.outcome.frames.iter().zip(&direct).enumerate() {
                let shown = played.displayed_s.zip(direct.displayed_s);
                let alike = shown.map_or(played.displayed_s == direct.displayed_s, |(a, b)| (a - b).abs() < 1e-5);
                assert!(alike && played.bytes == direct.bytes, "{name}, picture {number}: {played:?} {direct:?}");
            }
        }
    }
}

#[test]
fn with_the_usual_model_the_played_bounds_are_near_the_direct_computation() {
    let scenario = twenty_seconds();
    // The model makes no frame below 2 kB and no keyframe below 8.5 kB.
    for (name, bits, p95) in [("bound:omniscient", 0.9..1.001, 0.95..1.3), ("bound:causal", 0.8..1.001, 0.9..1.4)] {
        let played = play(&scenario, &bound(name), &link()).outcome.summary;
        let (direct_bits, direct_p95) = figures(&direct(name, &scenario, &link()), 20.0);
        let ratios = (played.video_bitrate_bps / direct_bits, played.latency_p95_ms.unwrap() / direct_p95);
        assert!(bits.contains(&ratios.0) && p95.contains(&ratios.1), "{name}: {ratios:?}");
    }
}

#[test]
fn a_bound_is_the_same_twice_and_has_all_of_its_own_curve() {
    let (scenario, link) = (twenty_seconds(), link());
    for name in ["bound:omniscient", "bound:causal"] {
        let [one, other] = [0; 2].map(|_| play(&scenario, &bound(name), &link));
        assert_eq!(one.recorder.fingerprint(), other.recorder.fingerprint());
        assert!(one.outcome == other.outcome);
    }
    let curve = Curve::of(&scenario, &mut |_| Ok(link.clone())).unwrap();
    assert!(curve.points().is_sorted_by(|a, b| a.latency_p95_ms < b.latency_p95_ms), "{curve:?}");
    let [first, .., last] = curve.points() else { panic!("{curve:?}") };
    for point in [first, last] {
        let bound = bound(&format!("bound:omniscient:{}ms", point.within_ms));
        let mut outcome = play(&Scenario { codec: any_size(), ..scenario.clone() }, &bound, &link).outcome;
        curve.judge(&mut outcome);
        let share = outcome.summary.bound_share.unwrap();
        assert!((share - 1.0).abs() < 1e-3, "{point:?} {share}");
        assert_eq!(outcome.bound, curve.points());
    }
}

#[test]
fn a_finite_queue_changes_nothing_for_a_sender_that_may_wait() {
    let (endless, link) = (twenty_seconds(), link());
    let queue = QueueConfig::DropTail(thalweg_netsim::queue::Limits::packets(2));
    let mut finite = endless.clone();
    finite.forward.hops[0] = HopConfig::Bottleneck { trace: "link".into(), queue, once: false };
    let [endless, mut finite] = [endless, finite].map(|scenario| play(&scenario, &bound("bound:omniscient"), &link));
    let said = std::mem::take(&mut finite.outcome.summary.notes);
    assert!(said.len() == 1 && said[0].starts_with("forward.hops.queue"), "{said:?}");
    assert!(endless.outcome.summary == finite.outcome.summary);
}

#[test]
fn a_scenario_without_a_bound_is_refused_with_the_reason_and_what_to_leave_out() {
    let (plain, link) = (twenty_seconds(), link());
    let refused = |scenario: &Scenario, name: &str| {
        simulate(scenario, &bound(name), &mut |_| Ok(link.clone()), &mut unattended).err().unwrap().to_string()
    };
    let sender = crate::scenario::Sender { scheme: "gcc".into(), video: None, from: Span::ZERO, until: None };
    let competitors = vec![crate::scenario::Competitor::Sender(sender)];
    let mut two = plain.clone();
    two.forward.hops.push(two.forward.hops[0].clone());
    let jitter = Jitter::Uniform { max: Span::from_millis(5) };
    let mut jittered = plain.clone();
    jittered.forward.hops[1] = HopConfig::Delay { delay: Span::from_millis(25).into(), jitter, reorders: false };
    let mut nothing = plain.clone();
    nothing.forward.hops.remove(0);
    let mut reverse = plain.clone();
    reverse.reverse.hops.push(plain.forward.hops[0].clone());
    for (scenario, name, words) in [
        (Scenario { competitors, ..plain.clone() }, "bound:omniscient", "leave out competitors"),
        (two, "bound:omniscient", "two bottlenecks: leave one"),
        (jittered, "bound:omniscient", "leave out loss, jitter"),
        (nothing, "bound:omniscient", "give it a trace or a rate"),
        (reverse.clone(), "bound:causal", "feedback takes no fixed time"),
        (plain, "bound:omniscient:4ms", "must be above 5068.8us"),
    ] {
        let said = refused(&scenario, name);
        assert!(said.contains(words), "{said}");
        assert!(name.ends_with("4ms") || said.starts_with(&format!("{name} is not defined here: ")), "{said}");
    }
    play(&reverse, &bound("bound:omniscient"), &link);
}

#[test]
fn a_name_is_a_bound_with_any_duration_and_no_sender_for_a_real_network() {
    assert_eq!(bound("bound:omniscient:66ms").kind, bound("bound:omniscient").kind);
    assert_eq!(bound("bound:omniscient:1.5s").kind, Kind::Omniscient { within: Span::from_millis(1500) });
    for (name, words) in [
        ("bound:oracle", "expected one of bound:omniscient, "),
        ("bound:omniscient:fast", "bound:omniscient:fast: "),
        ("bound:omniscient:0ms", "must be above 0"),
    ] {
        let said = name.parse::<Bound>().unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    }
    let refused = bound("bound:causal").parts(Size::HD).err().unwrap().to_string();
    assert!(refused.contains("'bound:causal' knows beforehand"), "{refused}");
    let known = crate::named(&Registry::new(), "bound:causal").unwrap();
    assert_eq!(known.name(), "bound:causal");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    /// A twentieth of a scheme's frames may be late at no cost in its P95, while the curve's frames all keep to its time:
    /// so a share may exceed 1, by no more than that twentieth.
    #[test]
    fn no_scheme_has_more_than_the_bound_at_its_own_latency(
        gaps in proptest::collection::vec(prop_oneof![8 => 1u64..12, 1 => 20u64..120], 40..200),
        scheme in prop_oneof![Just("gcc"), Just("salsify"), Just("vidaptive"), Just("copa")],
    ) {
        let mut at = 0;
        let link = Arc::new(Trace::new(gaps.iter().map(|gap| { at += gap; at }).collect()).unwrap());
        let scenario = twenty_seconds();
        let mut outcome = play(&scenario, &scheme.parse::<Scheme>().unwrap(), &link).outcome;
        Curve::of(&scenario, &mut |_| Ok(link.clone())).unwrap().judge(&mut outcome);
        let share = outcome.summary.bound_share;
        prop_assert!(share.is_some_and(|share| share > 0.0 && share < 1.05), "{} has {:?}", scheme, share);
    }
}
