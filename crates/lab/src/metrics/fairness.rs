//! Shares of flows on a shared path (specs/metrics.md 7).

use serde::{Deserialize, Serialize};

/// How responsive flows shared a path while all of them were active. Datagrams at a fixed rate do not respond to
/// congestion and are left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sharing {
    /// When the last of the flows began, in seconds.
    pub from_s: f64,
    /// When the first of the flows stopped, in seconds.
    pub until_s: f64,
    /// Throughput of each flow in between; the sender under test first.
    pub flows: Vec<Portion>,
    /// Jain's index of those: 1 if all are equal, 1/n if one flow got everything.
    pub jain: f64,
    /// Mean of the index over seconds.
    pub jain_by_second: f64,
}

/// The share of one flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Portion {
    /// The flow's name.
    pub name: String,
    /// Data delivered, from IP upwards, in bit/s.
    pub throughput_bps: f64,
    /// Share of the data delivered of all flows, 0..1.
    pub share: f64,
}

/// The share of TCP flows on a path shared with video senders (specs/metrics.md 7).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TcpShare {
    /// Mean over the TCP flows of each one's throughput while it had something to send, from IP upwards, in bit/s.
    pub throughput_bps: f64,
    /// TFS: that over a fair share, which is the link capacity divided by the number of all flows, video senders
    /// included. It can also exceed 1 because not all of the flows are active at once.
    pub tfs: f64,
    /// The same relative to TCP's share of the link without video: FBRA's table 3 divides by 500 kbps, which is 5 Mbps
    /// over its ten TCP flows.
    pub tfs_of_tcp_alone: f64,
}

/// The share of `tcp` flows with these throughputs while active, in bit/s, on a link of `capacity` bit/s with this many
/// video `senders`; `None` without a flow or a capacity.
pub fn tcp_share(tcp: &[f64], senders: usize, capacity: f64) -> Option<TcpShare> {
    let flows = tcp.len() as f64;
    if tcp.is_empty() || capacity <= 0.0 {
        return None;
    }
    let throughput_bps = tcp.iter().sum::<f64>() / flows;
    let of = |sharers: f64| throughput_bps / (capacity / sharers);
    Some(TcpShare { throughput_bps, tfs: of(flows + senders as f64), tfs_of_tcp_alone: of(flows) })
}

/// A flow that shares a path.
#[derive(Debug, Clone, PartialEq)]
pub struct Sharer<'a> {
    /// The flow's name.
    pub name: &'a str,
    /// Begin and end, in seconds.
    pub active: (f64, f64),
    /// Data delivered, in Mbps, by bin.
    pub delivered_mbps: &'a [f64],
}

