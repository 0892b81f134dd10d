//! How the program speaks: its help, its manual, its exit codes, and what it says to values that are none.

#[cfg(all(feature = "live", target_os = "linux"))]
use std::process::Command;

use crate::{Folder, json, text, thalweg};

fn fingerprints(printed: &serde_json::Value) -> Vec<String> {
    printed["runs"].as_array().unwrap().iter().map(|run| run["events_fingerprint"].to_string()).collect()
}

#[cfg(all(feature = "live", target_os = "linux"))]
#[test]
fn every_command_has_a_manual_page_that_groff_reads_without_a_warning() {
    let folder = Folder::new("manual");
    let out = folder.0.display().to_string();
    assert!(thalweg(&["man", &out]).status.success());
    let listed = text(&thalweg(&["--help"]).stdout);
    let commands = listed.lines().take_while(|line| *line != "Options:").filter(|line| line.starts_with("  "));
    let names: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() > 10, "{listed}");
    for name in names.into_iter().filter(|name| *name != "help") {
        let page = folder.0.join(format!("thalweg-{name}.1"));
        let page = std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(page.contains(".SH SYNOPSIS") && page.contains("Examples:"), "{page}");
    }
    let pages = std::fs::read_dir(&folder.0).unwrap().map(|file| file.unwrap().path());
    match Command::new("groff").args(["-man", "-ww", "-Tutf8"]).args(pages).output() {
        Ok(done) => assert!(done.status.success() && done.stderr.is_empty(), "{}", text(&done.stderr)),
        Err(error) => println!("not read by groff, which is not here: {error}"),
    }
}

#[test]
fn a_value_out_of_range_is_refused_with_itself_and_the_range_negative_ones_too() {
    for (arguments, words) in [
        (&["compare", "--duration", "-5s"][..], &["-5s", "at most a week"][..]),
        (&["compare", "--seed", "-1"], &["'-1'", "1..10"]),
        (&["compare", "--loss", "-1"], &["'-1'", "0 to 1"]),
        (&["compare", "--loss", "150%"], &["'150%'", "0 to 1"]),
        (&["compare", "--delay", "1000000s"], &["1000000s", "0 to 60s"]),
        (&["compare", "--jitter", "-1ms"], &["'--jitter <JITTER>': -1ms is out of range: from 0 to 60s, as in 25ms"]),
        (&["compare", "--rate", "0Mbps"], &["rate is 0bps, must be above 0bps"]),
        (&["compare", "--rate", "-2Mbps"], &["'-2Mbps'", "1Mbps"]),
        (&["compare", "--queue", "-5kB"], &["'-5kB'", "100ms"]),
        (&["compare", "--frame-rate", "-30"], &["'-30'", "1 to 240", "30000/1001"]),
        (&["compare", "--jobs", "0"], &["1..=1024"]),
        (&["reproduce", "camel-fig10", "--seed", "-1"], &["'-1'", "whole number"]),
        (&["trace", "inspect", "lte-driving", "--duration", "-5s"], &["-5s", "at most a week"]),
        (&["explain", "out", "--at", "-1s"], &["-1s", "from 0"]),
        (&["codec", "encode", "scene", "--out", "x.ivf", "--rate", "0"], &["above 0", "1Mbps"]),
    ] {
        let done = thalweg(arguments);
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
    }
}

