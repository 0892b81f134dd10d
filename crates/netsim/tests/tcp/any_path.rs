//! On any path, every byte arrives once and in order, and no transfer stalls.

use super::support::{Net, path};
use proptest::prelude::*;
use thalweg_netsim::traffic::tcp::{Acknowledging, Congestion, ConnectionConfig};
use thalweg_netsim::{HopConfig, Jitter, LossModel, TcpFlow, WebConfig};
use thalweg_units::{Bytes, Rate, Seed, Span, Time};

fn hops(loss: f64, delay_ms: i64, jitter_ms: i64) -> Vec<HopConfig> {
    let jitter = Jitter::Uniform { max: Span::from_millis(jitter_ms) };
    vec![
        HopConfig::Loss(LossModel::Random { probability: loss }),
        HopConfig::Delay { delay: Span::from_millis(delay_ms).into(), jitter, reorders: true },
    ]
}

fn connection() -> impl Strategy<Value = ConnectionConfig> {
    (any::<[bool; 6]>(), 100u64..1500).prop_map(
        |([handshake, hystart, paced, delayed, tail_loss_probe, reno], segment)| {
            let acknowledging = if delayed { Acknowledging::Delayed } else { Acknowledging::Each };
            let congestion = if reno { Congestion::Reno } else { Congestion::Cubic };
            let segment = Bytes::new(segment);
            ConnectionConfig {
                congestion,
                handshake,
                hystart,
                paced,
                acknowledging,
                tail_loss_probe,
                segment,
                ..Default::default()
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// At every step the network asserts the lower bound of the window.
    #[test]
    fn a_page_comes_whole_and_once_through_loss_and_reordering(
        connection in connection(),
        size in 1u64..200_000,
        (forward, back) in (0.0..0.5f64, 0.0..0.5f64),
        (delay, jitter) in (0i64..200, 0i64..200),
        seed in any::<u64>(),
    ) {
        let page = Bytes::new(size);
        let mean_idle = Span::from_secs(10_000_000);
        let config = WebConfig { smallest: page, largest: page, mean_idle, connection, ..Default::default() };
        let flows = TcpFlow::reading(&config, Seed::new(seed)).unwrap();
        let begin = flows[0].next_event();
        let rate = Rate::from_kbps(1);
        let up = path(hops(forward, delay, jitter), rate, seed);
        let mut net = Net::new(flows, up, path(hops(back, delay, jitter), rate, seed ^ 1));
        while net.pages.is_empty() {
            let next = net.flows[0].next_event().min(thalweg_netsim::Link::next_event(&net.up));
            let next = next.min(thalweg_netsim::Link::next_event(&net.down));
            prop_assert!(next < Time::NEVER, "nothing will ever happen again");
            // A minute for each doubling, and at most 2000 segments.
            prop_assert!(next < begin + Span::from_secs(500_000), "it takes until {next}");
            net.play(next + Span::from_nanos(1));
        }
        prop_assert_eq!(net.flows[0].receiver().delivered(), page);
        prop_assert_eq!(net.pages[0].1.size, page);
        prop_assert!(net.flows[0].sender().is_done());
        let payload = connection.segment.get() - 52;
        let min = size.div_ceil(payload) + u64::from(connection.handshake);
        let came = net.arrivals.len() as u64;
        prop_assert!(came >= min, "{} segments of {}", came, min);
    }

    /// Without loss and reordering nothing is retransmitted, except a probe where a delayed acknowledgement makes the
    /// sender wait.
    #[test]
    fn a_clean_path_carries_each_segment_once(connection in connection(), size in 1u64..2_000_000, delay in 1i64..200) {
        let page = Bytes::new(size);
        let mean_idle = Span::from_secs(1_000_000);
        let config = WebConfig { smallest: page, largest: page, mean_idle, connection, ..Default::default() };
        let rate = Rate::from_kbps(1);
        let (up, down) = (path(hops(0.0, delay, 0), rate, 1), path(hops(0.0, delay, 0), rate, 2));
        let mut net = Net::new(TcpFlow::reading(&config, Seed::new(5)).unwrap(), up, down);
        while net.pages.is_empty() {
            let next = net.flows[0].next_event().min(thalweg_netsim::Link::next_event(&net.up));
            net.play(next.min(thalweg_netsim::Link::next_event(&net.down)) + Span::from_nanos(1));
        }
        prop_assert_eq!(net.flows[0].receiver().delivered(), page);
        let min = size.div_ceil(connection.segment.get() - 52) + u64::from(connection.handshake);
        let spare = if connection.acknowledging == Acknowledging::Delayed { min / 8 + 2 } else { 0 };
        let came = net.arrivals.len() as u64;
        prop_assert!((min..=min + spare).contains(&came), "{} segments of {}", came, min);
    }
}
