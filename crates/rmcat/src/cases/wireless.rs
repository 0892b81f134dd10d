//! RFC 8869's cases over models of airtime and of a mobile cell (specs/rmcat.md 6), which are not the radio itself: say
//! "airtime model" and "cell model" over every result (6C there).

use thalweg_lab::scenario::Medium;
use thalweg_netsim::cell::{Deployment, UserConfig};
use thalweg_netsim::wifi::{AccessCategory, Band, StationConfig};
use thalweg_netsim::{CellConfig, DatagramsConfig, Direction, Port, TcpConfig, WifiConfig};
use thalweg_units::{Bytes, Rate, Seed, Span};

use super::bars::{fairness, usual};
use crate::bar::Bar;
use crate::case::{Aqm, Case, Reference, Setting, on_the_wire, rfc_limits};
use crate::measure::Figure;
use crate::network::{Air, Cross, Media, Narrow, Network, Traffic};
use crate::range::range;

const QUEUE: Span = Span::from_millis(300);
const ONE_WAY: Span = Span::from_millis(50);

/// Every case.
pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = ["a", "b", "c", "d", "e", "f", "g"].map(narrow_behind_wifi).into();
    for kind in ["a", "b", "c"] {
        cases.extend([8, 16, 32].map(|count| crowded_wifi(kind, count, "", &WifiConfig::default())));
    }
    cases.extend(["d", "e"].map(|kind| crowded_wifi(kind, 24, "", &WifiConfig::default())));
    cases.extend([wmm(), beside_a_slow_client()]);
    for (deployment, section) in [(Deployment::Case1, "3.1"), (Deployment::Case3, "3.2")] {
        for users in [2, 4, 8] {
            cases.push(cell(section, deployment, users, 3, Direction::Down));
        }
        cases.push(cell(section, deployment, 4, 3, Direction::Up));
    }
    cases.push(cell("3.1", Deployment::Case1, 4, 30, Direction::Down));
    cases
}

fn seconds(seconds: i64) -> Span {
    Span::from_secs(seconds)
}

fn case(id: String, title: String, length_s: i64, network: Network, bars: Vec<Bar>) -> Case {
    Case {
        id,
        title,
        duration: seconds(length_s),
        limits: rfc_limits(),
        setting: Setting::Network(network),
        aqm: Aqm::DropTail,
        bars,
        reference: None,
        gcc: None,
        needs_weights: false,
    }
}

/// Wi-Fi with these stations, which is no bottleneck unless `capacity_bps` says so.
fn wifi(config: WifiConfig, capacity_bps: f64) -> Option<Air> {
    let config = WifiConfig { queue_age: Some(QUEUE), ..config };
    Some(Air { medium: Medium::Wifi(config), capacity_bps })
}

