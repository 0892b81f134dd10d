//! `--scheme onnx:FILE`: learned policies.

use super::{Folder, json, text, thalweg};

const MODEL: &str = concat!("onnx:", env!("CARGO_MANIFEST_DIR"), "/../learned/tests/models/follow.onnx");
/// The one that docs/learning.md shows.
const TRAINED: &str = concat!("onnx:", env!("CARGO_MANIFEST_DIR"), "/../../python/training/policy.onnx");

fn compare(folder: &Folder, schemes: &str, options: &[&str]) -> std::process::Output {
    let out = folder.0.join("out").display().to_string();
    let what = ["compare", "--encoder", "model", "--duration", "10s", "--rate", "2Mbps", "--scheme", schemes];
    thalweg(&[&what[..], &["--out", &out], options].concat())
}

#[test]
fn policies_are_rows_beside_gcc_and_their_runs_can_be_repeated() {
    let folder = Folder::new("policy");
    let done = compare(&folder, &format!("gcc,{MODEL},{TRAINED}"), &["--json"]);
    if !cfg!(feature = "onnx") {
        let why = "this build evaluates no ONNX models: build it with --features onnx";
        assert!(!done.status.success() && text(&done.stderr).contains(why), "{}", text(&done.stderr));
        return;
    }
    assert!(done.status.success(), "{}", text(&done.stderr));
    let printed = json(&done);
    let (gcc, policy) = (&printed["runs"][0], &printed["runs"][1]);
    assert!(gcc.get("machine_dependent").is_none(), "{gcc}");
    for (name, policy) in [(MODEL, policy), (TRAINED, &printed["runs"][2])] {
        assert!(policy["scheme"] == name && policy["machine_dependent"] == true, "{policy}");
        assert!(policy["video_bitrate_bps"].as_f64().is_some_and(|rate| rate > 400e3), "{policy}");
    }

    let mut runs = std::fs::read_dir(folder.0.join("out")).unwrap().map(|entry| entry.unwrap().path());
    let played = runs.find(|path| path.to_string_lossy().contains("follow")).unwrap().join("run.toml");
    let settings = std::fs::read_to_string(&played).unwrap();
    assert!(settings.contains("[scheme.custom]") && settings.contains("machine_dependent = true"), "{settings}");
    let again = folder.0.join("again").display().to_string();
    let repeated = json(&thalweg(&["run", &played.display().to_string(), "--json", "--out", &again]));
    assert_eq!(repeated["runs"][0]["events_fingerprint"], policy["events_fingerprint"]);
}

#[test]
fn a_file_that_is_no_policy_is_refused_before_anything_is_played() {
    let folder = Folder::new("no-policy");
    let file = folder.file("policy.onnx", "a text");
    let refused = |name: &str| {
        let done = compare(&folder, &format!("gcc,{name}"), &[]);
        assert!(!done.status.success() && !folder.0.join("out").exists());
        text(&done.stderr)
    };
    let (text, missing) = (refused(&format!("onnx:{file}")), refused("onnx:Nowhere.onnx"));
    if cfg!(feature = "onnx") {
        assert!(text.contains(&format!("onnx:{file}: expected an ONNX model")), "{text}");
        assert!(missing.contains("onnx:Nowhere.onnx: cannot be read: "), "{missing}");
    } else {
        assert!(text.contains("--features onnx") && missing.contains("--features onnx"), "{text}{missing}");
    }
}

#[cfg(all(target_os = "linux", feature = "live", feature = "onnx"))]
#[test]
fn a_policy_publishes_and_plays_in_real_time() {
    super::in_real_time::in_real_time(|| {
        let done = thalweg(&[
            "publish",
            "scene",
            "--scheme",
            MODEL,
            "--size",
            "160x90",
            "--duration",
            "1s",
            "--listen",
            "127.0.0.1:0",
        ]);
        assert!(done.status.success(), "{}", text(&done.stderr));
        let folder = Folder::new("live-policy");
        let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/step.toml");
        let out = folder.0.join("out").display().to_string();
        let what = ["run", scenario, "--live", "--duration", "3s", "--encoder", "model", "--scheme", MODEL];
        let done = thalweg(&[&what[..], &["--json", "--out", &out]].concat());
        assert!(done.status.success(), "{}", text(&done.stderr));
        let run = &json(&done)["runs"][0];
        assert!(run["live"] == true && run["machine_dependent"] == true, "{run}");
        assert!(run["frame_rate_fps"].as_f64().is_some_and(|rate| rate > 10.0), "{run}");
    });
}
