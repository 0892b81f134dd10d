//! Comparison with recordings by others.

use std::path::Path;

use thalweg_data::testing::needed;
use thalweg_netsim::Trace;
use thalweg_netsim::synthesize::presets;
use thalweg_units::{Rate, Seed, Span};

thalweg_data::data_tests! {
    ["mahimahi", "salsify-traces"] => [every_recorded_trace_reads_and_writes_back_the_same];
    ["chromium-gcc"] => [the_periodic_link_of_the_chromium_measurements_is_the_one_we_make];
    ["mahimahi"] => [the_presets_lie_among_the_recordings];
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn every_recorded_trace_reads_and_writes_back_the_same() {
    for set in ["mahimahi", "salsify-traces"] {
        for entry in std::fs::read_dir(needed(set)).unwrap() {
            let path = entry.unwrap().path();
            let text = read(&path);
            let trace = Trace::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            assert_eq!(trace.to_text().lines().collect::<Vec<_>>(), lines, "{}", path.display());
        }
    }
}

fn the_periodic_link_of_the_chromium_measurements_is_the_one_we_make() {
    let theirs = Trace::parse(&read(&needed("chromium-gcc").join("periodic.trace"))).unwrap();
    let ours = Trace::periodic(Rate::from_kbps(2000), Rate::from_kbps(500), Span::from_secs(40)).unwrap();
    assert_eq!(theirs.period(), ours.period());
    assert!(theirs.millis().len().abs_diff(ours.millis().len()) <= 1);
    // At a change of rate the rest of an opportunity is carried over or not: one opportunity's time of difference.
    let apart = theirs.millis().iter().zip(ours.millis()).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
    assert!(apart <= 24, "{apart} ms apart");
}

fn the_presets_lie_among_the_recordings() {
    println!("{:28} {:>9} {:>6} {:>6} {:>7} {:>6}", "", "mean", "CV", "corr", "outage", "long");
    let row = |name: &str, trace: &Trace| {
        let s = trace.statistics();
        println!(
            "{name:28} {:>6.2}Mb {:>6.2} {:>6.2} {:>6.1}% {:>6}",
            s.mean.as_mbps_f64(),
            s.variation,
            s.autocorrelation,
            s.outage_share * 100.0,
            s.long_gaps
        );
        s
    };
    let mut recorded = Vec::new();
    let mut paths: Vec<_> = std::fs::read_dir(needed("mahimahi")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        recorded.push((name.clone(), row(&name, &Trace::parse(&read(&path)).unwrap())));
    }
    for preset in presets() {
        let trace = preset.model.synthesize(Span::from_secs(900), Seed::new(1)).unwrap();
        let ours = row(preset.name, &trace);
        let family = match preset.name {
            "lte-driving" | "lte-walking" => "LTE",
            "umts-driving" => "UMTS",
            _ => continue,
        };
        let of = |value: fn(&thalweg_netsim::trace::Statistics) -> f64| {
            let values = recorded.iter().filter(|(name, _)| name.contains(family)).map(|(_, s)| value(s));
            values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
        };
        for (what, value, (low, high)) in [
            ("mean", ours.mean.as_mbps_f64(), of(|s| s.mean.as_mbps_f64())),
            ("variation", ours.variation, of(|s| s.variation)),
            ("autocorrelation", ours.autocorrelation, of(|s| s.autocorrelation)),
        ] {
            assert!(value >= low * 0.7 && value <= high * 1.3, "{} {what}: {value} not in {low}..{high}", preset.name);
        }
    }
}
