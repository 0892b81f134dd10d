//! The airtime model against the check values of specs/rmcat.md 6.

use proptest::prelude::*;
use thalweg_netsim::wifi::{AccessCategory, AirUsage, Band, StationConfig, Turns};
use thalweg_netsim::{DropReason, Port, SharedLink, Wifi, WifiConfig};
use thalweg_units::{Bytes, Rate, Seed, Span, Time};

/// Results of ports that always have packets of 1040 B to send.
struct Saturated {
    /// Mbit/s by port.
    mbps: Vec<f64>,
    usage: AirUsage,
    left: u64,
    dropped: u64,
}

impl Saturated {
    fn total(&self) -> f64 {
        self.mbps.iter().sum()
    }

    /// Frames that collided, in percent.
    fn collided(&self) -> f64 {
        100.0 * self.usage.collided as f64 / self.usage.frames as f64
    }

    /// Packets that were dropped, in percent.
    fn lost(&self) -> f64 {
        100.0 * self.dropped as f64 / (self.left + self.dropped) as f64
    }
}

/// Packets that each port has in its queue.
const BACKLOG: usize = 70;

fn saturate(config: &WifiConfig, ports: &[Port], seconds: f64) -> Saturated {
    let mut wifi: Wifi<usize> = Wifi::new(&WifiConfig { queue_age: None, ..config.clone() }, Seed::new(1)).unwrap();
    let size = Bytes::new(1040);
    for (index, port) in ports.iter().enumerate() {
        (0..BACKLOG).for_each(|_| wifi.offer(Time::ZERO, *port, size, index));
    }
    let (mut bytes, mut left, mut dropped) = (vec![0; ports.len()], 0, 0);
    let end = Time::from_secs_f64(seconds);
    loop {
        let now = wifi.next_event();
        if now > end {
            break;
        }
        while let Some(departure) = wifi.poll(now) {
            bytes[departure.packet] += departure.size.bits();
            left += 1;
            wifi.offer(now, ports[departure.packet], size, departure.packet);
        }
        while let Some(drop) = wifi.poll_drop() {
            dropped += 1;
            wifi.offer(now, ports[drop.packet], size, drop.packet);
        }
    }
    let mbps = bytes.into_iter().map(|bits| bits as f64 / seconds / 1e6).collect();
    Saturated { mbps, usage: wifi.usage(), left, dropped }
}

/// This many senders: the access point and stations.
fn senders(count: u16) -> Vec<Port> {
    (0..count).map(|number| if number == 0 { Port::down(0) } else { Port::up(number - 1) }).collect()
}

fn of(stations: u16, access: AccessCategory, aggregate: u16) -> WifiConfig {
    let mut config = WifiConfig { aggregate, ..WifiConfig::of(stations.max(1)) };
    config.stations.iter_mut().for_each(|station| station.access = access);
    config
}

fn near(measured: f64, expected: f64, tolerance: f64, of: &str) {
    assert!((measured / expected - 1.0).abs() <= tolerance, "{of}: {measured:.3}, not {expected}");
}

/// The tolerance of specs/rmcat.md 6.
const TOLERANCE: f64 = 0.03;

#[test]
fn one_sender_gets_what_headers_and_gaps_leave() {
    for (aggregate, mbps) in [(1, 22.95), (2, 31.1), (4, 38.4), (8, 43.38), (16, 46.4), (32, 48.1)] {
        let made = saturate(&of(1, AccessCategory::BestEffort, aggregate), &senders(1), 10.0);
        near(made.total(), mbps, TOLERANCE, &format!("aggregates of {aggregate}"));
        assert_eq!((made.usage.collided, made.dropped), (0, 0));
    }
    near(saturate(&of(1, AccessCategory::Video, 1), &senders(1), 10.0).total(), 26.2, TOLERANCE, "AC_VI");
}

#[test]
fn senders_collide_and_drop_as_often_as_expected_and_share_what_is_left() {
    let single = [
        (2, 23.3, 11.0, 0.0),
        (5, 22.1, 27.0, 0.02),
        (10, 20.7, 37.0, 0.17),
        (20, 19.0, 48.0, 0.75),
        (33, 17.6, 55.0, 2.0),
    ];
    for (count, mbps, collided, dropped) in single {
        let made = saturate(&of(count, AccessCategory::BestEffort, 1), &senders(count), 60.0);
        near(made.total(), mbps, TOLERANCE, &format!("{count} senders"));
        assert!((made.collided() - collided).abs() < 1.0, "{count} senders: {} % collided", made.collided());
        assert!((made.lost() - dropped).abs() < 0.03 + 0.06 * dropped, "{count} senders: {} % dropped", made.lost());
        for own in &made.mbps {
            near(*own, made.total() / f64::from(count), 0.1, &format!("one of {count}"));
        }
    }
    for (count, mbps) in [(2, 41.6), (5, 37.9), (10, 34.9), (20, 32.0), (33, 29.2)] {
        let made = saturate(&of(count, AccessCategory::BestEffort, 8), &senders(count), 30.0);
        near(made.total(), mbps, TOLERANCE, &format!("{count} senders of aggregates"));
    }
}

