//! Mahimahi's format, and how it is distinguished from one rate a second.

use thalweg_netsim::{Trace, TraceError};
use thalweg_units::{Rate, Span};

use crate::error::ReadError;
use crate::format::Format;
use crate::reader::{File, Reader, Reading};

pub(crate) const READER: Reader = Reader {
    format: Format::Mahimahi,
    options: &[],
    is,
    read: |file, options| {
        let trace = Trace::parse(&file.text()?)?;
        let trace = match options.cut {
            Some(cut) => trace.cut(cut)?,
            None => trace,
        };
        Ok(Reading::new(Format::Mahimahi, trace, Vec::new()))
    },
};

fn is(file: File<'_>) -> Result<bool, ReadError> {
    let text = &*file.text()?;
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let is_number = |field: &str| field.parse::<f64>().is_ok();
    let is_whole = |line: &str| line.trim().bytes().all(|byte| byte.is_ascii_digit());
    if text.lines().all(is_whole) {
        return whole_numbers(text, file.name).map(|()| true);
    }
    // As the first line is, so that an error names the first that differs.
    let is_like_first = is_whole(first) && !text.lines().all(|line| line.split_whitespace().all(is_number));
    Ok(is_like_first || first.trim().starts_with('-'))
}

/// The shortest recording that is read as Mahimahi's without its name or an option: a file of one rate a second, read
/// as Mahimahi's, lasts as many milliseconds as its last rate has Mbps.
const SHORTEST: Span = Span::from_secs(1);
/// The fewest different times: a constant rate in kbps, once a second, has one.
const FEWEST_TIMES: usize = 16;
/// The lowest mean rate. The slowest of Mahimahi's recordings have 0.3 Mbps; rates in bit/s that rise by the second,
/// read as Mahimahi's, have less than this.
const SLOWEST: Rate = Rate::from_kbps(50);

/// Checks that whole numbers, one a line, are Mahimahi's.
fn whole_numbers(text: &str, file_name: &str) -> Result<(), ReadError> {
    if file_name.ends_with(".up") || file_name.ends_with(".down") {
        return Ok(());
    }
    let as_times = match Trace::parse(text) {
        Ok(trace) => {
            let times = 1 + trace.millis().windows(2).filter(|pair| pair[0] != pair[1]).count();
            if trace.period() >= SHORTEST && times >= FEWEST_TIMES && trace.mean_rate() >= SLOWEST {
                return Ok(());
            }
            format!("they last {} at {:.3} Mbps", trace.period(), trace.mean_rate().as_mbps_f64())
        }
        // Not worth a choice: neither reading has anything.
        Err(error @ (TraceError::Empty | TraceError::EndsAtZero)) => return Err(error.into()),
        Err(error) => error.to_string(),
    };
    let rates: Vec<f64> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
    let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    Err(ReadError::unclear(format!(
        "whole numbers, one a line, can be read in two ways. As Mahimahi's times of delivery opportunities: \
         {as_times}. As one rate in Mbps a second: they last {} s at {mean:.3} Mbps. Add :format=mahimahi or \
         :format=seconds to the file's name (for rates in kbps :format=seconds,unit=kbps); Mahimahi's own files end in \
         .up or .down",
        rates.len()
    )))
}
