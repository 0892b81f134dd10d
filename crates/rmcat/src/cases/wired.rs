//! RFC 8867's cases (specs/rmcat.md 4).

use thalweg_netsim::traffic::tcp::{Congestion, ConnectionConfig};
use thalweg_netsim::{TcpConfig, WebConfig};
use thalweg_sender::scheme::RateLimits;
use thalweg_units::{Bytes, Rate, Span};

use super::bars::{fairness, replace, usual};
use crate::bar::Bar;
use crate::case::{Aqm, Case, Reference, Setting, on_the_wire, rfc_limits};
use crate::measure::Figure;
use crate::network::{Cross, Media, Narrow, Network, Traffic};
use crate::range::range;

const QUEUE: Span = Span::from_millis(300);
const ONE_WAY: Span = Span::from_millis(50);

fn seconds(seconds: i64) -> Span {
    Span::from_secs(seconds)
}

/// A case whose bars are the usual ones.
fn case(id: &str, title: &str, length_s: i64, network: Network) -> Case {
    let limits = rfc_limits();
    let slack = if network.flows.iter().all(|flow| flow.one_way > ONE_WAY) { 1.5 } else { 1.0 };
    let bars = usual(&network, seconds(length_s), limits.wire.as_bps_f64(), slack);
    Case {
        id: id.into(),
        title: title.into(),
        duration: seconds(length_s),
        limits,
        setting: Setting::Network(network),
        aqm: Aqm::DropTail,
        bars,
        reference: None,
        gcc: None,
        needs_weights: false,
    }
}

/// The way there as given; the way back as wide as it ever is, for the cases are about the way there.
fn network(there: Narrow, flows: Vec<Media>) -> Network {
    let back = Narrow { rates: vec![(there.greatest(), Span::from_secs(1))], queue: there.queue };
    Network { links: vec![there, back], flows, cross: Vec::new(), air: None }
}

/// Every case.
pub(super) fn cases() -> Vec<Case> {
    vec![
        variable_capacity("5.1", ONE_WAY),
        variable_capacity("5.1-100ms", Span::from_millis(100)),
        two_flows(),
        congested_feedback(),
        competing("5.4", QUEUE),
        round_trips(),
        long_tcp("5.6", QUEUE),
        long_tcp("5.6-1000ms", Span::from_millis(1000)),
        short_tcp(),
        pause_and_resume(),
        priorities(),
        two_bottlenecks(),
    ]
}

/// 5.1: variable capacity, one flow.
fn variable_capacity(id: &str, one_way: Span) -> Case {
    let there = Narrow {
        rates: vec![
            (Rate::from_kbps(1000), seconds(40)),
            (Rate::from_kbps(2500), seconds(20)),
            (Rate::from_kbps(600), seconds(20)),
            (Rate::from_kbps(1000), seconds(20)),
        ],
        queue: QUEUE,
    };
    case(id, "capacity that varies, one flow", 100, network(there, vec![Media::during(0.0, 99.0, one_way)]))
}

/// 5.2: variable capacity, two flows.
fn two_flows() -> Case {
    let there = Narrow::steps(&[4000, 2000, 3500, 1000, 2000], seconds(25), QUEUE);
    let flows = vec![Media::during(0.0, 124.0, ONE_WAY); 2];
    let mut case = case("5.2", "capacity that varies, two flows", 125, network(there, flows));
    for phase in 0..5 {
        let from = 25.0 * f64::from(phase);
        let settled = (from + 12.5, (from + 25.0).min(124.0));
        case.bars.extend(fairness(settled));
        if [1, 3, 4].contains(&phase) {
            case.bars.push(Bar::new(Figure::UseOfAll, None, settled, range(0.75, 1.01), range(0.90, 1.01)));
        }
    }
    case
}

/// 5.3: congested feedback, media both ways.
fn congested_feedback() -> Case {
    let there = Narrow::steps(&[2000, 1000, 500, 2000, 2000], seconds(20), QUEUE);
    let back = Narrow::steps(&[2000, 800, 2000], seconds(35), QUEUE);
    let forward = Media::during(0.0, 99.0, ONE_WAY);
    let backward = Media { forward: vec![1], reverse: vec![0], ..forward.clone() };
    let both = Network {
        links: vec![there.clone(), back],
        flows: vec![forward.clone(), backward],
        cross: Vec::new(),
        air: None,
    };
    let mut case = case("5.3", "congested feedback, media both ways", 100, both);
    let window = (35.0, 70.0);
    let mut bar = |figure, must, should| case.bars.push(Bar::new(figure, Some(0), window, must, should));
    bar(Figure::RateOverReference, range(0.70, 1.10), range(0.90, 1.05));
    bar(Figure::QueueOverReference, range(-20.0, 150.0), range(-20.0, 50.0));
    bar(Figure::ReportLoss, range(0.0, 5.0), range(0.0, 0.5));
    let unimpaired =
        Network { links: vec![there, Narrow::of(2000, QUEUE)], flows: vec![forward], cross: Vec::new(), air: None };
    case.reference = Some(Reference::Itself(Box::new(unimpaired)));
    case
}