/// Jain's index of flow rates, (sum x)^2 / (n sum x^2): 1 when all are equal, 1 / n when one of n has everything;
/// `None` when all are zero.
pub fn jain(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    (squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

/// How the flows shared while all were active; `None` for fewer than two, or if they were not all active for a whole
/// second.
pub fn sharing(sharers: &[Sharer], bin_s: f64) -> Option<Sharing> {
    let from_s = sharers.iter().map(|sharer| sharer.active.0).fold(0.0, f64::max);
    let until_s = sharers.iter().map(|sharer| sharer.active.1).fold(f64::INFINITY, f64::min);
    let (first, last) = (from_s.ceil() as usize, until_s.floor());
    if sharers.len() < 2 || !last.is_finite() || last < first as f64 + 1.0 {
        return None;
    }
    let mean = |sharer: &Sharer, from: f64, until: f64| {
        let bin = |at: f64| ((at / bin_s).round() as usize).min(sharer.delivered_mbps.len());
        let sum: f64 = sharer.delivered_mbps[bin(from)..bin(until)].iter().sum();
        sum * bin_s / (until - from) * 1e6
    };
    let rates: Vec<f64> = sharers.iter().map(|sharer| mean(sharer, from_s, until_s)).collect();
    let total: f64 = rates.iter().sum();
    let by_second = (first..last as usize).filter_map(|second| {
        let each = |sharer: &Sharer| mean(sharer, second as f64, second as f64 + 1.0);
        jain(&sharers.iter().map(each).collect::<Vec<_>>())
    });
    let by_second: Vec<f64> = by_second.collect();
    let flows = sharers.iter().zip(&rates).map(|(sharer, rate)| Portion {
        name: sharer.name.into(),
        throughput_bps: *rate,
        share: if total > 0.0 { rate / total } else { 0.0 },
    });
    Some(Sharing {
        from_s,
        until_s,
        flows: flows.collect(),
        jain: jain(&rates)?,
        jain_by_second: by_second.iter().sum::<f64>() / by_second.len() as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_indices_come_out() {
        assert!((jain(&[600.0, 300.0, 100.0]).unwrap() - 0.7246).abs() < 1e-4);
        assert!((jain(&[700.0, 300.0]).unwrap() - 0.862).abs() < 1e-3);
    }

    #[test]
    fn equal_shares_give_one_and_a_single_owner_one_nth() {
        assert_eq!(jain(&[2.0, 2.0, 2.0]), Some(1.0));
        assert_eq!(jain(&[0.0, 3.0, 0.0, 0.0]), Some(0.25));
        // (1 + 2)^2 / (2 * 5).
        assert_eq!(jain(&[1.0, 2.0]), Some(0.9));
        assert_eq!(jain(&[0.0, 0.0]), None);
    }

    /// specs/fbra.md 7: table 2 divides by 5000 / 11, table 3 by 5000 / 10.
    #[test]
    fn the_papers_shares_of_tcp_come_out_and_the_one_that_does_not_is_the_papers() {
        let of = |kbps: f64, senders| tcp_share(&[kbps * 1e3; 10], senders, 5e6).unwrap();
        let percent = |share: f64| (share * 1e4).round() / 1e2;
        for (kbps, printed) in [(669.76, 147.35), (491.34, 108.1), (299.12, 65.81), (323.13, 71.09), (515.29, 113.37)] {
            let share = percent(of(kbps, 1).tfs);
            assert!((share - printed).abs() < 0.02, "{kbps}: {share}, printed {printed}");
        }
        // Printed in the paper as 142.27.
        assert_eq!(percent(of(502.28, 1).tfs), 110.5);
        for (kbps, printed, by_all) in [(674.28, 134.86, 161.83), (101.6, 20.32, 24.38)] {
            let share = of(kbps, 2);
            assert_eq!((percent(share.tfs_of_tcp_alone), percent(share.tfs)), (printed, by_all), "{kbps}");
        }
        assert_eq!((tcp_share(&[], 1, 5e6), tcp_share(&[1e6], 1, 0.0)), (None, None));
        assert_eq!(tcp_share(&[1e6, 3e6], 2, 4e6).unwrap().tfs, 2.0);
    }

    #[test]
    fn two_who_take_turns_are_fair_as_a_whole_and_unfair_by_the_second() {
        let turn =
            |odd: usize| -> Vec<f64> { (0..400).map(|bin| if bin / 10 % 2 == odd { 1.0 } else { 0.0 }).collect() };
        let (a, b) = (turn(0), turn(1));
        let sharer = |name, active, delivered_mbps| Sharer { name, active, delivered_mbps };
        let shared = sharing(&[sharer("a", (0.0, 40.0), &a), sharer("b", (10.0, 30.0), &b)], 0.1).unwrap();
        assert_eq!((shared.from_s, shared.until_s), (10.0, 30.0));
        assert!((shared.jain - 1.0).abs() < 1e-9 && (shared.jain_by_second - 0.5).abs() < 1e-9, "{shared:?}");
        assert!((shared.flows[0].throughput_bps - 5e5).abs() < 1.0 && (shared.flows[1].share - 0.5).abs() < 1e-9);
        assert_eq!(sharing(&[sharer("a", (0.0, 40.0), &a)], 0.1), None);
        assert_eq!(sharing(&[sharer("a", (0.0, 20.0), &a), sharer("b", (20.0, 30.0), &b)], 0.1), None);
    }
}
