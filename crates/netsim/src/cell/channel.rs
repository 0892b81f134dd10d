//! The radio channel of a user, at whole milliseconds (specs/rmcat.md 6, "Model `cell`").

use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::f64::consts::TAU;

use thalweg_units::{ConfigError, Random, Seed, check};

use crate::Direction;

/// The carrier frequency in Hz, and the speed of light in m/s.
const CARRIER: f64 = 2e9;
const LIGHT: f64 = 299_792_458.0;
/// The distance in metres over which shadowing loses 1/e of its correlation.
const DECORRELATION: f64 = 50.0;
/// A report of the channel is this old when it is used.
pub const REPORT_AGE: u64 = 6;
/// Values that are kept: one of now and those that reports can be about.
const KEPT: u64 = REPORT_AGE + 1;
/// Shadowing changes by less than 0.5 dB in this time at 30 km/h, so it is renewed no more often.
const SHADOWING_STEP: u64 = 10;
/// Below -10 dB nothing gets through.
const WEAKEST: f64 = 0.1;

/// Spectral efficiency as a function of the signal-to-interference ratio (TR 36.942).
#[derive(Debug, Clone, Copy)]
pub struct Efficiency {
    share: f64,
    most: f64,
}

impl Efficiency {
    pub const fn of(direction: Direction) -> Efficiency {
        match direction {
            Direction::Down => Efficiency { share: 0.6, most: 4.4 },
            Direction::Up => Efficiency { share: 0.4, most: 2.0 },
        }
    }

    /// In bit/s/Hz at this ratio.
    pub fn at(self, ratio: f64) -> f64 {
        if ratio < WEAKEST { 0.0 } else { (self.share * libm::log2(1.0 + ratio)).min(self.most) }
    }

    /// The ratio at which this efficiency is reached.
    fn inverse(self, eta: f64) -> f64 {
        if eta <= 0.0 { 0.0 } else { libm::exp2(eta.min(self.most) / self.share) - 1.0 }
    }
}

/// Channel parameters common to all users.
#[derive(Debug, Clone, Copy)]
pub struct Mobility {
    /// Correlation of fading from one millisecond to the next.
    fading: f64,
    /// Metres per millisecond.
    pace: f64,
    shadowing_db: f64,
    efficiency: Efficiency,
}

impl Mobility {
    pub fn new(speed_kmh: f64, shadowing_db: f64, efficiency: Efficiency) -> Mobility {
        let speed = speed_kmh / 3.6;
        let fading = libm::j0(TAU * doppler(speed) / 1000.0);
        Mobility { fading, pace: speed / 1000.0, shadowing_db, efficiency }
    }
}

/// The Doppler frequency in Hz at this speed in m/s.
fn doppler(speed: f64) -> f64 {
    speed * CARRIER / LIGHT
}

/// The signal-to-interference ratio of a user.
///
/// It is advanced only while it matters, over any gap in one step of the same distribution.
#[derive(Debug, Clone)]
pub struct Channel {
    source: Source,
    /// The last ratios, at the place of their millisecond modulo [`KEPT`].
    ratios: [f64; KEPT as usize],
    /// The newest millisecond; `None` before the first.
    newest: Option<u64>,
}

#[derive(Debug, Clone)]
enum Source {
    Fading(Fading),
    /// A recording, played in a loop.
    Recorded(Arc<[f32]>),
}

#[derive(Debug, Clone)]
struct Fading {
    random: Random,
    /// Shadowing draws of its own and at fixed times, so that it is the same whatever is sent; fading, which is renewed
    /// in milliseconds, is only drawn where someone has data.
    shadows: Random,
    geometry_db: f64,
    shadowing_db: f64,
    /// When the shadowing was renewed.
    renewed: u64,
    /// Both as a factor.
    mean: f64,
    /// Two paths, real and imaginary parts.
    paths: [[f64; 2]; 2],
}

impl Channel {
    /// A channel that fades about a mean of `geometry_db`.
    pub fn fading(geometry_db: f64, seed: Seed) -> Channel {
        let (shadowing_db, paths) = (0.0, [[0.0; 2]; 2]);
        let [random, shadows] = ["fading", "shadowing"].map(|name| seed.child(name).random());
        let mean = from_db(geometry_db);
        let fading = Fading { random, shadows, geometry_db, shadowing_db, renewed: 0, mean, paths };
        Channel { source: Source::Fading(fading), ratios: [0.0; KEPT as usize], newest: None }
    }

