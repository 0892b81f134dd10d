//! Contract of a driver: the same arrivals give the same target whether departures are shown or joined with their fate,
//! and no order of calls makes it panic.

mod support;

use proptest::prelude::*;
use support::{Path, Run, play};
use thalweg_driver::{Acked, Config, Departure, Driver, Joined, Outcome, playable};
use thalweg_units::{Bytes, Rate, Span, Time};

fn driver(name: &str) -> Driver {
    Driver::named(name, Config::new(Rate::from_kbps(600), Rate::from_kbps(30), Rate::from_kbps(12_000)))
        .expect("in range")
}

/// Controllers whose rate follows from what arrived. The others go by what they have asked for meanwhile (the rate for
/// which a frame was made, a gain cycle, a window that doubles each round trip): a report later, their oscillation is
/// shifted by as much.
fn follows_arrivals(name: &str) -> bool {
    ["gcc", "nada", "scream", "rocc"].contains(&name.split(':').next().unwrap_or(name))
}

#[test]
fn what_is_seen_and_what_is_joined_give_targets_within_a_twentieth_or_the_same_mean_within_a_tenth() {
    for name in playable() {
        for path in Path::all() {
            let run = play(driver(name), &path);
            let joined = run.joined(driver(name));
            let mean = |targets: &[(Time, Rate)]| Run::mean(targets).as_bps_f64();
            let differs = (mean(&joined) / mean(&run.targets) - 1.0).abs();
            assert!(differs < 0.1, "{name}, {}: the mean differs by {differs:.3}", path.name);
            if follows_arrivals(name) {
                let worst = run.worst(&joined);
                assert!(worst < 0.05, "{name}, {}: a target differs by {worst:.3}", path.name);
            }
        }
    }
}

#[test]
fn a_copy_goes_on_as_the_original_would_have() {
    for name in playable() {
        let run = play(driver(name), &Path::all()[0]);
        let (before, after) = run.reports.split_at(run.reports.len() / 2);
        let mut original = driver(name);
        Run::join(&mut original, before);
        let mut copy = original.clone();
        assert_eq!(Run::join(&mut original, after), Run::join(&mut copy, after), "{name}");
    }
}

/// A call, in any order and with any values.
#[derive(Debug, Clone)]
enum Call {
    Sent {
        key: u64,
        size: u16,
        probe: bool,
    },
    Acks {
        from: u64,
        count: u64,
        arrived: u64,
        arrival_ms: u64,
        hold_ms: Option<u8>,
    },
    Lost {
        from: u64,
        count: u64,
    },
    Rtcp(Vec<u8>),
    Join {
        from: u64,
        count: u64,
        departed_ms: u64,
        arrived: u64,
        lost: u64,
    },
    Demand {
        min_kbps: u64,
        max_kbps: u64,
    },
    Sending(bool),
    Timeout,
    /// Time passes, or goes back.
    Pass {
        ms: i64,
    },
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        6 => (0u64..200, 0u16..1500, any::<bool>()).prop_map(|(key, size, probe)| Call::Sent { key, size, probe }),
        4 => (0u64..200, 0u64..40, any::<u64>(), 0u64..100_000, prop::option::of(0u8..70))
            .prop_map(|(from, count, arrived, arrival_ms, hold_ms)| Call::Acks { from, count, arrived, arrival_ms, hold_ms }),
        1 => (0u64..200, 0u64..10).prop_map(|(from, count)| Call::Lost { from, count }),
        1 => prop::collection::vec(any::<u8>(), 0..64).prop_map(Call::Rtcp),
        4 => (0u64..400, 0u64..40, 0u64..100_000, any::<u64>(), any::<u64>())
            .prop_map(|(from, count, departed_ms, arrived, lost)| Call::Join { from, count, departed_ms, arrived, lost }),
        1 => (0u64..5000, 0u64..50_000).prop_map(|(min_kbps, max_kbps)| Call::Demand { min_kbps, max_kbps }),
        1 => any::<bool>().prop_map(Call::Sending),
        2 => Just(Call::Timeout),
        4 => prop_oneof![4 => 0i64..200, 1 => 1000i64..10_000, 1 => -500i64..0].prop_map(|ms| Call::Pass { ms }),
    ]
}

