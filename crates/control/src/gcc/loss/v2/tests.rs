//! Tests of the estimate over several observations.

use alloc::vec::Vec;

use thalweg_units::Bytes;

use super::*;
use crate::feedback::{Fate, Report};
use crate::packet::{PacketId, SentPacket};

fn input(now: u64, reports: &[Report], delay_based: u64, acknowledged: Option<u64>) -> Input<'_> {
    Input {
        now: Time::from_millis(now),
        reports,
        delay_based: Rate::from_kbps(delay_based),
        acknowledged: acknowledged.map(Rate::from_kbps),
        in_alr: false,
        min: Rate::from_kbps(30),
        max: Rate::from_kbps(12_000),
        rtt: Span::from_millis(50),
    }
}

/// Packets of 1250 bytes, one every 10 ms from `from` ms, of which one in `lost` is lost; with 0, none is lost.
fn reports(from: u64, count: u64, lost: u64) -> Vec<Report> {
    let one = |index: u64| {
        let at = Time::from_millis(from + 10 * index);
        let packet = SentPacket::new(PacketId(from / 10 + index), at, Bytes::new(1250));
        let gone = lost > 0 && index.is_multiple_of(lost);
        let arrived = Fate::arrived(at + Span::from_millis(25));
        Report { packet, fate: if gone { Fate::Lost } else { arrived } }
    };
    (0..count).map(one).collect()
}

#[test]
fn a_tenth_and_a_twentieth_more_lost_allow_a_megabit() {
    assert!((V2Config::default().balance / (0.15 - INSTANT_OFFSET) - 1000.0).abs() < 1e-9);
}

#[test]
fn a_delay_based_rate_that_rose_counts_from_the_next_observation_on_and_one_that_fell_at_once() {
    let mut v2 = LossV2::new(V2Config::default(), Rate::from_kbps(300));
    for i in 0..4 {
        v2.update(&input(i * 300, &reports(i * 300, 30, 0), 1000, Some(1000)));
    }
    assert_eq!(v2.update(&input(1200, &reports(1200, 1, 0), 2000, Some(1000))).0, Rate::from_kbps(1000));
    assert_eq!(v2.update(&input(1210, &reports(1210, 1, 0), 800, Some(1000))).0, Rate::from_kbps(800));
    assert_eq!(v2.update(&input(1500, &reports(1220, 28, 0), 2000, Some(1000))).0, Rate::from_kbps(2000));
}

#[test]
fn in_2023_loss_bounded_the_rate_whatever_arrived_and_the_bound_was_lower() {
    let mut v2 = LossV2::new(V2Config::of_2023(), Rate::from_kbps(300));
    for i in 0..3 {
        v2.update(&input(i * 300, &reports(i * 300, 30, 3), 1000, Some(900)));
    }
    // A loss of a third of the packets allows 75 / (0.3333 - 0.05) kbps.
    assert!((v2.result.as_kbps_f64() - 264.7).abs() < 0.1, "{}", v2.result);
    // The estimate itself is the best candidate: what arrives, then 0.95 of it, twice.
    assert!((v2.bandwidth - 900.0 * 0.95 * 0.95).abs() < 1e-9, "{}", v2.bandwidth);
    assert_eq!((v2.hold, v2.state), (None, LossState::Decreasing));
}

#[test]
fn an_acknowledged_rate_that_is_not_known_for_a_while_is_the_last_that_was() {
    let mut v2 = LossV2::new(V2Config::default(), Rate::from_kbps(300));
    for i in 0..20 {
        let acknowledged = (i < 10).then_some(900);
        v2.update(&input(i * 300, &reports(i * 300, 30, 3), 1000, acknowledged));
    }
    // A loss of a third allows 100 / (0.33 - 0.05) = 353 kbps, but not less than the acknowledged rate.
    assert_eq!(v2.result, Rate::from_kbps(900));
}

/// A sender at the allowed rate, with packets of 200 bytes, over a path whose capacity changes.
struct Call {
    v2: LossV2,
    now: u64,
    next: u64,
    /// (ms, the allowed rate) after each report.
    allowed: Vec<(u64, Rate, LossState)>,
}

impl Call {
    /// Sends and reports every 50 ms until `until` ms; the excess over `carried` kbps is lost, evenly spread.
    fn play(&mut self, until: u64, carried: u64) {
        while self.now < until {
            let rate = self.allowed.last().map_or(1000.0, |(_, rate, _)| rate.as_kbps_f64());
            let count = (rate * 50.0 / 1600.0) as u64;
            let share = (carried as f64 / rate).min(1.0);
            let one = |index: u64| {
                let id = self.next + index;
                let at = Time::from_micros(self.now * 1000 + index * 50_000 / count);
                let arrives = (id as f64 * share) as u64 != ((id + 1) as f64 * share) as u64;
                let arrived = Fate::arrived(at + Span::from_millis(25));
                let packet = SentPacket::new(PacketId(id), at, Bytes::new(200));
                Report { packet, fate: if arrives { arrived } else { Fate::Lost } }
            };
            let reports: Vec<Report> = (0..count).map(one).collect();
            self.now += 50;
            self.next += count;
            let acknowledged = rate.min(carried as f64) as u64;
            let (rate, state) = self.v2.update(&input(self.now, &reports, 1000, Some(acknowledged)));
            self.allowed.push((self.now, rate, state));
        }
    }
}

