//! Input of runs: video on standard input, and scenarios with parts replaced.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::{Folder, json, thalweg};

/// Ten pictures of moving noise.
pub(crate) fn clip() -> Vec<u8> {
    let mut clip = b"YUV4MPEG2 W64 H48 F30:1 Ip A1:1 C420\n".to_vec();
    for picture in 0..10u32 {
        clip.extend_from_slice(b"FRAME\n");
        clip.extend(
            (0..64 * 48 * 3 / 2).map(|place: u32| (place.wrapping_mul(2_654_435_761) >> 25) as u8 + picture as u8),
        );
    }
    clip
}

fn fingerprints(printed: &serde_json::Value) -> Vec<String> {
    printed["runs"].as_array().unwrap().iter().map(|run| run["events_fingerprint"].to_string()).collect()
}

#[test]
fn schemes_that_share_standard_input_play_what_they_would_of_a_file() {
    let folder = Folder::new("standard-input");
    let path = folder.0.join("clip.y4m");
    std::fs::write(&path, clip()).unwrap();
    let (file, out) = (path.display().to_string(), folder.0.display().to_string());
    let fixed =
        ["compare", "--scheme", "gcc,vidaptive", "--trace", "1Mbps", "--encoder", "functional", "--duration", "1s"];
    let rest = ["--json", "--out", &out, "--video"];
    let of_file = json(&thalweg(&[&fixed[..], &rest, &[&file]].concat()));
    let mut child = Command::new(env!("CARGO_BIN_EXE_thalweg"))
        .args([&fixed[..], &rest, &["-"]].concat())
        .env("TMPDIR", &folder.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&clip()).unwrap();
    let of_input = json(&child.wait_with_output().unwrap());
    assert_eq!(fingerprints(&of_input), fingerprints(&of_file));
    assert_eq!(of_input["runs"][0]["video"], "-");
    let run = std::fs::read_to_string(folder.0.join("gcc/run.toml")).unwrap();
    assert!(run.contains("source = \"-\""), "{run}");
    let left = std::fs::read_dir(&folder.0).unwrap().filter_map(|file| file.ok()?.file_name().into_string().ok());
    assert_eq!(left.filter(|name| name.ends_with(".y4m")).collect::<Vec<_>>(), ["clip.y4m"]);
}

#[test]
fn a_scenario_is_played_with_another_duration_video_size_and_encoder() {
    let folder = Folder::new("overrides");
    let out = folder.0.display().to_string();
    let step = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/step.toml");
    let changed = [
        "--duration",
        "2s",
        "--video",
        "scene:easy",
        "--size",
        "160x90",
        "--frame-rate",
        "29.97",
        "--encoder",
        "functional",
    ];
    json(&thalweg(&[&["run", step, "--scheme", "gcc", "--json", "--out", &out], &changed[..]].concat()));
    let run: toml::Table = toml::from_str(&std::fs::read_to_string(folder.0.join("gcc/run.toml")).unwrap()).unwrap();
    let scenario = &run["scenario"];
    assert_eq!(scenario["duration"].as_str(), Some("2s"));
    assert_eq!(scenario["video"]["source"].as_str(), Some("scene:easy"));
    assert_eq!(scenario["video"]["size"].as_str(), Some("160x90"));
    assert_eq!(scenario["video"]["frame_rate"].as_str(), Some("30000/1001"));
    assert!(scenario["codec"].get("functional").is_some(), "{scenario}");
}