    pub fn recorded(eta: Arc<[f32]>) -> Channel {
        Channel { source: Source::Recorded(eta), ratios: [0.0; KEPT as usize], newest: None }
    }

    /// Advances to millisecond `now`.
    pub fn advance(&mut self, now: u64, mobility: &Mobility) {
        let first = match self.newest {
            Some(newest) if newest >= now => return,
            Some(newest) => now.saturating_sub(REPORT_AGE).max(newest + 1),
            None => now.saturating_sub(REPORT_AGE),
        };
        for millisecond in first..=now {
            let ratio = match &mut self.source {
                Source::Fading(fading) => fading.ratio(self.newest, millisecond, mobility),
                Source::Recorded(eta) => {
                    let eta = eta[(millisecond % eta.len() as u64) as usize];
                    mobility.efficiency.inverse(f64::from(eta))
                }
            };
            self.newest = Some(millisecond);
            self.ratios[(millisecond % KEPT) as usize] = ratio;
        }
    }

    /// The ratio at the newest millisecond.
    pub fn ratio(&self) -> f64 {
        self.newest.map_or(0.0, |newest| self.ratios[(newest % KEPT) as usize])
    }

    /// The ratio that the newest usable report is about.
    pub fn reported(&self) -> f64 {
        self.newest.map_or(0.0, |newest| self.ratios[(newest.saturating_sub(REPORT_AGE) % KEPT) as usize])
    }
}

impl Fading {
    /// The ratio at `now`, from that at `before`.
    fn ratio(&mut self, before: Option<u64>, now: u64, mobility: &Mobility) -> f64 {
        let kept = match before {
            // The first value has the stationary distribution.
            None => {
                self.renewed = now - now % SHADOWING_STEP;
                0.0
            }
            Some(before) if now - before == 1 => mobility.fading,
            Some(before) => libm::pow(mobility.fading, (now - before) as f64),
        };
        let fresh = libm::sqrt(1.0 - kept * kept);
        let mut power = 0.0;
        for path in &mut self.paths {
            // A complex normal variable of power 1: exponential power, uniform phase.
            let amplitude = fresh * libm::sqrt(self.random.exponential(1.0));
            let (sine, cosine) = libm::sincos(TAU * self.random.unit());
            *path = [kept * path[0] + amplitude * cosine, kept * path[1] + amplitude * sine];
            power += path[0] * path[0] + path[1] * path[1];
        }
        if mobility.shadowing_db > 0.0 && now - self.renewed >= SHADOWING_STEP {
            let kept = libm::exp(-mobility.pace * SHADOWING_STEP as f64 / DECORRELATION);
            let fresh = libm::sqrt(1.0 - kept * kept) * mobility.shadowing_db;
            while now - self.renewed >= SHADOWING_STEP {
                self.shadowing_db = kept * self.shadowing_db + fresh * self.shadows.normal();
                self.renewed += SHADOWING_STEP;
            }
            self.mean = from_db(self.geometry_db + self.shadowing_db);
        }
        self.mean * power / 2.0
    }
}

/// A ratio given in dB.
pub fn from_db(db: f64) -> f64 {
    libm::exp(db * (core::f64::consts::LN_10 / 10.0))
}