/// Three flows that begin one after the other.
fn three(weights: [f64; 3], queue: Span) -> Network {
    let flow = |from, weight| Media { weight, ..Media::during(from, 119.0, ONE_WAY) };
    let [first, second, third] = weights;
    network(Narrow::of(3500, queue), vec![flow(0.0, first), flow(20.0, second), flow(40.0, third)])
}

/// 5.4: three flows of the same algorithm.
fn competing(id: &str, queue: Span) -> Case {
    let mut case = case(id, "three flows of the same algorithm", 120, three([1.0; 3], queue));
    replace(&mut case.bars, &Figure::Rise, &[2], 40.0, [(1.0, 30.0), (1.0, 15.0)]);
    replace(&mut case.bars, &Figure::Fall, &[0, 1], 40.0, [(0.1, 20.0), (0.1, 10.0)]);
    let late = (80.0, 119.0);
    case.bars.extend(fairness(late));
    case.bars.push(Bar::new(Figure::UseOfAll, None, late, range(0.80, 1.01), range(0.92, 1.01)));
    for flow in 0..3 {
        replace(&mut case.bars, &Figure::QueueP95, &[flow], 79.5, [(0.0, 200.0), (0.0, 80.0)]);
    }
    case
}

/// 5.5: fairness over round trips.
fn round_trips() -> Case {
    let one_ways = [10, 25, 50, 100, 150];
    let flow = |(index, one_way): (usize, &i64)| Media::during(10.0 * index as f64, 299.0, Span::from_millis(*one_way));
    let flows = one_ways.iter().enumerate().map(flow).collect();
    let mut case = case("5.5", "five round trips", 300, network(Narrow::of(4000, QUEUE), flows));
    // What is asked is how they share at the end; each begin is within 10 s of the next.
    case.bars.retain(|bar| !matches!(bar.figure, Figure::Rise | Figure::Fall | Figure::LossAfterFall | Figure::Use));
    let late = (170.0, 299.0);
    case.bars.extend(fairness(late));
    case.bars.push(Bar::new(Figure::UseOfAll, None, late, range(0.80, 1.01), range(0.92, 1.01)));
    case.bars.push(Bar::new(Figure::SlopeOverRoundTrip, None, late, range(-0.7, 0.3), range(-0.2, 0.1)));
    case
}

/// RFC 8867's TCP is RFC 5681's.
fn reno() -> ConnectionConfig {
    ConnectionConfig { congestion: Congestion::Reno, ..ConnectionConfig::default() }
}

/// 5.6: against a long TCP.
fn long_tcp(id: &str, queue: Span) -> Case {
    let mut network = network(Narrow::of(2000, queue), vec![Media::during(5.0, 119.0, ONE_WAY)]);
    network.cross = vec![Cross::wired(Traffic::Tcp(TcpConfig {
        until: Some(seconds(119)),
        connection: reno(),
        ..TcpConfig::default()
    }))];
    let mut case = case(id, "against a long TCP", 120, network);
    let late = (40.0, 119.0);
    // 0.95 of R_min to W on the wire, where our headers are longer than the specification's.
    let [least, most] = [rfc_limits().min, rfc_limits().max].map(|rate| on_the_wire(rate).as_mbps_f64());
    // The queue is TCP's doing, and what is fair is asked of rates alone.
    case.bars = vec![
        Bar::new(Figure::Rate, Some(0), late, range(0.95 * least, most), range(0.5, 1.5)),
        Bar::new(Figure::TcpRate, None, late, range(0.2, 1.83), range(0.5, 1.5)),
        Bar::new(Figure::RateOfAll, None, late, range(1.70, 2.02), range(1.85, 2.02)),
        Bar::new(Figure::Loss, Some(0), late, range(0.0, 5.0), range(0.0, 1.0)),
        Bar::new(Figure::LeastRate, Some(0), (15.0, 119.0), range(0.75 * least, most), range(least, most)),
        Bar::new(Figure::Overhead, Some(0), (5.0, 119.0), range(0.1, 10.0), range(0.1, 5.0)),
    ];
    case
}

/// The mean rate of ten sources that transfer 30 to 50 kB and idle for 10 s on average (specs/rmcat.md 4, 5.7).
const SHORT_TRANSFERS: Rate = Rate::from_kbps(310);

