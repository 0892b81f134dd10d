//! Results that one can trust and that are not lost: several runs, gates, folders, interruptions.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use super::{Folder, json, text, thalweg};

const MODEL: [&str; 5] = ["compare", "--encoder", "model", "--duration", "5s"];

fn compare(folder: &Folder, options: &[&str]) -> std::process::Output {
    let out = folder.0.join("out").display().to_string();
    thalweg(&[&MODEL[..], options, &["--out", &out]].concat())
}

#[test]
fn several_seeds_links_and_videos_are_means_with_intervals_and_paired_differences() {
    let folder = Folder::new("matrix");
    let options = ["--scheme", "gcc,vidaptive", "--runs", "3", "--trace", "lte-driving", "--trace", "3Mbps"];
    let table = text(&compare(&folder, &options).stdout);
    let words = ["lte-driving, scene: mean of 3 seeds", "mean over 2 links", "±", "against gcc, by pairs", "x1."];
    assert!(words.iter().all(|word| table.contains(word)), "{table}");
    let printed = json(&compare(&folder, &[&options[..], &["--json"]].concat()));
    assert_eq!(printed["runs"].as_array().unwrap().len(), 12);
    let vidaptive = &printed["schemes"][1];
    let figure = &vidaptive["figures"]["latency_p95_ms"];
    let [low, mean, high] = ["low", "mean", "high"].map(|key| figure[key].as_f64().unwrap());
    assert!(low < mean && mean < high && figure["runs"] == 6, "{figure}");
    let ratio = &vidaptive["against"]["figures"]["video_bitrate_bps"];
    assert!(ratio["kind"] == "ratio" && (0.5..3.0).contains(&ratio["mean"].as_f64().unwrap()), "{ratio}");
    let place = folder.0.join("out/lte-driving/seed-2/vidaptive/summary.json");
    assert!(place.is_file(), "{}", place.display());
    let lines = text(&compare(&folder, &[&options[..], &["--csv", "--columns", "video,p95"]].concat()).stdout);
    assert_eq!(lines.lines().next(), Some("scheme,trace,video,seed,feedback,video_bitrate_bps,latency_p95_ms"));
    assert_eq!(lines.lines().count(), 13);
}

#[test]
fn rows_say_what_feedback_they_have_and_one_is_set_for_all() {
    let folder = Folder::new("feedback");
    let rows = |options: &[&str]| {
        let done = compare(&folder, &[&["--scheme", "gcc,salsify"], options].concat());
        (text(&done.stdout), text(&done.stderr))
    };
    let (own, _) = rows(&[]);
    let row = |name: &str| own.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_string();
    assert!(row("scheme").contains("feedback") && row("gcc").contains("twcc"), "{own}");
    assert!(row("salsify").contains("per-packet"), "{own}");
    let (all, _) = rows(&["--feedback", "twcc"]);
    assert!(all.contains("feedback of every row: twcc") && !all.contains("per-packet"), "{all}");
    let printed: serde_json::Value = serde_json::from_str(&rows(&["--feedback", "ccfb", "--json"]).0).unwrap();
    assert!(printed["runs"].as_array().unwrap().iter().all(|run| run["feedback"] == "ccfb"), "{printed}");
    let (_, wrong) = rows(&["--feedback", "acks"]);
    assert!(wrong.contains("unknown feedback 'acks': expected one of own, twcc"), "{wrong}");
    let done = compare(&folder, &["--scheme", "gcc,fbra:xr-random", "--feedback", "twcc"]);
    let said = text(&done.stderr);
    assert!(!done.status.success() && said.contains("each report ends an interval"), "{said}");
    assert!(!said.contains("done in"), "refused before anything is played: {said}");
}

#[test]
fn a_condition_that_holds_is_exit_code_3_and_a_junit_failure() {
    let folder = Folder::new("gate");
    let junit = folder.0.join("junit.xml");
    let gate = |condition: &str| {
        let options = ["--scheme", "gcc,vidaptive", "--fail-if", condition, "--junit", junit.to_str().unwrap()];
        let done = compare(&folder, &options);
        (done.status.code(), text(&done.stderr), std::fs::read_to_string(&junit).unwrap_or_default())
    };
    let (code, said, xml) = gate("latency_p95_ms > 1");
    assert!(code == Some(3) && said.contains("--fail-if holds: gcc: latency_p95_ms > 1"), "{code:?} {said}");
    assert!(xml.contains("failures=\"2\""), "{xml}");
    let (code, _, xml) = gate("ratio(video_bitrate_bps, gcc) < 0.01");
    assert!(code == Some(0) && xml.contains("tests=\"1\" failures=\"0\""), "{code:?} {xml}");
    assert_eq!(gate("latency_p96_ms > 1").0, Some(2), "a wrong condition is a wrong command line");
}

