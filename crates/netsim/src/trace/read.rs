//! Files in any of the formats that a link can be read from, recognised by their content.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use thalweg_units::{Rate, Span};

use super::options::{Format, ReadOptions, Reading};
use super::{Trace, TraceError};
use crate::capture;

impl Trace {
    /// Reads a file in any format. Whole numbers, one a line, could be Mahimahi's times or one rate a second: they are
    /// read as Mahimahi's where the file is named as Mahimahi names its own (`.up`, `.down`), or where that reading is
    /// that of a recording (the constants of this module); else the format has to be given.
    ///
    /// # Errors
    /// When it is in none of the formats, or in several; the message says how to choose.
    pub fn read(bytes: &[u8], file_name: &str, options: &ReadOptions) -> Result<Reading, TraceError> {
        let is_capture = capture::is_capture(bytes);
        if options.format.map_or(is_capture, |format| format == Format::Capture) {
            refuse(options, &["column", "unit", "time"], "of a capture")?;
            return capture::fit(bytes, options);
        }
        let text = core::str::from_utf8(bytes).map_err(|_| {
            let rule = "neither text nor a packet capture: traces are text, captures pcap or pcapng";
            TraceError::Unclear(rule.into())
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let format = match options.format {
            Some(format) => format,
            None => of_text(text, file_name)?,
        };
        let (trace, notes) = match format {
            Format::Csv => super::csv::read(text, options)?,
            Format::Seconds => {
                refuse(options, &["column", "time", "only"], "of one rate a second")?;
                let steps = super::per_second::steps(text, options.unit.unwrap_or_default())?;
                (Trace::from_steps(steps, options.most_opportunities)?, Vec::new())
            }
            Format::Mahimahi | Format::Capture => {
                refuse(options, &["column", "unit", "time", "only"], "of Mahimahi's format")?;
                (Trace::parse(text)?, Vec::new())
            }
        };
        Ok(Reading { trace, format, notes, delay: None })
    }
}

/// Refuses options that this format does not have.
fn refuse(options: &ReadOptions, without: &[&str], what: &str) -> Result<(), TraceError> {
    let given = [
        ("column", options.column.clone()),
        ("unit", options.unit.map(|unit| unit.to_string())),
        ("time", options.time.clone()),
        ("only", options.only.first().map(|(key, value)| format!("{key}={value}"))),
    ];
    let found = given.into_iter().find(|(key, value)| value.is_some() && without.contains(key));
    match found {
        None => Ok(()),
        Some(("only", Some(option))) => Err(TraceError::Unclear(format!("{option}: no option {what}"))),
        Some((key, value)) => {
            let value = value.unwrap_or_default();
            Err(TraceError::Unclear(format!("{key}={value}: no option {what}, but of comma-separated values")))
        }
    }
}

fn of_text(text: &str, file_name: &str) -> Result<Format, TraceError> {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let is_number = |field: &str| field.parse::<f64>().is_ok();
    if first.contains([',', ';', '"']) || first.split_whitespace().next().is_some_and(|field| !is_number(field)) {
        return Ok(Format::Csv);
    }
    let is_whole = |line: &str| line.trim().bytes().all(|byte| byte.is_ascii_digit());
    match text.lines().all(is_whole) {
        true => whole_numbers(text, file_name),
        // As the first line is, so that an error names the first that differs.
        false if is_whole(first) && !text.lines().all(|line| line.split_whitespace().all(is_number)) => {
            Ok(Format::Mahimahi)
        }
        false if first.trim().starts_with('-') => Ok(Format::Mahimahi),
        false => Ok(Format::Seconds),
    }
}

/// The shortest recording that is read as Mahimahi's without its name or an option: a file of one rate a second, read
/// as Mahimahi's, lasts as many milliseconds as its last rate has Mbps.
const SHORTEST: Span = Span::from_secs(1);
/// The fewest different times: a constant rate in kbps, once a second, has one.
const FEWEST_TIMES: usize = 16;
/// The lowest mean rate. The slowest of Mahimahi's recordings have 0.3 Mbps; rates in bit/s that rise by the second,
/// read as Mahimahi's, have less than this.
const SLOWEST: Rate = Rate::from_kbps(50);

/// Whether whole numbers, one a line, are Mahimahi's.
fn whole_numbers(text: &str, file_name: &str) -> Result<Format, TraceError> {
    if file_name.ends_with(".up") || file_name.ends_with(".down") {
        return Ok(Format::Mahimahi);
    }
    let as_times = match Trace::parse(text) {
        Ok(trace) => {
            let times = 1 + trace.millis().windows(2).filter(|pair| pair[0] != pair[1]).count();
            if trace.period() >= SHORTEST && times >= FEWEST_TIMES && trace.mean_rate() >= SLOWEST {
                return Ok(Format::Mahimahi);
            }
            format!("they last {} at {:.3} Mbps", trace.period(), trace.mean_rate().as_mbps_f64())
        }
        // Not worth a choice: neither reading has anything.
        Err(error @ (TraceError::Empty | TraceError::EndsAtZero)) => return Err(error),
        Err(error) => error.to_string(),
    };
    let rates: Vec<f64> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
    let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    Err(TraceError::Unclear(format!(
        "whole numbers, one a line, can be read in two ways. As Mahimahi's times of delivery opportunities: \
         {as_times}. As one rate in Mbps a second: they last {} s at {mean:.3} Mbps. Add :format=mahimahi or \
         :format=seconds to the file's name (for rates in kbps :format=seconds,unit=kbps); Mahimahi's own files end in \
         .up or .down",
        rates.len()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use alloc::vec;

    fn read(text: &str, name: &str) -> Result<Reading, String> {
        let (file, options) = ReadOptions::split(name);
        Trace::read(text.as_bytes(), file, &options.parse()?).map_err(|error| error.to_string())
    }

    #[test]
    fn whole_numbers_that_could_be_rates_are_refused_with_both_readings_and_the_fix() {
        let constant = "2000\n".repeat(60);
        let rising_bps: String = (1..100).map(|step| format!("{}\n", step * 100_000)).collect();
        for (text, words) in [
            ("2\n3\n4\n", ["last 4ms at 9.000 Mbps", "3 s at 3.000 Mbps"]),
            ("5\n2\n3\n", ["line 2 is '2'", "3 s at 3.333 Mbps"]),
            ("1\n", ["last 1ms at 12.000 Mbps", "1 s at 1.000 Mbps"]),
            (&constant, ["last 2s at 0.360 Mbps", "60 s at 2000.000 Mbps"]),
            (&rising_bps, ["last 9900s at 0.000 Mbps", "99 s at 5000000.000 Mbps"]),
        ] {
            let error = read(text, "link.trace").unwrap_err();
            let fix = [":format=mahimahi", ":format=seconds", "unit=kbps"];
            assert!(words.iter().chain(&fix).all(|word| error.contains(word)), "{error}");
        }
    }

    #[test]
    fn whole_numbers_are_mahimahis_by_name_by_option_or_as_a_recording() {
        for name in ["12mbps.up", "a/b.down", "link.trace:format=mahimahi"] {
            assert_eq!(read("1\n", name).unwrap().trace, Trace::new(vec![1]).unwrap(), "{name}");
        }
        let second: String = (1..=100).map(|packet| format!("{}\n", packet * 10)).collect();
        assert_eq!(read(&second, "link").unwrap().format, Format::Mahimahi);
        let shorter: String = (1..100).map(|packet| format!("{}\n", packet * 10)).collect();
        assert!(read(&shorter, "link").is_err());
    }

    #[test]
    fn rates_by_the_second_are_recognised_by_a_point_a_second_column_or_an_option() {
        for (text, name) in [
            ("2\n3\n4\n", "link:format=seconds"),
            ("2000\n3000\n4000\n", "link:format=seconds,unit=kbps"),
            ("2\n3.0\n4\n", "link"),
            ("0 2\n1 3\n2 4\n", "link"),
            ("\u{feff}2.0\n3\n4\n", "link"),
        ] {
            let Reading { trace, format, .. } = read(text, name).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(format, Format::Seconds);
            assert_eq!(trace.millis().len(), 750, "{text}");
        }
    }

    #[test]
    fn options_are_split_from_a_file_whose_own_name_may_have_colons() {
        let split = |name| {
            let (file, options) = ReadOptions::split(name);
            (file, options.parse::<ReadOptions>().unwrap())
        };
        assert_eq!(split("a:b/c.trace"), ("a:b/c.trace", ReadOptions::default()));
        let (file, options) = split("a:b.csv:column=UL_bitrate,unit=kbps,run_num=3");
        assert_eq!((file, options.column.as_deref()), ("a:b.csv", Some("UL_bitrate")));
        assert_eq!(options.only, [("run_num".to_string(), "3".to_string())]);
        let (file, options) = split("call.pcap:from=2001:db8::1");
        assert_eq!((file, &options.only[0].1[..]), ("call.pcap", "2001:db8::1"));
        for (name, words) in [("format=text", "mahimahi, seconds, csv"), ("unit=knots", "'knots'"), ("b=1,c", "'c'")] {
            let error = name.parse::<ReadOptions>().unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn what_no_format_has_is_refused_with_what_is_wrong() {
        for (text, name, words) in [
            ("", "link", "empty"),
            ("5\nabc\n", "link", "line 2 is 'abc'"),
            ("-1\n2\n", "link", "line 1 is '-1'"),
            ("0 1.0\n1 fast\n", "link", "line 2 is '1 fast'"),
            ("1\n", "link.up:column=rate", "column=rate"),
            ("1.0\n", "link:run=1", "run=1"),
        ] {
            let error = read(text, name).unwrap_err();
            assert!(error.contains(words), "{text:?}: {error}");
        }
        let error = Trace::read(&[0xff, 0xfe, 0], "link", &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("neither text nor a packet capture"), "{error}");
    }
}
