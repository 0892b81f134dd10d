use super::*;
use thalweg_units::{Bytes, ConfigError, Span};

const INTERVAL: Span = Span::from_nanos(16_666_667);

/// As in the worked examples: packets too small to matter, 60 frames a second, a min delay of 20 ms.
fn sqp(bandwidth: Rate) -> Sqp {
    let config = Config { frame_interval: Some(INTERVAL), initial: bandwidth, ..Config::default() };
    let mut sqp = Sqp::new(config).unwrap();
    sqp.delays.add(Time::ZERO, Span::from_millis(20), Bytes::ZERO, Span::from_secs(1));
    sqp
}

fn mbps(mbps: f64) -> Rate {
    Rate::from_mbps_f64(mbps)
}

/// A frame of `bytes` bytes encoded for 8 Mbps that arrived between these milliseconds.
fn frame(bytes: u64, first_ms: f64, last_ms: f64) -> Train {
    let at = |ms: f64| Time::ZERO + Span::from_millis_f64(ms);
    Train::of_fluid(Bytes::new(bytes), mbps(8.0), Time::ZERO, (at(first_ms), at(last_ms)))
}

#[test]
fn a_frame_shows_the_link_whatever_its_share_of_its_budget_and_a_standing_queue_shrinks_the_sample() {
    for (bytes, first_ms, last_ms, sample, rate) in [
        (16_667, 20.0, 33.333, 10.0, 8.0456),
        (10_000, 20.0, 28.0, 10.0, 8.0456),
        (16_667, 30.0, 43.333, 5.714, 7.7937),
    ] {
        let mut sqp = sqp(mbps(8.0));
        sqp.on_train(Time::ZERO, &frame(bytes, first_ms, last_ms));
        let (sampled, moved) = (sqp.sample.unwrap().as_mbps_f64(), sqp.bandwidth.as_mbps_f64());
        // Nine tenths of the sample is what the rate moves towards.
        assert!((sampled - sample).abs() < 1e-3 && (moved - rate).abs() < 1e-4, "{bytes}: {sampled} {moved}");
    }
}

/// The number of frames with sample `sample` that B needs to move from one rate past another.
fn frames(from: f64, to: f64, sample: f64) -> usize {
    let mut sqp = sqp(mbps(from));
    let past = |rate: Rate| if to > from { rate > mbps(to) } else { rate < mbps(to) };
    (1..1000)
        .find(|_| {
            sqp.on_sample(Time::ZERO, mbps(sample));
            past(sqp.bandwidth)
        })
        .unwrap()
}

#[test]
fn the_rate_rises_from_two_to_eight_and_a_half_in_53_frames_and_falls_by_half_in_27() {
    assert_eq!((frames(2.0, 8.5, 10.0), frames(9.0, 4.95, 5.0)), (53, 27));
}

#[test]
fn frames_above_their_budget_are_scaled_down_only_where_that_is_asked_for() {
    // Twice the budget, 26.667 ms long, behind a queue of 10 ms: scaled down, the queue has more weight.
    let train = frame(33_333, 30.0, 56.667);
    for (scales_down, expected) in [(false, 7.273), (true, 5.714)] {
        let config = Config { scales_down, ..Config::default() };
        let sample = sqp(mbps(8.0)).delays.sample(&train, INTERVAL, &config).unwrap().as_mbps_f64();
        assert!((sample - expected).abs() < 1e-3, "{sample}");
    }
}

#[test]
fn a_packet_with_the_least_delay_counts_only_to_the_letter() {
    // Four packets of 1250 B over 10 Mbps: 1 ms each, 1 ms of which is part of the min delay.
    let train = Train { aimed: mbps(2.0), packets: 4, arrived: 4, ..frame(5000, 20.0, 23.0) };
    let sample = |config: Config| {
        let mut delays = Delays::default();
        delays.add(Time::ZERO, Span::from_millis(20), Bytes::new(1250), Span::from_secs(1));
        delays.sample(&train, INTERVAL, &config).unwrap().as_mbps_f64()
    };
    assert!((sample(Config::default()) - 10.0).abs() < 1e-3);
    assert!((sample(Config { min_size: Bytes::ZERO, ..Config::literal() }) - 13.333).abs() < 1e-3);
}

