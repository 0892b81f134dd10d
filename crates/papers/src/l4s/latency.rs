//! a1 to a6: one flow over a queue that marks.

use thalweg_netsim::QueueConfig;
use thalweg_sender::FeedbackStyle;
use thalweg_units::Span;

use super::{
    Asked, Bound, Frames, LENGTH, Line, Part, Scenario, dual, late, line, named, never_classic, over, paced, part,
    used, warm,
};

pub(super) const BECAUSE: &[&str] =
    &["SCReAM grows by a segment and 2 % in a round trip, and at 200 ms is not up after the warm-up"];

const LINK: &str = "10Mbps";
const MOST_MS: f64 = 5.0;

/// 10 Mbps and a round trip of 20 ms, as most of them.
fn usual(frames: Frames, least_packets: u32) -> Scenario {
    over(LINK, 20, dual(least_packets), frames, LENGTH)
}

pub(super) fn lines() -> Vec<Line> {
    let short = |expected| late(0, expected, Bound::at_most(MOST_MS));
    let much = |expected, least| used(10.0, expected, Bound::at_least(least));
    let of = |name: &str, scenario: Scenario, scheme, asked| line(name, vec![part(scenario, scheme)], asked);
    let scream = || named("scream+l4s", 10);
    let mut lines = vec![
        of("a1 reports of each packet", usual(Frames::Even, 0), scream(), vec![short("1.1-1.3"), much("96.5", 90.0)]),
        of(
            "a1 reports each 31 ms",
            Scenario { feedback: Some(FeedbackStyle::Ccfb), ..usual(Frames::Even, 0) },
            scream(),
            vec![short("1.1-1.3"), much("96.5", 90.0)],
        ),
        of("a1 a step of two packets", usual(Frames::Even, 2), scream(), vec![short(""), much("", 90.0)]),
        of(
            "a2 paced at 1.5",
            usual(Frames::Even, 0),
            paced("scream+l4s", 10, 1.5),
            vec![
                short("1.1-1.4"),
                used(10.0, "71", Bound::within(60.0, 80.0)),
                // specs/l4s.md 3.6: 1/f and the step times the frame rate.
                used(10.0, "69.7 by 3.6", Bound::within(64.7, 74.7)),
            ],
        ),
        of(
            "a3 sizes deviate by a fifth",
            usual(Frames::Modelled, 0),
            scream(),
            vec![short("1.7-1.9"), much("80-88", 75.0)],
        ),
        of("a3 a step of two packets", usual(Frames::Modelled, 2), scream(), vec![short(""), much("", 75.0)]),
    ];
    for (mbps, least_packets) in [(3, 0), (3, 2), (5, 0), (5, 2), (20, 0), (50, 0)] {
        let scenario = over(&format!("{mbps}Mbps"), 20, dual(least_packets), Frames::Even, LENGTH);
        let step = if least_packets > 0 { ", a step of two packets" } else { "" };
        // Two packets take 8 ms at 3 Mbps: no threshold that is longer than the bound can hold it.
        let wait = if least_packets > 0 { late(0, "", Bound::NONE) } else { short("1-3.4") };
        let asked = vec![wait, used(mbps as f64, "81-97", Bound::at_least(75.0))];
        lines.push(of(&format!("a4 {mbps} Mbps{step}"), scenario, named("scream+l4s", mbps), asked));
    }
    for rtt_ms in [5, 50, 100, 200] {
        let scenario = over(LINK, rtt_ms, dual(0), Frames::Even, LENGTH);
        let asked = vec![short("1-3.4"), much("81-97", 75.0)];
        lines.push(of(&format!("a4 round trip {rtt_ms} ms"), scenario, scream(), asked));
    }
    let bursts = named("scream:libwebrtc+l4s", 10);
    let mut even = bursts.clone();
    (even.pacing.burst, even.name) = (Span::ZERO, "scream:libwebrtc+l4s, no bursts".into());
    lines.push(of("a5", usual(Frames::Even, 0), even, vec![much("96.4", 90.0)]));
    lines.push(of(
        "a5 bursts of 10 ms",
        usual(Frames::Even, 0),
        bursts,
        vec![used(10.0, "18, 9 by 3.6", Bound::within(3.0, 25.0))],
    ));
    let half = |runs: &[super::Observed]| runs[0].wait_ms(0, warm(&runs[0]), 0.5);
    // DualPI2 drops what is not capable of ECN from 15 ms on: half of SCReAM's target stands in a queue that does not.
    let plain = over(LINK, 20, QueueConfig::Infinite, Frames::Even, LENGTH);
    for (name, scenario, bound) in [
        ("a6 no ECN, an unlimited queue", plain, Bound::within(20.0, 35.0)),
        ("a6 no ECN, DualPI2", usual(Frames::Even, 0), Bound::NONE),
    ] {
        let standing = Asked::new("P50 of waiting, ms", "23-29", bound, half);
        lines.push(of(name, scenario, named("scream", 10), vec![standing]));
    }
    for scheme in ["gcc+l4s", "copa+l4s", "vidaptive+l4s", "bbr+l4s", "camel+l4s"] {
        let asked = vec![late(0, "", Bound::at_most(10.0)), used(10.0, "", Bound::at_least(60.0))];
        lines.push(of("a1 under a cap (3.8)", usual(Frames::Even, 2), named(scheme, 10), asked));
    }
    for frames in [Frames::Even, Frames::Modelled] {
        let name = if frames == Frames::Even { "e3 in a1" } else { "e3 in a3" };
        let parts = vec![Part { scenario: usual(frames, 2), scheme: named("scream+l4s+classic", 10) }];
        lines.push(line(name, parts, vec![never_classic("never")]));
    }
    lines
}
