//! What paths do to the controllers that are coupled to frames.

mod support;

use support::subjects::{self, Subject};
use support::*;
use thalweg_control::{Controller, pudica, sqp};
use thalweg_units::{Bytes, Rate, Span};

fn encoder(share: f64, max_kbps: u64) -> Source {
    Source::Encoder { share, max: Rate::from_kbps(max_kbps) }
}

fn coupled() -> impl Iterator<Item = Subject> {
    let sqp = || -> Box<dyn Controller> { Box::new(sqp::Config::default().build().unwrap()) };
    let pudica =
        || -> Box<dyn Controller> { Box::new(pudica::Config { probes: 0, ..Default::default() }.build().unwrap()) };
    [
        Subject { name: "sqp", build: sqp, kind: subjects::Kind::Frames },
        Subject { name: "pudica", build: pudica, kind: subjects::Kind::Frames },
    ]
    .into_iter()
}

#[test]
fn explore() {
    for subject in coupled() {
        for kbps in [100, 300, 1000, 3000, 6000, 30_000, 200_000] {
            for rtt in [5, 50, 200, 500] {
                let (rate, rtt) = (Rate::from_kbps(kbps), Span::from_millis(rtt));
                let base = Scenario::new(rate, rtt, Span::from_secs(40));
                let scenario = Scenario { source: encoder(1.0, kbps * 4), ..base };
                let r = scenario.run((subject.build)());
                println!(
                    "GRID {} {rate} {rtt} reached {:?} use {:.3} {:.3} q mean {} worst {} first {}",
                    subject.name,
                    r.reaches(rate.scale(0.8), 0.0, 1.0),
                    r.arrived(20.0, 30.0).as_bps_f64() / rate.as_bps_f64(),
                    r.arrived(30.0, 40.0).as_bps_f64() / rate.as_bps_f64(),
                    r.mean_queueing(30.0, 40.0),
                    r.worst_queueing(20.0, 40.0),
                    r.worst_queueing(0.0, 20.0)
                );
            }
        }
        let rate = Rate::from_kbps(3000);
        for style in Style::ALL {
            let base = || Scenario {
                style,
                source: encoder(1.0, 12_000),
                queue: Bytes::new(1_500_000),
                ..Scenario::new(rate, Span::from_millis(60), Span::from_secs(60))
            };
            for (what, s) in [
                ("nothing", base()),
                ("odd", Scenario { clock: Clock::ODD, ..base() }),
                ("slow", Scenario { clock: Clock::SLOW, ..base() }),
                ("dup", Scenario { duplicates: 0.2, ..base() }),
                ("reorder", Scenario { reordering: 0.1, ..base() }),
                ("loss", Scenario { loss: 0.02, ..base() }),
                ("loss50", Scenario { loss: 0.5, ..base() }),
                ("60%", Scenario { source: encoder(0.6, 12_000), ..base() }),
                ("silence", Scenario { silence: Some((15, 20)), ..base() }),
                (
                    "outage",
                    Scenario { capacity: Schedule::steps(&[(0, rate), (15, Rate::ZERO), (25, rate)]), ..base() },
                ),
                (
                    "step",
                    Scenario { capacity: Schedule::steps(&[(0, rate), (15, rate.scale(0.25)), (25, rate)]), ..base() },
                ),
                ("short queue", Scenario { queue: Bytes::new(7500), ..base() }),
            ] {
                let r = s.run((subject.build)());
                println!(
                    "CASE {} {style:?} {what} use {:.3} {:.3} q mean {} worst {} back15 {:?} back20 {:?} back {:?} B {}",
                    subject.name,
                    r.arrived(30.0, 40.0).as_bps_f64() / rate.as_bps_f64(),
                    r.arrived(40.0, 60.0).as_bps_f64() / rate.as_bps_f64(),
                    r.mean_queueing(40.0, 60.0),
                    r.worst_queueing(30.0, 60.0),
                    r.reaches(rate.scale(0.2), 15.5, 1.0),
                    r.reaches(rate.scale(0.8), 20.5, 1.0),
                    r.reaches(rate.scale(0.8), 25.5, 1.0),
                    r.target(59.0)
                );
            }
        }
    }
}
