//! `thalweg sweep`: one table, however it was made.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Folder, json, text, thalweg};

const GRID: &str = r#"
[scenario]
name = "step"
duration = "4s"
video = { source = "scene", size = "320x180", frame_rate = 30 }
codec = { model = {} }
[[scenario.forward.hops]]
bottleneck = { trace = "2Mbps", queue = { drop-tail = { bytes = "100kB" } } }
[[scenario.forward.hops]]
delay = { delay = "25ms" }
[[scenario.reverse.hops]]
delay = { delay = "25ms" }

[[axes]]
field = "scheme"
values = ["gcc", "copa", "vidaptive"]
[[axes]]
field = "trace"
values = ["TRACES/*.up", "3Mbps"]
[[axes]]
field = "seed"
values = "1..4"
"#;

/// The file of the table: `results.jsonl` in a build without Parquet.
const RESULTS: &str = if cfg!(feature = "parquet") { "results.parquet" } else { "results.jsonl" };

/// A grid of 36 runs, two of its links files.
fn grid(folder: &Folder) -> String {
    for (name, gap) in [("one.up", 4), ("two.up", 6)] {
        folder.file(name, &(1..=500).map(|line| format!("{}\n", line * gap)).collect::<String>());
    }
    folder.file("grid.toml", &GRID.replace("TRACES", &folder.0.display().to_string()))
}

fn table(out: &Path) -> Vec<u8> {
    fs::read(out.join(RESULTS)).unwrap()
}

/// The lines of all journals: runs that were played and kept.
fn kept(out: &Path) -> usize {
    let parts =
        fs::read_dir(out.join("parts")).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    parts.map(|text| text.matches('\n').count()).sum()
}

#[test]
fn one_worker_several_workers_and_merged_shards_make_the_same_bytes() {
    let folder = Folder::new("sweep");
    let grid = grid(&folder);
    let at = |name: &str| folder.0.join(name);
    let sweep = |out: &str, options: &[&str]| {
        let out = at(out).display().to_string();
        let done = thalweg(&[&["sweep", &grid, "--quiet", "-o", &out], options].concat());
        assert!(done.status.success(), "{}", text(&done.stderr));
        (text(&done.stdout), text(&done.stderr))
    };
    let (said, progress) = sweep("one", &["--workers", "1"]);
    assert!(said.starts_with("36 runs, 36 of them played now: ") && progress.is_empty(), "{said}{progress}");
    sweep("four", &["--jobs", "4"]);
    assert_eq!(table(&at("one")), table(&at("four")));
    let page = at("one").join("plot.html").display().to_string();
    let one = at("one").display().to_string();
    let drawn = thalweg(&["sweep", "plot", &one, "--axes", "trace,scheme", "--figure", "video_bitrate_bps"]);
    assert!(text(&drawn.stdout).contains(&page), "{}", text(&drawn.stderr));
    let page = fs::read_to_string(page).unwrap();
    assert!(["3Mbps", "vidaptive", "36 runs, 4 seeds", "<svg"].iter().all(|word| page.contains(word)), "{page}");
    let refused = thalweg(&["sweep", "plot", &one, "--axes", "trace"]);
    assert!(text(&refused.stderr).contains("--axes has 1 names: write two"), "{}", text(&refused.stderr));
    // Two shards into one folder, and one into another, as on machines without a common one.
    for (shard, out) in [("0/3", "shared"), ("1/3", "shared"), ("2/3", "own")] {
        let printed: serde_json::Value = serde_json::from_str(&sweep(out, &["--shard", shard, "--json"]).0).unwrap();
        assert_eq!((&printed["jobs"], &printed["of"], &printed["shard"]), (&12.into(), &36.into(), &shard.into()));
    }
    let [shared, own] = ["shared", "own"].map(|name| at(name).display().to_string());
    let incomplete = thalweg(&["sweep", "merge", &shared]);
    assert_eq!(incomplete.status.code(), Some(3));
    assert!(text(&incomplete.stderr).contains("1 of 3 shards missing (2/3)"), "{}", text(&incomplete.stderr));
    let merged = json(&thalweg(&["sweep", "merge", &shared, &own, "--json"]));
    assert_eq!((&merged["jobs"], &merged["failed"]), (&36.into(), &0.into()));
    assert_eq!(table(&at("shared")), table(&at("one")));
}