/// Makes the calls; returns the targets.
fn make(mut driver: Driver, calls: &[Call]) -> Vec<Rate> {
    let mut now = Time::from_millis(1);
    let (mut min, mut max) = (Rate::from_kbps(30), Rate::from_kbps(12_000));
    let mut sent = Bytes::ZERO;
    let mut targets = Vec::new();
    for call in calls {
        match call {
            Call::Sent { key, size, probe } => {
                let mut departure = Departure::new(*key, Bytes::new((*size).into()));
                departure.probe = driver.limits().probe.filter(|_| *probe).map(|probe| probe.cluster);
                departure.stream = Some((7, *key as u16));
                let known = driver.stats();
                match driver.on_sent(now, departure) {
                    Ok(_) => sent += departure.size + Bytes::new(38),
                    Err(_) => assert_eq!(driver.stats().in_flight, known.in_flight, "nothing of it counts"),
                }
            }
            Call::Acks { from, count, arrived, arrival_ms, hold_ms } => {
                let acked = |index: u64| {
                    let arrival =
                        Some(Time::from_millis(arrival_ms + index)).filter(|_| arrived >> (index % 64) & 1 == 1);
                    Acked::new(from + index, arrival, index % 7 == 3)
                };
                let acked: Vec<Acked> = (0..*count).map(acked).collect();
                let _ = driver.on_acks(now, &acked, hold_ms.map(|ms| Span::from_millis(ms.into())));
            }
            Call::Lost { from, count } => {
                let _ = driver.on_lost(now, &(*from..from + count).collect::<Vec<_>>());
            }
            Call::Rtcp(bytes) => {
                let _ = driver.on_rtcp(now, bytes);
            }
            Call::Join { from, count, departed_ms, arrived, lost } => {
                let joined = |index: u64| {
                    let outcome = match (arrived >> (index % 64) & 1, lost >> (index % 64) & 1) {
                        (1, _) => Outcome::Arrived { at: Time::from_millis(departed_ms + 30 + index), ce: false },
                        (_, 1) => Outcome::Lost,
                        _ => Outcome::Missing,
                    };
                    Joined::new(from + index, Bytes::new(1162), Time::from_millis(departed_ms + index), outcome)
                };
                let known = driver.clone();
                let joined: Vec<Joined> = (0..*count).map(joined).collect();
                let twice: Vec<Joined> = joined.iter().chain(joined.first()).copied().collect();
                assert!(joined.is_empty() || driver.join(now, &twice).is_err(), "a key comes twice");
                if driver.join(now, &joined).is_ok() {
                    // Packets that were joined before come again without being sent again.
                    sent += Bytes::new(1200) * joined.len() as u64;
                } else {
                    assert_eq!(driver.stats(), known.stats(), "nothing of it counts");
                }
            }
            Call::Demand { min_kbps, max_kbps } => {
                let rates = (Rate::from_kbps(*min_kbps), Rate::from_kbps(*max_kbps));
                if driver.on_demand(now, rates.0, rates.1).is_ok() {
                    (min, max) = rates;
                }
            }
            Call::Sending(sending) => driver.set_sending(now, *sending),
            Call::Timeout => {
                let due = driver.next_timeout();
                if due.is_set() {
                    now = now.max(due);
                    driver.on_timeout(now);
                    assert!(driver.next_timeout() > due, "a timeout that stays due would spin");
                }
            }
            Call::Pass { ms } => now += Span::from_millis(*ms),
        }
        let (target, stats) = (driver.target(), driver.stats());
        assert!(target >= min && target <= max, "{target} outside {min} to {max}");
        assert_eq!(target, driver.target(), "asking changes nothing");
        assert!(stats.in_flight <= sent + Rate::from_kbps(u64::from(u32::MAX)).over(Span::from_secs(1)), "{stats:?}");
        assert!(stats.loss.is_none_or(|loss| (0.0..=1.0).contains(&loss)), "{stats:?}");
        targets.push(target);
    }
    targets
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn no_order_of_calls_makes_a_driver_panic_or_leave_its_bounds(
        calls in prop::collection::vec(call(), 1..80),
        raises_target in any::<bool>(),
    ) {
        for name in ["gcc", "nada", "scream", "sqp", "bbr", "copa", "pudica", "tfrc", "rocc", "gcc:loss"] {
            let mut config = Config::default();
            config.raises_target = raises_target;
            let first = make(Driver::named(name, config).unwrap(), &calls);
            let second = make(Driver::named(name, config).unwrap(), &calls);
            prop_assert!(first == second, "{} differs between two runs", name);
        }
    }
}

