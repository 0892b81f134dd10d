//! What paths do to every controller.
mod support;
use support::subjects::{self, Kind, Subject};
use support::*;
use thalweg_units::{Bytes, Rate, Span};

#[test]
fn look() {
    for subject in subjects::ALL.iter().filter(|s| s.kind != Kind::Blind) {
        for kbps in [100u64, 1000, 6000, 30_000, 200_000] {
            for rtt in [5, 50, 200, 500] {
                let s = Scenario::new(Rate::from_kbps(kbps), Span::from_millis(rtt), Span::from_secs(30));
                let r = s.run((subject.build)());
                println!("{:9} {:7}k {:4}ms  reach80 {:?}  util {:.3} meanq {} worstq {}", subject.name, kbps, rtt,
                  r.reaches(Rate::from_kbps(kbps).scale(0.8), 0.0, 1.0), r.arrived(20.0,30.0).as_kbps_f64()/kbps as f64, r.mean_queueing(20.0,30.0), r.worst_queueing(10.0,30.0));
            }
        }
    }
}

#[test]
fn events() {
    let base = |style| Scenario { style, queue: Bytes::new(1_500_000), ..Scenario::new(Rate::from_kbps(3000), Span::from_millis(60), Span::from_secs(50)) };
    for subject in subjects::ALL.iter().filter(|s| s.kind != Kind::Blind) {
        for style in Style::ALL {
            let cases = [
              ("plain", base(style)),
              ("silence", Scenario { silence: Some((15, 20)), ..base(style) }),
              ("outage", Scenario { capacity: Schedule::steps(&[(0, Rate::from_kbps(3000)), (15, Rate::ZERO), (25, Rate::from_kbps(3000))]), ..base(style) }),
              ("odd", Scenario { clock: Clock::ODD, ..base(style) }),
              ("dup", Scenario { duplicates: 0.2, ..base(style) }),
              ("reorder", Scenario { reordering: 0.1, ..base(style) }),
              ("loss", Scenario { loss: 0.02, ..base(style) }),
              ("tiny", Scenario { source: Source::Backlog(Bytes::new(200)), ..base(style) }),
            ];
            for (name, s) in cases {
                let r = s.run((subject.build)());
                let from = match name { "silence" => 20.0, "outage" => 25.0, _ => 0.0 };
                println!("{:9} {:9?} {:8} reach80 {:?} util {:.3} meanq {} worst-end {} worst {}", subject.name, style, name,
                  r.reaches(Rate::from_kbps(2400), from, 1.0).map(|at| at - from), r.arrived(35.0, 50.0).as_kbps_f64()/3000.0,
                  r.mean_queueing(35.0, 50.0), r.worst_queueing(35.0, 50.0), r.worst_queueing(0.0, 50.0));
            }
        }
    }
}
