//! Tests that need only the published interface.

use thalweg::control::fixed;
use thalweg::lab::metrics::Summary;
use thalweg::lab::Scenario;
use thalweg::prelude::*;

fn played(link: &str, sender: &dyn SenderFactory) -> Summary {
    Scenario::over(link).play(sender).unwrap().outcome.summary
}

#[test]
fn the_schemes_of_the_front_page_play_over_its_link() {
    for name in ["gcc", "thalweg"] {
        let summary = played("lte-driving", &name.parse::<Scheme>().unwrap());
        let (rate, p95) = (summary.video_bitrate_bps / 1e6, summary.latency_p95_ms.unwrap_or_default());
        assert!(rate > 0.5 && (25.0..2000.0).contains(&p95), "{name}: {rate} Mbps, {p95} ms");
    }
}

#[test]
fn a_controller_from_outside_plays_in_the_laboratory_against_gcc() {
    let link = "3Mbps/1Mbps@20s";
    let [gcc, aimd] = [played(link, &"gcc".parse::<Scheme>().unwrap()), played(link, &external::sender().unwrap())];
    assert_eq!((gcc.scheme.as_str(), aimd.scheme.as_str()), ("gcc", "aimd"));
    assert_ne!(gcc.events_fingerprint, aimd.events_fingerprint);
    let used = aimd.utilization.unwrap();
    assert!((0.4..1.0).contains(&used), "{used} of the link");
    let late = aimd.latency_p95_ms.unwrap();
    assert!((25.0..1500.0).contains(&late), "P95 {late} ms");
}

/// `thalweg::control::fixed`, written again from its documentation.
#[derive(Clone)]
struct Fixed(Rate);

impl Controller for Fixed {
    fn on_feedback(&mut self, _: &Feedback<'_>) {}

    fn limits(&self) -> SendLimits {
        SendLimits::of_rate(self.0)
    }
}

#[test]
fn a_controller_from_outside_that_does_what_a_known_one_does_gives_the_same_events() {
    let gcc: Scheme = "gcc".parse().unwrap();
    let config = fixed::Config::default();
    let known = gcc.clone().with_controller("known", move || fixed::Fixed::new(config));
    let own = gcc.with_controller("own", move || Ok(Fixed(config.rate)));
    let [known, own] = [played("lte-driving", &known), played("lte-driving", &own)];
    assert_eq!(known.events_fingerprint, own.events_fingerprint);
}