/// 4.1 a to g: 1 Mbps of wire behind an access point, one flow down (a), up (b), or both, alone or beside others from
/// 40 to 80 s.
fn narrow_behind_wifi(kind: &str) -> Case {
    let [down, up] = [Port::down(0), Port::up(1)].map(|port| Media::during(0.0, 119.0, ONE_WAY).over_air(port));
    let flows = match kind {
        "a" => vec![down],
        "b" => vec![up],
        _ => vec![down, up],
    };
    let datagrams = || DatagramsConfig {
        rate: Rate::from_kbps(300),
        from: seconds(40),
        until: Some(seconds(80)),
        ..DatagramsConfig::default()
    };
    let tcp = || TcpConfig { from: seconds(40), until: Some(seconds(80)), ..TcpConfig::default() };
    let other = |traffic, air| vec![Cross { traffic, air: Some(air) }];
    let (title, cross) = match kind {
        "a" => ("one flow down", Vec::new()),
        "b" => ("one flow up", Vec::new()),
        "c" => ("one flow each way", Vec::new()),
        "d" => ("and datagrams down", other(Traffic::Datagrams(datagrams()), Port::down(2))),
        "e" => ("and datagrams up", other(Traffic::Datagrams(datagrams()), Port::up(2))),
        "f" => ("and TCP down", other(Traffic::Tcp(tcp()), Port::down(2))),
        _ => ("and TCP up", other(Traffic::Tcp(tcp()), Port::up(2))),
    };
    let links = vec![Narrow::of(1000, QUEUE), Narrow::of(1000, QUEUE)];
    let network = Network { links, flows, cross, air: wifi(WifiConfig::of(3), f64::INFINITY) };
    let mut bars = usual(&network, seconds(120), rfc_limits().wire.as_bps_f64(), 1.0);
    for bar in bars.iter_mut().filter(|bar| [40.0, 80.0].contains(&bar.window.0)) {
        match bar.figure {
            Figure::Fall => (bar.must, bar.should) = (range(0.1, 15.0), range(0.1, 6.0)),
            Figure::Rise => (bar.must, bar.should) = (range(0.2, 15.0), range(0.2, 6.0)),
            _ => {}
        }
    }
    for bar in bars.iter_mut().filter(|bar| bar.figure == Figure::QueueP95) {
        // What the air adds.
        (bar.must, bar.should) = (range(0.0, 220.0), range(0.0, 80.0));
    }
    if matches!(kind, "f" | "g") {
        // The queue is TCP's doing while it is there.
        bars.retain(|bar| {
            let with_tcp = bar.window.0 >= 40.0 && bar.window.1 <= 80.0;
            !(with_tcp && matches!(bar.figure, Figure::QueueP95 | Figure::QueueP05 | Figure::Loss | Figure::Fall))
        });
    }
    case(format!("w4.1{kind}"), format!("1 Mbps behind Wi-Fi (airtime model), {title}"), 120, network, bars)
}

/// Throughput of Wi-Fi in aggregates of 8 when `n` stations send, in Mbps: the check values of specs/rmcat.md 6B,
/// linear between.
fn airtime_mbps(n: f64) -> f64 {
    const KNOWN: [(f64, f64); 6] = [(1.0, 43.4), (2.0, 41.6), (5.0, 37.9), (10.0, 34.9), (20.0, 32.0), (33.0, 29.2)];
    let after = KNOWN.iter().position(|(count, _)| *count >= n).unwrap_or(KNOWN.len() - 1).max(1);
    let ((from, low), (to, high)) = (KNOWN[after - 1], KNOWN[after]);
    low + (high - low) * ((n - from) / (to - from)).clamp(0.0, 1.0)
}

