//! Bulk flows over one bottleneck show Cubic's known behaviour.

use super::support::{Net, path};
use thalweg_netsim::queue::Limits;
use thalweg_netsim::traffic::tcp::{Acknowledging, Congestion, ConnectionConfig};
use thalweg_netsim::{HopConfig, LossModel, QueueConfig, TcpConfig, TcpFlow};
use thalweg_units::{Bytes, Rate, Span, Time};

const DELAY: Span = Span::from_millis(25);

fn delay() -> HopConfig {
    HopConfig::delay(DELAY)
}

fn bottleneck(queue: Bytes) -> HopConfig {
    HopConfig::Bottleneck { trace: "link".into(), queue: QueueConfig::DropTail(Limits::bytes(queue)), once: false }
}

fn flow(connection: ConnectionConfig, from: Span) -> TcpFlow {
    TcpFlow::bulk(&TcpConfig { from, connection, ..TcpConfig::default() }).unwrap().remove(0)
}

/// Plays flows for `seconds` over a link of this rate and queue, 25 ms each way.
fn play(flows: Vec<TcpFlow>, rate: Rate, queue: u64, seconds: f64) -> Net {
    let up = path(vec![bottleneck(Bytes::new(queue)), delay()], rate, 1);
    let mut net = Net::new(flows, up, path(vec![delay()], rate, 2));
    net.play(Time::from_secs_f64(seconds));
    net
}

#[test]
fn alone_with_a_bandwidth_delay_product_of_queue_it_fills_the_link() {
    let variants = [
        ConnectionConfig::default(),
        ConnectionConfig { hystart: true, ..Default::default() },
        ConnectionConfig { paced: true, ..Default::default() },
        ConnectionConfig { acknowledging: Acknowledging::Delayed, ..Default::default() },
        ConnectionConfig { congestion: Congestion::Reno, ..Default::default() },
    ];
    for connection in variants {
        let rate = Rate::from_kbps(10_000);
        let product = rate.over(DELAY * 2);
        let net = play(vec![flow(connection, Span::ZERO)], rate, product.get(), 60.0);
        let used = net.rate(0, 5.0, 60.0).as_bps_f64() / rate.as_bps_f64();
        // One segment more may leave than entered.
        assert!((0.9..=1.001).contains(&used), "{used} with {connection:?}");
        assert!(net.drops > 0, "a queue that is never full is not tested");
        assert_eq!(net.flows[0].receiver().duplicates(), 0);
        let share = net.drops as f64 / net.arrivals.len() as f64;
        assert!(share < 0.02, "{share} lost with {connection:?}");
    }
}

#[test]
fn two_share_fairly_though_one_began_later() {
    let flows = vec![flow(Default::default(), Span::ZERO), flow(Default::default(), Span::from_secs(5))];
    let net = play(flows, Rate::from_kbps(10_000), 62_500, 120.0);
    let rates = [0, 1].map(|index| net.rate(index, 10.0, 120.0).as_mbps_f64());
    let sum: f64 = rates.iter().sum();
    let jain = sum * sum / (2.0 * rates.iter().map(|rate| rate * rate).sum::<f64>());
    assert!((0.9..=1.0).contains(&jain), "{jain} of {rates:?}");
    assert!((9.0..=10.01).contains(&sum), "{rates:?}");
}

#[test]
fn a_queue_of_500_kb_at_1_mbps_is_filled_for_seconds() {
    let net = play(vec![flow(Default::default(), Span::ZERO)], Rate::from_kbps(1_000), 500_000, 120.0);
    let waits = net.waits(20.0, 120.0);
    let at = |share: f64| waits[((waits.len() - 1) as f64 * share) as usize].as_secs_f64();
    // 332 packets of 1504 bytes at 12 ms each: 4 s when the queue is full, and 0.7 of that after a loss.
    assert!((2.4..=3.9).contains(&at(0.05)), "{}", at(0.05));
    assert!((3.5..=4.0).contains(&at(0.95)), "{}", at(0.95));
    assert!((0.97..=1.001).contains(&net.rate(0, 10.0, 120.0).as_mbps_f64()));
}

/// RFC 9438 section 5.1 gives the average window as a function of the loss share p: (C (3 + beta) / (4 (1 -
/// beta)))^(1/4) (RTT / p)^(3/4) for the cubic, and sqrt(3/2 / p) for Reno (Mathis et al. 1997); the larger one counts.
#[test]
fn random_loss_gives_the_window_of_the_response_function() {
    let (cubic, reno) = (Congestion::Cubic, Congestion::Reno);
    for (probability, delay_ms, congestion) in
        [(0.01, 25, cubic), (0.01, 100, cubic), (0.001, 100, cubic), (0.01, 25, reno), (0.001, 100, reno)]
    {
        let rate = Rate::from_kbps(100_000);
        let wire = HopConfig::delay(Span::from_millis(delay_ms));
        let lossy = vec![HopConfig::Loss(LossModel::Random { probability }), wire.clone()];
        let flows = vec![flow(ConnectionConfig { congestion, ..Default::default() }, Span::ZERO)];
        let mut net = Net::new(flows, path(lossy, rate, 3), path(vec![wire], rate, 4));
        net.play(Time::from_secs_f64(600.0));
        let rtt = 2.0 * delay_ms as f64 / 1e3;
        let cubic = (0.4f64 * 3.7 / (4.0 * 0.3)).powf(0.25) * (rtt / probability).powf(0.75);
        let reno = (1.5 / probability).sqrt();
        let window = net.rate(0, 20.0, 600.0).as_bps_f64() / (1500.0 * 8.0) * rtt;
        let ratio = window / if congestion == Congestion::Cubic { cubic.max(reno) } else { reno };
        assert!(
            (0.85..=1.2).contains(&ratio),
            "{window} segments: cubic {cubic}, Reno {reno} at {probability}, {rtt} s"
        );
    }
}
