//! The table of readers, and reading with the first that recognises a file.

use crate::error::ReadError;
use crate::format::Format;
use crate::options::ReadOptions;
use crate::reader::{File, Reader, Reading};
use crate::{capture, csv, mahimahi, seconds};

/// The readers in the order in which they are asked; the last takes what none before it has recognised.
const READERS: [Reader; Format::ALL.len()] = [capture::READER, csv::READER, mahimahi::READER, seconds::READER];

/// Reads a file in any format. Whole numbers, one a line, could be Mahimahi's times or one rate a second: they are read
/// as Mahimahi's where the file is named as Mahimahi names its own (`.up`, `.down`), or where that reading is that of a
/// recording; else the format has to be given.
///
/// # Errors
/// When it is in none of the formats, or in several; the message says how to choose.
pub fn read(bytes: &[u8], file_name: &str, options: &ReadOptions) -> Result<Reading, ReadError> {
    let file = File { name: file_name, bytes };
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
        let error = super::read(&[0xff, 0xfe, 0], "link", &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("neither text nor a packet capture"), "{error}");
    }
}
