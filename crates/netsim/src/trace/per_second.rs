//! Logs with one throughput value per second, such as Lumos5G's: `second megabits`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use thalweg_units::{Rate, Span, Time};

use super::options::MOST_OPPORTUNITIES;
use super::unit::RateUnit;
use super::{Trace, TraceError};

impl Trace {
    /// Reads a log with one line per second: its number and the throughput of that second in Mbps, separated by white
    /// space (or the throughput alone).
    ///
    /// # Errors
    /// When a line has another form, or nothing is ever delivered.
    pub fn parse_per_second(text: &str) -> Result<Trace, TraceError> {
        Trace::from_steps(steps(text, RateUnit::MBPS)?, MOST_OPPORTUNITIES)
    }

    /// The rate of each second, the last of which may not be whole: all opportunities of one period, each counted in
    /// the second whose end it is at or before. [`Trace::from_rates`] makes the same number of opportunities of them.
    pub fn rates_by_second(&self) -> Vec<Rate> {
        let past = Time::ZERO + self.period() + Span::from_millis(1);
        let seconds = self.period().as_millis().max(1).unsigned_abs().div_ceil(1000);
        let of = |second: u64| {
            // An opportunity is at the end of its millisecond; those at 0 are the first of all.
            let from = if second == 0 { Time::ZERO } else { Time::from_millis(second * 1000 + 1) };
            let to = Time::from_millis((second + 1) * 1000 + 1).min(past);
            // At the end of a period those at 0 come again.
            let again = if to == past { self.millis().partition_point(|millis| *millis == 0) as u64 } else { 0 };
            Rate::from_bps((self.opportunities(from, to) - again) * 12_000)
        };
        (0..seconds).map(of).collect()
    }

    /// Writes one rate in Mbps a second, each behind its number.
    pub fn to_per_second(&self) -> String {
        let mut text = String::new();
        for (second, rate) in self.rates_by_second().iter().enumerate() {
            text.push_str(&format!("{second} {}\n", rate.as_mbps_f64()));
        }
        text
    }
}

/// The same as rates in this unit, each for 1000 ms.
pub(super) fn steps(text: &str, unit: RateUnit) -> Result<Vec<(u64, Rate)>, TraceError> {
    let mut steps = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let value = line.split_whitespace().next_back().and_then(|field| field.parse::<f64>().ok());
        let is_row = (1..=2).contains(&line.split_whitespace().count());
        let Some(rate) = value.and_then(|value| unit.rate(value)).filter(|_| is_row) else {
            let rule = format!("the number of the second and its throughput in {unit}, 0 to 100 Gbps, as in '12 34.5'");
            return Err(TraceError::line(index + 1, line, rule));
        };
        steps.push((1000, rate));
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn each_second_gets_the_opportunities_of_its_throughput() {
        let trace = Trace::parse_per_second("0 1.2\n1 0\n2.0 12\n").unwrap();
        let per_second = |second: u64| {
            trace.opportunities(Time::from_millis(second * 1000 + 1), Time::from_millis(second * 1000 + 1001))
        };
        assert_eq!((per_second(0), per_second(1), per_second(2)), (100, 0, 1000));
    }

    #[test]
    fn every_opportunity_of_a_recording_is_in_one_second() {
        // At 0, at a whole second, and in a last second that is not whole.
        let trace = Trace::new(alloc::vec![0, 0, 999, 1000, 1001, 2500]).unwrap();
        let rates: Vec<u64> = trace.rates_by_second().iter().map(|rate| rate.as_bps() / 12_000).collect();
        assert_eq!(rates, [4, 1, 1]);
        assert_eq!(trace.to_per_second(), "0 0.048\n1 0.012\n2 0.012\n");
        assert_eq!(Trace::parse_per_second(&trace.to_per_second()).unwrap().millis().len(), 6);
        assert_eq!(Trace::constant(Rate::from_kbps(12_000)).unwrap().to_per_second(), "0 0.012\n");
    }

    #[test]
    fn a_line_that_is_no_throughput_is_refused() {
        let message = Trace::parse_per_second("0 1.2\n1 fast\n").unwrap_err().to_string();
        assert!(message.contains("line 2") && message.contains("Mbps"), "{message}");
        assert!(Trace::parse_per_second("0 -3\n").is_err());
        assert!(Trace::parse_per_second("0 0\n").is_err());
    }
}
