//! Tests of `deploy/`, for a publisher that runs as a service.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{text, thalweg};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The names of metrics in a text.
fn metrics(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_lowercase() || c == '_'));
    words.filter(|word| word.starts_with("thalweg_")).collect()
}

#[test]
fn the_dashboard_and_the_alerts_are_of_metrics_that_there_are() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let (documented, dashboard, alerts) =
        (read("docs/live.md"), read("deploy/grafana.json"), read("docs/operation.md"));
    let asked: serde_json::Value = serde_json::from_str(&dashboard).unwrap();
    let panels = asked["panels"].as_array().unwrap();
    assert!(panels.iter().all(|panel| panel["targets"][0]["expr"].is_string()), "each panel asks for something");
    let known = metrics(&documented);
    for name in metrics(&dashboard).union(&metrics(&alerts)) {
        assert!(known.contains(name), "{name} is not in docs/live.md");
    }
    assert!(metrics(&dashboard).len() > 10 && metrics(&alerts).len() > 2);
}

#[test]
fn the_options_in_the_services_file_are_those_of_publish() {
    let file = root().join("deploy/publish.toml").display().to_string();
    let said = |options: &[&str]| {
        let output = thalweg(&[&["publish", "--config", &file], options].concat());
        (output.status.code(), text(&output.stderr))
    };
    // Everything is accepted up to the certificate, which only a server has.
    let (code, errors) = said(&["--listen", "127.0.0.1:0"]);
    assert!(code == Some(1) && errors.contains("/etc/thalweg/certificate.pem"), "{errors}");
    let (code, errors) = said(&["--size", "huge"]);
    assert!(code == Some(2) && errors.contains("huge"), "the command line wins: {errors}");
}

#[test]
fn the_units_commands_are_command_lines_of_publish_and_take_their_pictures_from_where_they_say() {
    let read = |path: PathBuf| fs::read_to_string(path).unwrap();
    let dropins = fs::read_dir(root().join("deploy/thalweg-publish.service.d")).unwrap();
    let files = dropins.map(|file| file.unwrap().path()).chain([root().join("deploy/thalweg-publish.service")]);
    let config = root().join("deploy/publish.toml").display().to_string();
    let mut commands = 0;
    for file in files {
        let unit = read(file.clone());
        let Some(command) = unit.lines().find_map(|line| line.split("/usr/bin/thalweg ").nth(1)) else { continue };
        let command = command.trim_end_matches('\'').replace("/etc/thalweg/publish.toml", &config);
        let words: Vec<&str> = command.split(' ').chain(["--listen", "127.0.0.1:0"]).collect();
        let output = thalweg(&words);
        let reached = if words.contains(&"-") { "standard input" } else { "/etc/thalweg/certificate.pem" };
        let errors = text(&output.stderr);
        assert!(output.status.code() == Some(1) && errors.contains(reached), "{}: {errors}", file.display());
        commands += 1;
    }
    assert_eq!(commands, 4);
}
