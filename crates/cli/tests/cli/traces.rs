//! Files that links are read from, and folders of runs that are read again elsewhere.

use std::fs;
use std::process::{Command, Output};

use crate::{Folder, json, text, thalweg};

/// A second of 3 Mbps, Mahimahi's.
fn three_mbps() -> String {
    (1..=500).map(|line| format!("{}\n", line * 4)).collect()
}

#[test]
fn whole_numbers_that_could_be_two_things_are_refused_and_read_as_what_is_said() {
    let folder = Folder::new("ambiguous");
    let rates = folder.file("rates.txt", "2\n3\n4\n");
    let mean = |name: &str| {
        let done = thalweg(&["trace", "inspect", "--json", name]);
        (done.status.code(), text(&done.stderr), serde_json::from_slice::<serde_json::Value>(&done.stdout).ok())
    };
    let (code, error, _) = mean(&rates);
    assert_eq!(code, Some(1));
    let words = ["rates.txt", "9.000 Mbps", "3.000 Mbps", ":format=mahimahi", ":format=seconds"];
    assert!(words.iter().all(|word| error.contains(word)), "{error}");
    for (options, wanted) in
        [("format=seconds", 3_000_000), ("format=seconds,unit=Gbps", 3_000_000_000), ("format=mahimahi", 9_000_000)]
    {
        let (_, error, shown) = mean(&format!("{rates}:{options}"));
        let shown = shown.unwrap_or_else(|| panic!("{error}"));
        let mean = shown["mean_bps"].as_u64().unwrap();
        // One opportunity may be added to end the trace.
        assert!(mean.abs_diff(wanted) <= 8000, "{options}: {mean}");
    }
    let (_, error, _) = mean(&format!("{rates}:format=seconds,unit=bps"));
    assert!(error.contains("do not carry one packet"), "{error}");
    let refused = thalweg(&["compare", "--trace", &rates, "--out", &folder.0.join("out").display().to_string()]);
    assert!(text(&refused.stderr).contains(":format=mahimahi"), "{}", text(&refused.stderr));
}