#[test]
fn loss_jitter_and_queue_management_are_in_the_run_and_quiet_prints_nothing_but_the_result() {
    let folder = Folder::new("link-options");
    let out = folder.0.display().to_string();
    let fixed = ["compare", "--encoder", "model", "--scheme", "gcc", "--rate", "2Mbps", "--duration", "10s"];
    let rest = ["--json", "--quiet", "--out", &out];
    let run = |options: &[&str]| {
        let done = thalweg(&[&fixed[..], options, &rest].concat());
        assert_eq!(text(&done.stderr), "");
        json(&done)["runs"][0].clone()
    };
    let plain = run(&[]);
    let bad = run(&["--loss", "10%", "--jitter", "20ms", "--aqm", "codel"]);
    let (no_loss, loss) = (plain["packet_loss_ratio"].as_f64().unwrap(), bad["packet_loss_ratio"].as_f64().unwrap());
    assert!(no_loss == 0.0 && (0.08..0.14).contains(&loss), "{no_loss} and {loss}");
    let scenario = std::fs::read_to_string(folder.0.join("gcc/run.toml")).unwrap();
    for part in ["probability = 0.1", "jitter.uniform]\nmax = \"20ms\"", "queue.codel]\ntarget = \"5ms\""] {
        assert!(scenario.contains(part), "no {part} in {scenario}");
    }
    let endless = thalweg(&[&fixed[..], &["--aqm", "drop-head"], &rest].concat());
    assert!(text(&endless.stderr).contains("give its length by --queue"), "{}", text(&endless.stderr));
}

#[test]
fn a_parameter_that_is_set_changes_its_scheme_alone_and_stays_in_its_file() {
    let folder = Folder::new("set");
    let out = folder.0.display().to_string();
    let fixed = ["compare", "--encoder", "model", "--scheme", "gcc,copa", "--duration", "5s", "--json", "--out", &out];
    let run = |options: &[&str]| fingerprints(&json(&thalweg(&[&fixed[..], options].concat())));
    let (plain, set) = (run(&["--jobs", "1"]), run(&["--set", "scheme.controller.copa.delta=0.2"]));
    assert!(plain[0] == set[0] && plain[1] != set[1], "{plain:?} {set:?}");
    let file = folder.0.join("copa/run.toml").display().to_string();
    let again = json(&thalweg(&["run", &file, "--json", "--out", &out]));
    assert_eq!(fingerprints(&again), set[1..]);
    let done = thalweg(&[&fixed[..], &["--set", "scheme.controller.copa.detla=0.2"]].concat());
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains("did you mean scheme.controller.copa.delta"), "{said}");
}

#[test]
fn a_camera_of_29_97_fps_keeps_its_rate_from_the_file_to_the_last_picture() {
    let folder = Folder::new("ntsc");
    let out = folder.0.display().to_string();
    let mut clip = b"YUV4MPEG2 W64 H48 F30000:1001 Ip A1:1 C420\n".to_vec();
    for picture in 0..4u8 {
        clip.extend_from_slice(b"FRAME\n");
        clip.extend(std::iter::repeat_n(40 * picture, 64 * 48 * 3 / 2));
    }
    let path = folder.0.join("clip.y4m");
    std::fs::write(&path, clip).unwrap();
    let path = path.display().to_string();
    let source = format!("scenario.video.source={path}");
    for options in [&["--frame-rate", "29.97"][..], &["--set", &source], &["--video", &path, "--encoder", "functional"]]
    {
        let fixed = ["compare", "--encoder", "model", "--scheme", "gcc", "--rate", "2Mbps", "--duration", "10010ms"];
        let fixed = if options.contains(&"--encoder") { [&fixed[..1], &fixed[3..]].concat() } else { fixed.to_vec() };
        let first = json(&thalweg(&[&fixed[..], options, &["--json", "--out", &out]].concat()));
        let outcome = std::fs::read_to_string(folder.0.join("gcc/outcome.json")).unwrap();
        let outcome: serde_json::Value = serde_json::from_str(&outcome).unwrap();
        let times: Vec<f64> =
            outcome["frames"].as_array().unwrap().iter().map(|frame| frame["captured_s"].as_f64().unwrap()).collect();
        // 10.01 s of 30000/1001 fps are 300 pictures; of 30 fps, 301.
        assert_eq!(times.len(), 300, "{options:?}");
        assert!((times[299] - 299.0 * 1.001 / 30.0).abs() < 1e-8, "{options:?}: {}", times[299]);
        let rate = first["runs"][0]["frame_rate_fps"].as_f64().unwrap();
        assert!((29.0..29.98).contains(&rate), "{options:?}: {rate}");
        let file = folder.0.join("gcc/run.toml").display().to_string();
        let again = json(&thalweg(&["run", &file, "--json", "--out", &out]));
        assert_eq!(fingerprints(&again), fingerprints(&first), "{options:?}");
    }
    let run = |rate: &str| {
        let fixed = ["compare", "--encoder", "model", "--scheme", "gcc", "--duration", "1s", "--out", &out];
        assert!(thalweg(&[&fixed[..], &["--frame-rate", rate]].concat()).status.success());
        std::fs::read_to_string(folder.0.join("gcc/run.toml")).unwrap()
    };
    assert!(run("30").contains("\nframe_rate = 30\n"));
    assert!(run("29.97").contains("\nframe_rate = \"30000/1001\"\n"));
}