#[test]
fn frames_that_say_nothing_say_why() {
    let config = Config::literal();
    let reason = |train: &Train| sqp(mbps(8.0)).delays.sample(train, INTERVAL, &config).unwrap_err();
    assert_eq!(reason(&frame(4499, 20.0, 25.0)), "frame too small");
    assert_eq!(reason(&Train { aimed: mbps(40.0), ..frame(8000, 20.0, 25.0) }), "frame too far below its budget");
    assert_eq!(
        reason(&Train { arrived: 1, packets: 1, ..frame(8000, 20.0, 25.0) }),
        "expected two packets or more in a train"
    );
    assert_eq!(reason(&frame(8000, 20.0, 20.0)), "it took no time");
    assert_eq!(reason(&Train { arrived: 89, ..frame(8000, 20.0, 25.0) }), "too much of the frame was lost");
}

#[test]
fn a_lone_full_packet_shows_its_own_delay_and_at_most_what_pacing_does() {
    let lone = |last_ms: f64| Train { packets: 1, arrived: 1, aimed: mbps(0.5), ..frame(1000, last_ms, last_ms) };
    let sample = |last_ms| sqp(mbps(0.5)).delays.sample(&lone(last_ms), INTERVAL, &Config::default());
    assert_eq!(sample(20.0), Ok(Rate::from_kbps(1000)));
    assert_eq!(sample(40.0), Ok(Rate::from_kbps(400)));
}

#[test]
fn one_frame_moves_the_rate_by_a_quarter_at_most() {
    for (sample, expected) in [(0.1, 1.5), (100.0, 2.5)] {
        let mut sqp = sqp(mbps(2.0));
        sqp.on_sample(Time::ZERO, mbps(sample));
        assert!((sqp.bandwidth.as_mbps_f64() - expected).abs() < 1e-6, "{}", sqp.bandwidth);
    }
}

#[test]
fn half_a_second_of_feedback_timeout_takes_three_tenths_of_the_rate() {
    let mut sqp = sqp(mbps(2.0));
    sqp.on_sent(&crate::testing::Sender::default().packet(Some((0, true)), Time::ZERO, 1000));
    assert_eq!(sqp.next_timeout(), Time::from_millis(500));
    for expected in [1.4, 0.98] {
        let due = sqp.next_timeout();
        sqp.on_timeout(due);
        assert_eq!(sqp.bandwidth, mbps(expected));
    }
}

#[test]
fn the_step_follows_the_applications_maximum() {
    let mut sqp = sqp(mbps(2.0));
    assert_eq!(sqp.step(), 320_000.0);
    sqp.on_demand(Time::ZERO, Demand { min: Rate::ZERO, max: mbps(2.5) });
    assert_eq!(sqp.step(), 200_000.0);
}

#[test]
fn parameters_out_of_range_are_named() {
    let name = |config: Config| Sqp::new(config).map(|_| ()).map_err(|error: ConfigError| alloc::format!("{error}"));
    for (config, named) in [
        (Config { pacing_gain: 0.5, ..Config::default() }, "sqp.pacing_gain"),
        (Config { max_change: 0.0, ..Config::default() }, "sqp.max_change"),
        (Config { reward: f64::NAN, ..Config::default() }, "sqp.reward"),
        (Config { initial: Rate::ZERO, ..Config::default() }, "sqp rates"),
        (Config { feedback_timeout: Span::ZERO, ..Config::default() }, "sqp.feedback_timeout"),
    ] {
        assert!(name(config).unwrap_err().contains(named));
    }
    assert!(name(Config::literal()).is_ok());
}
