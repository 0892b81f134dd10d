//! Traces by name.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use thalweg_units::{Rate, Seed, Span, Time};

use super::generate::OPPORTUNITY_BITS;
use super::mahimahi::MAX_MILLIS;
use super::{Cut, MOST_OPPORTUNITIES, Trace};
use crate::serial::Rates;
use crate::synthesize::Synthetic;

impl Trace {
    /// The trace of this name: a rate such as `2Mbps`, rates in turn as [`Rates`] reads them, such as `2Mbps/500kbps@40s`
    /// or `300kbps@2s/1Mbps` (whose last rate stays for this duration), or a synthetic link such as `lte-driving` or
    /// `poisson:rate=2Mbps`, which has this duration and is generated from this seed. Of a synthetic link a part may be
    /// asked for, `lte-driving@60s-180s`: it is generated up to the end of the part.
    ///
    /// # Errors
    /// When there is none of this name, or a parameter in it is out of range.
    pub fn named(name: &str, duration: Span, seed: Seed) -> Result<Trace, NameError> {
        let (stem, cut) = Cut::split(name);
        let cut: Option<Cut> = cut.map(str::parse).transpose().map_err(NameError)?;
        if begins_with_rate(stem) {
            if let Some(cut) = cut {
                let fix = "a cut is one of a file or a synthetic link: write rates in turn, each with its time";
                return Err(NameError(format!("'{name}': @{cut}: {fix}, as in 2Mbps@60s/500kbps@20s")));
            }
            return match stem.parse() {
                Ok(rate) => Trace::constant(rate).map_err(NameError::of),
                Err(_) => Trace::in_turn(&stem.parse().map_err(NameError::of)?, duration),
            };
        }
        let link = stem.parse::<Synthetic>().map_err(|unknown| {
            NameError(format!("{unknown}; or a rate such as 2Mbps, or rates in turn such as 2Mbps/500kbps@40s"))
        })?;
        let length = cut.map_or(duration, |cut| cut.to().unwrap_or(cut.from() + duration));
        let trace = link.synthesize(length, seed.child("link")).map_err(NameError::of)?;
        match cut {
            Some(cut) => trace.cut(cut).map_err(NameError::of),
            None => Ok(trace),
        }
    }

    /// Rates in turn, once round; if the last one stays, for this duration or to its beginning if that is later.
    fn in_turn(rates: &Rates, duration: Span) -> Result<Trace, NameError> {
        const LONGEST: Span = Span::from_millis(MAX_MILLIS as i64);
        let mut pieces: Vec<(u64, Rate)> = Vec::new();
        let (mut at, mut packets) = (Time::ZERO, 0u64);
        let turn = Time::ZERO + rates.turn();
        while at < turn {
            let (rate, change) = rates.at(at);
            let until = match change {
                Time::NEVER => (Time::ZERO + duration).max(at + Span::from_secs(1)),
                change => change.min(turn),
            };
            let millis = |time: Time| time.as_nanos() / 1_000_000;
            packets = packets.saturating_add(rate.over(until - at).bits() / OPPORTUNITY_BITS);
            let lasts = until - Time::ZERO;
            if lasts > LONGEST {
                return Err(NameError(format!("'{rates}': lasts {lasts}, must be at most {LONGEST}")));
            }
            if packets > MOST_OPPORTUNITIES {
                let limit = "must be at most 100 million: play it for less time, or by --rate (a hop 'rate')";
                return Err(NameError(format!("'{rates}': {packets} packets of 1500 bytes in {lasts}, {limit}")));
            }
            pieces.push((millis(until) - millis(at), rate));
            if change == Time::NEVER {
                break;
            }
            at = until;
        }
        Trace::from_rates(pieces).map_err(NameError::of)
    }
}

/// Returns true if a name is a rate, or the first of rates in turn is one.
fn begins_with_rate(name: &str) -> bool {
    let first = name.split('/').next().unwrap_or_default();
    first.split('@').next().is_some_and(|rate| rate.parse::<Rate>().is_ok())
}

/// There is no trace of this name; the message lists what exists, or says what is wrong with a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameError(String);

impl NameError {
    fn of(error: impl fmt::Display) -> NameError {
        NameError(error.to_string())
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for NameError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Result<Trace, NameError> {
        Trace::named(name, Span::from_secs(10), Seed::new(1))
    }

    #[test]
    fn a_name_is_a_rate_rates_in_turn_or_a_synthetic_link() {
        assert_eq!(named("2Mbps").unwrap(), Trace::constant(Rate::from_kbps(2000)).unwrap());
        let (high, low) = (Rate::from_kbps(2000), Rate::from_kbps(500));
        assert_eq!(named("2Mbps/500kbps@4s").unwrap(), Trace::periodic(high, low, Span::from_secs(4)).unwrap());
        assert!(named("lte-driving").is_ok() && named("poisson:rate=2Mbps").is_ok());
        let error = named("nowhere").unwrap_err().to_string();
        assert!(["'nowhere'", "lte-driving", "2Mbps/500kbps@40s"].iter().all(|part| error.contains(part)), "{error}");
        assert!(named("2Mbps/fast@4s").unwrap_err().to_string().contains("2Mbps/fast@4s"));
    }

    #[test]
    fn rates_in_turn_are_what_a_rate_hop_takes_and_a_last_rate_stays_for_the_run() {
        let kbps = Rate::from_kbps;
        let wanted = Trace::from_rates([(2000, kbps(300)), (8000, kbps(1000))]).unwrap();
        assert_eq!(named("300kbps@2s/1Mbps").unwrap(), wanted);
        let wanted = Trace::from_rates([(500, kbps(300)), (2000, kbps(1000))]).unwrap();
        assert_eq!(named("300kbps@500ms/1Mbps@2s").unwrap(), wanted);
        // Begun 300 ms later: the rest of the first rate comes last.
        let wanted = Trace::from_rates([(200, kbps(300)), (2000, kbps(1000)), (300, kbps(300))]).unwrap();
        assert_eq!(named("300kbps@500ms/1Mbps@2s+300ms").unwrap(), wanted);
        // A rate that begins after the run has a second.
        assert_eq!(named("300kbps@20s/1Mbps").unwrap().period(), Span::from_secs(21));
        let error = named("1Mbps@2s/200Gbps").unwrap_err().to_string();
        assert!(error.contains("133333499 packets") && error.contains("--rate"), "{error}");
        let error = named("1bps/2bps@800h").unwrap_err().to_string();
        assert!(error.contains("must be at most 2678400s"), "{error}");
    }

    #[test]
    fn a_synthetic_link_is_cut_and_a_rate_is_not() {
        let whole = Trace::named("lte-driving", Span::from_secs(20), Seed::new(1)).unwrap();
        assert_eq!(named("lte-driving@5s-20s").unwrap(), whole.cut("5s-20s".parse().unwrap()).unwrap());
        assert_eq!(named("lte-driving@5s-20s").unwrap().period(), Span::from_secs(15));
        assert_eq!(named("lte-driving@10s-").unwrap(), whole.cut("10s-".parse().unwrap()).unwrap());
        for (name, words) in [
            ("2Mbps@5s-10s", "write rates in turn"),
            ("2Mbps/1Mbps@5s@5s-10s", "write rates in turn"),
            ("lte-driving@5s-2s", "must end at least 1ms after"),
            ("nowhere@5s-10s", "'nowhere'"),
        ] {
            let error = named(name).unwrap_err().to_string();
            assert!(error.contains(words), "{name}: {error}");
        }
    }
}
