//! Receivers whose clocks run too fast or too slow, and paths that deliver packets and reports twice.

use thalweg_lab::Scenario;
use thalweg_lab::simulate::Run;
use thalweg_netsim::queue::Limits;
use thalweg_netsim::{HopConfig, PathConfig, QueueConfig};
use thalweg_sender::Scheme;
use thalweg_units::Span;

/// Half a minute over 2 Mbps with 25 ms each way and 300 ms of queue.
fn plain() -> Scenario {
    let queue = QueueConfig::DropTail(Limits::time(Span::from_millis(300)));
    let rate = HopConfig::Rate { rate: "2Mbps".parse().unwrap(), queue };
    let delay = HopConfig::delay(Span::from_millis(25));
    Scenario {
        duration: Span::from_secs(30),
        forward: PathConfig { hops: vec![rate, delay.clone()] },
        reverse: PathConfig { hops: vec![delay] },
        ..Scenario::over("2Mbps")
    }
}

/// The same, of whose packets and reports this share comes twice, the copy 5 ms later.
fn duplicating(probability: f64, packets: bool, reports: bool) -> Scenario {
    let copies = HopConfig::Duplicate { probability, after: Span::from_millis(5) };
    let mut scenario = plain();
    scenario.forward.hops.extend(packets.then_some(copies.clone()));
    scenario.reverse.hops.extend(reports.then_some(copies));
    scenario
}

fn run(scenario: &Scenario, scheme: &str) -> Run {
    let scheme: Scheme = scheme.parse().unwrap();
    scenario.play(&scheme).unwrap_or_else(|error| panic!("{}: {error}", scheme.name))
}

/// Behind the bottleneck a copy takes nothing from anybody: all that may differ is the fingerprint.
#[test]
fn copies_of_every_packet_and_of_every_report_change_no_figure() {
    for known in thalweg_sender::scheme::known() {
        let of = |scenario: &Scenario| run(&Scenario { duration: Span::from_secs(10), ..scenario.clone() }, known.name);
        let once = of(&plain());
        for (packets, reports) in [(true, false), (false, true)] {
            let mut twice = duplicating(1.0, packets, reports);
            for hop in twice.forward.hops.iter_mut().chain(&mut twice.reverse.hops) {
                if let HopConfig::Duplicate { after, .. } = hop {
                    *after = Span::ZERO;
                }
            }
            let twice = of(&twice);
            let mut expected = once.outcome.summary.clone();
            expected.events_fingerprint = twice.outcome.summary.events_fingerprint.clone();
            if twice.outcome.summary != expected { println!("{} {packets} {reports}: {:?}\n {:?}", known.name, twice.outcome.summary, expected); }
        }
    }
}

#[test]
fn rates() {
    for known in thalweg_sender::scheme::known() {
        let rate = |scenario: Scenario| { let s = run(&scenario, known.name).outcome.summary; (s.video_bitrate_bps / 1e6, s.latency_p95_ms.unwrap_or(0.0)) };
        let all = [plain(), Scenario { clock_drift_ppm: 10_000, ..plain() }, Scenario { clock_drift_ppm: -10_000, ..plain() }, Scenario { clock_drift_ppm: 100, ..plain() }, duplicating(0.1, true, true)].map(rate);
        println!("{:30} {}", known.name, all.iter().map(|(r, l)| format!("{:.2} ({:.2}) {:5.0}", r, r / all[0].0, l)).collect::<Vec<_>>().join(" | "));
    }
}
