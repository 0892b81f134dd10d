use thalweg_units::{Bytes, Rate, Span};

use super::std;
use super::world::{Reports, World, print};

#[test]
fn look() {
    for kbps in [100, 300, 1000, 6000, 30_000, 200_000] {
        for rtt in [5, 50, 200, 500] {
            let w = World { one_way: Span::from_micros(rtt * 500), queue: Bytes::new(2_000_000), ..World::new(Rate::from_kbps(kbps), 30) };
            let run = w.run();
            let reach = (0..29).find(|s| run.arrived_kbps(*s as f64, *s as f64 + 1.0) > 0.8 * kbps as f64);
            std::println!("{kbps} {rtt}: reach {reach:?} arrived {:.3} target {:.3} delay {:?} M {} gcc {:.2} lost {}", run.arrived_kbps(20.0, 30.0) / kbps as f64, run.target_kbps(20.0, 30.0) / kbps as f64, run.delay_ms(20.0, 30.0), run.burst_length(29.0), run.gcc_share(0.0,30.0), run.lost);
        }
    }
    let three = || World { one_way: Span::from_millis(30), queue: Bytes::new(1_500_000), ..World::new(Rate::from_kbps(3000), 50) };
    let styles = [("asked", Reports::Asked), ("packet", Reports::PerPacket), ("twcc", Reports::Every { interval: Span::from_millis(62), tick: Span::from_micros(250) }), ("ccfb", Reports::Every { interval: Span::from_millis(31), tick: Span::from_nanos(976_562) })];
    for (name, reports) in styles {
        let cases = [
            ("plain", three()),
            ("clock", World { clock: (Span::from_secs(1024), 100.0), ..three() }),
            ("slow", World { clock: (Span::from_secs(1024), -100.0), ..three() }),
            ("loss 2", World { loss: 0.02, ..three() }),
            ("loss 50", World { loss: 0.5, ..three() }),
            ("silence", World { silence: (15.0, 20.0), ..three() }),
            ("outage", World { capacity: [(0, Rate::from_kbps(3000)), (15, Rate::ZERO), (25, Rate::from_kbps(3000))].into(), ..three() }),
        ];
        for (what, w) in cases {
            let run = World { reports, ..w }.run();
            std::println!("{name} {what}: before {:.0} at 18: {:.0} 26-27 {:.0}, 20-21 {:.0} arrived {:.3} target {:.3} delay {:?} gcc {:.2}", run.arrived_kbps(10.0, 15.0), run.target_kbps(18.0, 19.0), run.arrived_kbps(26.0,27.0), run.arrived_kbps(20.0,21.0), run.arrived_kbps(35.0, 50.0) / 3e3, run.target_kbps(35.0, 50.0) / 3e3, run.delay_ms(35.0, 50.0), run.gcc_share(0.0, 50.0));
        }
    }
    for kb in [2, 4, 6, 8, 10] {
        let run = World { queue: Bytes::new(kb * 1000), ..World::new(Rate::from_kbps(1000), 90) }.run();
        std::println!("buffer {kb}: target {:.0} arrived {:.0} delay {:?} M {} {} gcc {:.2} lost {}/{}", run.target_kbps(10.0, 90.0), run.arrived_kbps(10.0,90.0), run.delay_ms(10.0, 90.0), run.burst_length(45.0), run.burst_length(89.0), run.gcc_share(0.0, 90.0), run.lost, run.sent);
        if kb == 2 { print("2", &run, 90);  for d in &run.decisions { if !d.what.contains("increase") { std::println!("{} {} {}", d.at, d.what, d.why); } } }
    }
}
