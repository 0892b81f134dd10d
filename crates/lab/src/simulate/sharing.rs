//! The capacity available to each flow, and each flow's share.

use thalweg_units::{Span, Time};

use super::capacity::FlowCapacity;
use crate::metrics::{Sharer, Sharing, TcpShare, sharing as shared, tcp_share};
use crate::outcome::Outcome;
use crate::record::BIN_S;
use crate::scenario::{Competitor, Scenario};

/// Begin and end of a flow, in seconds.
type Active = (f64, f64);

fn active(scenario: &Scenario, from: Span, until: Option<Span>) -> Active {
    let end = scenario.duration.as_secs_f64();
    (from.as_secs_f64(), until.map_or(end, |until| until.as_secs_f64().min(end)))
}

/// The competing senders, in the order of their flows.
fn senders(scenario: &Scenario) -> impl Iterator<Item = Active> {
    scenario.competitors.iter().filter_map(|competitor| match competitor {
        Competitor::Sender(sender) => Some(active(scenario, sender.from, sender.until)),
        Competitor::Datagrams(_) | Competitor::Tcp(_) | Competitor::Web(_) => None,
    })
}

/// The sources of cross traffic in order: the active time of bulk transfers; `None` for sources that do not respond to
/// congestion (datagrams) or are only intermittently active (web users, transfers of a file).
fn sources(scenario: &Scenario) -> impl Iterator<Item = Option<Active>> {
    scenario.competitors.iter().flat_map(|competitor| {
        let (each, count) = match competitor {
            Competitor::Sender(_) => (None, 0),
            Competitor::Datagrams(_) => (None, 1),
            Competitor::Web(config) => (None, config.count),
            Competitor::Tcp(config) if config.size.is_some() => (None, config.count),
            Competitor::Tcp(config) => (Some(active(scenario, config.from, config.until)), config.count),
        };
        std::iter::repeat_n(each, count.into())
    })
}

/// The capacity available to a flow, in Mbps by bin, by whole seconds: what datagrams leave, divided evenly among all
/// active responsive flows.
pub(super) fn available(scenario: &Scenario, link: &FlowCapacity<'_>, flow: usize, bins: usize) -> Vec<f64> {
    let whole = active(scenario, scenario.from, scenario.until);
    let listen: Vec<Active> = std::iter::once(whole).chain(senders(scenario)).collect();
    let bulk: Vec<Active> = sources(scenario).flatten().collect();
    let in_second = |second: usize| {
        let (begin, end) = (second as f64, second as f64 + 1.0);
        let overlap = |(from, until): &Active| (until.min(end) - from.max(begin)).clamp(0.0, 1.0);
        let carried = link.bytes(Time::from_secs_f64(begin), Time::from_secs_f64(end)).bits() as f64 / 1e6;
        let datagrams = scenario.competitors.iter().filter_map(|competitor| match competitor {
            Competitor::Datagrams(config) => {
                Some(config.rate.as_mbps_f64() * overlap(&active(scenario, config.from, config.until)))
            }
            Competitor::Sender(_) | Competitor::Tcp(_) | Competitor::Web(_) => None,
        });
        let others = listen.iter().enumerate().filter(|(number, _)| *number != flow).map(|(_, active)| active);
        let others: f64 = others.chain(&bulk).map(overlap).sum();
        (carried - datagrams.sum::<f64>()).max(0.0) / (1.0 + others)
    };
    let per_second = (1.0 / BIN_S).round() as usize;
    let seconds = (0..bins.div_ceil(per_second)).map(in_second);
    seconds.flat_map(|mbps| std::iter::repeat_n(mbps, per_second)).take(bins).collect()
}

/// How the sender under test shared the path with the other senders and with bulk transfers.
pub(super) fn sharing(scenario: &Scenario, outcome: &Outcome) -> Option<Sharing> {
    let tested = Sharer {
        name: &outcome.summary.scheme,
        active: active(scenario, scenario.from, scenario.until),
        delivered_mbps: &outcome.series.delivered_mbps,
    };
    let others = senders(scenario).map(Some).chain(sources(scenario)).zip(&outcome.series.others);
    let others = others.filter_map(|(active, other)| {
        Some(Sharer { name: &other.name, active: active?, delivered_mbps: &other.delivered_mbps })
    });
    shared(&std::iter::once(tested).chain(others).collect::<Vec<_>>(), BIN_S)
}

/// The share of the TCP flows, of those that had anything to send: bulk transfers and web users.
pub(super) fn tcp(outcome: &Outcome) -> Option<TcpShare> {
    let summary = &outcome.summary;
    let flows =
        summary.traffic.iter().filter(|traffic| traffic.name != "datagrams" && !traffic.name.starts_with("datagrams "));
    let throughputs: Vec<f64> = flows.filter(|flow| flow.active_s > 0.0).map(|flow| flow.delivered_bps).collect();
    let bins = outcome.series.capacity_mbps.len().max(1) as f64;
    let capacity = outcome.series.capacity_mbps.iter().sum::<f64>() / bins * 1e6;
    tcp_share(&throughputs, 1 + summary.competitors.len(), capacity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Sender;
    use thalweg_netsim::{DatagramsConfig, HopConfig, PathConfig, QueueConfig, TcpConfig, WebConfig};
    use thalweg_units::{Rate, Seed};

    fn scenario(competitors: Vec<Competitor>) -> Scenario {
        Scenario { duration: Span::from_secs(10), competitors, ..Scenario::over("link") }
    }

    #[test]
    fn what_datagrams_leave_is_divided_among_those_who_listen_and_are_there() {
        let datagrams = DatagramsConfig {
            rate: Rate::from_kbps(400),
            from: Span::from_secs(2),
            until: Some(Span::from_secs(4)),
            ..DatagramsConfig::default()
        };
        let from = Span::from_secs(6);
        let sender = Sender { scheme: "gcc".into(), video: None, from, until: Some(Span::from_secs(8)) };
        let tcp = TcpConfig { count: 2, from: Span::from_secs(7), ..TcpConfig::default() };
        let scenario = scenario(vec![
            Competitor::Datagrams(datagrams),
            Competitor::Web(WebConfig::default()),
            Competitor::Sender(sender),
            Competitor::Tcp(tcp),
        ]);
        let rate = "1200kbps".parse().unwrap();
        let hops = vec![HopConfig::Rate { rate, queue: QueueConfig::Infinite }];
        let path = PathConfig { hops }.build::<u64, String>(Seed::new(1), &mut |_| Err(String::new())).unwrap();
        let link = FlowCapacity::from(path.capacity());
        let of = |flow: usize| {
            let mbps = available(&scenario, &link, flow, 100);
            [1, 3, 5, 6, 7, 9].map(|second| (mbps[second * 10 + 5] * 1000.0).round())
        };
        assert_eq!(of(0), [1200.0, 800.0, 1200.0, 600.0, 300.0, 400.0]);
        // The other sender's, which counts itself while it is active.
        assert_eq!(of(1)[3..5], [600.0, 300.0]);
    }
}
