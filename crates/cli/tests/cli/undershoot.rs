//! `--undershoot`, and the same in a scenario file.

use super::{Folder, json, text, thalweg};

#[test]
fn a_scenario_of_the_examples_undershoots_until_the_command_line_says_otherwise() {
    let folder = Folder::new("undershoot");
    let example =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/undershoot.toml")).unwrap();
    assert!(
        example.contains("undershoot = \"0.6@30s-60s\"") && example.contains("[codec.vp8]\nrate_buffer"),
        "{example}"
    );
    // The same with the model and for 12 s, all of it below the target.
    let quick = example
        .replace("\"0.6@30s-60s\"", "\"0.5\"")
        .replace("90s", "12s")
        .replace("[codec.vp8]\nrate_buffer = \"webrtc\"", "[codec.model]");
    let file = folder.file("quick.toml", &quick);
    let out = folder.0.join("out").display().to_string();
    let played = |more: &[&str]| {
        let common = ["run", &file, "--scheme", "vidaptive", "--json", "--out", &out];
        json(&thalweg(&[&common[..], more].concat()))["runs"][0]["video_bitrate_bps"].as_f64().unwrap()
    };
    let (own, none) = (played(&[]), played(&["--undershoot", "none"]));
    assert!((0.35..0.75).contains(&(own / none)), "{own} of {none}");
    let kept = std::fs::read_to_string(folder.0.join("out/vidaptive/run.toml")).unwrap();
    assert!(!kept.contains("undershoot ="), "{kept}");
    played(&["--undershoot", "ios"]);
    let kept = std::fs::read_to_string(folder.0.join("out/vidaptive/run.toml")).unwrap();
    assert!(kept.contains("undershoot = \"ios\""), "{kept}");
}

#[test]
fn an_undershoot_that_cannot_be_is_said_with_the_value_and_what_can() {
    let folder = Folder::new("undershoot-errors");
    let bad = folder.file("etr.txt", "0 0.8\n12 1.4\n");
    let out = folder.0.join("out").display().to_string();
    let compare = |undershoot: &str| {
        let quick = ["--encoder", "model", "--scheme", "copa", "--trace", "2Mbps", "--duration", "1s", "--out", &out];
        let done = thalweg(&[&["compare", "--undershoot", undershoot][..], &quick].concat());
        (done.status.code(), text(&done.stderr))
    };
    for (undershoot, code, words) in [
        ("iso", 2, ["'iso'", "ios"]),
        ("1.5", 2, ["1.5", "0.01 to 1"]),
        ("/nowhere/etr", 1, ["/nowhere/etr", "0.6@30s-60s"]),
        (&bad, 1, ["line 2", "1.4"]),
    ] {
        let (status, said) = compare(undershoot);
        assert_eq!(status, Some(code), "{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
}