#[test]
fn a_figures_report_has_its_name_as_heading_and_folders_that_need_no_quotes() {
    let folder = Folder::new("headings");
    let out = folder.0.display().to_string();
    let options = ["--duration", "8s", "--runs", "1", "--quiet", "--jobs", "1", "--out", &out];
    let done = thalweg(&[&["reproduce", "camel-fig10"][..], &options].concat());
    assert_eq!(text(&done.stderr), "");
    let report = std::fs::read_to_string(folder.0.join("camel-fig10/report.html")).unwrap();
    assert!(report.contains("<h1>camel-fig10</h1>"), "{}", &report[..report.find("<table").unwrap_or(2000)]);
    assert!(folder.0.join("camel-fig10/60-percent/camel/run.toml").is_file());
}

#[cfg(all(feature = "live", target_os = "linux"))]
mod live {
    use super::*;

    #[test]
    fn a_whip_server_that_was_never_reached_is_a_failure_that_names_it() {
        // A port that nothing listens to: it was free a moment ago.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let url = format!("http://127.0.0.1:{port}/whip");
        let fixed =
            ["publish", "--size", "160x96", "--encoder", "model", "--listen", "0", "--duration", "1s", "--whip"];
        let done = thalweg(&[&fixed[..], &[&url]].concat());
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{said}");
        assert!(said.lines().last().unwrap().contains("WHIP") && said.contains(&url), "{said}");
    }

    #[test]
    fn a_limit_that_leaves_nothing_and_a_picture_that_no_codec_has_are_wrong_arguments() {
        for (arguments, words) in [
            (&["publish", "--max-rate", "0"][..], "0bps is too little for a viewer, must be at least 100kbps"),
            (&["relay", "--max-total-rate", "99kbps"], "99kbps is too little for a viewer"),
            (&["publish", "--size", "16383x16383"], "has 268.4 million pixels, must have at most 35.7"),
            (&["receive", "--late", "0"], "above 0"),
            (&["watch", "http://localhost:1", "--late", "0ms"], "above 0"),
            (&["blackbox", "--max-rate", "0"], "above 0"),
        ] {
            let done = thalweg(arguments);
            let said = text(&done.stderr);
            assert!(done.status.code() == Some(2) && said.contains(words), "{arguments:?}: {said}");
        }
    }

    #[test]
    fn a_command_that_is_none_ends_a_shell_with_the_code_of_shells() {
        let folder = Folder::new("not-run");
        let plain = folder.file("plain", "");
        for (command, code) in [("no-such-command-at-all", 127), (plain.as_str(), 126)] {
            let done = thalweg(&["shell", "--rate", "2Mbps", "--", command]);
            let said = text(&done.stderr);
            if done.status.code() == Some(1) {
                assert!(["sudo", "/dev/net/tun", "namespace"].iter().any(|word| said.contains(word)), "{said}");
                println!("skipped: needs root, network namespaces and /dev/net/tun");
                return;
            }
            assert_eq!(done.status.code(), Some(code), "{said}");
            assert!(said.contains(&format!("cannot run '{command}'")), "{said}");
        }
    }

    #[test]
    fn a_port_alone_listens_on_this_machine() {
        let done = thalweg(&["emulate", "--listen", "0", "--to", "5004", "--duration", "50ms"]);
        let said = text(&done.stderr);
        assert!(said.contains("from 127.0.0.1:") && said.contains("to 127.0.0.1:5004"), "{said}");
    }
}
