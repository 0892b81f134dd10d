//! Results that cannot be written while peers go on.

use std::process::{Command, Output};

use crate::serving::Serving;
use crate::{Folder, text, thalweg};

fn interrupted(mut serving: Serving) -> Output {
    let child = serving.0.take().unwrap();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    child.wait_with_output().unwrap()
}

#[test]
fn results_of_a_sender_on_a_full_disk_are_said_to_be_missing_and_others_go_on() {
    let folder = Folder::new("receive-full");
    let first = folder.0.join("sender-1");
    std::fs::create_dir(&first).unwrap();
    // A file has this name until it is whole.
    std::os::unix::fs::symlink("/dev/full", first.join("run.toml.unfinished")).unwrap();
    let receiver = Serving::start(&["receive", "--no-decode", "--out", &folder.0.display().to_string()]);
    let whip = format!("http://{}/whip", receiver.1);
    for _ in 0..2 {
        let sender = ["publish", "--size", "160x96", "--encoder", "model", "--listen", "127.0.0.1:0"];
        let sent = thalweg(&[&sender[..], &["--duration", "2s", "--whip", &whip]].concat());
        assert!(sent.status.success(), "{}", text(&sent.stderr));
    }
    let done = interrupted(receiver);
    let said = text(&done.stderr);
    let warned = said.lines().find(|line| line.starts_with("warning: the results of sender-1: ")).unwrap_or(&said);
    assert!(warned.contains("run.toml: No space left on device"), "{said}");
    let last = said.lines().last().unwrap_or_default();
    assert!(last.starts_with("thalweg: the results of sender-1: ") && done.status.code() == Some(1), "{said}");
    assert!(!first.join("run.toml").exists() && folder.0.join("sender-2/outcome.json").is_file(), "{said}");
    let report = std::fs::read_to_string(folder.0.join("results.json")).unwrap();
    assert!(report.contains("sender-2") && !report.contains("sender-1"), "{report}");
}
