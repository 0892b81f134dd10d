//! What paths do to SCReAM, with both bounds. It is no [`Kind::Window`](support::subjects::Kind) of the torture.

mod support;

use support::*;
use thalweg_control::{Controller, scream};
use thalweg_units::{Bytes, Rate, Span};

fn draft() -> Box<dyn Controller> {
    Box::new(scream::Config::default().build().expect("in range"))
}
fn rt() -> Box<dyn Controller> {
    let window = scream::WindowConfig { losses: scream::Losses::EachRoundTrip, ..Default::default() };
    Box::new(scream::Config { window, ..Default::default() }.build().expect("in range"))
}

#[test]
fn explore() {
    for kbps in [100, 1000, 6000, 30_000, 200_000] {
        for rtt in [5, 50, 200, 500] {
            let (rate, rtt) = (Rate::from_kbps(kbps), Span::from_millis(rtt));
            let r = Scenario::new(rate, rtt, Span::from_secs(60)).run(draft());
            println!(
                "{rate} {rtt} reached {:?} use {:.3} {:.3} q mean {} worst {} first {}",
                r.reaches(rate.scale(0.8), 0.0, 1.0),
                r.arrived(20.0, 30.0).as_bps_f64() / rate.as_bps_f64(),
                r.arrived(50.0, 60.0).as_bps_f64() / rate.as_bps_f64(),
                r.mean_queueing(50.0, 60.0),
                r.worst_queueing(20.0, 60.0),
                r.worst_queueing(0.0, 20.0)
            );
        }
    }
    let rate = Rate::from_kbps(3000);
    for style in Style::ALL {
        let base = || Scenario {
            style,
            queue: Bytes::new(1_500_000),
            ..Scenario::new(rate, Span::from_millis(60), Span::from_secs(60))
        };
        let enc = |share| Source::Encoder { share, max: Rate::from_kbps(12_000) };
        for (what, s) in [
            ("nothing", base()),
            ("odd", Scenario { clock: Clock::ODD, ..base() }),
            ("slow", Scenario { clock: Clock::SLOW, ..base() }),
            ("dup", Scenario { duplicates: 0.2, ..base() }),
            ("reorder", Scenario { reordering: 0.1, ..base() }),
            ("loss", Scenario { loss: 0.02, ..base() }),
            ("loss.001", Scenario { loss: 0.001, ..base() }),
            ("200B", Scenario { source: Source::Backlog(Bytes::new(200)), ..base() }),
            ("enc1", Scenario { source: enc(1.0), ..base() }),
            ("enc.6", Scenario { source: enc(0.6), ..base() }),
            ("silence", Scenario { silence: Some((15, 20)), ..base() }),
            ("outage", Scenario { capacity: Schedule::steps(&[(0, rate), (15, Rate::ZERO), (25, rate)]), ..base() }),
            (
                "outage enc",
                Scenario {
                    source: enc(1.0),
                    capacity: Schedule::steps(&[(0, rate), (15, Rate::ZERO), (25, rate)]),
                    ..base()
                },
            ),
            ("short queue", Scenario { queue: Bytes::new(7500), ..base() }),
        ] {
            for (n, c) in [("draft", draft as fn() -> Box<dyn Controller>), ("rt", rt)] {
                let r = s.run(c());
                println!(
                    "{style:?} {what} {n} use {:.3} {:.3} q mean {} worst {} back {:?}",
                    r.arrived(30.0, 40.0).as_bps_f64() / rate.as_bps_f64(),
                    r.arrived(45.0, 60.0).as_bps_f64() / rate.as_bps_f64(),
                    r.mean_queueing(45.0, 60.0),
                    r.worst_queueing(35.0, 60.0),
                    r.reaches(rate.scale(0.8), 21.0, 1.0)
                );
            }
        }
    }
}
