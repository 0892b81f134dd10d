use alloc::string::ToString;

use super::*;

const MS: fn(u64) -> Time = Time::from_millis;
const KBPS: fn(u64) -> Rate = Rate::from_kbps;

/// The rule driven by its signals: look after look with this round trip and so many packets under way.
struct Looks {
    belabox: Belabox,
    now: u64,
}

impl Looks {
    fn new(start: Rate) -> Looks {
        let mut belabox = Belabox::new(Config { start, ..Config::default() }).unwrap();
        belabox.on_demand(Time::ZERO, Demand { min: Rate::ZERO, max: KBPS(6000) });
        Looks { belabox, now: 1000 }
    }

    fn look(&mut self, round_trip_ms: i64, packets: u64, sent: Rate) {
        self.now += 20;
        let Belabox { under_way, round_trip, config, .. } = &mut self.belabox;
        under_way.look(config.packet * packets, sent, config);
        round_trip.look(Span::from_millis(round_trip_ms));
        self.belabox.decide(MS(self.now));
    }

    fn steady(&mut self, looks: u32) -> Rate {
        for _ in 0..looks {
            self.look(40, 2, KBPS(2000));
        }
        self.belabox.rate
    }
}

#[test]
fn a_free_path_raises_the_rate_by_thirty_kbps_and_a_thirtieth_every_half_second() {
    let mut looks = Looks::new(KBPS(300));
    // 300 + 30 + 10, then 340 + 30 + 11.333; 25 looks are 500 ms, and the raise comes with the look after.
    assert_eq!(looks.steady(1), KBPS(340));
    assert_eq!(looks.steady(25), KBPS(340));
    assert_eq!(looks.steady(1), Rate::from_bps(381_333));
    // The encoder is given whole hundreds.
    assert_eq!(looks.belabox.limits().capacity, KBPS(300));
    assert_eq!(looks.belabox.limits().pacing, KBPS(360));
}

#[test]
fn a_third_of_the_latency_cuts_to_the_minimum_and_a_fifth_by_a_tenth_and_a_hundred_kbps() {
    let mut looks = Looks::new(KBPS(3000));
    looks.look(401, 8, KBPS(3000));
    assert_eq!(looks.belabox.rate, KBPS(2600));
    // Not again within 250 ms.
    for _ in 0..12 {
        looks.look(401, 8, KBPS(3000));
    }
    assert_eq!(looks.belabox.rate, KBPS(2600));
    looks.look(401, 8, KBPS(3000));
    assert_eq!(looks.belabox.rate, KBPS(2240));
    looks.look(666, 8, KBPS(3000));
    assert_eq!(looks.belabox.rate, KBPS(300));
}

#[test]
fn a_round_trip_that_creeps_above_its_average_by_a_seventh_is_light_congestion() {
    let mut looks = Looks::new(KBPS(300));
    looks.steady(500);
    // A millisecond more with every tenth look: the average is 43.4 ms when the round trip reaches 50, and 15 % above it
    // is 49.9, of which whole milliseconds count.
    for round_trip in 41..100 {
        for _ in 0..10 {
            let before = looks.belabox.rate;
            looks.look(round_trip, 2, KBPS(2000));
            if looks.belabox.rate < before {
                assert_eq!(looks.belabox.rate, before.saturating_sub(KBPS(100)));
                assert_eq!(round_trip, 50);
                return;
            }
        }
    }
    panic!("the rate was never cut");
}

#[test]
fn many_packets_under_way_cut_the_rate_as_a_long_round_trip_does() {
    let mut looks = Looks::new(KBPS(3000));
    looks.steady(400);
    let before = looks.belabox.rate;
    // The rise sets the thresholds too: 2 + 2.5 * 58 and more; only what is sent in a second bounds the heavy one.
    looks.look(40, 60, KBPS(2000));
    assert_eq!(looks.belabox.rate, before);
    // At 48 kbps a second holds four packets: 60 are heavy congestion, though no more than before.
    for _ in 0..400 {
        looks.look(40, 60, KBPS(48));
    }
    assert_eq!(looks.belabox.rate, KBPS(300));
}

#[test]
fn the_least_round_trip_rises_until_a_longer_path_counts_as_free() {
    let mut looks = Looks::new(KBPS(300));
    looks.steady(10);
    assert!((40.0..40.1).contains(&looks.belabox.round_trip.least));
    for _ in 0..100 {
        looks.look(60, 8, KBPS(2000));
    }
    // 40 * 1.001^100.
    assert!((44.1..44.3).contains(&looks.belabox.round_trip.least), "{}", looks.belabox.round_trip.least);
    // SRT's 100 ms before it has measured are no least.
    let mut unmeasured = RoundTrip::default();
    unmeasured.look(Span::from_millis(100));
    assert!(unmeasured.least > 200.0);
}

#[test]
fn a_parameter_out_of_range_is_named() {
    let problem = |config: Config| Belabox::new(config).err().unwrap().to_string();
    assert!(problem(Config { start: KBPS(1), ..Config::default() }).contains("0 < min <= start"));
    assert!(problem(Config { latency: Span::ZERO, ..Config::default() }).starts_with("belabox.latency is 0"));
    assert!(problem(Config { cut_divisor: 0, ..Config::default() }).contains("above 0"));
}
