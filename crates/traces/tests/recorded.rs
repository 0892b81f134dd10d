//! Recordings by others, read as links.

use std::path::Path;

use thalweg_data::testing::needed;
use thalweg_netsim::Trace;
use thalweg_traces::{Format, ReadOptions};
use thalweg_units::Rate;

thalweg_data::data_tests! {
    ["mahimahi", "salsify-traces", "lumos5g"] => [every_recording_is_read_by_its_content_as_by_its_format];
    ["lumos5g"] => [every_lumos5g_log_has_the_throughput_it_says];
    ["golden", "hunt"] => [logs_have_the_duration_and_mean_that_another_program_finds];
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A log of one rate a second.
fn per_second(text: &str) -> Trace {
    let options = ReadOptions { format: Some(Format::Seconds), ..ReadOptions::default() };
    thalweg_traces::read(text.as_bytes(), "", &options).unwrap().trace
}

/// A log of Lumos5G: a row a second, but for one in 4g_trace_walking_50167_a, which has none for second 66.
fn at_its_times(text: &str) -> Trace {
    let number = |field: Option<&str>| field.and_then(|field| field.parse::<f64>().ok()).unwrap();
    let rows = text.lines().map(|line| line.split_whitespace()).map(|mut row| (number(row.next()), number(row.next())));
    let rows: Vec<(f64, f64)> = rows.collect();
    let ends = rows.iter().skip(1).map(|(time, _)| *time).chain([rows[rows.len() - 1].0 + 1.0]);
    let steps = rows
        .iter()
        .zip(ends)
        .map(|((begin, mbps), end)| (((end - begin) * 1000.0) as u64, Rate::from_bps_f64(mbps * 1e6)));
    Trace::from_rates(steps).unwrap()
}

fn every_recording_is_read_by_its_content_as_by_its_format() {
    let options = ReadOptions::default();
    for set in ["mahimahi", "salsify-traces", "lumos5g"] {
        for entry in std::fs::read_dir(needed(set)).unwrap() {
            let path = entry.unwrap().path();
            let text = read(&path);
            let wanted = if set == "lumos5g" { at_its_times(&text) } else { Trace::parse(&text).unwrap() };
            let name = path.file_name().unwrap().to_string_lossy();
            let read = |name: &str| thalweg_traces::read(text.as_bytes(), name, &options);
            assert!(read(&name).unwrap().trace == wanted, "{name}");
            // Renamed, the recordings are still distinguished from rates; a single line is not.
            let is_clear = name != "12mbps.up";
            assert_eq!(read("link.trace").is_ok_and(|read| read.trace == wanted), is_clear, "{name}");
        }
    }
}

fn every_lumos5g_log_has_the_throughput_it_says() {
    for entry in std::fs::read_dir(needed("lumos5g")).unwrap() {
        let path = entry.unwrap().path();
        let text = read(&path);
        let trace = per_second(&text);
        let said: f64 = text.lines().filter_map(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok()).sum();
        let got = trace.millis().len() as f64 * 0.012;
        assert!((got / said - 1.0).abs() < 0.001, "{}: {got} of {said} Mbit", path.display());
    }
}

/// Durations in seconds and means in Mbps by a script that shares nothing with this crate; a row of Oboe's is the end of its
/// interval.
fn logs_have_the_duration_and_mean_that_another_program_finds() {
    for (set, name, seconds, mbps) in [
        ("golden", "oboe_trace_98.txt", 155.897, 4.3905),
        ("golden", "oboe-trace_99.txt", 183.335, 3.4421),
        ("golden", "fcc-trace_849842.log", 185.0, 0.5533),
        ("hunt", "irregular.txt", 13.0, 1.923),
        ("hunt", "millis-kbps.txt", 2.033, 1.966),
        ("hunt", "five-seconds.txt", 20.0, 0.54),
        ("hunt", "trailing-line.txt", 2.0, 2.0),
    ] {
        let text = read(&needed(set).join(name));
        let trace = thalweg_traces::read(text.as_bytes(), name, &ReadOptions::default()).unwrap().trace;
        let (duration, mean) = (trace.period().as_secs_f64(), trace.mean_rate().as_mbps_f64());
        println!("{name}: {duration:.3} s of {mean:.4} Mbps");
        assert!(
            (duration - seconds).abs() < 0.01 && (mean / mbps - 1.0).abs() < 0.005,
            "{name}: {duration} s of {mean} Mbps"
        );
    }
}
