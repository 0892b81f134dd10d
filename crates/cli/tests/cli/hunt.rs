//! `thalweg hunt`, from a scheme or an estimator to the folders of its failures.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Folder, json, text, thalweg};

/// Short runs of small pictures.
const FILE: &str = "evaluations = 24\nseeds = [1]\nduration = '12s'\nshrink = 4\n\
                    ranges = { 'size.lines' = [360, 360], 'frame-rate.fps' = [15, 30] }\n";

fn trace(out: &Path) -> String {
    fs::read_to_string(out.join("trace.jsonl")).unwrap()
}

// Takes 20 s on a busy machine: two hunts, one of them stopped, and some three hundred runs of 12 s.
#[cfg(unix)]
#[test]
#[allow(clippy::disallowed_methods, reason = "it waits for what another process writes")]
fn a_hunt_has_the_same_trace_with_any_number_of_jobs_and_after_a_stop_and_its_scenarios_play_again() {
    let folder = Folder::new("hunt");
    let (file, at) = (folder.file("plan.toml", FILE), |name: &str| folder.0.join(name));
    let hunt = |name: &str, options: &[&str]| {
        let out = at(name).display().to_string();
        thalweg(&[&["hunt", &file, "--scheme", "scream", "--quiet", "--out", &out], options].concat())
    };
    let whole = json(&hunt("whole", &["--jobs", "1", "--json"]));
    assert_eq!((&whole["tested"], &whole["evaluations"]), (&"scream".into(), &24.into()));
    let found = whole["found"].as_array().unwrap();
    assert!(!found.is_empty(), "{whole}");

    // Stopped by Ctrl-C, and in the middle of a batch, with what that may leave of a line; then four at a time.
    let mut child = Command::new(env!("CARGO_BIN_EXE_thalweg"))
        .args(["hunt", &file, "--scheme", "scream", "--quiet", "--out", &at("four").display().to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = || fs::read_to_string(at("four/trace.jsonl")).map_or(0, |trace| trace.lines().count());
    while child.try_wait().unwrap().is_none() && lines() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    let stopped = child.wait_with_output().unwrap();
    assert_eq!(stopped.status.code(), Some(130), "{}", text(&stopped.stderr));
    assert!(text(&stopped.stderr).contains("--resume goes on"), "{}", text(&stopped.stderr));
    let some: String = trace(&at("four")).lines().take(9).map(|line| format!("{line}\n")).collect();
    fs::write(at("four/trace.jsonl"), some + "{\"evaluation\":9,\"gen").unwrap();
    let failed = hunt("four", &["--resume", "--jobs", "4", "--fail-on", "found"]);
    assert_eq!(failed.status.code(), Some(3), "{}", text(&failed.stderr));
    assert!(text(&failed.stderr).contains("--fail-on found: "), "{}", text(&failed.stderr));
    assert_eq!(trace(&at("whole")), trace(&at("four")));
    assert_eq!(fs::read(at("whole/hunt.json")).unwrap(), fs::read(at("four/hunt.json")).unwrap());

    // A scenario gives the figures that were found, by the command that is beside it.
    let first = at("whole").join(found[0]["folder"].as_str().unwrap());
    let script = fs::read_to_string(first.join("play.sh")).unwrap();
    assert!(script.contains("scenario.toml\" --scheme scream,gcc ") && script.contains("--seed 1"), "{script}");
    let scenario = first.join("scenario.toml").display().to_string();
    let out = at("again").display().to_string();
    let again = json(&thalweg(&["run", &scenario, "--scheme", "scream,gcc", "--json", "--out", &out]));
    let (played, known) = (&again["runs"], &found[0]["smallest"]["runs"][0]);
    for (run, figures) in [(&played[0], &known["tested"]), (&played[1], &known["references"][0])] {
        let rounded = (run["screen_ssim_db"].as_f64().unwrap() * 1e4).round() / 1e4;
        assert_eq!(rounded, figures["screen_db"].as_f64().unwrap(), "{figures}");
    }
    let page = fs::read_to_string(first.join("why.md")).unwrap();
    let words = ["* `scream`: ", "* `gcc`: ", "| seed 1 | scream | gcc |", "| rate_mbps |"];
    assert!(words.iter().all(|word| page.contains(word)), "{page}");
    assert!(fs::read_to_string(first.join("case.toml")).unwrap().contains("[[bars]]"));

    // Another hunt's trace is not gone on with; the folder's own plan is the same hunt.
    let command = || fs::read_to_string(at("whole/results.json")).unwrap();
    let before = command();
    let other = hunt("whole", &["--resume", "--seed", "2"]);
    assert!(text(&other.stderr).contains("of another hunt"), "{}", text(&other.stderr));
    assert_eq!(command(), before);
    let plan = at("whole/hunt.toml").display().to_string();
    let out = at("whole").display().to_string();
    assert!(thalweg(&["hunt", &plan, "--resume", "--quiet", "--out", &out]).status.success());

    // What was made smaller can be made smaller still.
    let before = found[0]["smallest"]["genes"].clone();
    let done = thalweg(&["hunt", "shrink", &first.display().to_string(), "--evaluations", "20", "--quiet"]);
    assert!(
        done.status.success() && text(&done.stdout).contains(&first.display().to_string()),
        "{}",
        text(&done.stderr)
    );
    let after: serde_json::Value = serde_json::from_slice(&fs::read(first.join("found.json")).unwrap()).unwrap();
    let steps = |genes: &serde_json::Value| genes["steps"].as_array().unwrap().len();
    assert!(steps(&after["smallest"]["genes"]) <= steps(&before), "{after}");

    // Without --resume what was found moves away.
    assert!(hunt("whole", &["--evaluations", "1"]).status.success());
    assert!(at("whole/earlier/1").join(found[0]["folder"].as_str().unwrap()).join("why.md").is_file());
}

#[test]
fn what_cannot_be_hunted_is_refused_before_anything_is_played() {
    let folder = Folder::new("hunt-refused");
    let out = folder.0.join("out").display().to_string();
    for (options, words) in [
        (&[][..], "--scheme"),
        (&["--scheme", "gccc"], "did you mean gcc"),
        (&["--scheme", "nada", "--against", "gccc"], "did you mean gcc"),
        (&["--scheme", "nada", "--set", "scheme.controller.nada.kapa=1"], "unknown parameter"),
        (&["--scheme", "nada", "--set", "scenario.sized=1"], "unknown parameter"),
        (&["--scheme", "nada", "--evaluations", "0"], "from 1 to 1000000"),
        (&["--contestant", "mine=./no-such-program"], "cannot be started"),
        (&["--scheme", "nada", "--resume"], "no trace to go on with"),
    ] {
        let refused = thalweg(&[&["hunt", "--out", &out], options].concat());
        assert!(
            !refused.status.success() && text(&refused.stderr).contains(words),
            "{options:?}: {}",
            text(&refused.stderr)
        );
    }
    folder.file("theirs.txt", "a file");
    let theirs = folder.0.display().to_string();
    let refused = thalweg(&["hunt", "--scheme", "nada", "--out", &theirs]);
    assert!(text(&refused.stderr).contains("that no hunt has left"), "{}", text(&refused.stderr));
    let refused = thalweg(&["hunt", "shrink", &theirs]);
    assert!(text(&refused.stderr).contains("no failure that a hunt has left"), "{}", text(&refused.stderr));
}
