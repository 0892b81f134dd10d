use thalweg_units::Rate;

use super::std;
use super::world::{World, print};

#[test]
fn look() {
    let megabit = Rate::from_kbps(1000);
    let run = World::new(megabit, 60).run();
    print("1 Mbps, encoder fills", &run, 60);
    std::println!("target {:.0} delay {:?}", run.target_kbps(5.0, 60.0), run.delay_ms(5.0, 60.0));
    let w = World { encoded: (0.6, 0.0, 1e9), ..World::new(megabit, 60) };
    let run = w.run();
    std::println!("0.6: target {:.0} delay {:?}", run.target_kbps(5.0, 60.0), run.delay_ms(5.0, 60.0));
    let w = World { capacity: [(0, Rate::from_kbps(2000)), (20, megabit), (40, Rate::from_kbps(2000))].into(), ..World::new(megabit, 60) };
    let run = w.run();
    print("2/1/2", &run, 60);
    std::println!("2/1/2: target {:.0} delay {:?}", run.target_kbps(20.0, 40.0), run.delay_ms(20.0, 40.0));
    let w = World { cross: (Rate::from_kbps(400), 20.0, 40.0), ..World::new(megabit, 60) };
    let run = w.run();
    std::println!("cross: target {:.0} delay {:?}", run.target_kbps(20.0, 40.0), run.delay_ms(20.0, 40.0));
}
