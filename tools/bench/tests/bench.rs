//! The program as a user runs it.

use std::process::{Command, Output};

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_thalweg-bench")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(done: &Output) -> serde_json::Value {
    assert!(done.status.success(), "{}", text(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

#[test]
fn the_engine_is_measured_by_default() {
    let quick = ["--quick", "--scheme", "gcc", "--size", "160x90"];
    let printed = json(&bench(&[&["engine", "--json"][..], &quick].concat()));
    let scheme = &printed["schemes"][0];
    assert_eq!((printed["bench"].as_str(), scheme["scheme"].as_str()), (Some("engine"), Some("gcc")));
    let positive = |value: &serde_json::Value| value.as_f64().is_some_and(|value| value > 0.0);
    for run in scheme["model"].as_array().unwrap() {
        let speed = &run["speed_x"];
        assert!(["least", "median", "most"].iter().all(|key| positive(&speed[*key])), "{run}");
        assert!(positive(&run["ns_per_packet"]["median"]) && positive(&run["ns_per_event"]["median"]), "{run}");
    }
    assert_eq!(scheme["model"].as_array().unwrap().len(), 2);
    assert!(positive(&scheme["real"]["speed_x"]["median"]) && positive(&scheme["real"]["rest_share"]), "{scheme}");
    for key in ["ns_per_packet", "ns_per_report"] {
        assert!(positive(&scheme["controller"][key]["median"]), "{key}: {scheme}");
    }
    let table = bench(&quick);
    assert!(text(&table.stderr).contains("warming up"), "{}", text(&table.stderr));
    let table = text(&table.stdout);
    assert!(["x real time", "lte-driving", "62 ms report"].iter().all(|word| table.contains(word)), "{table}");
    let unknown = bench(&["--scheme", "gccc"]);
    assert!(unknown.status.code() == Some(1) && text(&unknown.stderr).contains("'gccc'"));
}

#[test]
fn codec_measures_each_encoder_at_each_aim() {
    let arguments = ["codec", "scene", "--size", "160x96", "--pictures", "6", "--presets", "fast", "--json"];
    let printed = json(&bench(&arguments));
    let video = &printed["videos"][0];
    let curves = video["curves"].as_array().unwrap();
    for (encoder, aim, count) in
        [("libvpx -8", "quantizer", 7), ("fast", "quantizer", 7), ("libvpx -8", "rate", 6), ("fast", "rate", 6)]
    {
        let curve = curves.iter().find(|curve| curve["encoder"] == encoder && curve["aim"] == aim).unwrap();
        let points = curve["points"].as_array().unwrap();
        assert_eq!(points.len(), count);
        for point in points {
            assert!((20.0..60.0).contains(&point["psnr_db"].as_f64().unwrap()), "{encoder} {aim}: {point}");
            assert!(point["encode_ms"].as_f64().unwrap() > 0.0);
        }
    }
    let ratio = video["two_candidates"][0][1].as_f64().unwrap();
    assert!(ratio > 0.5, "{ratio}");
    assert!(video["decoder_speed"].as_f64().unwrap() > 0.0);
}

#[test]
fn environments_are_measured_beside_the_same_calls_without_them() {
    let quick = ["environments", "--environments", "3", "--steps", "20", "--quick"];
    let printed = json(&bench(&[&quick[..], &["--json"]].concat()));
    let runs = printed["runs"].as_array().unwrap();
    assert_eq!((runs.len(), runs[3]["observation"].as_str()), (8, Some("none: gcc")));
    assert!(runs.iter().all(|run| run["steps_per_s"]["median"].as_f64().is_some_and(|rate| rate > 0.0)), "{printed}");
    let table = text(&bench(&quick).stdout);
    assert!(["mmsys150", "steps a second", "lte-driving"].iter().all(|word| table.contains(word)), "{table}");
}
