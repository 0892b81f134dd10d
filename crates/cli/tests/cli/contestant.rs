//! `--contestant`: an estimator in another process.

use super::{Folder, json, text, thalweg};

const HELLO: &str = r#"{"protocol":"thalweg-estimator","version":1,"name":"shell","limits":{"target_bps":300000}}"#;

/// Plays a shell script that has greeted, two runs at a time.
fn compare(folder: &Folder, script: &str, options: &[&str]) -> std::process::Output {
    let script = folder.file("mine.sh", &format!("read line; echo '{HELLO}'; {script}"));
    let (out, contestant) = (folder.0.join("out").display().to_string(), format!("mine=sh {script}"));
    let what = ["compare", "--encoder", "model", "--duration", "5s", "--rate", "2Mbps", "--scheme", "gcc"];
    thalweg(&[&what[..], &["--contestant", &contestant, "--out", &out], options].concat())
}

/// Half a megabit more with each request, up to two.
const CLIMBING: &str = "rate=300000; while read line; do
    [ $rate -ge 2000000 ] || rate=$((rate + 500000)); echo \"{\\\"target_bps\\\":$rate}\"; done";

#[test]
fn an_estimator_in_a_process_is_a_row_and_the_same_twice() {
    let folder = Folder::new("contestant");
    let play = || {
        let done = compare(&folder, CLIMBING, &["--json", "--runs", "2"]);
        assert!(done.status.success(), "{}", text(&done.stderr));
        json(&done)
    };
    let printed = play();
    let mine: Vec<_> = printed["runs"].as_array().unwrap().iter().filter(|run| run["scheme"] == "mine").collect();
    let rate = mine[0]["video_bitrate_bps"].as_f64().unwrap();
    assert!(mine.len() == 2 && (800_000.0..2_000_000.0).contains(&rate), "{rate}");
    let settings = std::fs::read_to_string(folder.0.join("out/seed-1/mine/run.toml")).unwrap();
    assert!(settings.contains("contestant = \"shell (sh ") && settings.contains("start = \"300kbps\""), "{settings}");
    let fingerprints = |of: &serde_json::Value| {
        of["runs"].as_array().unwrap().iter().map(|run| run["events_fingerprint"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(fingerprints(&printed), fingerprints(&play()));
}

#[test]
fn a_process_that_fails_ends_the_command_with_its_line_and_the_time() {
    let folder = Folder::new("contestant-fails");
    let refused = |script: &str| {
        let done = compare(&folder, script, &[]);
        assert_eq!(done.status.code(), Some(1));
        text(&done.stderr)
    };
    let malformed = refused("read line; echo '{\"target_bps\":1e6}'; read line; echo '{\"target\":1e6}'");
    let words = ["mine over 2Mbps: mine: at 0.", "line 3 of its output: unknown field `target`"];
    assert!(words.iter().all(|word| malformed.contains(word)), "{malformed}");
    let dead = refused("read line");
    assert!(dead.contains("its process has ended") || dead.contains("closed its standard output"), "{dead}");
}

#[test]
fn a_contestant_that_cannot_begin_is_refused_before_anything_is_played() {
    let refused = |contestant: &str| {
        let done = thalweg(&["compare", "--encoder", "model", "--duration", "1s", "--contestant", contestant]);
        assert!(!done.status.success());
        text(&done.stderr)
    };
    assert!(refused("mine=./no-such-program").contains("./no-such-program cannot be started"));
    assert!(refused("mine=echo hello").contains("line 1 of its output"));
    assert!(refused("mine").contains("as in mine=./my-estimator"));
    let folder = Folder::new("contestant-refused");
    let greeting = format!("gcc=sh {}", folder.file("mine.sh", &format!("read line; echo '{HELLO}'")));
    let taken = refused(&greeting);
    assert!(taken.contains("there is a scheme 'gcc' already"), "{taken}");
}
