//! `thalweg tune`, from a file to the best candidate.

use std::fs;

use crate::{Folder, text, thalweg};

const FILE: &str = r#"
name = "tuned"
reference = "gcc"
runs = 5
starts = 2
[base]
scheme = "salsify"
set = { "frames.late-choice.max_skips" = 0 }
[[parameters]]
path = "controller.salsify.delay"
unit = "ms"
low = 50
high = 200
scale = "log"
[[parameters]]
path = "controller.salsify.smoothing.gain"
low = 0.02
high = 0.2
[scenario]
"video.size" = "320x180"
[tuning]
links = ["2Mbps", "lte-driving"]
duration = "2s"
seeds = [1]
[test]
links = ["lte-walking"]
duration = "2s"
seeds = [1, 2]
[objective]
raise = "video_bitrate_bps"
links = { at_least = 0.8, weight = 1.0 }
bars = [{ key = "latency_p95_ms", at_most = 0.8, weight = 4.0 }]
"#;

#[test]
fn a_search_that_was_stopped_ends_as_one_that_was_not_and_its_best_is_a_run_to_play() {
    let folder = Folder::new("tune");
    let file = folder.file("tune.toml", FILE);
    let out = |name: &str| folder.0.join(name).display().to_string();
    let read = |name: &str, file: &str| fs::read_to_string(folder.0.join(name).join(file)).unwrap();
    let tune = |options: &[&str]| {
        let done = thalweg(&[&["tune", &file, "--quiet"], options].concat());
        assert!(done.status.success(), "{}", text(&done.stderr));
        text(&done.stdout)
    };
    let whole = tune(&["--out", &out("whole"), "--jobs", "1", "--test"]);
    assert!(
        whole.contains("best: evaluation") && whole.contains("lte-walking") && whole.contains("links won"),
        "{whole}"
    );
    tune(&["--out", &out("stopped"), "--runs", "2", "--jobs", "2"]);
    // What an interruption may leave of a line.
    let trace = folder.0.join("stopped/trace.jsonl");
    fs::write(&trace, read("stopped", "trace.jsonl") + "{\"evaluation\":3,\"para").unwrap();
    tune(&["--out", &out("stopped"), "--resume", "--test", "--json"]);
    assert_eq!(read("whole", "trace.jsonl").lines().count(), 6);
    for name in ["trace.jsonl", "best.toml", "tune.json"] {
        assert_eq!(read("whole", name), read("stopped", name), "{name}");
    }
    let result: serde_json::Value = serde_json::from_str(&read("whole", "tune.json")).unwrap();
    assert_eq!((&result["evaluations"], &result["test"]["links"][0]["link"]), (&5.into(), &"lte-walking".into()));
    // The test set has no part in the search.
    assert!(!read("whole", "trace.jsonl").contains("lte-walking"));

    let played =
        thalweg(&["run", &folder.0.join("whole/best.toml").display().to_string(), "--json", "--out", &out("run")]);
    assert!(text(&played.stdout).contains("\"tuned\""), "{}", text(&played.stderr));

    // Another file's trace is not gone on with.
    fs::write(&file, FILE.replace("weight = 4.0", "weight = 5.0")).unwrap();
    let before = read("whole", "results.json");
    let refused = thalweg(&["tune", &file, "--out", &out("whole"), "--resume"]);
    assert!(text(&refused.stderr).contains("another tuning file"), "{}", text(&refused.stderr));
    assert_eq!(read("whole", "results.json"), before);
}

#[test]
fn a_file_that_cannot_be_followed_is_refused_before_anything_is_played() {
    let folder = Folder::new("tune-refused");
    let out = folder.0.join("out").display().to_string();
    for (from, to, words) in [
        ("\"lte-walking\"", "\"lte-driving\"", "of one recording"),
        ("salsify.delay\"", "salsify.dealy\"", "did you mean scheme.controller.salsify.delay"),
        ("unit = \"ms\"", "unit = \"\"", "expected a number of unit"),
        ("low = 50", "low = 150", "the base has 100ms"),
        ("low = 0.02", "low = -1", "scheme.controller.salsify.smoothing.gain"),
        ("\"2Mbps\"", "\"2Mbsp\"", "2Mbsp"),
        ("\"video.size\"", "\"video.sise\"", "scenario.video.sise"),
        ("\"gcc\"", "\"gccc\"", "did you mean gcc"),
    ] {
        let file = folder.file("tune.toml", &FILE.replace(from, to));
        let refused = thalweg(&["tune", &file, "--out", &out]);
        assert!(
            !refused.status.success() && text(&refused.stderr).contains(words),
            "{words}: {}",
            text(&refused.stderr)
        );
        assert!(!folder.0.join("out/trace.jsonl").exists(), "{words}");
    }
    let file = folder.file("tune.toml", FILE);
    let refused = thalweg(&["tune", &file, "--out", &out, "--runs", "0"]);
    assert!(text(&refused.stderr).contains("--test"), "{}", text(&refused.stderr));
}