/// 5.7: against short TCPs.
fn short_tcp() -> Case {
    let mut network = network(Narrow::of(2000, QUEUE), vec![Media::during(5.0, 299.0, ONE_WAY); 2]);
    let transfers = WebConfig {
        count: 10,
        busy: 2,
        smallest: Bytes::new(30_000),
        largest: Bytes::new(50_000),
        connection: reno(),
        ..WebConfig::default()
    };
    network.cross = vec![Cross::wired(Traffic::Web(transfers, SHORT_TRANSFERS))];
    let alone = Network { flows: vec![Media::during(299.0, 299.9, ONE_WAY); 2], ..network.clone() };
    let mut case = case("5.7", "against short TCPs", 300, network);
    let late = (60.0, 299.0);
    case.bars.retain(|bar| matches!(bar.figure, Figure::Overhead));
    for flow in 0..2 {
        let mut bar = |figure, must, should| case.bars.push(Bar::new(figure, Some(flow), late, must, should));
        bar(Figure::Rate, range(0.42, 1.00), range(0.68, 0.95));
        bar(Figure::QueueP95, range(0.0, 250.0), range(0.0, 120.0));
        bar(Figure::Loss, range(0.0, 2.0), range(0.0, 0.5));
    }
    case.bars.extend(fairness(late));
    case.bars.push(Bar::new(Figure::CompletionOverAlone, None, late, range(1.0, 6.0), range(1.0, 3.0)));
    case.reference = Some(Reference::Others(Box::new(alone)));
    case
}

/// 5.8: pause and resume.
fn pause_and_resume() -> Case {
    let flow = Media::during(0.0, 119.0, ONE_WAY);
    let paused = Media { pause: Some((40.0, 60.0)), ..flow.clone() };
    let mut case =
        case("5.8", "pause and resume", 120, network(Narrow::of(3500, QUEUE), vec![flow.clone(), flow, paused]));
    replace(&mut case.bars, &Figure::Rise, &[0, 1], 40.0, [(0.1, 15.0), (0.1, 6.0)]);
    replace(&mut case.bars, &Figure::Fall, &[0, 1], 60.0, [(0.1, 15.0), (0.1, 6.0)]);
    replace(&mut case.bars, &Figure::Rise, &[2], 60.0, [(0.2, 18.0), (0.2, 8.0)]);
    case.bars.push(Bar::new(Figure::PeakRate, Some(2), (60.0, 61.0), range(0.15, 1.75), range(0.15, 1.25)));
    // What waited in its pacer may leave within a second of its pause.
    case.bars.push(Bar::new(Figure::Filler, Some(2), (41.0, 60.0), range(0.0, 0.05), range(0.0, 0.05)));
    case.bars.extend(fairness((90.0, 119.0)));
    case
}

/// 6.1: priorities. With 1.5 Mbps at most the first flow could not take its share.
fn priorities() -> Case {
    let mut case = case("6.1", "weights of 2, 1 and 1", 120, three([2.0, 1.0, 1.0], QUEUE));
    let max = Rate::from_kbps(2500);
    case.limits = RateLimits { max, wire: on_the_wire(max), ..case.limits };
    case.needs_weights = true;
    let late = (80.0, 119.0);
    case.bars = vec![
        Bar::new(Figure::RateOverOthers, None, late, range(1.4, 2.8), range(1.8, 2.2)),
        Bar::new(Figure::UseOfAll, None, late, range(0.80, 1.01), range(0.92, 1.01)),
    ];
    case
}

/// 6.3: two bottlenecks.
fn two_bottlenecks() -> Case {
    let links =
        vec![Narrow::of(2000, QUEUE), Narrow::of(8000, QUEUE), Narrow::of(8000, QUEUE), Narrow::of(1500, QUEUE)];
    let flow = |forward: &[usize], one_way: i64| Media {
        forward: forward.to_vec(),
        ..Media::during(0.0, 119.0, Span::from_millis(one_way))
    };
    let flows = vec![flow(&[0, 2, 3], 100), flow(&[0], 40), flow(&[3], 40)];
    let mut case = case("6.3", "two bottlenecks", 120, Network { links, flows, cross: Vec::new(), air: None });
    let late = (60.0, 119.0);
    case.bars.retain(|bar| matches!(bar.figure, Figure::Overhead | Figure::QueueP95 | Figure::QueueP05 | Figure::Loss));
    for link in [0, 3] {
        case.bars.push(Bar::new(Figure::UseOfLink(link), None, late, range(0.80, 1.01), range(0.90, 1.01)));
    }
    // The second flow's end is the specification's, by as much above W.
    let rates = [((0.25, 1.00), (0.45, 0.90)), ((0.80, 1.71), (1.05, 1.50)), ((0.45, 1.25), (0.60, 1.05))];
    for (flow, (must, should)) in rates.into_iter().enumerate() {
        case.bars.push(Bar::new(Figure::Rate, Some(flow), late, range(must.0, must.1), range(should.0, should.1)));
    }
    case
}
