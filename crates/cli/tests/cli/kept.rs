//! `--keep` and `--plan`: runs of the bench and of figures that are kept as they are played, or left to others.

use std::fs;

use crate::{Folder, text, thalweg};

#[test]
fn a_page_of_kept_runs_is_the_page_and_a_second_one_plays_nothing() {
    let folder = Folder::new("kept");
    let at = |name: &str| folder.0.join(name).display().to_string();
    let page = |options: &[&str], pages: &str| {
        let out = at(&format!("out-{pages}"));
        let figure = ["reproduce", "camel-fig10", "--duration", "3s", "--runs", "2", "--quiet", "--out", &out];
        let done = thalweg(&[&figure, options, &["--pages", &at(pages)][..]].concat());
        assert!(done.status.success(), "{}", text(&done.stderr));
        fs::read_to_string(folder.0.join(pages).join("camel").with_extension("md")).unwrap()
    };
    let plain = page(&[], "plain");
    let runs = at("runs");
    assert_eq!(page(&["--keep", &runs], "kept"), plain);
    let lines = || fs::read_to_string(folder.0.join("runs/played.jsonl")).unwrap().lines().count();
    let played = lines();
    assert!(played > 0);
    assert_eq!(page(&["--keep", &runs], "again"), plain);
    assert_eq!(lines(), played);

    let planned = thalweg(&["reproduce", "camel-fig10", "--pages", &at("kept"), "--keep", &runs, "--plan"]);
    assert!(!text(&planned.stdout).starts_with("0 runs"), "runs of another duration are others");
    let planned = fs::read_to_string(folder.0.join("runs/jobs.jsonl")).unwrap();
    assert!(planned.lines().all(|line| line.contains("\"figure\":{\"made_by\":")), "{planned}");
    let hello = r#"{"protocol":"thalweg-estimator","version":1,"name":"shell","limits":{"target_bps":300000}}"#;
    let mine = format!("mine=sh {}", folder.file("mine.sh", &format!("read line; echo '{hello}'; cat")));
    for (options, words) in [
        (&["reproduce", "camel-fig10", "--keep", &runs][..], "add --pages FOLDER"),
        (&["bench", "rmcat", "--plan"], "--keep"),
        (&["bench", "rmcat", "--contestant", &mine, "--keep", &runs, "--plan"], "mine is a process of this machine"),
    ] {
        let refused = thalweg(options);
        let said = text(&refused.stderr);
        assert!(!refused.status.success() && said.contains(words), "{options:?}: {said}");
    }
}