#[test]
fn bytes_in_flight_follow_keys_with_holes_and_verdicts_that_are_final() {
    let (mut driver, ms) = (driver("nada"), Time::from_millis);
    for (key, at) in [(5, 0), (9, 10), (7, 20), (100, 30)] {
        driver.on_sent(ms(at), Departure::new(key, Bytes::new(962))).unwrap();
    }
    // Four packets of 962 bytes and 38 of overhead.
    assert_eq!(driver.stats().in_flight, Bytes::new(4000));
    assert!(driver.on_sent(ms(30), Departure::new(9, Bytes::new(962))).is_err(), "9 is in use");
    let arrived = |key| Acked::new(key, Some(ms(50)), false);
    driver.on_acks(ms(60), &[arrived(9), arrived(8)], None).unwrap();
    assert_eq!((driver.stats().in_flight, driver.stats().unknown), (Bytes::new(3000), 1));
    driver.on_lost(ms(60), &[5]).unwrap();
    assert_eq!((driver.stats().in_flight, driver.stats().loss), (Bytes::new(2000), Some(0.5)));
    // A time that goes back counts as the last.
    driver.on_acks(ms(50), &[arrived(7), arrived(100)], None).unwrap();
    let stats = driver.stats();
    assert_eq!((stats.in_flight, stats.clock_steps, stats.loss), (Bytes::ZERO, 1, Some(0.25)));
    let joined = Joined::new(1, Bytes::new(962), ms(0), Outcome::Missing);
    assert!(driver.join(ms(70), &[joined]).is_err(), "departures were shown before");
}

#[test]
fn a_program_that_sends_into_silence_halves_its_target_if_it_says_that_it_sends_and_no_departure_does() {
    let run = play(driver("nada"), &Path::all()[0]);
    let (end, target) = *run.targets.last().unwrap();
    let after = |mut driver: Driver, seconds: i64| {
        let until = end + Span::from_secs(seconds);
        while driver.next_timeout() <= until {
            driver.on_timeout(driver.next_timeout());
        }
        driver.target()
    };
    let (mut blind, mut informed) = (driver("nada"), driver("nada"));
    Run::join(&mut blind, &run.reports);
    informed.set_sending(Time::ZERO, true);
    Run::join(&mut informed, &run.reports);
    assert!(blind.stats().blind && !informed.stats().blind);
    assert_eq!(after(blind, 9), target, "it may be idle");
    // NADA halves its rate too, since it knows what is presumed under way.
    assert!(after(informed, 9) < target.scale(1.0 / 15.0));
    let mut seen = driver("nada");
    seen.set_sending(Time::ZERO, true);
    seen.on_sent(Time::ZERO, Departure::new(0, Bytes::new(1162))).unwrap();
    seen.on_acks(Time::from_millis(50), &[Acked::new(0, Some(Time::from_millis(25)), false)], None).unwrap();
    seen.set_sending(Time::from_millis(50), true);
    assert_eq!(after(seen.clone(), 9), seen.target(), "its departures say that it does not send");
}

#[test]
fn a_report_says_twcc_and_keys_are_its_numbers() {
    use thalweg_wire::rtcp::{self, Packet, twcc};
    let (mut driver, ms) = (driver("gcc"), Time::from_millis);
    for key in 65_530..65_540 {
        driver.on_sent(ms(10 * (key - 65_530)), Departure::new(key, Bytes::new(1162))).unwrap();
    }
    let arrival = |key| (key % 4 != 0).then(|| ms(10 * (key - 65_530) + 30));
    let arrivals: Vec<_> = (65_530..65_540).map(|key| (key, arrival(key))).collect();
    let feedback = twcc::Config::default().build().unwrap().messages(&arrivals).unwrap().remove(0);
    let mut datagram = Vec::new();
    rtcp::write(&[Packet::TransportFeedback(feedback)], &mut datagram).unwrap();
    assert!(driver.on_rtcp(ms(150), &datagram).unwrap().is_empty());
    // 65,532 and 65,536 are missing, and three later ones arrived.
    assert_eq!((driver.stats().in_flight, driver.stats().loss), (Bytes::ZERO, Some(0.2)));
    assert!(driver.on_rtcp(ms(160), &[1, 2, 3]).is_err());
}

#[test]
fn acknowledgements_of_arrivals_alone_show_losses_also_to_a_scheme_that_waits_for_reports_to_name_them() {
    let mut driver = driver("gcc");
    for key in 0..8 {
        driver.on_sent(Time::from_millis(10 * key), Departure::new(key, Bytes::new(1162))).unwrap();
    }
    for key in [0, 2, 3, 4] {
        let at = Time::from_millis(10 * key + 100);
        driver.on_acks(at, &[Acked::new(key, Some(at), false)], None).unwrap();
    }
    // Packet 1 was overtaken by three; three of five are under way.
    assert_eq!((driver.stats().loss, driver.stats().in_flight), (Some(0.2), Bytes::new(3 * 1200)));
}
