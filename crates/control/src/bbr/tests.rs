//! BBR as a whole: the worked examples of bbr.md section 9, and what the states do to a closed loop.

use alloc::vec::Vec;

use super::*;
use thalweg_units::Seed;

/// BBR that knows BtlBw 6 Mbps and RTprop 50 ms.
fn six_megabits(state: State) -> Bbr {
    let mut bbr = Config { seed: Seed::new(3), ..Config::default() }.build().unwrap();
    bbr.bandwidth.add(&crate::estimate::RateSample {
        rate: Rate::from_kbps(6000),
        delivered: Bytes::new(37_500),
        interval: Span::from_millis(50),
        delivered_before: Bytes::ZERO,
        app_limited: false,
    });
    bbr.round_trip.add(Time::ZERO, Span::from_millis(50), 1.0);
    for _ in 0..4 {
        bbr.full_pipe.on_round(Rate::from_kbps(6000));
    }
    bbr.state = state;
    bbr
}

#[test]
fn six_megabits_and_fifty_milliseconds_make_the_numbers_of_the_first_example() {
    let mut bbr = six_megabits(State::Startup);
    assert_eq!(bbr.bdp(), Some(Bytes::new(37_500)));
    bbr.set_pacing();
    assert_eq!(bbr.pacing, Rate::from_kbps(17_310));
    bbr.state = State::ProbeBw;
    let mut paces = Vec::new();
    for round_trip in 1..=8 {
        bbr.set_pacing();
        paces.push(bbr.pacing.as_bps() / 100_000);
        let (bdp, rt_prop) = (Bytes::new(37_500), Span::from_millis(50));
        let now = Time::from_millis(51 * round_trip);
        bbr.cycle.advance(Flight { now, rt_prop, bdp, before: Bytes::new(50_000), after: bdp + MSS, lost: false });
    }
    assert_eq!(paces, [75, 45, 60, 60, 60, 60, 60, 60], "7.5 and 4.5 Mbps in the cycle");
    bbr.set_pacing();
    assert_eq!(bbr.bdp().unwrap().scale(bbr.cwnd_gain()), Bytes::new(75_000));
    assert_eq!(bbr.target(), Bytes::new(84_000), "two packets leave at once");
}

#[test]
fn bursts_grow_with_the_pace_by_the_drafts_thresholds() {
    let at = |kbps| quantum(Rate::from_kbps(kbps)).get();
    assert_eq!([at(1199), at(1200), at(23_999), at(24_000), at(80_000)], [1500, 3000, 3000, 3000, 10_000]);
    assert_eq!(at(1_000_000), 65_536);
}