#[test]
fn a_link_is_inspected_as_a_line_of_its_rate_and_as_json() {
    let folder = Folder::new("inspect");
    let log = folder.file(
        "5g.csv",
        "Timestamp,NetworkMode,DL_bitrate,UL_bitrate\n2019.12.16_13.40.04,5G,8000,100\n\
                                     2019.12.16_13.40.05,5G,0,200\n2019.12.16_13.40.06,5G,4000,300\n",
    );
    let refused = thalweg(&["trace", "inspect", &log]);
    assert!(text(&refused.stderr).contains(":column=DL_bitrate"), "{}", text(&refused.stderr));
    let down = format!("{log}:column=DL_bitrate");
    let shown = text(&thalweg(&["trace", "inspect", &down]).stdout);
    for words in ["read as           comma-separated values", "column 'DL_bitrate' in kbps", "duration          3.0 s"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let line = shown.lines().last().unwrap();
    assert!(
        line.starts_with('█') && line.ends_with('▄') && line.contains("  ") && line.chars().count() <= 80,
        "{line}"
    );
    let shown = json(&thalweg(&["trace", "inspect", &down, "--json"]));
    assert_eq!(shown["rates_bps"].as_array().unwrap().len(), 3);
    assert_eq!((&shown["rates_bps"][1], shown["delay_ms"].is_null()), (&0.into(), true));
    let documented = include_str!("../../../../docs/traces.md");
    let keys = shown.as_object().unwrap().keys().chain(shown["per_second_bps"].as_object().unwrap().keys());
    keys.for_each(|key| assert!(documented.contains(&format!("`{key}`")), "{key} is not in docs/traces.md"));
}

#[test]
fn a_link_is_written_in_each_format_and_read_again_the_same() {
    let folder = Folder::new("formats");
    let path = |name: &str| folder.0.join(name).display().to_string();
    let log = folder.file("log", "0 1.2\n1 6\n2 0.6\n");
    for (to, arguments, first) in [
        ("link.trace", &[][..], "10"),
        ("link.csv", &[], "time_s,rate_mbps"),
        ("link.log", &["--as", "seconds"], "0 1.2"),
        ("other.csv", &["--as", "mahimahi"], "10"),
    ] {
        let done = thalweg(&[&["trace", "convert", &log, &path(to)], arguments].concat());
        assert!(done.status.success(), "{}", text(&done.stderr));
        assert_eq!(fs::read_to_string(path(to)).unwrap().lines().next(), Some(first), "{to}");
        let opportunities = |name: &str| json(&thalweg(&["trace", "inspect", name, "--json"]))["opportunities"].clone();
        assert_eq!(opportunities(&path(to)), opportunities(&log), "{to}");
    }
    // A link of a few milliseconds is written as often as it takes to be distinguished from rates.
    assert!(thalweg(&["trace", "convert", "12Mbps", &path("constant.trace")]).status.success());
    let constant = json(&thalweg(&["trace", "inspect", &path("constant.trace"), "--json"]));
    assert_eq!((&constant["mean_bps"], &constant["duration_s"]), (&12_000_000.into(), &1.024.into()));
    let slow = thalweg(&["trace", "convert", "10kbps", &path("slow.trace")]);
    assert!(text(&slow.stderr).contains("slow.trace:format=mahimahi"), "{}", text(&slow.stderr));
    let made = thalweg(&["trace", "convert", "2Mbps/1Mbps@1s", &path("made.csv")]);
    assert!(made.status.success() && fs::read_to_string(path("made.csv")).unwrap().ends_with("1,1.008\n"));
}

#[test]
fn a_trace_is_never_converted_into_itself_nor_over_a_file_without_force_and_what_was_written_is_said() {
    let folder = Folder::new("convert-safely");
    let path = |name: &str| folder.0.join(name).display().to_string();
    let content = "0 1.2\n1 6\n2 0.6\n";
    let log = folder.file("log", content);
    fs::create_dir_all(folder.0.join("sub")).unwrap();
    fs::hard_link(&log, path("hard")).unwrap();
    std::os::unix::fs::symlink(&log, path("soft")).unwrap();
    for (from, to) in
        [("log", "log"), ("log:unit=kbps@0s-2s", "sub/../log"), ("log", "hard"), ("soft", "log"), ("log", "soft")]
    {
        let refused = thalweg(&["trace", "convert", &path(from), &path(to), "--force"]);
        let error = text(&refused.stderr);
        assert!(refused.status.code() == Some(1) && error.contains("is the file that is read"), "{from} {to}: {error}");
    }
    assert_eq!(fs::read_to_string(&log).unwrap(), content);
    let convert = |more: &[&str]| thalweg(&[&["trace", "convert", &log, &path("link.csv")], more].concat());
    let said = text(&convert(&[]).stderr);
    // 7.8 Mbit in 3 s.
    assert!(said.contains("link.csv: comma-separated values, 3.0 s at 2.600 Mbps"), "{said}");
    let written = fs::read_to_string(path("link.csv")).unwrap();
    let refused = convert(&["--as", "mahimahi"]);
    assert!(refused.status.code() == Some(1) && text(&refused.stderr).contains("--force"), "{}", text(&refused.stderr));
    assert_eq!(fs::read_to_string(path("link.csv")).unwrap(), written);
    let said = text(&convert(&["--as", "mahimahi", "--force"]).stderr);
    assert!(
        said.contains("Mahimahi's times") && fs::read_to_string(path("link.csv")).unwrap().starts_with("10\n"),
        "{said}"
    );
    let synthesize = |more: &[&str]| {
        let fixed = ["trace", "synthesize", "lte-driving", "--duration", "2s", "-o"];
        thalweg(&[&fixed[..], &[&path("made.trace")], more].concat())
    };
    assert!(text(&synthesize(&[]).stderr).contains("wrote"));
    assert_eq!((synthesize(&[]).status.code(), synthesize(&["--force"]).status.code()), (Some(1), Some(0)));
    // Rates that could be kbps when they are read are said to need their unit.
    let fast = text(&thalweg(&["trace", "convert", "2Gbps/1Gbps@1s", &path("fast.log"), "--as", "seconds"]).stderr);
    assert!(fast.contains("fast.log:unit=Mbps"), "{fast}");
}

#[test]
fn a_part_of_a_file_is_played_wherever_its_name_is_and_a_run_of_it_is_repeated() {
    let folder = Folder::new("cut");
    // 1, 2, 3, 4 Mbps for 2 s each.
    folder.file("log.txt", "2 1\n4 2\n6 3\n8 4\n");
    let inspect = |name: &str| elsewhere(&folder, &["trace", "inspect", "--json", name]);
    let shown = json(&inspect("log.txt@3s-7s"));
    assert_eq!((&shown["duration_s"], &shown["format"]), (&4.0.into(), &"times and rates in columns".into()));
    // 1 s of 2, 2 s of 3 and 1 s of 4 Mbps are 12 Mbit in 4 s.
    let mean = shown["mean_bps"].as_u64().unwrap();
    assert!((2_994_000..=3_003_000).contains(&mean), "{mean}");
    for (name, words) in [
        ("log.txt@9s-", "@9s-: it lasts 8s"),
        ("log.txt@3s-9s", "@3s- goes to its end"),
        ("log.txt@3-9", "'3'"),
        ("gone.txt@3s-9s", "there is no file 'gone.txt'"),
    ] {
        let error = text(&inspect(name).stderr);
        assert!(error.contains(words), "{name}: {error}");
    }
    // 120 million packets; a part of it has 100 thousand.
    folder.file("fast.csv", "time_s,rate_mbps\n0,1200\n600,1200\n");
    let error = text(&inspect("fast.csv").stderr);
    assert!(error.contains("120.0 million packets") && error.contains("FILE@0s-1000s"), "{error}");
    assert_eq!(json(&inspect("fast.csv@10s-11s"))["opportunities"], 100_000);
    let step = include_str!("../../../../examples/step.toml").replace("120s", "2s");
    let late = "[[changes]]\nat = '40s'\nwhat = { link = { name = 'forward', rate = '1Mbps' } }\n";
    folder.file("cut.toml", &(step.replace("2Mbps/500kbps@40s", "log.txt:hold=before@3s-7s") + late));
    let played =
        elsewhere(&folder, &["run", "cut.toml", "--scheme", "gcc", "--encoder", "model", "--json", "--out", "out"]);
    let said = text(&played.stderr);
    assert!(said.contains("changes.at 40s has no effect: the run ends at 2s"), "{said}");
    let first = json(&played);
    fs::remove_file(folder.0.join("log.txt")).unwrap();
    let again = json(&elsewhere(&folder, &["run", "out/gcc/run.toml", "--json", "--out", "again"]));
    assert_eq!(again["runs"][0]["events_fingerprint"], first["runs"][0]["events_fingerprint"]);
    // As --rate takes them.
    let turns = elsewhere(&folder, &["trace", "inspect", "--json", "300kbps@2s/1Mbps", "--duration", "10s"]);
    assert_eq!(json(&turns)["duration_s"], 10.0);
}

#[test]
fn rates_by_the_second_with_an_empty_last_line_and_json_are_read_and_refused_for_what_they_are() {
    let folder = Folder::new("trailing");
    let rates = folder.file("trailing.txt", "0 1.5\n1 2.5\n\n");
    assert_eq!(json(&thalweg(&["trace", "inspect", "--json", &rates]))["duration_s"], 2.0);
    let steps =
        folder.file("steps.json", "{\n \"uplink\": {\"trace_pattern\": [{\"duration\": 200, \"capacity\": 300}]}\n}\n");
    let error =
        text(&thalweg(&["compare", "--trace", &steps, "--out", &folder.0.join("out").display().to_string()]).stderr);
    assert!(error.contains("steps.json: JSON: not read as a link") && error.contains("time_s,rate_mbps"), "{error}");
}

/// Runs in another folder.
fn elsewhere(folder: &Folder, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_thalweg")).args(arguments).current_dir(&folder.0).output().unwrap()
}

#[test]
fn a_run_folder_plays_the_same_from_anywhere_and_refuses_what_was_changed() {
    let folder = Folder::new("self-contained");
    fs::create_dir_all(folder.0.join("sp ace")).unwrap();
    folder.file("sp ace/up.csv", "time_s,a_mbps,b_mbps\n0,1,2\n1,2,3\n2,1.5,4\n");
    folder.file("sp ace/back.trace", &three_mbps());
    folder.file("etr.txt", "0.8\n0.9\n");
    folder.file(
        "clip.y4m",
        &String::from_utf8(vec![b' '; 64 * 48 * 3 / 2])
            .map(|picture| {
                (0..20).fold("YUV4MPEG2 W64 H48 F30:1 Ip A1:1 C420\n".to_string(), |clip, number| {
                    clip + "FRAME\n" + &picture.replace(' ', if number % 2 == 0 { " " } else { "~" })
                })
            })
            .unwrap(),
    );
    let arguments = [
        "compare",
        "--scheme",
        "gcc",
        "--trace",
        "sp ace/up.csv:column=b_mbps",
        "--reverse",
        "sp ace/back.trace",
        "--video",
        "clip.y4m",
        "--encoder",
        "functional",
        "--undershoot",
        "etr.txt",
        "--duration",
        "2s",
        "--json",
        "--out",
        "out",
    ];
    let first = json(&elsewhere(&folder, &arguments));
    let run: toml::Table = toml::from_str(&fs::read_to_string(folder.0.join("out/gcc/run.toml")).unwrap()).unwrap();
    assert_eq!(run["version"].as_str(), Some(env!("CARGO_PKG_VERSION")));
    assert_eq!(run["inputs"].as_array().unwrap().len(), 4);
    // Moved, with its traces gone; the video stays where it was.
    let other = Folder::new("self-contained-moved");
    fs::rename(folder.0.join("out/gcc"), other.0.join("moved")).unwrap();
    fs::remove_dir_all(folder.0.join("sp ace")).unwrap();
    fs::remove_file(folder.0.join("etr.txt")).unwrap();
    let again =
        |more: &[&str]| elsewhere(&other, &[&["run", "moved/run.toml", "--json", "--out", "again"], more].concat());
    let second = json(&again(&[]));
    let fingerprint = |printed: &serde_json::Value| printed["runs"][0]["events_fingerprint"].to_string();
    assert_eq!(fingerprint(&second), fingerprint(&first));
    assert!(elsewhere(&other, &["explain", "again/gcc", "--at", "1s"]).status.success(), "a run of a run is whole too");
    // A run goes on where its files are as they were.
    let resumed = again(&["--resume"]);
    assert_eq!(fingerprint(&json(&resumed)), fingerprint(&first));
    assert!(!text(&resumed.stderr).contains("done in"), "{}", text(&resumed.stderr));

    let clip = folder.0.join("clip.y4m");
    let mut bytes = fs::read(&clip).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&clip, bytes).unwrap();
    let refused = again(&[]);
    let error = text(&refused.stderr);
    let was =
        run["inputs"].as_array().unwrap().iter().find(|input| input["name"].as_str() == Some("clip.y4m")).unwrap();
    let hashes = error.split(|letter: char| !letter.is_ascii_hexdigit()).filter(|word| word.len() == 64).count();
    assert_eq!((refused.status.code(), hashes), (Some(1), 2), "{error}");
    assert!(error.contains("clip.y4m") && error.contains(was["sha256"].as_str().unwrap()), "{error}");
    assert!(again(&["--video", "scene"]).status.success(), "another video is no changed one");
    let mut copies = fs::read_dir(other.0.join("moved/inputs")).unwrap().map(|entry| entry.unwrap().path());
    let copy = copies.find(|path| path.to_string_lossy().ends_with("-up.csv")).unwrap();
    fs::write(&copy, "time_s,a_mbps,b_mbps\n0,9,9\n").unwrap();
    let error = text(&again(&["--video", "scene"]).stderr);
    assert!(error.contains("-up.csv") && error.contains("SHA-256"), "{error}");
    fs::remove_file(&copy).unwrap();
    let error = text(&again(&["--video", "scene"]).stderr);
    assert!(error.contains("-up.csv") && error.contains("no such file"), "{error}");
}