#[test]
fn after_a_spell_of_loss_the_rate_comes_back_by_three_tenths_in_two_observations_at_most() {
    let v2 = LossV2::new(V2Config::default(), Rate::from_kbps(1000));
    let mut call = Call { v2, now: 0, next: 0, allowed: Vec::new() };
    call.play(3_000, 2_000);
    assert_eq!(call.allowed.last().unwrap().2, LossState::DelayBased);
    call.play(8_000, 200);
    let (_, low, state) = *call.allowed.last().unwrap();
    assert!(
        state != LossState::DelayBased && low < Rate::from_kbps(300) && low >= Rate::from_kbps(200),
        "{low} {state:?}"
    );
    call.play(30_000, 2_000);
    let back = call
        .allowed
        .iter()
        .find(|(ms, rate, _)| *ms > 8_000 && *rate >= Rate::from_kbps(900))
        .map(|(ms, ..)| ms - 8_000);
    assert!(back.is_some_and(|ms| (3_000..6_000).contains(&ms)), "{back:?} ms");
    // Two observations of 250 ms pass before 300 ms have passed.
    for (index, (ms, rate, _)) in call.allowed.iter().enumerate().filter(|(_, (ms, ..))| *ms > 8_500) {
        let before = call.allowed[index - 10].1;
        assert!(*rate <= before.scale(WINDOW_FACTOR + 0.02), "{before} to {rate} at {ms} ms");
    }
}

#[test]
fn a_rate_that_is_held_is_no_lower_than_what_arrives() {
    let mut v2 = LossV2::new(V2Config::default(), Rate::from_kbps(1000));
    for i in 0..8 {
        v2.update(&input(i * 300, &reports(i * 300, 30, 3), 1000, Some(300)));
    }
    // A long hold, as after several decreases.
    v2.hold = Some((Time::from_millis(60_000), 320.0));
    v2.state = LossState::Decreasing;
    for i in 8..12 {
        v2.update(&input(i * 300, &reports(i * 300, 30, 3), 1000, Some(500)));
    }
    assert_eq!(v2.result, Rate::from_kbps(500));
}

/// An estimator with a window this short, after clean observations of 300 ms at 600 kbps.
fn ready(window: usize, clean: u64, config: V2Config) -> LossV2 {
    let mut v2 = LossV2::new(V2Config { window, min_observations: 1, ..config }, Rate::from_kbps(600));
    for i in 0..clean {
        v2.update(&input(i * 300, &reports(i * 300, 30, 0), 600, None));
    }
    v2
}

#[test]
fn where_everything_is_lost_the_rate_is_what_its_loss_allows_and_no_less_than_what_is_acknowledged() {
    // 95 / (1 - 0.05) kbps.
    let lost = |acknowledged| {
        let mut v2 = ready(2, 0, V2Config { balance: 95.0, ..V2Config::default() });
        v2.update(&input(0, &reports(0, 30, 1), 600, acknowledged))
    };
    let (rate, state) = lost(None);
    assert!((rate.as_kbps_f64() - 100.0).abs() < 1e-3, "{rate}");
    assert_eq!(state, LossState::Decreasing);
    assert_eq!(lost(Some(500)).0, Rate::from_kbps(500));
}

#[test]
fn a_clean_path_is_limited_by_the_delay_based_rate_and_by_nothing_else() {
    let mut v2 = ready(2, 2, V2Config::default());
    assert_eq!(v2.update(&input(600, &reports(600, 30, 0), 500, None)), (Rate::from_kbps(500), LossState::DelayBased));
}

#[test]
fn the_recovery_from_a_loss_of_everything_begins_at_a_fifth_above_the_rate_that_was_held() {
    let mut v2 = ready(2, 0, V2Config::default());
    let (at_loss, state) = v2.update(&input(0, &reports(0, 30, 1), 5000, Some(100)));
    assert_eq!((at_loss, state), (Rate::from_kbps(100), LossState::Decreasing));
    let recovered = (1..20)
        .map(|i| v2.update(&input(i * 300, &reports(i * 300, 30, 0), 5000, Some(100))))
        .find(|(_, state)| *state == LossState::IncreaseUsingPadding);
    assert_eq!(recovered.map(|(rate, _)| rate), Some(Rate::from_kbps(120)));
}

#[test]
fn a_tenth_of_loss_lowers_the_rate_only_where_the_preference_for_high_rates_turns_before() {
    // 533 kbps in the first observation, 4.8 Mbps in the second, the tenth of ten packets lost in each: losses do not grow
    // with what is sent.
    let ten = |first: u64, from: u64| -> Vec<Report> {
        let mut reports = reports(0, 10, 0);
        for (index, report) in reports.iter_mut().enumerate() {
            let at = Time::from_millis(from + 250 * index as u64);
            report.packet = SentPacket::new(PacketId(first + index as u64), at, Bytes::new(15_000));
        }
        reports[9].fate = Fate::Lost;
        reports
    };
    let after = |turn| {
        let mut v2 = ready(2, 0, V2Config { turn, ..V2Config::default() });
        v2.update(&input(0, &ten(0, 0), 600, None));
        v2.update(&input(1000, &ten(10, 250), 5000, None)).0
    };
    let [high, low] = [0.2, 0.05].map(after);
    // More than the inherent loss: no growth either (NotIncreaseIfInherentLossLessThanAverageLoss).
    assert_eq!(high, Rate::from_kbps(600));
    assert!((Rate::from_kbps(400)..Rate::from_kbps(600)).contains(&low), "{low}");
}

#[test]
fn one_observation_of_five_that_is_lost_is_an_outlier_and_a_second_is_not() {
    let mut v2 = ready(5, 5, V2Config::default());
    let mut next = |i: u64, lost| v2.update(&input(i * 300, &reports(i * 300, 30, lost), 600, None));
    next(5, 1);
    assert_eq!(next(6, 0), (Rate::from_kbps(600), LossState::DelayBased));
    let (rate, state) = next(7, 1);
    assert!(rate < Rate::from_kbps(600) && state == LossState::Decreasing, "{rate} {state:?}");
}
