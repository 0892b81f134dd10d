//! Logs with one throughput value per second, such as Lumos5G's: `second megabits`, or the throughput alone.

use std::fmt::Write as _;

use thalweg_netsim::Trace;

use crate::columns::{is_counter, rate_unit};
use crate::error::ReadError;
use crate::format::Format;
use crate::options::ReadOptions;
use crate::reader::{File, Reader, Reading, lines};
use crate::steps::{self, Steps};
use crate::unit::TimeUnit;

pub(crate) const READER: Reader =
    Reader { format: Format::Seconds, options: &["unit"], is: |file| file.text().map(|_| true), read };

/// So many numbers that rise from line to line are times: no link gets faster for minutes, second after second.
const RISING: usize = 200;

/// The highest mean of one column of rates in Mbps: above it, they are rather the sizes of frames in bytes.
const FASTEST: f64 = 1e4;

fn read(file: File<'_>, options: &ReadOptions) -> Result<Reading, ReadError> {
    let text = file.text()?;
    let rows = lines(&text);
    let width = rows.first().map_or(0, |(_, line)| line.split_whitespace().count());
    let unit = options.unit.unwrap_or_default();
    let steps = rows.iter().map(|(number, line)| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let rate = fields.last().and_then(|field| field.parse().ok()).and_then(|value| unit.rate(value));
        rate.filter(|_| fields.len() == width && width <= 2).map(|rate| (1000, Some(rate))).ok_or_else(|| {
            let rule = format!("the number of the second and its throughput in {unit}, 0 to 100 Gbps, as in '12 34.5'");
            ReadError::line(*number, line, rule)
        })
    });
    let steps: Steps = steps.collect::<Result<_, _>>()?;
    // Where nothing is said of the file.
    if options.format.is_none() && options.unit.is_none() {
        let rates = steps.iter().filter_map(|(_, rate)| *rate);
        let mean = rates.map(|rate| rate.as_mbps_f64()).sum::<f64>() / steps.len().max(1) as f64;
        if width == 2 {
            rate_unit(mean, 2, TimeUnit::Seconds, false)?;
        } else if mean > FASTEST {
            return Err(ReadError::unclear(format!(
                "one number a line can be read in two ways: as Mbps a second their mean is {:.3} Gbps, as bytes of \
                 frames {mean:.0} bytes, which is no link: add :unit=Mbps (or kbps, bps) to the file's name for rates",
                mean / 1e3
            )));
        } else if steps.len() >= RISING && steps.is_sorted_by(|one, next| one.1 < next.1) {
            return Err(ReadError::unclear(format!(
                "{} numbers that rise from line to line are rather times than rates: write times of opportunities in whole \
                 milliseconds, as Mahimahi has them, or add :unit=Mbps (or kbps, bps) to the file's name for rates",
                steps.len()
            )));
        }
    }
    let mut notes = Vec::new();
    if width == 2 && !is_counter(&text) {
        notes.push(
            "the first column does not count seconds and is not read: without format=seconds it is read as times"
                .into(),
        );
    }
    Ok(Reading::new(Format::Seconds, steps::trace(steps, options)?, notes))
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
    fn numbers_that_rise_for_minutes_are_refused_as_rates_unless_that_is_said() {
        let rising = |lines: u32| (1..=lines).map(|line| format!("{}\n", f64::from(line) * 1e-3)).collect::<String>();
        let message = parse(&rising(200)).unwrap_err().to_string();
        assert!(message.contains("200 numbers that rise") && message.contains(":unit=Mbps"), "{message}");
        assert!(parse(&rising(199)).is_ok() && parse(&"1.5\n".repeat(300)).is_ok());
    }

    #[test]
    fn a_line_that_is_no_throughput_is_refused() {
        let message = parse("0 1.2\n1 fast\n").unwrap_err().to_string();
        assert!(message.contains("line 2") && message.contains("Mbps"), "{message}");
        assert!(parse("0 -3\n").is_err());
        assert!(parse("0 0\n").is_err());
    }
}
