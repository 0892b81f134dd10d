//! The table of readers, and reading with the first that recognises a file.

use crate::error::ReadError;
use crate::format::Format;
use crate::options::ReadOptions;
use crate::reader::{File, Reader, Reading};
use crate::{capture, columns, csv, foreign, mahimahi, seconds};

/// The readers in the order in which they are asked; the last takes what none before it has recognised.
const READERS: [Reader; Format::ALL.len()] =
    [capture::READER, csv::READER, columns::READER, mahimahi::READER, seconds::READER];

/// Reads a file in any format. Whole numbers, one a line, could be Mahimahi's times or one rate a second: they are read
/// as Mahimahi's where the file is named as Mahimahi names its own (`.up`, `.down`), or where that reading is that of a
/// recording; else the format has to be given.
///
/// # Errors
/// When it is in none of the formats, or in several; the message says how to choose.
pub fn read(bytes: &[u8], file_name: &str, options: &ReadOptions) -> Result<Reading, ReadError> {
    let file = File { name: file_name, bytes };
    if options.format.is_none() {
        foreign::refuse(file)?;
    }
    for reader in &READERS {
        let is_it = match options.format {
            Some(format) => format == reader.format,
            None => (reader.is)(file)?,
        };
        if is_it {
            refuse(options, reader)?;
            return (reader.read)(file, options);
        }
    }
    Err(ReadError::unclear("no format of a link"))
}

