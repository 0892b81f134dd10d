//! `thalweg scenario`.

use crate::{Folder, text, thalweg};

#[test]
fn a_scenario_that_can_be_played_passes_and_says_what_it_is() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cubic.toml");
    let done = thalweg(&["scenario", "check", example]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(text(&done.stdout), "cubic: 80s, 2 hops forth and 1 back, 3 competitors: OK\n");
}

#[test]
fn what_cannot_be_played_is_refused_with_the_file_and_the_reason() {
    let folder = Folder::new("scenario-check");
    let example = include_str!("../../../../examples/cubic.toml");
    for (from, to, reason) in [
        ("seed = 1", "sed = 1", "unknown field `sed`"),
        ("3Mbps", "nowhere", "'nowhere'"),
        ("100kB\" } }", "0B\" } }", "queue"),
    ] {
        let changed = example.replacen(from, to, 1);
        assert_ne!(changed, example, "{from}");
        let file = folder.file("changed.toml", &changed);
        let done = thalweg(&["scenario", "check", &file]);
        let error = text(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{to}: {error}");
        assert!(error.contains("changed.toml") && error.contains(reason), "{to}: {error}");
    }
}

#[test]
fn the_schema_is_one_json_object() {
    let done = thalweg(&["scenario", "schema"]);
    let schema: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(schema["$ref"], "#/$defs/Scenario");
}
