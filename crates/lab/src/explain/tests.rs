//! Sentences from worked events: the numbers are small enough to check by hand.

use thalweg_control::{Decision, PacketId, Payload};
use thalweg_sender::{Event, Why};
use thalweg_units::{Bytes, Rate, Size, Span, Time};

use super::Timeline;
use crate::metrics::Due;
use crate::outcome::Series;
use crate::record::{Record, Row, What};

/// Events added at times in ms.
#[derive(Default)]
struct Story(Timeline);

impl Story {
    /// A sender whose controller allows `kbps`, and a window if it has one; a report each 100 ms says that all packets
    /// arrived with this round trip. It sends `kbps` for two seconds.
    fn of(kbps: u64, window: Option<u64>, rtt_ms: i64) -> Story {
        let mut story = Story::default();
        story.limits(0, kbps, window);
        for tick in 0..20 {
            let size = Bytes::new(kbps * 1000 / 8 / 10);
            story.at(
                tick * 100 + 50,
                Event::PacketSent { id: PacketId(tick), payload: Payload::Media, size, in_flight: size, repeats: None },
            );
            story.report(tick * 100 + 80, 10, 0, rtt_ms, size.get());
        }
        story
    }

    fn add(&mut self, ms: u64, what: What) {
        self.0.add(&Row::of(&Record { at: Time::from_millis(ms), flow: 0, what }));
    }

    fn at(&mut self, ms: u64, event: Event) {
        self.add(ms, What::Sender(event));
    }

    fn limits(&mut self, ms: u64, kbps: u64, window: Option<u64>) {
        let rate = Rate::from_kbps(kbps);
        self.at(ms, Event::SendLimits { window: window.map(Bytes::new), pacing: rate, capacity: rate });
    }

    fn report(&mut self, ms: u64, arrived: u32, lost: u32, rtt_ms: i64, in_flight: u64) {
        let rtt = Some(Span::from_millis(rtt_ms));
        self.at(ms, Event::Feedback { arrived, lost, rtt, in_flight: Bytes::new(in_flight) });
    }

    fn decide(&mut self, ms: u64, what: &'static str, why: &'static str, (from, to): (u64, u64)) {
        let (from, to) = (Rate::from_kbps(from), Rate::from_kbps(to));
        self.at(ms, Event::Decision(Decision { at: Time::from_millis(ms), what, why, from, to }.into()));
    }

