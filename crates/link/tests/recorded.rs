//! Against recordings that nobody here made, when they stand beside the project.

use std::path::{Path, PathBuf};

use thalweg_link::Trace;
use thalweg_link::synthesize::presets;
use thalweg_units::{Rate, Seed, Span};

fn data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: ../shared/data is not here");
    None
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_recorded_trace_reads_and_writes_back_the_same() {
    let Some(data) = data() else { return };
    for folder in ["traces/mahimahi", "traces/salsify"] {
        for entry in std::fs::read_dir(data.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let text = read(&path);
            let trace = Trace::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            assert_eq!(trace.to_text().lines().collect::<Vec<_>>(), lines, "{}", path.display());
        }
    }
}

#[test]
fn every_lumos5g_log_has_the_throughput_it_says() {
    let Some(data) = data() else { return };
    for entry in std::fs::read_dir(data.join("traces/lumos5g")).unwrap() {
        let path = entry.unwrap().path();
        let text = read(&path);
        let trace = Trace::parse_per_second(&text).unwrap();
        let said: f64 = text.lines().filter_map(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok()).sum();
        let got = trace.millis().len() as f64 * 0.012;
        assert!((got / said - 1.0).abs() < 0.001, "{}: {got} of {said} Mbit", path.display());
    }
}

#[test]
fn the_periodic_link_of_the_chromium_measurements_is_the_one_we_make() {
    let Some(data) = data() else { return };
    let theirs = Trace::parse(&read(&data.join("chromium-gcc/periodic.trace"))).unwrap();
    let ours = Trace::periodic(Rate::from_kbps(2000), Rate::from_kbps(500), Span::from_secs(40)).unwrap();
    assert_eq!(theirs.period(), ours.period());
    assert!(theirs.millis().len().abs_diff(ours.millis().len()) <= 1);
    // What is left over of an opportunity at a change of rate is carried or not: one opportunity's time either way.
    let apart = theirs.millis().iter().zip(ours.millis()).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
    assert!(apart <= 24, "{apart} ms apart");
}

#[test]
fn the_presets_lie_among_the_recordings() {
    let Some(data) = data() else { return };
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
    let mut paths: Vec<_> =
        std::fs::read_dir(data.join("traces/mahimahi")).unwrap().map(|entry| entry.unwrap().path()).collect();
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
        let of = |value: fn(&thalweg_link::trace::Statistics) -> f64| {
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
