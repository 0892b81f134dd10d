use super::*;
use alloc::vec::Vec;

const INTERVAL: Span = Span::from_nanos(16_666_667);

fn at(ms: f64) -> Time {
    Time::ZERO + Span::from_millis_f64(ms)
}

fn mbps(mbps: f64) -> Rate {
    Rate::from_mbps_f64(mbps)
}

/// 60 frames a second at 10 Mbps, a min delay of 10 ms.
fn pudica() -> Pudica {
    let config = Config { frame_interval: Some(INTERVAL), initial: mbps(10.0), ..Config::default() };
    let mut pudica = Pudica::new(config).unwrap();
    pudica.min_delay.add(Time::ZERO, Span::from_millis(10), Span::from_secs(10));
    pudica
}

/// A frame of the full rate that left at `sent_ms` and whose last packet arrived after `delay_ms`.
fn frame(sent_ms: f64, delay_ms: f64) -> Train {
    let arrivals = (at(sent_ms + 10.0), at(sent_ms + delay_ms));
    Train::of_fluid(Bytes::new(20_833), mbps(10.0), at(sent_ms), arrivals)
}

/// Frames sent one after another, each reported 30 ms after it left.
fn on_report(pudica: &mut Pudica, delays_ms: &[f64]) {
    for (number, delay) in delays_ms.iter().enumerate() {
        let sent = 1000.0 + number as f64 * 16.667;
        pudica.on_train(at(sent + 30.0), &frame(sent, *delay), Bytes::new(80_000));
    }
}

/// 100 packets of 2500 bytes, 2 ms apart.
fn receive_ten_megabits(pudica: &mut Pudica) {
    let mut sender = crate::testing::Sender::default();
    for id in 0..100u64 {
        sender.packet(None, at(700.0), 2500);
        pudica.received.on_feedback(&sender.report(at(1000.0), &[(id, at(800.0 + id as f64 * 2.0))]));
    }
}

fn decisions(pudica: &mut Pudica) -> Vec<&'static str> {
    core::iter::from_fn(|| pudica.poll_decision()).map(|decision| decision.what).collect()
}

#[test]
fn a_frame_takes_the_share_of_its_interval_that_it_was_late_by() {
    for (delay, ratio, pacing) in [(14.0, 0.24, 5.208), (25.0, 0.9, 1.389)] {
        let mut pudica = pudica();
        on_report(&mut pudica, &[delay]);
        assert!((pudica.ratio.unwrap() - ratio).abs() < 1e-6, "{:?}", pudica.ratio);
        assert!((pudica.pacing - pacing).abs() < 1e-3, "{}", pudica.pacing);
    }
}

#[test]
fn a_clock_that_was_behind_begins_the_least_delay_anew_and_a_queue_does_not() {
    let mut pudica = pudica();
    let mut min = |second: u64, delay_ms: i64| {
        pudica.on_delay(Time::from_millis(1000 * second), Span::from_millis(delay_ms));
        pudica.min_delay.get()
    };
    assert_eq!(min(1, 2_000), Some(Span::from_millis(10)));
    assert_eq!(min(2, -8_000), Some(Span::from_millis(-8_000)));
    assert_eq!(min(3, 30), Some(Span::from_millis(30)));
    assert_eq!(min(4, 20), Some(Span::from_millis(20)));
    // With the window alone, it would have seemed a queue of 8 s until the twelfth second.
    assert_eq!(min(5, 3_000), Some(Span::from_millis(20)));
}

#[test]
fn pacing_is_between_its_gain_and_ten_times() {
    let config = Config::default();
    assert_eq!([0.0, 0.125, 1.0, 7.0].map(|ratio| utilization::pacing(ratio, &config)), [10.0, 10.0, 1.25, 1.25]);
}

#[test]
fn probes_show_what_others_queued_after_the_frame() {
    use crate::testing::Sender;
    // A frame that arrives 4 ms late, and four probes 3 ms apart: one not late, one late by 1 ms, two by 5 ms, which is
    // more than their part of 13.3 ms (rho is 5).
    let (mut sender, mut trains) = (Sender::default(), Trains::new(Some(INTERVAL)));
    let delays = [14.0, 10.0, 11.0, 15.0, 15.0];
    let sent = [0.0, 5.0, 8.0, 11.0, 14.0];
    for (index, ms) in sent.into_iter().enumerate() {
        let frame = (index == 0).then_some((0, true));
        trains.on_sent(&sender.packet(frame, at(ms), 100), mbps(10.0));
    }
    let arrivals: Vec<(u64, Time)> =
        (0u64..).zip(sent.iter().zip(delays)).map(|(id, (ms, delay))| (id, at(ms + delay))).collect();
    trains.on_feedback(&sender.report(at(40.0), &arrivals));
    let train = trains.take_decided().unwrap();
    let found = utilization::of_train(&train, Span::from_millis(10), INTERVAL, 5.0, &Config::default()).unwrap();
    let part = 0.8 * 16.667 / 5.0;
    assert!((found.ratio - (4.0 + 1.0 + 2.0 * part) / 16.667).abs() < 1e-4, "{}", found.ratio);
}

