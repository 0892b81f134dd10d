//! Logs with one throughput value per second, such as Lumos5G's: `second megabits`, or the throughput alone.

use std::fmt::Write as _;

use thalweg_netsim::Trace;

use crate::error::ReadError;
use crate::format::Format;
use crate::options::ReadOptions;
use crate::reader::{File, Reader, Reading};
use crate::steps::{self, Steps};
use crate::unit::RateUnit;

pub(crate) const READER: Reader =
    Reader { format: Format::Seconds, options: &["unit"], is: |file| file.text().map(|_| true), read };

fn read(file: File<'_>, options: &ReadOptions) -> Result<Reading, ReadError> {
    let steps = steps(file.text()?, options.unit.unwrap_or_default())?;
    Ok(Reading::new(Format::Seconds, steps::trace(steps, options.most_opportunities)?, Vec::new()))
}

/// The rates of a file in this unit, each for 1000 ms.
fn steps(text: &str, unit: RateUnit) -> Result<Steps, ReadError> {
    let mut steps = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let value = line.split_whitespace().next_back().and_then(|field| field.parse::<f64>().ok());
        let is_row = (1..=2).contains(&line.split_whitespace().count());
        let Some(rate) = value.and_then(|value| unit.rate(value)).filter(|_| is_row) else {
            let rule = format!("the number of the second and its throughput in {unit}, 0 to 100 Gbps, as in '12 34.5'");
            return Err(ReadError::line(index + 1, line, rule));
        };
        steps.push((1000, rate));
    }
    Ok(steps)
}

/// Writes one rate in Mbps a second, each behind its number.
pub fn to_seconds(trace: &Trace) -> String {
    let mut text = String::new();
    for (second, rate) in trace.rates_by_second().iter().enumerate() {
        let _ = writeln!(text, "{second} {}", rate.as_mbps_f64());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{Rate, Time};

    fn parse(text: &str) -> Result<Trace, ReadError> {
        let file = File { name: "", bytes: text.as_bytes() };
        read(file, &ReadOptions::default()).map(|reading| reading.trace)
    }

    #[test]
    fn each_second_gets_the_opportunities_of_its_throughput() {
        let trace = parse("0 1.2\n1 0\n2.0 12\n").unwrap();
        let per_second = |second: u64| {
            trace.opportunities(Time::from_millis(second * 1000 + 1), Time::from_millis(second * 1000 + 1001))
        };
        assert_eq!((per_second(0), per_second(1), per_second(2)), (100, 0, 1000));
    }

    #[test]
    fn every_opportunity_of_a_recording_is_in_one_second() {
        // At 0, at a whole second, and in a last second that is not whole.
        let trace = Trace::new(vec![0, 0, 999, 1000, 1001, 2500]).unwrap();
        let rates: Vec<u64> = trace.rates_by_second().iter().map(|rate| rate.as_bps() / 12_000).collect();
        assert_eq!(rates, [4, 1, 1]);
        assert_eq!(to_seconds(&trace), "0 0.048\n1 0.012\n2 0.012\n");
        assert_eq!(parse(&to_seconds(&trace)).unwrap().millis().len(), 6);
        assert_eq!(to_seconds(&Trace::constant(Rate::from_kbps(12_000)).unwrap()), "0 0.012\n");
    }

    #[test]
    fn a_line_that_is_no_throughput_is_refused() {
        let message = parse("0 1.2\n1 fast\n").unwrap_err().to_string();
        assert!(message.contains("line 2") && message.contains("Mbps"), "{message}");
        assert!(parse("0 -3\n").is_err());
        assert!(parse("0 0\n").is_err());
    }
}