/// Refuses options that a format does not have.
fn refuse(options: &ReadOptions, reader: &Reader) -> Result<(), ReadError> {
    let given = [
        ("column", options.column.as_ref().map(|value| format!("column={value}"))),
        ("unit", options.unit.map(|unit| format!("unit={unit}"))),
        ("time-unit", options.time_unit.map(|unit| format!("time-unit={unit}"))),
        ("hold", options.hold.map(|hold| format!("hold={hold}"))),
        ("gaps", options.gaps.map(|gaps| format!("gaps={gaps}"))),
        ("gap", options.gap.map(|gap| format!("gap={gap}"))),
        ("time", options.time.as_ref().map(|value| format!("time={value}"))),
        ("NAME", options.only.first().map(|(key, value)| format!("{key}={value}"))),
    ];
    match given.into_iter().find(|(key, value)| value.is_some() && !reader.options.contains(key)) {
        Some((key, Some(option))) => {
            let takes =
                READERS.iter().filter(|other| other.options.contains(&key)).map(|other| other.format.to_string());
            let takes: Vec<String> = takes.collect();
            Err(ReadError::unclear(format!("{option}: no option of {}, but of {}", reader.format, takes.join(" and "))))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_netsim::Trace;

    fn read(text: &str, name: &str) -> Result<Reading, String> {
        let (file, options) = ReadOptions::split(name);
        super::read(text.as_bytes(), file, &options.parse()?).map_err(|error| error.to_string())
    }

    #[test]
    fn each_format_has_one_reader() {
        for (format, names, _) in Format::ALL {
            assert_eq!(READERS.iter().filter(|reader| reader.format == format).count(), 1, "{names:?}");
        }
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
    fn blank_lines_and_a_comment_above_change_nothing() {
        for (text, name) in [
            ("0 1.5\n1 2.5\n\n", "link"),
            ("\n1.5\n\n2.5\n \n", "link"),
            ("# second Mbps\n# of a walk\n0 1.5\n1 2.5\n", "link"),
            ("# rates\n1.5\n2.5\n", "link"),
            ("# a walk\ntime_s,rate_mbps\n0,1.5\n\n1,2.5\n\n", "link"),
            ("# a walk\n\n#time_ms, rate_kbps\n0,1500\n1000,2500\n", "link"),
            ("#time_ms rate_kbps\n0 1500\n1000 2500\n", "link"),
        ] {
            let trace = read(text, name).unwrap_or_else(|error| panic!("{text:?}: {error}")).trace;
            let seconds: Vec<u64> = trace.rates_by_second().iter().map(|rate| rate.as_bps() / 1000).collect();
            assert_eq!(seconds, [1500, 2508], "{text:?}");
        }
        let times: String = (0..100).map(|packet| format!("{}\n", packet * 20)).collect();
        let plain = read(&times, "link").unwrap();
        assert_eq!(read(&format!("# a walk\n{times}\n"), "link").unwrap(), plain);
        // Line numbers are the file's own.
        let error = read("# a walk\n\n1.5\nfast\n", "link").unwrap_err();
        assert!(error.contains("line 4 is 'fast'"), "{error}");
    }

    #[test]
    fn every_format_is_cut_by_a_name_and_another_option_is_refused_where_it_means_nothing() {
        let times: String = (1..=500).map(|packet| format!("{}\n", packet * 20)).collect();
        for (text, name) in [
            (&times[..], "link@2s-5s"),
            ("0.6\n0.6\n0.6\n0.6\n0.6\n0.6\n", "link:format=seconds@2s-5s"),
            ("time_s,rate_mbps\n0,0.6\n3,0.6\n6,0.6\n", "link@2s-5s"),
            ("0.5 0.6\n4 0.6\n6 0.6\n", "link:unit=Mbps@2s-5s"),
        ] {
            let trace = read(text, name).unwrap_or_else(|error| panic!("{name}: {error}")).trace;
            assert_eq!((trace.millis().len(), trace.period().as_millis()), (150, 3000), "{name}");
        }
        for (name, words) in [
            ("link@11s-12s", "@11s-12s: it lasts 10s"),
            ("link:hold=before", "hold=before: no option of Mahimahi's"),
            ("link:hold=never", "unknown hold 'never'"),
            ("link:gaps=fill", "unknown gaps 'fill'"),
            ("link:gap=0s", "must be above 0"),
            ("link:time-unit=h", "unknown unit of times 'h'"),
            ("link:gap=9s@5s-2s", "must end at least 1ms after"),
        ] {
            let error = read(&times, name).unwrap_err();
            assert!(error.contains(words), "{name}: {error}");
        }
    }

    #[test]
    fn what_is_no_link_is_refused_by_its_own_name_with_what_is_read() {
        let json = "{\n \"uplink\": {\n  \"trace_pattern\": [{\"duration\": 200, \"capacity\": 300}]\n }\n}\n";
        for (text, words) in [
            (json, "JSON: not read"),
            ("[[0, 1.5], [1, 2.5]]", "JSON: not read"),
            ("[1.5, 2]", "JSON: not read"),
            ("\u{1e}{\"qlog_version\":\"0.3\"}\n", "JSON: not read"),
            ("64 bytes from 192.0.2.1: icmp_seq=2 ttl=54 time=50.0 ms\n", "ping, which has no rates"),
            (
                "[  5]   1.00-2.00   sec   625 KBytes  5.12 Mbits/sec    3   110 KBytes\n",
                "the output of iperf: not read",
            ),
            ("0.57,Mbits/sec\n1.06,Mbits/sec\n", "a rate and its unit a line: not read"),
            ("PK\u{3}\u{4}...", "a zip archive: unpack it first"),
        ] {
            let error = read(text, "link").unwrap_err();
            assert!(error.contains(words), "{text:?}: {error}");
            let is_told = ["Mahimahi's times", "times and rates in columns", "time_s,rate_mbps"];
            assert!(words.contains("zip") || is_told.iter().all(|way| error.contains(way)), "{text:?}: {error}");
        }
        let dated = "[2024-05-27 10:59:19] rate_mbps\n";
        assert!(!read(dated, "link").unwrap_err().contains("JSON"));
        let error = super::read(&[0x1f, 0x8b, 8, 0], "log.gz", &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("gunzip"), "{error}");
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
        for (name, words) in
            [("format=text", "mahimahi, columns, seconds, csv"), ("unit=knots", "'knots'"), ("b=1,c", "'c'")]
        {
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
        let error = super::read(&[0xff, 0xfe, 0], "link", &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("neither text nor a packet capture"), "{error}");
    }
}