#[test]
fn a_frame_of_which_much_was_lost_counts_as_one_and_a_half() {
    let found = |arrived, max_lost| {
        let train = Train { arrived, ..frame(0.0, 14.0) };
        let config = Config { max_lost, ..Config::default() };
        utilization::of_train(&train, Span::from_millis(10), INTERVAL, 5.0, &config).unwrap()
    };
    assert_eq!((found(79, 0.2).ratio, found(79, 0.2).by_delay), (1.5, false));
    assert!((found(80, 0.2).ratio - 0.24).abs() < 1e-6);
    assert!((found(1, 1.0).ratio - 0.24).abs() < 1e-6, "by what came of it");
}

#[test]
fn a_frame_of_which_nothing_came_measures_nothing_where_losses_do_not_count() {
    let train = Train { arrived: 0, last_arrival: None, ..frame(0.0, 14.0) };
    let config = Config { max_lost: 1.0, ..Config::default() };
    assert!(utilization::of_train(&train, Span::from_millis(10), INTERVAL, 5.0, &config).is_none());
}

#[test]
fn a_half_used_path_multiplies_the_rate_once_a_round_trip() {
    let mut pudica = pudica();
    // R = 0.5: 10 to 12.55 Mbps; the next frame that counts left 30 ms after the first.
    on_report(&mut pudica, &[18.3333, 18.3333]);
    assert!((pudica.rate.as_mbps_f64() - 12.55).abs() < 1e-3, "{}", pudica.rate);
    on_report(&mut pudica, &[18.3333; 3]);
    assert_eq!(decisions(&mut pudica), ["multiply", "multiply"]);
}

#[test]
fn a_nearly_full_path_lets_the_rate_drift() {
    let mut pudica = pudica();
    on_report(&mut pudica, &[25.0]);
    assert_eq!(decisions(&mut pudica), ["drift"]);
    // Far below half of 50 Mbps: 5 %.
    assert!((pudica.rate.as_mbps_f64() - 10.5).abs() < 1e-6, "{}", pudica.rate);
}

#[test]
fn tau_begins_anew_when_the_path_is_overfull_when_a_drain_ends_and_after_five_seconds() {
    let mut pudica = pudica();
    let seconds = |pudica: &mut Pudica, ms: f64| pudica.tau(at(ms)).as_secs_f64();
    assert_eq!([1000.0, 5000.0, 5001.0, 6001.0].map(|ms| seconds(&mut pudica, ms)), [1.0, 5.0, 0.0, 1.0]);
    // Reported at 1030 ms, R = 1.2.
    on_report(&mut pudica, &[30.0]);
    assert_eq!(seconds(&mut pudica, 2030.0), 1.0);
    pudica.draining = Some(at(1030.0));
    pudica.control(at(3000.0), at(2900.0), Utilization { ratio: 0.5, by_delay: true }, Bytes::ZERO);
    assert_eq!(seconds(&mut pudica, 3500.0), 0.5);
}

#[test]
fn one_full_frame_makes_the_next_one_smaller_and_leaves_the_rate() {
    let mut pudica = pudica();
    on_report(&mut pudica, &[30.0]);
    assert_eq!((pudica.rate, pudica.limits().capacity), (mbps(10.0), mbps(8.5)));
    pudica.on_sent(&SentPacket::new(crate::PacketId(0), at(1050.0), Bytes::new(1000)));
    assert_eq!(pudica.limits().capacity, mbps(10.0));
}

#[test]
fn three_full_frames_drain_the_queue_until_one_is_not_full() {
    let mut pudica = pudica();
    // 20 Mbps arrive, 80 kB are in flight.
    let feed = |pudica: &mut Pudica| pudica.received.get().as_mbps_f64();
    receive_ten_megabits(&mut pudica);
    assert!((feed(&mut pudica) - 10.0).abs() < 0.2, "{}", feed(&mut pudica));
    on_report(&mut pudica, &[30.0, 30.0, 30.0]);
    let expected = 0.85 * feed(&mut pudica) - 3.2;
    assert!((pudica.rate.as_mbps_f64() - expected).abs() < 1e-6, "{}", pudica.rate);
    on_report(&mut pudica, &[30.0, 30.0]);
    assert!((pudica.rate.as_mbps_f64() - expected).abs() < 1e-6, "set once");
    on_report(&mut pudica, &[20.0]);
    assert_eq!(pudica.rate.as_mbps_f64(), feed(&mut pudica));
    assert_eq!(decisions(&mut pudica), ["fall back for a frame", "drain", "resume"]);
}

