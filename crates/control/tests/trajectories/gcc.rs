//! GCC compared with a stock browser.

use thalweg_control::gcc;
use thalweg_units::{Bytes, Rate};

use super::within;
use crate::support::subjects::built;
use crate::support::*;

/// The link on which a stock browser was measured: 2 Mbps and 500 kbps alternating every 40 s, 25 ms each way, 1.5 MB
/// of queue.
fn square() -> Scenario {
    let steps = [0, 40, 80, 120, 160, 200].map(|at| (at, Rate::from_kbps(if at / 40 % 2 == 0 { 2000 } else { 500 })));
    Scenario {
        capacity: Schedule::steps(&steps),
        queue: Bytes::new(1_500_000),
        style: Style::Twcc,
        // Chromium's send rate is 0.945 of its estimate at the median of the recorded seconds in steady state.
        source: Source::Encoder { share: 0.95, max: Rate::from_kbps(12_000) },
        ..Scenario::new(Rate::ZERO, 50, 205)
    }
}

/// The data common to the recording and our run: kbps sent in each second.
struct Seconds(Vec<f64>);

impl Seconds {
    fn of(record: &Record) -> Seconds {
        Seconds((0..205).map(|second| record.sent(second.into(), f64::from(second) + 1.0).as_kbps_f64()).collect())
    }

    /// Columns sec and sent_kbps.
    fn of_chromium(file: &str) -> Seconds {
        let text = std::fs::read_to_string(thalweg_data::testing::needed("chromium-gcc").join(file)).unwrap();
        let sent = |line: &str| line.split(',').nth(2).and_then(|field| field.parse().ok());
        Seconds(text.lines().skip(1).filter_map(sent).collect())
    }

    fn mean(&self, from: usize, to: usize) -> f64 {
        self.0[from..to].iter().sum::<f64>() / (to - from) as f64
    }

    /// The number of seconds after `from` until at least `kbps` are sent in a second.
    fn rises_to(&self, kbps: f64, from: usize) -> f64 {
        self.0[from..].iter().position(|sent| *sent >= kbps).map_or(f64::INFINITY, |after| after as f64 + 1.0)
    }

    fn check(&self, who: &str) {
        let check = |value: f64, low: f64, high: f64, what: &str| within(value, low, high, &format!("{who}, {what}"));
        check(self.0[0], 1000.0, 2000.0, "kbps in the first second, by probing");
        check(self.mean(5, 39) / 2000.0, 0.8, 0.97, "share of 2 Mbps");
        for low in [50, 130] {
            check(self.mean(low, low + 29) / 500.0, 0.75, 0.97, "share of 500 kbps");
        }
        for drop in [40, 120] {
            check(self.mean(drop + 2, drop + 6), 50.0, 500.0, "kbps from the third second after the drop");
        }
        for rise in [80, 160] {
            check(self.rises_to(1800.0, rise), 14.0, 25.0, "seconds to 1.8 Mbps after the rise");
        }
    }
}

#[test]
fn gcc_keeps_to_the_square_link_within_a_browsers_bounds() {
    let record = square().run(built(gcc::Gcc::new(gcc::Config::default())));
    record.print("gcc, 2 Mbps and 500 kbps by turns of 40 s, TWCC");
    let ours = Seconds::of(&record);
    ours.check("thalweg");
    // The drop fills the queue in both: the browser's worst frame is about two seconds late, because its encoder
    // follows slowly.
    within(record.worst_queueing(40.0, 46.0).as_secs_f64(), 0.5, 2.0, "worst queueing after the drop in s");
    within(record.worst_queueing(50.0, 79.0).as_millis_f64(), 20.0, 110.0, "worst queueing at 500 kbps in ms");
}

/// Compared with stock Chromium.
pub fn gcc_does_on_the_square_link_what_a_browser_does() {
    let ours = Seconds::of(&square().run(built(gcc::Gcc::new(gcc::Config::default()))));
    let chromium = Seconds::of_chromium("per2.csv");
    chromium.check("chromium");
    for (from, to) in [(5, 39), (50, 79), (103, 119), (130, 159), (183, 199)] {
        let ratio = ours.mean(from, to) / chromium.mean(from, to);
        within(ratio, 0.85, 1.15, &format!("thalweg over chromium, seconds {from} to {to}"));
    }
    // The starting rate after a rise depends on the phase of either's sawtooth, so the growth is compared.
    for rise in [80, 160] {
        let growth =
            |seconds: &Seconds| (seconds.mean(rise + 13, rise + 16) / seconds.mean(rise + 6, rise + 9)).powf(1.0 / 7.0);
        within(growth(&ours), 1.06, 1.09, "thalweg, growth a second after the rise");
        within(growth(&chromium), 1.06, 1.10, "chromium, growth a second after the rise");
    }
}

/// The growth that libwebrtc's rules give on a link that carried 80 kbps for 40 s and then 3 Mbps, with a report every
/// 62 ms: increase by 4 to 8 kbps a second until the acknowledged rate is above the remembered capacity; then by 8 %,
/// and no less than 1 kbps per report: 16 kbps a second up to 200 kbps, and 33 s, ln(2500 / 200) / ln 1.08, from there
/// to 2.5 Mbps. It cannot be faster, because no probe is sent while a camera uses its whole rate.
#[test]
fn gcc_comes_back_from_a_starved_link_within_a_minute_and_not_sooner_than_its_increase_allows() {
    let steps = [(0, 3_000), (20, 80), (60, 3_000)].map(|(at, kbps)| (at, Rate::from_kbps(kbps)));
    let scenario = Scenario {
        capacity: Schedule::steps(&steps),
        queue: Bytes::new(100_000),
        style: Style::Twcc,
        source: Source::Encoder { share: 0.95, max: Rate::from_kbps(12_000) },
        ..Scenario::new(Rate::ZERO, 50, 150)
    };
    let record = scenario.run(built(gcc::Gcc::new(gcc::Config::default())));
    record.print("gcc, 3 Mbps, 80 kbps from 20 s, 3 Mbps from 60 s, TWCC");
    within(record.sent(50.0, 60.0).as_kbps_f64(), 30.0, 80.0, "kbps where 80 fit");
    let after = |kbps: u64| {
        let second = (60..150)
            .find(|second| record.sent(f64::from(*second), f64::from(second + 1)).as_kbps_f64() >= kbps as f64);
        second.map_or(f64::INFINITY, |second| f64::from(second) - 60.0)
    };
    within(after(150), 3.0, 20.0, "seconds to 150 kbps");
    within(after(1_000) - after(250), 15.0, 25.0, "seconds from 250 kbps to 1 Mbps");
    within(after(2_500), 40.0, 65.0, "seconds to 2.5 Mbps");
}
