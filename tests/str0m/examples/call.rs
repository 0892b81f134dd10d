//! The table of docs/str0m.md: `cargo run --release --manifest-path tests/str0m/Cargo.toml --example call`.

use std::time::Duration;

use str0m_tests::{Control, Error, Path, Seen, play};
use thalweg_driver::Config;
use thalweg_units::Rate;

const SECONDS: f64 = 40.0;

fn row(path: &str, who: &str, seen: &Seen) {
    let [early, late] =
        [(3.0, SECONDS / 2.0), (SECONDS / 2.0 + 3.0, SECONDS)].map(|(from, until)| seen.delivered(from, until) / 1e6);
    let reached = seen.reached(2.7e6).map_or("never".into(), |at| format!("{at:.1} s"));
    let lost = 100.0 * seen.dropped as f64 / (seen.dropped as usize + seen.arrived.len()) as f64;
    println!("| {path} | {who} | {reached} | {early:.2} | {late:.2} | {:.0} ms | {lost:.1} % |", 1e3 * seen.queued());
}

fn main() -> Result<(), Error> {
    let steady = Path { capacity: 3e6, later: 3e6, one_way: Duration::from_millis(20), queue: 1.0, lost_one_in: None };
    let paths = [
        ("3 Mbps", steady),
        ("3 Mbps, then 1", Path { later: 1e6, ..steady }),
        ("3 Mbps, 1 in 20 lost", Path { lost_one_in: Some(20), ..steady }),
    ];
    println!("| path | who | 2.7 Mbps after | Mbps in 3-20 s | in 23-40 s | P95 of queueing | lost |");
    println!("|---|---|---|--:|--:|--:|--:|");
    for (name, path) in paths {
        row(name, "str0m", &play(path, Control::Str0m { start: 300_000, max: 5_000_000 }, SECONDS)?);
        for scheme in ["gcc", "scream", "copa", "nada", "pudica"] {
            let mut config = Config::default();
            config.max = Rate::from_kbps(5000);
            row(name, &format!("`{scheme}`"), &play(path, Control::Thalweg { scheme, config }, SECONDS)?);
        }
    }
    Ok(())
}