#[test]
fn the_small_windows_of_video_lose_packets_when_all_is_video() {
    for (count, mbps, dropped) in [(5, 19.7, 0.6), (10, 14.3, 10.0), (20, 8.7, 42.0)] {
        let made = saturate(&of(count, AccessCategory::Video, 1), &senders(count), 60.0);
        near(made.total(), mbps, TOLERANCE, &format!("{count} senders"));
        assert!((made.lost() - dropped).abs() < 0.15 + 0.06 * dropped, "{count} senders: {} % dropped", made.lost());
    }
}

#[test]
fn an_802_11b_client_slows_all_down_to_its_rate() {
    let beside = |fast: u16, kbps| {
        let mut config = of(fast + 1, AccessCategory::BestEffort, 1);
        config.band = Band::TwoPointFourGigahertz;
        config.stations[0].rate = Rate::from_kbps(kbps);
        let ports: Vec<_> = (0..=fast).map(Port::up).collect();
        (saturate(&config, &ports, 200.0), saturate(&config, &ports[1..2], 10.0))
    };
    for (fast, kbps, mbps) in
        [(1, 11_000, 4.2), (1, 2000, 1.4), (1, 1000, 0.77), (4, 11_000, 2.3), (4, 2000, 0.97), (4, 1000, 0.57)]
    {
        let (all, alone) = beside(fast, kbps);
        near(all.total() / f64::from(fast + 1), mbps, TOLERANCE, &format!("{fast} beside one of {kbps} kbps"));
        near(alone.total(), 17.4, TOLERANCE, "alone with the long slot");
    }
}

#[test]
fn a_clear_to_send_takes_its_time_before_every_frame() {
    let config = |cts_to_self| WifiConfig {
        band: Band::TwoPointFourGigahertz,
        cts_to_self,
        ..of(1, AccessCategory::BestEffort, 1)
    };
    let one = |config| 8.32e3 / saturate(&config, &senders(1), 10.0).total();
    // 192 us and 112 bits at 2 Mbps, and a gap of 10 us.
    let longer = one(config(Some(Rate::from_kbps(2000)))) - one(config(None));
    assert!((255.0..261.0).contains(&longer), "{longer} us");
}

#[test]
fn the_access_point_has_one_turn_and_stations_of_unlike_rates_get_equal_airtime_or_equal_packets() {
    let ports = [Port::down(0), Port::down(1), Port::up(2)];
    let mut config = of(3, AccessCategory::BestEffort, 8);
    config.stations[1].rate = Rate::from_kbps(13_000);
    let made = saturate(&config, &ports, 30.0).mbps;
    assert!((2.8..4.0).contains(&(made[0] / made[1])), "airtime: {made:?}");
    config.turns = Turns::Packets;
    let made = saturate(&config, &ports, 30.0).mbps;
    assert!((0.97..1.03).contains(&(made[0] / made[1])), "packets: {made:?}");
    // It and a station send equally often.
    near(made[2], made[0] + made[1], 0.05, "a station");
}

#[test]
fn video_goes_before_best_effort_at_the_access_point() {
    let mut config = of(2, AccessCategory::BestEffort, 1);
    config.stations[0].access = AccessCategory::Video;
    let made = saturate(&config, &[Port::down(0), Port::down(1)], 30.0);
    assert!(made.mbps[0] > 2.0 * made.mbps[1] && made.mbps[1] > 1.0, "{:?}", made.mbps);
    assert_eq!(made.usage.collided, 0, "both are the access point's");
}

#[test]
fn a_transmit_opportunity_bounds_a_frame() {
    // 64 packets of 1040 B would take 10.7 ms; 17 fit into 3.008 ms with their answer, 8 into 1.504 ms.
    let packets = |access| {
        let made = saturate(&of(1, access, 64), &senders(1), 10.0);
        (made.left as f64 / made.usage.frames as f64).round()
    };
    assert_eq!([AccessCategory::Video, AccessCategory::Voice].map(packets), [17.0, 8.0]);
    assert_eq!(packets(AccessCategory::BestEffort), 32.0, "5.484 ms");
}