#[test]
fn earlier_results_move_aside_and_runs_that_no_command_listed_are_never_overwritten() {
    let folder = Folder::new("aside");
    let first = compare(&folder, &["--scheme", "gcc,vidaptive"]);
    assert!(first.status.success(), "{}", text(&first.stderr));
    let second = compare(&folder, &["--scheme", "gcc"]);
    assert!(text(&second.stderr).contains("earlier results"), "{}", text(&second.stderr));
    let here = |name: &str| folder.0.join("out").join(name).exists();
    assert!(here("gcc/run.toml") && !here("vidaptive"), "no neighbour of another command");
    assert!(here("earlier/1/gcc/run.toml") && here("earlier/1/vidaptive/run.toml") && here("earlier/1/report.html"));
    std::fs::remove_file(folder.0.join("out/results.json")).unwrap();
    let third = compare(&folder, &["--scheme", "gcc"]);
    assert!(!third.status.success() && text(&third.stderr).contains("would be overwritten"), "{}", text(&third.stderr));
    let twice = compare(&folder, &["--scheme", "gcc,gcc"]);
    assert!(!twice.status.success() && text(&twice.stderr).contains("twice"), "{}", text(&twice.stderr));
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_before_anything_is_played() {
    let folder = Folder::new("refused");
    let file = folder.file("clip.y4m", "");
    let done = thalweg(&[&MODEL[..], &["--out", &file]].concat());
    let said = text(&done.stderr);
    assert!(!done.status.success() && said.contains("clip.y4m") && !said.contains("done in"), "{said}");
    assert!(std::fs::read(&file).unwrap().is_empty(), "it is as it was");
}

/// A run's folder that is a file is as good as a full disk: found only when the run is written.
#[test]
fn what_was_played_is_shown_even_if_it_cannot_be_written() {
    let folder = Folder::new("full");
    std::fs::create_dir_all(folder.0.join("out")).unwrap();
    folder.file("out/vidaptive", "no folder");
    let done = compare(&folder, &["--scheme", "gcc,vidaptive"]);
    let (table, said) = (text(&done.stdout), text(&done.stderr));
    assert!(!done.status.success() && said.contains("out/vidaptive"), "{said}");
    assert!(table.contains("gcc") && table.contains("vidaptive"), "{table}");
}

#[test]
fn ctrl_c_shows_what_is_done_as_partial_and_resume_plays_only_the_rest() {
    let folder = Folder::new("interrupted");
    let out = folder.0.join("out").display().to_string();
    let arguments = |more: &[&'static str]| -> Vec<String> {
        let all =
            ["compare", "--encoder", "model", "--duration", "2m", "--scheme", "gcc,copa,vidaptive,nada,camel,bbr"];
        all.iter().chain(more).map(|word| (*word).to_string()).chain(["--out".into(), out.clone()]).collect()
    };
    let mut child = Command::new(env!("CARGO_BIN_EXE_thalweg"))
        .args(arguments(&[]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let first = said.by_ref().map(Result::unwrap).find(|line| line.contains("done in")).expect("a run is done");
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let rest: Vec<String> = said.map(Result::unwrap).collect();
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130), "{first} {rest:?}");
    assert!(rest.iter().any(|line| line.contains("partial: ")), "{rest:?}");
    assert!(rest.iter().any(|line| line.contains("--resume goes on")), "{rest:?}");
    let played = text(&done.stdout).lines().count() - 2;
    assert!((1..6).contains(&played), "{}", text(&done.stdout));

    let resumed = Command::new(env!("CARGO_BIN_EXE_thalweg")).args(arguments(&["--resume"])).output().unwrap();
    let (table, said) = (text(&resumed.stdout), text(&resumed.stderr));
    assert!(resumed.status.success(), "{said}");
    assert_eq!(table.lines().count(), 8, "{table}");
    assert_eq!(said.matches("done in").count(), 6 - played, "{said}");
}

#[test]
fn diff_says_what_changed_between_two_folders() {
    let folder = Folder::new("diff");
    let path = |name: &str| folder.0.join(name).display().to_string();
    for (name, delay) in [("a", "25ms"), ("b", "25ms"), ("c", "60ms")] {
        let options = ["--scheme", "gcc,vidaptive", "--runs", "2", "--delay", delay, "--out", &path(name)];
        assert!(thalweg(&[&MODEL[..], &options].concat()).status.success());
    }
    let same = text(&thalweg(&["diff", &path("a"), &path("b"), "--changed"]).stdout);
    assert!(same.contains("no difference in 4 pairs"), "{same}");
    let other = text(&thalweg(&["diff", &path("a"), &path("c"), "--columns", "p50,video"]).stdout);
    assert!(other.contains("4 pairs of runs") && other.contains("p50 ms") && other.contains("x1."), "{other}");
    // What was not the same is named, and a run without a partner is in no column.
    let said = text(&thalweg(&["diff", &path("a"), &path("c")]).stderr);
    assert!(said.contains("played differently") && said.contains("\"25ms\" -> \"60ms\""), "{said}");
    assert!(!text(&thalweg(&["diff", &path("a"), &path("b")]).stderr).contains("played differently"));
    let single = thalweg(&["diff", &path("a/seed-1/gcc"), &path("a"), "--columns", "video"]);
    let line = text(&single.stdout).lines().last().unwrap().to_string();
    let cells: Vec<&str> = line.split_whitespace().rev().take(3).collect();
    assert!(cells[0].contains("1.00") && cells[1] == cells[2], "{line}");
    let one = thalweg(&["diff", &path("a/seed-1/gcc/summary.json"), &path("c/seed-2/gcc")]);
    assert!(!one.status.success() && text(&one.stderr).contains("nothing to compare"), "{}", text(&one.stderr));
}

#[test]
fn report_and_explain_take_the_folder_that_compare_made() {
    let folder = Folder::new("parent");
    assert!(compare(&folder, &["--scheme", "gcc,vidaptive"]).status.success());
    let [out, page] = ["out", "page.html"].map(|name| folder.0.join(name).display().to_string());
    assert!(thalweg(&["report", &out, "--out", &page]).status.success());
    assert!(std::fs::read_to_string(&page).unwrap().contains("vidaptive"));
    let which = thalweg(&["explain", &out, "--at", "2s"]);
    assert!(!which.status.success() && text(&which.stderr).contains("--scheme"), "{}", text(&which.stderr));
    let explained = thalweg(&["explain", &out, "--at", "2s", "--scheme", "gcc"]);
    assert!(text(&explained.stdout).contains("gcc over lte-driving, around 2 s"), "{}", text(&explained.stderr));
}

#[test]
fn explain_answers_first_by_the_recorded_events_alone() {
    let folder = Folder::new("explained");
    assert!(compare(&folder, &["--scheme", "gcc,vidaptive,salsify,camel"]).status.success());
    for (scheme, word) in [
        ("gcc", "the estimate is "),
        ("vidaptive", "the window of "),
        ("salsify", "a frame may have "),
        ("camel", "Camel sends gamma = "),
    ] {
        let run = folder.0.join("out").join(scheme);
        let shown = run.display().to_string();
        // Without this file nothing can be played again.
        std::fs::remove_file(run.join("run.toml")).unwrap();
        let explained = thalweg(&["explain", &shown, "--at", "4s"]);
        let printed = text(&explained.stdout);
        let first = printed.lines().next().unwrap_or_default();
        assert!(first.contains("bps over a link of ") && first.contains(word), "{printed}{}", text(&explained.stderr));
        assert!(printed.lines().count() < 60 && !printed.contains("000 s"), "{printed}");
        let worst = text(&thalweg(&["explain", &shown]).stdout);
        // Not every run freezes.
        let count = worst.matches("thalweg explain ").count();
        assert!(count >= 3 && count + worst.matches("\n  none\n").count() == 4, "{worst}");
        let asked = worst.lines().find_map(|line| line.trim().strip_prefix("thalweg ")).unwrap();
        assert!(thalweg(&asked.split(' ').collect::<Vec<_>>()).status.success(), "{asked}");
        let three = text(&thalweg(&["explain", &shown, "--worst", "3"]).stdout);
        assert!(three.matches("thalweg explain ").count() > count && three.starts_with(scheme), "{three}");
        std::fs::remove_file(run.join("events.parquet")).unwrap();
        let without = thalweg(&["explain", &shown, "--at", "4s"]);
        assert!(
            !without.status.success() && text(&without.stderr).contains("plays it again"),
            "{}",
            text(&without.stderr)
        );
    }
}

#[test]
fn names_that_are_none_are_answered_by_the_nearest_and_wrong_values_by_the_fix() {
    for (arguments, word) in [
        (&["compare", "--scheme", "vidaptve"][..], "did you mean vidaptive"),
        (&["compare", "--trace", "lte-drivng"], "did you mean lte-driving"),
        (&["compare", "--trace", "no-such-link"], "rates in turn such as 2Mbps/500kbps@40s"),
        (&["reproduce", "vidaptive-fig77"], "did you mean vidaptive-fig7"),
        (&["compare", "--duration", "-5s"], "as in 60s"),
        (&["compare", "--delay", "1000000s"], "from 0 to"),
        (&["compare", "--seed", "-1"], "invalid seed"),
        (&["compare", "--queue", "fast"], "1bdp"),
        (&["compare", "--columns", "speed"], "expected one of"),
        (&["compare", "--columns", "vdeo"], "did you mean video"),
    ] {
        let done = thalweg(arguments);
        assert!(!done.status.success() && text(&done.stderr).contains(word), "{arguments:?}: {}", text(&done.stderr));
    }
    assert_eq!(thalweg(&["compare", "--scheme", "vidaptve"]).status.code(), Some(2));
    let folder = Folder::new("names");
    assert!(compare(&folder, &["--scheme", "GCC", "--rate", "2M", "--queue", "1bdp"]).status.success());
}

#[test]
fn a_bound_is_a_row_has_all_of_its_curve_and_is_played_again_from_its_file_and_each_scheme_has_a_share() {
    let folder = Folder::new("bound");
    let schemes = "gcc,bound:omniscient:50ms,bound:causal";
    let printed = json(&compare(&folder, &["--scheme", schemes, "--json"]));
    let shares = [0, 1, 2].map(|row| printed["runs"][row]["bound_share"].as_f64().unwrap());
    assert!(shares[0] > 0.1 && shares[0] < shares[2] && shares[2] < shares[1] && shares[1] < 1.01, "{shares:?}");
    let table = text(&compare(&folder, &["--scheme", "gcc", "--columns", "video,share"]).stdout);
    assert!(table.contains("of bound") && table.contains('%'), "{table}");
    let table = text(&compare(&folder, &["--scheme", "gcc"]).stdout);
    assert!(!table.contains("of bound"), "{table}");
    compare(&folder, &["--scheme", "bound:omniscient:50ms"]);
    let file = folder.0.join("out/bound-omniscient-50ms/run.toml").display().to_string();
    let out = folder.0.join("again").display().to_string();
    let again = json(&thalweg(&["run", &file, "--json", "--out", &out]));
    assert_eq!(again["runs"][0]["events_fingerprint"], printed["runs"][1]["events_fingerprint"]);
    let lost = compare(&folder, &["--scheme", "gcc", "--loss", "1%", "--json"]);
    assert!(json(&lost)["runs"][0]["bound_share"].is_null());
    let refused = compare(&folder, &["--scheme", "bound:omniscient", "--loss", "1%"]);
    assert!(text(&refused.stderr).contains("bound:omniscient is not defined here: the path loses packets"));
    let listed = thalweg(&["schemes"]);
    assert!(text(&listed.stdout).contains("bounds, for the laboratory alone"));
}

#[test]
#[cfg(all(feature = "live", target_os = "linux"))]
fn a_bound_is_refused_by_name_wherever_time_is_real() {
    let step = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/step.toml");
    for command in [
        &["publish", "scene", "--listen", "0", "--duration", "1s", "--scheme", "bound:causal"][..],
        &["duel", "gcc", "bound:causal", "--listen", "0", "--duration", "1s"],
        &["run", step, "--live", "--duration", "1s", "--scheme", "bound:causal"],
    ] {
        let done = thalweg(command);
        let said = text(&done.stderr);
        assert!(!done.status.success() && said.contains("'bound:causal' knows beforehand"), "{command:?}: {said}");
    }
}

#[test]
fn a_folder_that_another_command_writes_into_is_refused_with_its_process_and_a_file_is_no_folder() {
    let folder = Folder::new("held");
    std::fs::create_dir(folder.0.join("out")).unwrap();
    let lock = std::fs::File::create(folder.0.join("out/.lock")).unwrap();
    std::fs::write(folder.0.join("out/.lock"), "4711\n").unwrap();
    lock.lock().unwrap();
    let refused = compare(&folder, &["--scheme", "gcc"]);
    let said = text(&refused.stderr);
    assert!(refused.status.code() == Some(1) && said.contains("in use by another thalweg (pid 4711)"), "{said}");
    drop(lock);
    assert!(compare(&folder, &["--scheme", "gcc"]).status.success());
    let file = folder.file("file", "");
    let said = text(&thalweg(&[&MODEL[..], &["--out", &file]].concat()).stderr);
    assert!(said.contains("is a file, and must be a folder"), "{said}");
}

#[test]
#[allow(clippy::disallowed_methods, reason = "signals are repeated until it is over, whenever that is")]
fn a_figure_is_stopped_by_signals_that_its_parent_ignores() {
    let folder = Folder::new("stopped-figure");
    let out = folder.0.join("out").display().to_string();
    let script = "trap '' INT; exec \"$@\"";
    let mut child = Command::new("sh")
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_thalweg"), "reproduce", "camel", "--jobs", "1", "--out", &out])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Until the shell has become the program it may not ignore signals yet.
    let name = format!("/proc/{}/comm", child.id());
    while !std::fs::read_to_string(&name).is_ok_and(|name| name.trim() == "thalweg") {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it began");
        std::thread::yield_now();
    }
    // The first signal asks, the second ends it; those before it listens are ignored.
    let status = loop {
        Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => std::thread::sleep(std::time::Duration::from_millis(100)),
        }
    };
    assert_eq!(status.code(), Some(130));
}