/// Reads a recording of a user's spectral efficiency: one number in bit/s/Hz a line, one line a millisecond. Empty
/// lines and lines that begin with # are ignored.
///
/// # Errors
/// When a line is not a number of at least 0, or there is none.
pub fn read_eta(text: &str) -> Result<Arc<[f32]>, ConfigError> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let values = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).map(|(number, line)| {
        let value: f32 = line.parse().unwrap_or(f32::NAN);
        let range = "a spectral efficiency in bit/s/Hz, at least 0, such as 1.5";
        check(&format!("line {number}"), line).is((0.0..=100.0).contains(&value), range).map(|()| value)
    });
    let values = values.collect::<Result<Vec<f32>, _>>()?;
    check("a recording of spectral efficiency", "empty")
        .is(!values.is_empty(), "one number a millisecond, one a line")?;
    Ok(values.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOWN: Efficiency = Efficiency::of(Direction::Down);

    #[test]
    fn the_channel_is_coherent_as_long_as_the_doppler_frequency_says() {
        // specs/rmcat.md 13, example 9.
        let [walking, driving] = [3.0, 30.0].map(|kmh| doppler(kmh / 3.6));
        assert!((walking - 5.56).abs() < 0.01 && (driving - 55.6).abs() < 0.1, "{walking} {driving}");
        // So a report is stale only at 30 km/h.
        let of_report = |kmh| libm::pow(Mobility::new(kmh, 0.0, DOWN).fading, REPORT_AGE as f64);
        assert!((0.997..0.999).contains(&of_report(3.0)) && (0.82..0.85).contains(&of_report(30.0)));
    }

    #[test]
    fn fading_has_its_mean_and_spread_however_it_is_advanced() {
        for step in [1, 3, 50] {
            let mobility = Mobility::new(30.0, 0.0, DOWN);
            let mut channel = Channel::fading(0.0, Seed::new(step));
            let drawn: Vec<f64> = (0..60_000)
                .map(|number| {
                    channel.advance(number * step, &mobility);
                    channel.ratio()
                })
                .collect();
            let mean = drawn.iter().sum::<f64>() / 6e4;
            let square = drawn.iter().map(|ratio| ratio * ratio).sum::<f64>() / 6e4;
            // The mean of two independent exponential powers: variance 1/2.
            assert!((0.95..1.05).contains(&mean), "{mean} in steps of {step}");
            assert!((0.42..0.58).contains(&(square - mean * mean)), "{} in steps of {step}", square - mean * mean);
        }
    }

    #[test]
    fn a_report_is_six_milliseconds_old_after_a_gap_too() {
        let mobility = Mobility::new(3.0, 8.0, DOWN);
        let mut channel = Channel::fading(10.0, Seed::new(4));
        let mut seen = Vec::new();
        for now in 5000..5100 {
            channel.advance(now, &mobility);
            seen.push(channel.ratio());
            assert!(seen.len() < 7 || channel.reported() == seen[seen.len() - 7]);
        }
        channel.advance(9000, &mobility);
        let reported = channel.reported();
        assert!(reported > 0.0 && (reported / channel.ratio()).ln().abs() < 2.0, "six steps from there to here");
    }

    #[test]
    fn shadowing_wanders_within_its_deviation() {
        let mobility = Mobility::new(30.0, 8.0, DOWN);
        let mut channel = Channel::fading(0.0, Seed::new(5));
        let mut decibels = Vec::new();
        for minute in 0..4000 {
            channel.advance(minute * 60_000, &mobility);
            let Source::Fading(fading) = &channel.source else { unreachable!() };
            decibels.push(fading.shadowing_db);
        }
        let square = decibels.iter().map(|db| db * db).sum::<f64>() / decibels.len() as f64;
        assert!((7.6..8.4).contains(&libm::sqrt(square)), "{}", libm::sqrt(square));
    }

    #[test]
    fn shadowing_does_not_depend_on_who_has_data_when() {
        let mobility = Mobility::new(3.0, 8.0, DOWN);
        let after = |gaps: &[u64]| {
            let mut channel = Channel::fading(0.0, Seed::new(5));
            let mut now = 100;
            for gap in gaps.iter().cycle() {
                channel.advance(now, &mobility);
                now += gap;
                if now >= 30_000 {
                    break;
                }
            }
            channel.advance(30_000, &mobility);
            let Source::Fading(fading) = &channel.source else { unreachable!() };
            fading.shadowing_db
        };
        let always = after(&[1]);
        assert!(always != 0.0 && always == after(&[7, 300]) && always == after(&[29_000]));
    }

    #[test]
    fn efficiency_is_bounded_and_a_recording_is_played_as_it_is() {
        assert_eq!([0.0, 0.09, 1e9].map(|ratio| DOWN.at(ratio)), [0.0, 0.0, 4.4]);
        assert!((DOWN.at(1.0) - 0.6).abs() < 1e-12 && (Efficiency::of(Direction::Up).at(3.0) - 0.8).abs() < 1e-12);
        let eta = read_eta("# recorded\n1.5\n\n0\n4\n").unwrap();
        let mut channel = Channel::recorded(eta);
        let mobility = Mobility::new(3.0, 8.0, DOWN);
        for (now, eta) in [(9, 1.5), (10, 0.0), (11, 4.0)] {
            channel.advance(now, &mobility);
            assert!((DOWN.at(channel.ratio()) - eta).abs() < 1e-6, "{} at {now}", DOWN.at(channel.ratio()));
        }
        for text in ["", "# none", "1.5\nfast", "-1"] {
            assert!(read_eta(text).is_err(), "{text}");
        }
    }
}