    fn variables(&mut self, ms: u64, variables: &[(&'static str, f64)]) {
        variables.iter().for_each(|(name, value)| self.at(ms, Event::Variable { name, value: *value }));
    }

    /// GCC's variables.
    fn gcc(&mut self, ms: u64, [estimate, loss_based, pushback]: [f64; 3]) {
        self.variables(
            ms,
            &[
                ("estimate_bps", estimate),
                ("delay_based_bps", 3.6e6),
                ("loss_based_bps", loss_based),
                ("pushback_ratio", pushback),
                ("trend_ms", 9.5),
                ("threshold_ms", 9.3),
            ],
        );
    }

    fn why(&self) -> String {
        self.0.why(2.0, None)
    }
}

#[test]
fn gcc_is_halved_by_pushback() {
    let mut story = Story::of(1700, None, 80);
    story.limits(1200, 3600, None);
    story.gcc(1900, [3.6e6, 3.6e6, 0.5]);
    // 350 ms of 3.6 Mbps.
    story.report(1999, 10, 0, 400, 157_500);
    let said = "the estimate is 3.6 Mbps, and push-back halves it because 350 ms of it stand in flight";
    assert_eq!(story.why(), format!("1.7 Mbps: {said}"));
    story.gcc(1950, [3.6e6, 3.6e6, 0.8]);
    assert!(story.why().contains("push-back cuts it to 80 %"), "{}", story.why());
}

#[test]
fn gcc_is_cut_by_delay_in_steps_that_count_as_one() {
    let mut story = Story::of(3100, None, 80);
    story.gcc(1400, [4.6e6, 4.6e6, 1.0]);
    story.decide(1500, "decrease", "delay trend above threshold", (4600, 3800));
    story.decide(1800, "decrease", "delay trend above threshold", (3800, 3100));
    let said =
        "the estimate is 3.1 Mbps after \"decrease\" from 4.6 Mbps to 3.1 Mbps 200 ms ago: delay trend above threshold";
    assert_eq!(story.why(), format!("3.1 Mbps: {said} (9.5 ms over 9.3 ms)"));
}

#[test]
fn gcc_is_held_by_losses_or_by_nothing_or_by_a_lazy_encoder() {
    let mut story = Story::of(2000, None, 80);
    story.gcc(1900, [2e6, 2e6, 1.0]);
    story.report(1990, 0, 25, 80, 1000);
    // 25 of the last second's 125 packets.
    let said = "the estimate is 2.0 Mbps, held by losses (20 % in the last second) below the 3.6 Mbps of the delay";
    assert_eq!(story.why(), format!("2.0 Mbps: {said}"));
    let mut story = Story::of(2000, None, 80);
    story.gcc(900, [1.8e6, 3.6e6, 1.0]);
    story.gcc(1900, [2e6, 3.6e6, 1.0]);
    assert!(story.why().ends_with("which grows: delay does not grow and nothing is lost"), "{}", story.why());
    story.variables(1900, &[("in_alr", 1.0)]);
    assert!(story.why().ends_with("which the encoder does not use up, so it is not tested"), "{}", story.why());
}

#[test]
fn a_window_is_its_bytes_over_the_round_trip() {
    let mut story = Story::of(2000, Some(25_000), 100);
    story.variables(1900, &[("srtt_ms", 100.0), ("rtt_min_ms", 60.0)]);
    assert_eq!(
        story.why(),
        "2.0 Mbps: the window of 25 kB over a round trip of 100 ms (40 ms above its least) is 2.0 Mbps, and is full"
    );
    story.variables(1900, &[("alpha", 0.62)]);
    assert!(story.why().ends_with("and is full; of it the encoder gets 62 % (alpha)"), "{}", story.why());
    // SCReAM's media rate is below its window over the round trip.
    let mut story = Story::of(1000, Some(50_000), 100);
    story.decide(1900, "decrease", "queueing delay above half its target", (1400, 1000));
    let said = "is 4.0 Mbps, and 25 % of it is in use; the rate is 1.0 Mbps; \"decrease\" from 1.4 Mbps to 1.0 Mbps 100 ms ago";
    assert!(story.why().contains(said), "{}", story.why());
}

#[test]
fn a_pause_and_a_reset_come_before_the_controller() {
    let mut story = Story::of(2000, Some(25_000), 100);
    story.at(1800, Event::Paused { age: Span::from_millis(33) });
    assert_eq!(
        story.why(),
        "2.0 Mbps: encoding is paused since 1.8 s, because a packet had waited 33 ms in the sender's queue; the controller \
         allows 2.0 Mbps, a window of 25 kB with 25 kB in flight"
    );
    story.at(1900, Event::Resumed { why: Why::QueueEmpty });
    assert!(story.why().contains("the window of 25 kB"), "{}", story.why());
    story.at(1950, Event::Reset { age: Span::from_secs(1), packets: 40 });
    let said = "the sender's queue of 40 packets was thrown away 50 ms ago, because the oldest had waited 1.0 s";
    assert!(story.why().contains(said), "{}", story.why());
}

#[test]
fn salsify_has_a_size_for_each_frame_and_skips() {
    let mut story = Story::of(1000, None, 80);
    story.variables(1900, &[("N packets", 3.0), ("tau ms", 3.4), ("max frame kB", 31.0)]);
    for picture in 0..10 {
        story.at(1000 + picture * 33 + 1, Event::PictureRead { picture });
        story.at(1000 + picture * 33 + 1, Event::PictureSkipped { picture, why: Why::NoCandidateFits });
    }
    assert_eq!(
        story.why(),
        "1.0 Mbps: a frame may have 31 kB: one packet arrives each 3.4 ms, and 3 are under way; 10 of the last second's 10 \
         pictures were skipped: no candidate fits"
    );
}

#[test]
fn camel_sends_gamma_of_what_bursts_measured_or_runs_gcc() {
    let mut story = Story::of(1500, Some(100_000), 80);
    story.variables(1900, &[("avg_B_bps", 3e6), ("gamma", 0.5), ("gradient", 0.25), ("in_gcc", 0.0)]);
    assert_eq!(
        story.why(),
        "1.5 Mbps: Camel sends gamma = 0.5 of the 3.0 Mbps that bursts measured, because delay grew with the bytes in flight \
         (gradient now 0.25)"
    );
    story.variables(1950, &[("in_gcc", 1.0)]);
    story.decide(1960, "fall back to GCC", "bursts lose more than the path does", (3000, 1500));
    let said = "Camel runs GCC, whose estimate is 1.5 Mbps; \"fall back to GCC\" from 3.0 Mbps to 1.5 Mbps 40 ms ago";
    assert!(story.why().contains(said), "{}", story.why());
}

#[test]
fn any_other_controller_is_its_rate_and_its_last_decision() {
    let mut story = Story::of(1000, None, 80);
    assert!(story.why().ends_with("the controller allows 1.0 Mbps, and has not changed that by a decision"));
    story.decide(1000, "DOWN", "the delay is high", (2000, 1000));
    let said = "the controller allows 1.0 Mbps after \"DOWN\" from 2.0 Mbps to 1.0 Mbps 1.0 s ago: the delay is high";
    assert_eq!(story.why(), format!("1.0 Mbps: {said}"));
}

#[test]
fn reports_that_stay_away_are_the_reason_whatever_the_controller_says() {
    let mut story = Story::of(1000, Some(10_000), 80);
    story.decide(3000, "collapse", "no feedback for too long", (1000, 100));
    let said = "no report has come for 1.5 s, and 12 kB are in flight unanswered (\"collapse\" from 1.0 Mbps to 100 kbps 500 ms \
                ago: no feedback for too long)";
    // The last report is of 1.98 s.
    assert_eq!(story.0.why(3.5, Some(2e6)), format!("0 kbps over a link of 2.0 Mbps: {said}"));
    let mut silent = Story::default();
    assert_eq!(silent.why(), "nothing was sent before 2 s");
    let size = Bytes::new(1250);
    silent
        .at(1900, Event::PacketSent { id: PacketId(0), payload: Payload::Media, size, in_flight: size, repeats: None });
    assert!(silent.why().contains("no report has come yet"), "{}", silent.why());
}

#[test]
fn an_encoder_that_makes_less_than_its_target_is_named() {
    let mut story = Story::of(1000, None, 80);
    for picture in 0..30 {
        let at = 1001 + picture * 33;
        let (size, target) = (Size::HD, Rate::from_kbps(2000));
        story.at(at, Event::PictureRead { picture });
        story.at(at, Event::EncodeStarted { picture, target, size, candidates: 1 });
        let frame = Event::FrameQueued {
            frame: picture,
            picture,
            size: Bytes::new(4000),
            packets: 4,
            keyframe: false,
            quantizer: 30,
        };
        story.at(at, frame);
    }
    // 30 frames of 4 kB.
    assert!(story.why().ends_with("the encoder made 960 kbps of its target of 2.0 Mbps"), "{}", story.why());
}

#[test]
fn what_repeats_is_one_line_until_something_else_happens() {
    let mut story = Story::default();
    let encoded = |story: &mut Story, from: u64, count: u64, kbps: u64| {
        for picture in 0..count {
            let (size, target) = (Size::HD, Rate::from_kbps(kbps));
            story.at(from + picture * 33, Event::EncodeStarted { picture, target, size, candidates: 1 });
            story.limits(from + picture * 33, kbps + picture, Some(20_000));
        }
    };
    encoded(&mut story, 1000, 10, 3000);
    story.decide(1400, "decrease", "delay trend above threshold", (3000, 2000));
    encoded(&mut story, 1410, 3, 2000);
    for picture in [13, 14] {
        story.at(1600 + picture, Event::PictureSkipped { picture, why: Why::Pushback });
    }
    assert_eq!(
        story.0.log(0.9, 2.0),
        [
            "1 to 1.3 s: 10 pictures encoded at 720p, target 3.0 Mbps",
            "1 to 1.3 s: allowed 3.0 Mbps, window 20 kB, in 10 steps",
            "1.4 s: decrease from 3.0 Mbps to 2.0 Mbps: delay trend above threshold",
            "1.41 to 1.48 s: 3 pictures encoded at 720p, target 2.0 Mbps",
            "1.41 to 1.48 s: allowed 2.0 Mbps, window 20 kB, in 3 steps",
            "1.61 s: 2 pictures from 13 to 14 skipped: more in flight than the data window",
        ]
    );
    assert!(story.0.log(5.0, 6.0).is_empty());
}

/// Frames 0 to 2 at 1.0, 4.0 and 4.1 s, the second 600 ms late; the link carries 1 Mbps until 3 s and 9 Mbps then.
#[test]
fn the_worst_moments_are_the_late_the_frozen_the_unused_and_the_deep() {
    let mut story = Story::of(1000, None, 80);
    for (frame, queued, sent, shown) in [(0, 1010, 1020, 1100), (1, 4010, 4210, 4600), (2, 4110, 4220, 4610)] {
        let (size, latency) = (Bytes::new(5000), Span::from_millis(shown - queued + 10));
        let made = Event::FrameQueued { frame, picture: frame, size, packets: 5, keyframe: false, quantizer: 30 };
        story.at(queued as u64, made);
        story.at(sent as u64, Event::FrameSent { frame, delay: Span::from_millis(sent - queued) });
        let queue = Span::from_millis(if frame == 1 { 350 } else { 5 });
        story.add(shown as u64, What::Arrived { id: 0, payload: Payload::Media, size, queued: queue, marked: None });
        story.add(shown as u64, What::Displayed { frame, picture: frame, latency, psnr: 40.0 });
    }
    let capacity_mbps = (0..50).map(|bin| if bin < 30 { 1.0 } else { 9.0 }).collect();
    let series = Series { bin_s: 0.1, capacity_mbps, delivered_mbps: vec![0.5; 50], ..Series::default() };
    let due = Due { begin: 0.0, end: 5.0, interval: 1.0 / 30.0, off: &[] };
    let found = story.0.worst(&series, &due, 1);
    let said: Vec<&str> = found.iter().map(|worst| worst.moments[0].text.as_str()).collect();
    assert_eq!(
        said,
        [
            "frame 1 was shown 600 ms after its capture at 4 s: 10 ms until it was encoded, 200 ms in the sender, 390 ms on the \
             way (up to 350 ms in the link's queue)",
            "nothing new was shown for 3.5 s from 1.1 s: the link carried 4.7 Mbps",
            "8.5 Mbps of the link's 9.0 Mbps were unused in the second before",
            "a packet waited 350 ms from 4.25 s, after a second of 0 kbps on the wire into a link of 9.0 Mbps",
        ]
    );
    // Another freeze, of 390 ms to the end; a second late frame is too close to the first to be another moment.
    let two = story.0.worst(&series, &due, 2);
    assert_eq!(two.iter().map(|worst| worst.moments.len()).collect::<Vec<_>>(), [2, 2, 2, 2]);
    let apart = |moments: &[super::Moment]| (moments[0].at - moments[1].at).abs() >= 1.9;
    assert!(two.iter().all(|worst| apart(&worst.moments)), "{two:?}");
    // While the camera is off nothing is frozen; a run that shows nothing is.
    let off = Due { off: &[(1.2, 4.6)], ..due };
    assert!(story.0.worst(&series, &off, 1)[1].moments[0].text.starts_with("nothing new was shown for 390 ms"));
    let blank = Story::of(1000, None, 80).0.worst(&series, &due, 1);
    assert!(blank[1].moments[0].text.starts_with("nothing new was shown for 5.0 s from 0 s"), "{blank:?}");
}