#[test]
fn a_packet_on_an_idle_medium_leaves_at_once_and_nothing_happens_when_there_is_none() {
    let mut wifi = Wifi::new(&WifiConfig::of(2), Seed::new(3)).unwrap();
    assert_eq!(wifi.next_event(), Time::NEVER);
    let mut waited = Vec::new();
    for second in 1..=200u64 {
        let now = Time::from_nanos(second * 1_000_000_007);
        wifi.offer(now, Port::up((second % 2) as u16), Bytes::new(1040), second);
        while wifi.next_event() < Time::NEVER {
            let at = wifi.next_event();
            waited.extend(wifi.poll(at).map(|left| (left.packet, left.queued, (left.at - now).as_nanos())));
        }
    }
    let numbers: Vec<u64> = waited.iter().map(|(number, ..)| *number).collect();
    assert_eq!(numbers, (1..=200).collect::<Vec<u64>>());
    // Less than a slot of 9 us, and a frame of 208 us: the back-off ran out long ago.
    assert!(waited.iter().all(|(_, queued, nanos)| queued.as_nanos() == *nanos && (208_000..217_001).contains(nanos)));
}

#[test]
fn a_queue_is_limited_in_packets_and_time() {
    let config =
        WifiConfig { queue_packets: 5, queue_age: Some(Span::from_millis(1)), ..of(1, AccessCategory::BestEffort, 1) };
    let mut wifi = Wifi::new(&config, Seed::new(1)).unwrap();
    for number in 0..7 {
        wifi.offer(Time::ZERO, Port::down(0), Bytes::new(1040), number);
    }
    let mut left = Vec::new();
    while wifi.next_event() < Time::NEVER {
        left.extend(wifi.poll(wifi.next_event()).map(|left| left.packet));
    }
    let dropped: Vec<_> = std::iter::from_fn(|| wifi.poll_drop()).map(|drop| (drop.packet, drop.why)).collect();
    assert!(left == [0, 1] || left == [0, 1, 2] || left == [0, 1, 2, 3], "in a millisecond: {left:?}");
    assert_eq!(dropped[..2], [5, 6].map(|number| (number, DropReason::QueueFull)));
    assert_eq!(left.len() + dropped.len(), 7);
    wifi.offer(Time::from_millis(5), Port::up(1), Bytes::new(100), 9);
    assert_eq!(wifi.poll_drop().map(|drop| drop.why), Some(DropReason::LinkOff), "there is no such station");
}

#[test]
fn what_is_out_of_range_is_refused_with_the_range() {
    let refused = |config: WifiConfig| Wifi::<u8>::new(&config, Seed::new(1)).unwrap_err().to_string();
    assert!(refused(WifiConfig::of(0)).contains("wifi.stations is 0"));
    assert!(refused(WifiConfig { aggregate: 65, ..WifiConfig::of(1) }).contains("1 to 64"));
    let mut config = WifiConfig::of(2);
    config.stations[1] = StationConfig { rate: Rate::from_kbps(11_000), ..StationConfig::default() };
    assert!(refused(config.clone()).contains("wifi.stations[1].rate is 11Mbps"));
    config.stations[1] = StationConfig { per: 1.0, ..StationConfig::default() };
    assert!(refused(config).contains("wifi.stations[1].per is 1"));
}

proptest! {
    #[test]
    fn packets_leave_in_order_or_are_dropped_and_the_same_seed_gives_the_same(
        offers in proptest::collection::vec((0u64..2000, 0u16..4, any::<bool>(), 40u64..1500), 1..300),
        per in 0.0..0.6, seed in 0u64..1000, aggregate in 1u16..64, access in 0usize..5,
    ) {
        let categories = [AccessCategory::Background, AccessCategory::BestEffort, AccessCategory::Legacy, AccessCategory::Video, AccessCategory::Voice];
        let mut config = of(4, categories[access], aggregate);
        config.stations[0].access = AccessCategory::Video;
        config.stations.iter_mut().for_each(|station| station.per = per);
        let play = || {
            let mut wifi = Wifi::new(&config, Seed::new(seed)).unwrap();
            let (mut now, mut left, mut dropped) = (Time::ZERO, Vec::new(), 0);
            for (number, (wait, station, up, size)) in offers.iter().enumerate() {
                now += Span::from_micros(*wait as i64);
                left.extend(std::iter::from_fn(|| wifi.poll(now)));
                let port = if *up { Port::up(*station) } else { Port::down(*station) };
                wifi.offer(now, port, Bytes::new(*size), (port, number));
            }
            while wifi.next_event() < Time::NEVER {
                let at = wifi.next_event();
                left.extend(std::iter::from_fn(|| wifi.poll(at)));
            }
            dropped += std::iter::from_fn(|| wifi.poll_drop()).count();
            (left, dropped)
        };
        let (left, dropped) = play();
        prop_assert_eq!(left.len() + dropped, offers.len());
        prop_assert!(left.windows(2).all(|pair| pair[0].at <= pair[1].at));
        for station in 0..4 {
            for port in [Port::up(station), Port::down(station)] {
                let own: Vec<usize> = left.iter().filter(|left| left.packet.0 == port).map(|left| left.packet.1).collect();
                prop_assert!(own.is_sorted(), "{:?}", own);
            }
        }
        prop_assert_eq!(play(), (left, dropped));
    }
}