#[test]
fn a_sweep_that_was_killed_goes_on_plays_nothing_twice_and_ends_with_the_same_bytes() {
    let folder = Folder::new("sweep-killed");
    // Long enough that some are left.
    let grid = grid(&folder);
    fs::write(&grid, fs::read_to_string(&grid).unwrap().replace("\"4s\"", "\"20s\"")).unwrap();
    let at = |name: &str| folder.0.join(name);
    let out = at("killed").display().to_string();
    let arguments = ["sweep", &grid, "--quiet", "-o", &out, "--workers", "2"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_thalweg")).args(arguments).stdout(Stdio::null()).spawn().unwrap();
    while child.try_wait().unwrap().is_none() && (!at("killed").join("parts").exists() || kept(&at("killed")) < 3) {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = kept(&at("killed"));
    assert!((3..36).contains(&before), "{before} runs before the end");
    // What a crash may leave of a row.
    let part = at("killed").join("parts/0-of-1.jsonl");
    let rows = fs::read_to_string(&part).unwrap();
    let whole = &rows[..=rows.rfind('\n').unwrap()];
    fs::write(&part, format!("{whole}{{\"job\":35,\"ke")).unwrap();
    let done = thalweg(&arguments);
    let said = text(&done.stdout);
    assert!(done.status.success() && said.contains(&format!("{} of them played now", 36 - before)), "{said}");
    assert_eq!(kept(&at("killed")), 36);
    assert!(thalweg(&["sweep", &grid, "-o", &at("whole").display().to_string()]).status.success());
    assert_eq!(table(&at("killed")), table(&at("whole")));

    // Rows that another build or machine made.
    let rows = fs::read_to_string(&part).unwrap();
    let other = rows.replace("\"fingerprint\":\"", "\"fingerprint\":\"0");
    fs::write(&part, other).unwrap();
    let refused = thalweg(&arguments);
    let said = text(&refused.stderr);
    assert!(refused.status.code() == Some(1) && said.contains("Another build or machine"), "{said}");
}

#[test]
fn a_run_that_fails_is_a_row_and_no_failure_of_the_sweep() {
    let folder = Folder::new("sweep-failed");
    let grid = grid(&folder);
    let text_of = fs::read_to_string(&grid).unwrap();
    // Temporal layers are what H.264 has none of here.
    fs::write(&grid, text_of.replace("\"copa\"", "\"rebera\"").replace("model = {}", "h264 = {}").replace("1..4", "1"))
        .unwrap();
    let out = folder.0.join("out").display().to_string();
    let printed = json(&thalweg(&["sweep", &grid, "-o", &out, "--json"]));
    assert_eq!((&printed["jobs"], &printed["failed"], &printed["played"]), (&9.into(), &3.into(), &9.into()));
    let again = thalweg(&["sweep", &grid, "-o", &out]);
    let said = text(&again.stdout);
    assert!(said.contains("0 of them played now, 3 failed (their errors are in the table)"), "{said}");
    let retried = json(&thalweg(&["sweep", &grid, "-o", &out, "--json", "--retry-failed"]));
    assert_eq!((&retried["failed"], &retried["played"]), (&3.into(), &3.into()));
}

#[test]
fn what_cannot_be_played_is_refused_before_anything_is() {
    let folder = Folder::new("sweep-refused");
    let grid = grid(&folder);
    let whole = fs::read_to_string(&grid).unwrap();
    let out = folder.0.join("out").display().to_string();
    for (from, to, words) in [
        (
            "\"seed\"\nvalues = \"1..4\"",
            "\"sead\"\nvalues = [1]",
            &["grid.toml", "line 20", "unknown scenario.sead", "duration, "][..],
        ),
        ("\"seed\"", "\"sead\"", &["line 20", "axis sead", "only seeds are a range"]),
        ("\"3Mbps\"", "\"3Mbsp\"", &["3Mbsp"]),
        ("*.up", "*.down", &["line 17", "no file matches"]),
        ("\"copa\"", "\"cpoa\"", &["line 14", "cpoa"]),
        ("drop-tail", "drop-tali", &["line 8", "drop-tali"]),
        ("{ drop-tail = { bytes = \"100kB\" } }", "\"drop-tail\"", &["write { drop-tail = { bytes"]),
    ] {
        assert!(whole.contains(from));
        fs::write(&grid, whole.replace(from, to)).unwrap();
        let refused = thalweg(&["sweep", &grid, "-o", &out]);
        let said = text(&refused.stderr);
        assert!(refused.status.code() == Some(1) && words.iter().all(|word| said.contains(word)), "{to}: {said}");
        assert!(!folder.0.join("out").exists(), "{to}");
    }
    for (shard, word) in [("4/4", "0/4 to 3/4"), ("x", "0/4 to 3/4"), ("0/0", "0/1 is all jobs")] {
        let refused = thalweg(&["sweep", &grid, "--shard", shard]);
        assert!(refused.status.code() == Some(2) && text(&refused.stderr).contains(word), "{}", text(&refused.stderr));
    }
    let nothing = thalweg(&["sweep", "merge", &folder.0.display().to_string()]);
    assert!(text(&nothing.stderr).contains("no shard-*.json"), "{}", text(&nothing.stderr));
}