/// 4.2 a, b, c: `count` flows down, up, or half each way over 100 Mbps of wire; d and e beside datagrams and TCP up.
fn crowded_wifi(kind: &str, count: u16, suffix: &str, like: &WifiConfig) -> Case {
    let port = |station: u16| match kind {
        "a" => Port::down(station),
        "b" => Port::up(station),
        _ if station.is_multiple_of(2) => Port::down(station),
        _ => Port::up(station),
    };
    let flows: Vec<Media> =
        (0..count).map(|station| Media::during(0.0, 119.0, ONE_WAY).over_air(port(station))).collect();
    let others: Vec<Cross> = (0..4)
        .map(|number| {
            let (from, until) = (seconds(40), Some(seconds(80)));
            let rate = Rate::from_kbps(600);
            let traffic = match kind {
                "d" => Traffic::Datagrams(DatagramsConfig { rate, from, until, ..DatagramsConfig::default() }),
                _ => Traffic::Tcp(TcpConfig { from, until, ..TcpConfig::default() }),
            };
            Cross { traffic, air: Some(Port::up(count + number)) }
        })
        .filter(|_| matches!(kind, "d" | "e"))
        .collect();
    // Senders contend: all that send up, and the access point for all that go down.
    let ups = flows.iter().filter(|flow| flow.air.is_some_and(|port| port.direction == Direction::Up)).count();
    let contending = ups + usize::from(ups < flows.len());
    let capacity_bps = airtime_mbps(contending as f64) * 1e6;
    // Those that `like` says nothing of are usual stations.
    let mut stations = WifiConfig::of(count + others.len() as u16).stations;
    stations.iter_mut().zip(&like.stations).for_each(|(station, like)| *station = *like);
    let config = WifiConfig { stations, ..like.clone() };
    let wide = || Narrow::of(100_000, QUEUE);
    let links = vec![wide(), wide()];
    let tcp = |flow: &Media| {
        let until = Some(seconds(119));
        Cross { traffic: Traffic::Tcp(TcpConfig { until, ..TcpConfig::default() }), air: flow.air }
    };
    let alone = Network {
        links: links.clone(),
        flows: vec![Media::during(119.0, 119.9, ONE_WAY)],
        cross: flows.iter().map(tcp).collect(),
        air: wifi(config.clone(), capacity_bps),
    };
    let network = Network { links, flows, cross: others, air: wifi(config, capacity_bps) };
    let late = (85.0, 119.0);
    let bar = |figure, must, should| Bar::new(figure, None, late, must, should);
    let mut bars = vec![
        bar(Figure::LeastUse, range(0.5, 1.05), range(0.8, 1.02)),
        bar(Figure::GreatestUse, range(0.5, 1.05), range(0.8, 1.02)),
        bar(Figure::DelayP95, range(50.0, 400.0), range(50.0, 200.0)),
        bar(Figure::LossOfAll, range(0.0, 3.0), range(0.0, 0.5)),
    ];
    bars.extend(fairness(late).into_iter().filter(|bar| bar.figure == Figure::Jain));
    if count >= 24 {
        // Below, the flows do not need what as many TCPs would take.
        bars.push(bar(Figure::TotalOverReference, range(0.8, 1.6), range(0.9, 1.4)));
    }
    let what = match kind {
        "a" => "down",
        "b" => "up",
        "c" => "half each way",
        "d" => "half each way, beside datagrams up",
        _ => "half each way, beside TCP up",
    };
    let title = format!("{count} flows over Wi-Fi (airtime model), {what}{suffix}");
    let id = if matches!(kind, "d" | "e") { format!("w4.2{kind}") } else { format!("w4.2{kind}-{count}") };
    let mut case = case(id, title, 120, network, bars);
    if count >= 24 {
        case.reference = Some(Reference::Others(Box::new(alone)));
    }
    case
}

/// 4.3: all media in the video category, whose short windows collide.
fn wmm() -> Case {
    let stations = vec![StationConfig { access: AccessCategory::Video, ..StationConfig::default() }; 8];
    let like = WifiConfig { stations, ..WifiConfig::default() };
    Case { id: "w4.3-wmm".into(), ..crowded_wifi("b", 8, ", all in AC_VI", &like) }
}

/// 4.3: beside an 802.11b client of 2 Mbps, which takes most of the air.
fn beside_a_slow_client() -> Case {
    let slow = StationConfig { rate: Rate::from_kbps(2000), ..StationConfig::default() };
    let mut stations = vec![StationConfig::default(); 4];
    stations[3] = slow;
    let like = WifiConfig { stations, band: Band::TwoPointFourGigahertz, ..WifiConfig::default() };
    let mut case = Case { id: "w4.3-11b".into(), ..crowded_wifi("b", 4, ", one at 2 Mbps by 802.11b", &like) };
    // What is left of the air depends on how much the slow one sends: shares are asked of, not rates.
    case.bars.retain(|bar| !matches!(bar.figure, Figure::LeastUse | Figure::GreatestUse));
    case
}