#[test]
fn a_run_with_a_trace_file_is_repeated_into_its_own_folder_and_quiet_says_nothing_of_how_the_file_was_read() {
    let folder = Folder::new("in-place");
    folder.file("up.csv", "time_s,a_mbps,b_mbps\n0,1,2\n1,2,3\n");
    let short = ["--encoder", "model", "--duration", "2s", "--json", "--quiet"];
    let first = ["compare", "--scheme", "gcc", "--trace", "up.csv:column=b_mbps"];
    let first = elsewhere(&folder, &[&first[..], &short].concat());
    assert_eq!(text(&first.stderr), "");
    fs::remove_file(folder.0.join("up.csv")).unwrap();
    for _ in 0..2 {
        let again = json(&elsewhere(&folder, &["run", "out/gcc/run.toml", "--json"]));
        assert_eq!(again["runs"][0]["events_fingerprint"], json(&first)["runs"][0]["events_fingerprint"]);
    }
}

#[test]
fn a_run_folder_from_before_files_were_listed_is_still_played() {
    let folder = Folder::new("old-run");
    let arguments =
        ["compare", "--scheme", "gcc", "--trace", "up.trace", "--encoder", "model", "--duration", "2s", "--json"];
    folder.file("up.trace", &three_mbps());
    let first = json(&elsewhere(&folder, &arguments));
    let path = folder.0.join("out/gcc/run.toml");
    let run = fs::read_to_string(&path).unwrap();
    let (begin, rest) = (run.find("[[inputs]]").unwrap(), run.find("[scenario]").unwrap());
    fs::write(&path, format!("{}{}", &run[..begin], &run[rest..])).unwrap();
    let again = json(&elsewhere(&folder, &["run", "out/gcc/run.toml", "--json", "--out", "again"]));
    assert_eq!(again["runs"][0]["events_fingerprint"], first["runs"][0]["events_fingerprint"]);
}

