//! Each controller over time, compared with the numbers of its paper and, for GCC, of a browser. `--nocapture` prints
//! one line per second.

mod bbr;
mod camel;
mod charts;
mod copa;
#[allow(dead_code)] // The browser comparison belongs to the target `recorded`.
mod gcc;
mod nada;
mod pudica;
mod rebera;
mod rocc;
mod rtcp;
mod scream;
mod sqp;
use thalweg_units::Rate;

fn within(value: f64, low: f64, high: f64, what: &str) {
    println!("{what}: {value:.3} (expected {low:.3} to {high:.3})");
    assert!(value >= low && value <= high, "{what} is {value:.3}, expected {low:.3} to {high:.3}");
}

fn ratio(rate: Rate, of: Rate) -> f64 {
    rate.as_bps_f64() / of.as_bps_f64()
}