/// How often a drain rate is computed for frames with R = 1.5 that left at these milliseconds, each reported 30 ms
/// later.
fn drains(drain_rate: DrainRate, by_delay: bool, sent_ms: &[f64]) -> usize {
    let mut pudica = pudica();
    pudica.config.drain_rate = drain_rate;
    for sent in sent_ms {
        pudica.control(at(sent + 30.0), at(*sent), Utilization { ratio: 1.5, by_delay }, Bytes::ZERO);
    }
    decisions(&mut pudica).iter().filter(|what| **what == "drain").count()
}

#[test]
fn a_drain_that_does_not_drain_is_set_anew_after_its_horizon_unless_only_losses_say_so() {
    // The third frame begins the drain, 1070 ms; the fifth left more than 200 ms after that.
    let sent = [1000.0, 1020.0, 1040.0, 1270.0, 1271.0];
    let count = |drain_rate, by_delay| {
        [&sent[..2], &sent[..3], &sent[..4], &sent].map(|sent| drains(drain_rate, by_delay, sent))
    };
    assert_eq!(count(DrainRate::Anew, true), [0, 1, 1, 2]);
    assert_eq!(count(DrainRate::Anew, false), [0, 1, 1, 1]);
    assert_eq!(count(DrainRate::Once, true), [0, 1, 1, 1]);
    assert_eq!(count(DrainRate::EachFrame, true), [0, 1, 2, 3]);
}

#[test]
fn what_the_path_holds_without_a_queue_is_drained_only_to_the_letter() {
    // 10 Mbps arrive; of the 80 kB in flight, a path of 30 ms there and back holds 37.5 kB.
    for (drained, expected) in [(Drained::Queue, 8.5 - 1.7), (Drained::Flight, 8.5 - 3.2)] {
        let mut pudica = pudica();
        pudica.config.drained = drained;
        pudica.min_round_trip = Span::from_millis(30);
        receive_ten_megabits(&mut pudica);
        let received = pudica.received.get().as_mbps_f64();
        assert!((received - 10.0).abs() < 0.11, "{received}");
        on_report(&mut pudica, &[30.0; 3]);
        assert!((pudica.rate.as_mbps_f64() - expected).abs() < 0.11, "{drained:?}: {}", pudica.rate);
    }
}

#[test]
fn a_late_frame_makes_the_next_one_smaller_before_anything_is_heard_of_it() {
    let mut pudica = pudica();
    pudica.on_sent(&SentPacket::new(crate::PacketId(0), at(1000.0), Bytes::new(1000)));
    let due = pudica.next_timeout();
    assert_eq!(due, at(1000.0) + INTERVAL.scale(2.0));
    pudica.on_timeout(due);
    assert_eq!(pudica.limits().capacity, mbps(8.5));
    assert!(pudica.next_timeout() > due);
}

#[test]
fn silence_lowers_the_rate_and_what_it_takes_for_lost_is_no_sign_of_a_full_path() {
    let mut pudica = pudica();
    let mut sender = crate::testing::Sender::default();
    for frame in 0..5 {
        pudica.on_sent(&sender.packet(Some((frame, true)), at(frame as f64 * 16.667), 1000));
    }
    pudica.on_timeout(at(200.0));
    assert_eq!(pudica.rate, mbps(7.0));
    let feedback = sender.history.on_timeout(at(3000.0)).unwrap();
    pudica.on_feedback(&feedback);
    assert_eq!((pudica.rate, pudica.ratio, pudica.draining), (mbps(7.0), None, None));
    assert_eq!(pudica.next_timeout(), Time::NEVER);
}

#[test]
fn probes_cost_two_percent_at_most() {
    let mut pudica = pudica();
    assert!((pudica.limits().padding.rate().as_kbps_f64() - 153.6).abs() < 0.1, "four of 80 B in 16.7 ms");
    pudica.set_rate(mbps(1.0));
    assert_eq!(pudica.limits().padding.rate(), Rate::from_kbps(20));
}

#[test]
fn parameters_out_of_range_are_named() {
    let reported = |config: Config| Pudica::new(config).map(|_| ()).map_err(|error| alloc::format!("{error}"));
    for (config, named) in [
        (Config { threshold: 1.5, ..Config::default() }, "pudica.threshold"),
        (Config { fallback: 1.0, ..Config::default() }, "pudica.fallback"),
        (Config { max_pacing: 1.0, ..Config::default() }, "pudica pacing"),
        (Config { max_multiplied: f64::NAN, ..Config::default() }, "pudica.max_multiplied"),
        (Config { initial: Rate::ZERO, ..Config::default() }, "pudica rates"),
        (Config { history: Span::ZERO, ..Config::default() }, "pudica.history"),
        (Config { drain_frames: 0, ..Config::default() }, "pudica counts"),
    ] {
        assert!(reported(config).unwrap_err().contains(named), "{named}");
    }
    assert!(reported(Config::literal()).is_ok());
}
