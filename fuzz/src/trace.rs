//! Links from files.

use thalweg_netsim::Trace;
use thalweg_traces::{Format, ReadOptions, read, to_seconds};
use thalweg_units::Time;

/// Files of more opportunities are refused here, which takes no time.
const FEW: u64 = 100_000;

/// Parses a trace, writes it and parses that; counts its opportunities over a few loops.
pub fn trace(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    match Trace::parse(text) {
        Ok(trace) => {
            assert_eq!(Trace::parse(&trace.to_text()).as_ref(), Ok(&trace));
            let period = trace.period();
            assert!(period.as_nanos() > 0);
            let start = Time::from_millis(1);
            let loops = trace.opportunities(start, start + period * 3);
            assert_eq!(loops, 3 * trace.opportunities(start, start + period));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Reads a file whose first line, up to a line feed, is its name with options, in any format.
pub fn trace_file(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    let Ok(name) = core::str::from_utf8(&data[..end]) else { return };
    let (file_name, options) = ReadOptions::split(name);
    let Ok(options) = options.parse::<ReadOptions>() else { return };
    let options = ReadOptions { most_opportunities: FEW, ..options };
    let file = data.get(end + 1..).unwrap_or_default();
    match read(file, file_name, &options) {
        Ok(reading) => {
            assert!(reading.trace.period().as_nanos() > 0);
            if reading.format != Format::Mahimahi && reading.trace.period().as_secs_f64() < 1e4 {
                let options = ReadOptions { format: Some(Format::Seconds), ..ReadOptions::default() };
                let again = read(to_seconds(&reading.trace).as_bytes(), "", &options).expect("written log");
                assert!(
                    again.trace.millis().len() >= reading.trace.millis().len(),
                    "an opportunity may end the last second"
                );
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Fits a link to a capture.
pub fn capture(data: &[u8]) {
    let options = ReadOptions { format: Some(Format::Capture), most_opportunities: FEW, ..ReadOptions::default() };
    match read(data, "", &options) {
        Ok(reading) => assert!(reading.trace.period().as_nanos() > 0 && !reading.notes.is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