#[test]
fn a_clip_shorter_than_its_run_is_said_to_begin_again_and_the_size_of_the_scene_is_in_the_summary() {
    let folder = Folder::new("again-and-again");
    fs::write(folder.0.join("clip.y4m"), crate::input::clip()).unwrap();
    let play = |more: &[&str]| {
        let fixed = ["compare", "--scheme", "gcc", "--trace", "1Mbps"];
        let usual = if more.contains(&"--duration") { &[][..] } else { &["--duration", "1s"] };
        elsewhere(&folder, &[&fixed[..], usual, more].concat())
    };
    let played = play(&["--video", "clip.y4m", "--encoder", "functional"]);
    let said = text(&played.stderr);
    assert!(said.contains("clip.y4m: it lasts 0.3 s of 1.0 s, and begins again"), "{said}");
    let table = text(&played.stdout);
    assert!(table.contains("clip.y4m lasts 0.3 s: it was played again and again"), "{table}");
    let short = json(&play(&["--video", "clip.y4m", "--encoder", "functional", "--duration", "300ms", "--json"]));
    assert!(short["runs"][0]["video_turns_after_s"].is_null(), "{short}");
    let scene = json(&play(&["--encoder", "model", "--size", "360p", "--json"]));
    assert_eq!(scene["runs"][0]["video_size"], "640x360");
    let scene = json(&play(&["--encoder", "model", "--json"]));
    assert_eq!(scene["runs"][0]["video_size"], "1280x720");
}
