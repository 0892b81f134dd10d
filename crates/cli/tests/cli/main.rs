//! The binary as a user runs it.

#[cfg(all(feature = "live", target_os = "linux"))]
mod c_sender;
mod codec;
#[cfg(unix)]
mod contestant;
mod data;
#[cfg(all(feature = "live", target_os = "linux"))]
mod deploy;
#[cfg(all(feature = "live", target_os = "linux"))]
mod documented;
#[cfg(all(feature = "live", target_os = "linux"))]
mod emulate;
mod hunt;
#[path = "../../../../tests/in_real_time.rs"]
mod in_real_time;
mod input;
mod kept;
mod manners;
#[cfg(all(feature = "libvpx", target_os = "linux"))]
mod memory;
mod options;
#[cfg(all(feature = "live", target_os = "linux"))]
mod peers;
mod policy;
#[cfg(feature = "parquet")]
mod quality;
#[cfg(feature = "parquet")]
mod queries;
mod results;
mod scenario;
#[cfg(all(feature = "live", target_os = "linux"))]
mod serving;
mod sweep;
mod traces;
mod tune;
mod undershoot;

use std::path::PathBuf;
use std::process::{Command, Output};

fn thalweg(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_thalweg")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A temporary folder of a test, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("thalweg-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str, content: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn compare_prints_one_json_object_with_the_promised_keys_and_leaves_run_folders_and_a_report() {
    let folder = Folder::new("compare");
    let out = folder.0.display().to_string();
    let arguments =
        ["compare", "--scheme", "gcc,vidaptive", "--trace", "2Mbps", "--size", "320x180", "--duration", "2s", "--json"];
    let done = thalweg(&[&arguments[..], &["--out", &out]].concat());
    assert!(done.status.success(), "{}", text(&done.stderr));
    let printed: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let runs = printed["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    for key in [
        "scheme",
        "trace",
        "video",
        "seed",
        "duration_s",
        "video_bitrate_bps",
        "wire_bitrate_bps",
        "padding_bitrate_bps",
        "utilization",
        "psnr_db",
        "ssim_db",
        "latency_p50_ms",
        "latency_p95_ms",
        "latency_mean_ms",
        "queue_delay_p95_ms",
        "frame_rate_fps",
        "stall_ratio",
        "packet_loss_ratio",
        "qoe_call",
        "qoe_driving",
        "events_fingerprint",
        "speed_x",
    ] {
        assert!(runs[0].get(key).is_some(), "no {key}");
    }
    for file in ["report.html", "gcc/run.toml", "gcc/events.parquet", "vidaptive/summary.json"] {
        assert!(folder.0.join(file).is_file(), "no {file}");
    }
    let report = std::fs::read_to_string(folder.0.join("report.html")).unwrap();
    // The library names its home and SVG its name space; neither is fetched.
    let fetched = ["src=\"http", "href=\"http", "url(http", "@import", "fetch(", "XMLHttpRequest"];
    assert!(fetched.iter().all(|word| !report.contains(word)), "the report fetches something");

    let run = folder.0.join("vidaptive").display().to_string();
    let explained = thalweg(&["explain", &run, "--at", "1s"]);
    assert!(explained.status.success(), "{}", text(&explained.stderr));
    assert!(text(&explained.stdout).contains("alpha") && text(&explained.stdout).contains("encoded at 180p"));
}

#[test]
fn a_second_link_behind_the_first_bears_no_more_than_it_can() {
    let folder = Folder::new("two-links");
    let out = folder.0.display().to_string();
    let rate = |then: &[&str]| {
        let played =
            ["compare", "--scheme", "gcc", "--encoder", "model", "--duration", "10s", "--trace", "1Mbps", "--json"];
        let done = thalweg(&[&played[..], then, &["--out", &out]].concat());
        assert!(done.status.success(), "{}", text(&done.stderr));
        let printed: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        (
            printed["runs"][0]["trace"].as_str().unwrap().to_string(),
            printed["runs"][0]["wire_bitrate_bps"].as_f64().unwrap(),
        )
    };
    let ((alone, all), (both, less)) = (rate(&[]), rate(&["--then", "400kbps"]));
    assert_eq!((alone.as_str(), both.as_str()), ("1Mbps", "1Mbps, 400kbps"));
    assert!(all > 600e3 && (200e3..600e3).contains(&less), "{all} and {less} bit/s");
}

#[test]
fn what_is_wrong_is_said_with_the_value_the_range_and_the_fix() {
    let folder = Folder::new("errors");
    let decreasing = folder.file("bad.trace", "5\n7\n6\n");
    let not_video = folder.file("clip.y4m", "RIFF of something else\n");
    let toml = folder.file("bad.toml", "name = \"x\"\nduration = \"20\"\n");
    let out = folder.0.join("out").display().to_string();
    let quick = ["--duration", "1s", "--size", "320x180", "--out", &out];
    for (arguments, words) in [
        (vec!["compare", "--trace", &decreasing], vec!["line 3", "'6'", "7"]),
        (vec!["compare", "--trace", "2Mbps", "--video", &not_video], vec!["clip.y4m", "yuv4mpegpipe"]),
        (vec!["compare", "--trace", "2Mbps", "--video", "/nowhere/clip.mp4"], vec!["/nowhere/clip.mp4"]),
        (vec!["compare", "--scheme", "rebera", "--codec", "h264"], vec!["temporal layers", "vp8 or vp9"]),
        (vec!["run", &toml], vec!["bad.toml", "'20'", "20ms"]),
    ] {
        let quick = if arguments[0] == "compare" { &quick[..] } else { &[] };
        let done = thalweg(&[&arguments[..], quick].concat());
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{arguments:?}: {said}");
        for word in words {
            assert!(said.contains(word), "{arguments:?} says: {said}");
        }
    }
    for (arguments, word) in
        [(["compare", "--duration", "20"], "20ms or 1.5s"), (["compare", "--size", "720"], "1280x720")]
    {
        let done = thalweg(&arguments);
        assert_eq!(done.status.code(), Some(2));
        assert!(text(&done.stderr).contains(word), "{}", text(&done.stderr));
    }
}

#[test]
fn traces_are_made_converted_and_inspected() {
    let folder = Folder::new("trace");
    let made = folder.0.join("made.trace").display().to_string();
    assert!(thalweg(&["trace", "synthesize", "lte-driving", "--duration", "20s", "--out", &made]).status.success());
    let shown = text(&thalweg(&["trace", "inspect", &made]).stdout);
    assert!(shown.contains("duration          20.0 s") && shown.contains("Mbps"), "{shown}");
    let shown = text(&thalweg(&["trace", "inspect", "poisson:rate=2Mbps", "--duration", "20s"]).stdout);
    assert!(shown.contains("duration          20.0 s"), "{shown}");
    let listed = text(&thalweg(&["trace", "synthesize", "list"]).stdout);
    assert!(["lte-driving", "sprout:start=6Mbps", "intermittent"].iter().all(|name| listed.contains(name)), "{listed}");
    let log = folder.file("log", "0 1.2\n1 6\n");
    let converted = folder.0.join("converted").display().to_string();
    assert!(thalweg(&["trace", "convert", &log, &converted]).status.success());
    assert_eq!(std::fs::read_to_string(converted).unwrap().lines().count(), 600);
}

#[test]
fn schemes_and_completions_are_listed() {
    let schemes = text(&thalweg(&["schemes"]).stdout);
    for name in ["gcc", "copa", "copa+dummy", "copa+dummy+latency", "vidaptive", "vidaptive:rocc"] {
        assert!(schemes.lines().any(|line| line.split_whitespace().next() == Some(name)), "no {name}");
    }
    assert!(text(&thalweg(&["completions", "bash"]).stdout).contains("_thalweg"));
}

fn json(done: &Output) -> serde_json::Value {
    assert!(done.status.success(), "{}", text(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

#[test]
fn a_runs_own_file_plays_it_again_to_the_byte() {
    let folder = Folder::new("again");
    let out = folder.0.display().to_string();
    let common = ["--json", "--out", &out];
    for scheme in ["gcc", "vidaptive:rocc"] {
        let first = ["compare", "--codec", "model", "--scheme", scheme, "--trace", "umts-driving", "--duration", "20s"];
        let first = json(&thalweg(&[&first[..], &common].concat()));
        let file = folder.0.join(scheme.replace(':', "-")).join("run.toml").display().to_string();
        let again = json(&thalweg(&[&["run", &file][..], &common].concat()));
        let [first, again] = [&first, &again].map(|printed| printed["runs"][0]["events_fingerprint"].clone());
        assert!(first.is_string() && first == again, "{scheme}: {first} {again}");
    }
}

#[test]
fn a_model_run_says_that_its_quality_is_modelled() {
    let folder = Folder::new("model");
    let out = folder.0.display().to_string();
    let arguments =
        ["compare", "--codec", "model", "--scheme", "copa", "--trace", "3Mbps", "--duration", "10s", "--json"];
    let printed = json(&thalweg(&[&arguments[..], &["--out", &out]].concat()));
    assert_eq!(printed["runs"][0]["quality"], "modelled");
    let psnr = printed["runs"][0]["psnr_db"].as_f64().unwrap();
    assert!((30.0..50.0).contains(&psnr), "{psnr}");
}

#[test]
fn a_codec_that_is_none_is_refused_with_the_choices() {
    let done = thalweg(&["compare", "--codec", "av2", "--duration", "1s"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(["vp8", "h264", "model"].iter().all(|name| text(&done.stderr).contains(name)), "{}", text(&done.stderr));
}

#[test]
fn a_figure_prints_the_papers_numbers_beside_ours() {
    let folder = Folder::new("figure");
    let out = folder.0.display().to_string();
    // Two links of 3 and 2 Mbps.
    for (name, gap) in [("car.up", 6), ("car.down", 4)] {
        let lines: Vec<String> = (1..=500).map(|line| (line * gap).to_string()).collect();
        folder.file(name, &(lines.join("\n") + "\n"));
    }
    let options = ["--traces", &out, "--codec", "model", "--duration", "10s", "--out", &out];
    let printed = json(&thalweg(&[&["reproduce", "vidaptive-fig7", "--json"][..], &options].concat()));
    assert_eq!(printed["runs"].as_array().unwrap().len(), 8);
    let vidaptive = &printed["schemes"][1];
    assert_eq!(vidaptive["scheme"], "vidaptive");
    assert_eq!(vidaptive["paper"][0]["value"], 1.6);
    assert!(vidaptive["compared"]["video_bitrate_ratio"].as_f64().unwrap() > 0.5);
    let table = thalweg(&[&["reproduce", "vidaptive-fig7"][..], &options].concat());
    let table = text(&table.stdout);
    assert!(["car.down", "mean", "section 5.2, Fig. 7"].iter().all(|word| table.contains(word)), "{table}");

    let step = text(&thalweg(&["reproduce", "vidaptive-fig2", "--codec", "h264", "--size", "320x180"]).stdout);
    assert!(step.contains("lag up s"), "{step}");
}

#[test]
fn a_salsify_figure_says_where_its_links_are_from_and_has_the_papers_points_beside_ours() {
    let folder = Folder::new("salsify");
    let out = folder.0.display().to_string();
    folder.file("0.57mbps-poisson.up", "20\n41\n63\n");
    let options = ["--codec", "model", "--duration", "5s", "--runs", "1", "--out", &out];
    let printed =
        json(&thalweg(&[&["reproduce", "salsify-fig6e", "--json", "--salsify-traces", &out][..], &options].concat()));
    assert!(printed["links"][0]["from"].as_str().unwrap().contains("the authors' own"), "{}", printed["links"]);
    let of = |scheme: &str| printed["runs"].as_array().unwrap().iter().find(|run| run["scheme"] == scheme).unwrap();
    let run = of("salsify:paper@55ms");
    let paper = run["paper"].as_array().unwrap().iter().find(|known| known["key"] == "latency_p95_ms").unwrap();
    assert!(paper["value"] == 429.2 && paper["ours"] == run["latency_p95_ms"], "{paper}");
    assert!(["qoe_call", "qoe_driving", "ssim_p25_db", "keyframes_after_first"].iter().all(|key| run[*key].is_f64()));
    // At 55 ms a picture no more than 18 are shown per second.
    let rate = |scheme: &str| of(scheme)["frame_rate_fps"].as_f64().unwrap();
    assert!(rate("salsify:paper@55ms") < 18.5 && rate("salsify-2c") > 25.0, "{printed}");
    let report = std::fs::read_to_string(folder.0.join("salsify-fig6e/report.html")).unwrap();
    assert!(report.contains("id=\"scatters\"") && report.contains("Skype"));

    let alone = ["reproduce", "salsify-fig6e", "--salsify-traces", "/nowhere"];
    let table = text(&thalweg(&[&alone[..], &options].concat()).stdout);
    let words = ["poisson:rate=570kbps, made here", "WebRTC (VP9-SVC)", "against salsify:paper-1c@55ms"];
    assert!(words.iter().all(|word| table.contains(word)), "{table}");
}

#[test]
fn camels_figures_have_links_of_their_own_and_the_papers_numbers_of_each() {
    let folder = Folder::new("camel");
    let out = folder.0.display().to_string();
    folder.file("4g_trace_walking_50167_a", "0 1.5\n1 2.5\n");
    let options = ["--duration", "8s", "--runs", "1", "--out", &out, "--lumos5g-traces", &out];
    let printed = json(&thalweg(&[&["reproduce", "camel-table1", "--json"][..], &options].concat()));
    let from = |link: usize| printed["links"][link]["from"].as_str().unwrap();
    assert!(from(0).contains("Lumos5G's") && from(1).contains("lte-driving, made here"), "{}", printed["links"]);
    let runs = printed["runs"].as_array().unwrap();
    let camel = runs.iter().find(|run| run["scheme"] == "camel" && run["trace"] == "4G walking 50167").unwrap();
    let paper = camel["paper"].as_array().unwrap();
    let stalls = paper.iter().find(|known| known["key"] == "stall_ratio").unwrap();
    assert!(stalls["value"] == 0.0635 && stalls["ours"] == camel["stall_ratio"], "{stalls}");
    // An encoder limited to 2.1 Mbps, over 1.5 and 2.5 Mbps in turn.
    assert!((0.3e6..2.1e6).contains(&camel["video_bitrate_bps"].as_f64().unwrap()), "{camel}");

    let done = thalweg(&[&["reproduce", "camel-fig10", "--video", "scene:easy"][..], &options].concat());
    let note = "note for camel-fig10: --video scene:easy has no effect: the encoder model";
    let (table, said) = (text(&done.stdout), text(&done.stderr));
    assert_eq!(said.matches(note).count(), 1, "{said}");
    let words = ["98.9%", "accuracy", "read in", "of 5 numbers"];
    assert!(words.iter().all(|word| table.contains(word)), "{table}");
    let report = std::fs::read_to_string(folder.0.join("camel-fig10/report.html")).unwrap();
    assert!(report.contains("estimate of the path") && report.contains("Burst length M"));

    let signals = json(&thalweg(&["reproduce", "camel-fig7", "--json"]));
    let quiet = &signals["runs"][0];
    assert!(quiet["trace"] == "no jitter" && quiet["scheme"] == "gradient", "{signals}");
    assert!(quiet["accuracy"].as_f64().unwrap() > 0.95, "{signals}");
}

#[test]
fn pages_of_figures_are_written_with_an_index_of_verdicts_and_what_was_played_is_not_played_again() {
    let folder = Folder::new("pages");
    let [pages, out] = ["pages", "out"].map(|name| folder.0.join(name).display().to_string());
    let play = |duration: &str| {
        let options = ["--duration", duration, "--runs", "1", "--pages", &pages, "--out", &out];
        let done = thalweg(&[&["reproduce", "camel-fig10", "camel-fig7"][..], &options].concat());
        let read =
            |name: &str| std::fs::read_to_string(folder.0.join("pages").join(name).with_extension("md")).unwrap();
        (text(&done.stderr).to_string(), read("camel"), read("README"))
    };
    let (said, page, index) = play("8s");
    assert!(said.contains("1 of 2: camel-fig7") && said.contains("2 of 2: camel-fig10"), "{said}");
    let words = ["8s a run", "| 60 % | camel<br>", "**Readings**", "| [camel-fig10](#camel-fig10) |", "of 5 numbers"];
    assert!(words.iter().all(|word| page.contains(word)), "{page}");
    assert!(index.contains("(arXiv 2602.09500) | 2 |"), "{index}");
    let again = play("8s");
    assert!(!again.0.contains("1 of 2: ") && (again.1, again.2) == (page, index), "{}", again.0);
    let longer = play("9s");
    assert!(longer.0.contains("2 of 2: camel-fig10") && longer.1.contains("9s a run"), "{}", longer.0);
}

#[test]
fn recordings_by_the_second_are_played_at_the_papers_means_whatever_theirs_are() {
    let folder = Folder::new("seconds");
    let out = folder.0.display().to_string();
    // 12 and 6 Mbps.
    for (name, gap) in [("Verizon-LTE-short.up", 1), ("TMobile-LTE-short.down", 2)] {
        let lines: Vec<String> = (1..=4000).map(|line| (line * gap).to_string()).collect();
        folder.file(name, &(lines.join("\n") + "\n"));
    }
    let options = ["reproduce", "rebera-table3", "--json", "--duration", "20s", "--out", &out, "--traces"];
    let printed = json(&thalweg(&[&options[..], &[&out]].concat()));
    let from = printed["links"][0]["from"].as_str().unwrap();
    assert!(from.contains("388kbps on average and then TMobile") && from.contains("reverse path unlimited"), "{from}");
    let gcc = printed["runs"].as_array().unwrap().iter().find(|run| run["scheme"] == "gcc").unwrap();
    assert!((150e3..388.5e3).contains(&gcc["video_bitrate_bps"].as_f64().unwrap()), "{gcc}");
    let used = gcc["utilization"].as_f64().unwrap();
    assert!((0.4..=1.0).contains(&used), "{used}");
    let done = thalweg(&[&options[..], &["/nowhere"]].concat());
    assert!(
        !done.status.success() && text(&done.stderr).contains("`thalweg data fetch mahimahi`"),
        "{}",
        text(&done.stderr)
    );
}

#[test]
fn a_figure_that_is_none_lists_those_that_are_and_missing_links_say_where_to_get_them() {
    let done = thalweg(&["reproduce", "vidaptive-fig99"]);
    assert!(
        !done.status.success() && text(&done.stderr).contains("did you mean vidaptive-fig"),
        "{}",
        text(&done.stderr)
    );
    let done = thalweg(&["reproduce", "vidaptive-fig7", "--traces", "/nowhere"]);
    assert!(
        !done.status.success() && text(&done.stderr).contains("`thalweg data fetch mahimahi`"),
        "{}",
        text(&done.stderr)
    );
}

#[test]
#[cfg(not(feature = "live"))]
fn commands_that_are_not_in_the_build_say_in_a_sentence_how_to_build_them_in() {
    let commands = [
        &["publish", "clip.y4m", "--rate", "3Mbps/1Mbps@10s"][..],
        &["watch", "--help"],
        &["duel", "gcc", "vidaptive"],
        &["emulate", "--listen", "127.0.0.1:9000"],
        &["shell", "--", "ping"],
        &["blackbox", "--rate", "2Mbps"],
        &["run", concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/step.toml"), "--live"],
    ];
    for command in commands {
        let done = thalweg(command);
        let said = text(&done.stderr);
        assert_eq!((done.status.code(), said.lines().count()), (Some(1), 1), "{command:?}: {said}");
        assert!(said.contains(command[0]) && said.contains("--features live"), "{command:?}: {said}");
    }
}