/// 3.1 and 3.2: calls of 30 s that arrive so that `users` are there on average, evaluated from 30 to 60 s. Who comes when
/// belongs to the case, not to the seed, so that all seeds and schemes meet the same calls.
fn cell(section: &str, deployment: Deployment, users: u16, speed: u16, direction: Direction) -> Case {
    const CALL_S: f64 = 30.0;
    const LENGTH_S: f64 = 91.0;
    let way = if direction == Direction::Down { "down" } else { "up" };
    let id = format!("w{section}-k{users}-{speed}kmh-{way}");
    let mut random = Seed::new(1).child(&id).random();
    let mut stays: Vec<(f64, f64)> = Vec::new();
    let mut at = -CALL_S;
    loop {
        at += random.exponential(CALL_S / f64::from(users));
        if at > LENGTH_S - 5.0 {
            break;
        }
        let stay = (at.max(0.0), (at + CALL_S).min(LENGTH_S - 1.0));
        if stay.1 - stay.0 >= 5.0 {
            stays.push(stay);
        }
    }
    let port = |station: usize| Port { station: station as u16, direction };
    let users_of = stays.iter().map(|(from, until)| UserConfig {
        from: Span::from_secs_f64(*from),
        // What is under way when the call ends still gets through.
        until: Some(Span::from_secs_f64(until + 1.0)),
        eta: None,
    });
    let speed_kmh = f64::from(speed);
    let config = CellConfig { deployment, speed_kmh, direction, users: users_of.collect(), ..CellConfig::default() };
    let air = Some(Air { medium: Medium::Cell(config), capacity_bps: f64::INFINITY });
    let one_way = Span::from_millis(20);
    let flow =
        |(station, (from, until)): (usize, &(f64, f64))| Media::during(*from, *until, one_way).over_air(port(station));
    let flows: Vec<Media> = stays.iter().enumerate().map(flow).collect();
    let wide = || Narrow::of(100_000, QUEUE);
    let links = vec![wide(), wide()];
    // What an omniscient sender would get: all that its user is served of the most it could use.
    let greedy = |(station, (from, until)): (usize, &(f64, f64))| {
        let traffic = Traffic::Datagrams(DatagramsConfig {
            rate: on_the_wire(rfc_limits().max),
            size: Bytes::new(1200),
            from: Span::from_secs_f64(*from),
            until: Some(Span::from_secs_f64(*until)),
            ..DatagramsConfig::default()
        });
        Cross { traffic, air: Some(port(station)) }
    };
    let reference = Network {
        links: links.clone(),
        flows: vec![Media::during(LENGTH_S - 1.0, LENGTH_S, one_way)],
        cross: stays.iter().enumerate().map(greedy).collect(),
        air: air.clone(),
    };
    let network = Network { links, flows, cross: Vec::new(), air };
    let window = (30.0, 60.0);
    let bar = |figure, must, should| Bar::new(figure, None, window, must, should);
    let bars = vec![
        // Without an upper end: with others that take less, a proportional fair scheduler gives a user more than where
        // all are greedy.
        bar(Figure::TotalOverReference, range(0.50, f64::INFINITY), range(0.75, f64::INFINITY)),
        bar(Figure::MedianOverReference, range(0.6, f64::INFINITY), range(0.8, f64::INFINITY)),
        bar(Figure::MedianDelayP95, range(20.0, 400.0), range(20.0, 150.0)),
        bar(Figure::GreatestDelayP95, range(20.0, 1500.0), range(20.0, 500.0)),
        bar(Figure::LossOfAll, range(0.0, 2.0), range(0.0, 0.2)),
    ];
    let kind = if deployment == Deployment::Case1 { "variable load" } else { "bad coverage" };
    let title = format!("a cell (cell model), {kind}, {users} calls on average at {speed} km/h, {way}");
    Case { reference: Some(Reference::Others(Box::new(reference))), ..case(id, title, LENGTH_S as i64, network, bars) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn airtime_is_that_of_the_check_values_and_linear_between() {
        assert_eq!([1.0, 5.0, 33.0].map(airtime_mbps), [43.4, 37.9, 29.2]);
        assert!((airtime_mbps(15.0) - 33.45).abs() < 1e-9);
        assert_eq!(airtime_mbps(60.0), 29.2);
    }

    #[test]
    fn a_cell_has_as_many_calls_on_average_as_it_says() {
        for users in [4, 8] {
            let case = cell("3.1", Deployment::Case1, users, 3, Direction::Down);
            let Setting::Network(network) = &case.setting else { unreachable!("cells are networks") };
            let busy: f64 = network.flows.iter().map(|flow| flow.times.1 - flow.times.0).sum::<f64>() / 90.0;
            assert!((0.5..1.6).contains(&(busy / f64::from(users))), "{busy} of {users}");
        }
    }
}
