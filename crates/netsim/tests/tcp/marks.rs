//! TCP over queues that mark: what RFC 9332 promises to both kinds of flows.

use super::support::{Net, path};
use thalweg_netsim::queue::{DualPi2Config, Limits};
use thalweg_netsim::traffic::tcp::{Congestion, ConnectionConfig};
use thalweg_netsim::{Ecn, HopConfig, QueueConfig, TcpConfig, TcpFlow};
use thalweg_units::{Rate, Span, Time};

fn flow(connection: ConnectionConfig) -> TcpFlow {
    TcpFlow::bulk(&TcpConfig { connection, ..TcpConfig::default() }).unwrap().remove(0)
}

fn prague() -> TcpFlow {
    flow(ConnectionConfig { congestion: Congestion::Prague, ..ConnectionConfig::default() })
}

/// Plays flows for `seconds` over a link of this rate and queue, with this round trip.
fn play(flows: Vec<TcpFlow>, mbps: u64, queue: QueueConfig, rtt_ms: i64, seconds: f64) -> Net {
    let rate = Rate::from_kbps(1000 * mbps);
    let delay = || HopConfig::delay(Span::from_millis(rtt_ms) / 2);
    let serial = HopConfig::Rate { rate: format!("{mbps}Mbps").parse().unwrap(), queue };
    let up = path(vec![serial, delay()], rate, 1);
    let mut net = Net::new(flows, up, path(vec![delay()], rate, 2));
    net.play(Time::from_secs_f64(seconds));
    net
}

/// The queueing time in ms below which this share of a flow's segments stayed after `from` seconds.
fn wait_ms(net: &Net, flow: usize, from: f64, share: f64) -> f64 {
    let arrivals = net.arrivals.iter().filter(|one| one.flow == flow && one.at.as_secs_f64() >= from);
    let mut waits: Vec<Span> = arrivals.map(|one| one.queued).collect();
    waits.sort();
    waits[((waits.len() - 1) as f64 * share) as usize].as_millis_f64()
}

#[test]
fn prague_alone_fills_a_dual_queue_and_hardly_waits() {
    let net = play(vec![prague()], 10, QueueConfig::DualPi2(DualPi2Config::default()), 20, 40.0);
    let used = net.rate(0, 10.0, 40.0).as_mbps_f64() / 10.0;
    let late = wait_ms(&net, 0, 10.0, 0.99);
    assert!((0.9..=1.001).contains(&used) && late < 5.0, "{used} used, {late} ms");
    assert_eq!(net.drops, 0);
}

/// specs/l4s.md 6 (c): within a factor of two, though Cubic's round trip is longer by its queue.
#[test]
fn prague_and_cubic_share_a_dual_queue_and_only_cubic_waits() {
    for mbps in [10, 40] {
        let flows = vec![prague(), flow(ConnectionConfig::default())];
        // A step of 1 ms is less than a packet takes at 10 Mbps.
        let queue = DualPi2Config { least_packets: 2, ..DualPi2Config::default() };
        let net = play(flows, mbps, QueueConfig::DualPi2(queue), 20, 60.0);
        let [low, classic] = [0, 1].map(|flow| net.rate(flow, 20.0, 60.0).as_mbps_f64());
        let ratio = low / classic;
        assert!((0.5..=2.0).contains(&ratio), "{low} and {classic} of {mbps} Mbps");
        assert!(low + classic > 0.9 * mbps as f64, "{low} and {classic} of {mbps} Mbps");
        let late = wait_ms(&net, 0, 20.0, 0.99);
        assert!(late < 5.0, "Prague: {late} ms at {mbps} Mbps");
        let median = wait_ms(&net, 1, 20.0, 0.5);
        assert!((8.0..25.0).contains(&median), "Cubic: {median} ms at {mbps} Mbps");
        assert!(net.drops > 0, "Cubic without ECN is not dropped");
    }
}

#[test]
fn cubic_with_ecn_is_marked_and_loses_nothing() {
    let limits = Limits::packets(1000);
    let [target, interval] = [5, 100].map(Span::from_millis);
    let codel = QueueConfig::CodelEcn { limits, target, interval, threshold: None };
    for queue in [codel, QueueConfig::DualPi2(DualPi2Config::default())] {
        let cubic = flow(ConnectionConfig { ecn: true, ..ConnectionConfig::default() });
        let net = play(vec![cubic], 10, queue, 40, 60.0);
        let used = net.rate(0, 10.0, 60.0).as_mbps_f64() / 10.0;
        let marked = net.arrivals.iter().filter(|one| one.ecn == Ecn::Ce).count();
        let plain = net.arrivals.iter().filter(|one| one.ecn == Ecn::NotCapable).count();
        assert!((0.8..=1.001).contains(&used) && wait_ms(&net, 0, 10.0, 0.95) < 50.0, "{used} with {queue:?}");
        // Only the segment that opens the connection is without ECT: nothing is sent again.
        assert!(marked > 10 && net.drops == 0 && plain == 1, "{marked} {plain} {} with {queue:?}", net.drops);
    }
}

#[test]
fn a_queue_that_does_not_mark_drops_what_prague_sends_as_it_drops_reno() {
    let tail = || QueueConfig::DropTail(Limits::time(Span::from_millis(50)));
    let reno = flow(ConnectionConfig { congestion: Congestion::Reno, ..ConnectionConfig::default() });
    let [prague, reno] = [prague(), reno].map(|flow| play(vec![flow], 10, tail(), 40, 60.0));
    let used = |net: &Net| net.rate(0, 10.0, 60.0).as_mbps_f64() / 10.0;
    assert!(prague.drops > 0 && used(&prague) > 0.9 && (used(&prague) / used(&reno) - 1.0).abs() < 0.1);
}
