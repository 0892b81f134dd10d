//! The same scenario, scheme and seed give the same events.

use crate::scenarios::support::{play, scenario, square_wave};
use thalweg_lab::record::Row;
use thalweg_lab::scenario::Scenario;
use thalweg_units::{Seed, Size};

const SIZE: Size = Size::new(320, 180);

#[test]
fn the_same_run_twice_has_the_same_events_and_another_seed_has_not() {
    let fingerprint = |scenario: &Scenario, scheme: &str| play(scenario, scheme, square_wave()).recorder.fingerprint();
    let one = Scenario { measure_quality: true, ..scenario(5, SIZE) };
    let functional = ["salsify", "salsify:standard-decoder", "vidaptive+functional"];
    for scheme in ["gcc", "vidaptive", "vidaptive:rocc", "copa"].into_iter().chain(functional) {
        assert_eq!(fingerprint(&one, scheme), fingerprint(&one, scheme), "{scheme}");
    }
    let other = Scenario { seed: Seed::new(2), ..one.clone() };
    assert_ne!(fingerprint(&one, "vidaptive"), fingerprint(&other, "vidaptive"));
}

#[cfg(feature = "parquet")]
#[test]
fn two_files_of_the_same_run_are_the_same_bytes() {
    let folder = std::env::temp_dir().join(format!("thalweg-determinism-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let bytes = |name: &str| {
        let path = folder.join(name);
        let run = play(&scenario(2, SIZE), "vidaptive", square_wave());
        thalweg_lab::record::write_table(&path, &run.recorder, &[("scheme", "vidaptive".into())]).unwrap();
        std::fs::read(path).unwrap()
    };
    let (first, second) = (bytes("a"), bytes("b"));
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(first == second && first.starts_with(b"PAR1"));
}

#[test]
fn every_event_says_what_and_when_and_every_decision_why() {
    let run = play(&scenario(20, SIZE), "vidaptive", square_wave());
    let rows: Vec<Row> = run.recorder.records().map(Row::of).collect();
    assert!(rows.windows(2).all(|pair| pair[0].time_ns <= pair[1].time_ns));
    for row in &rows {
        assert!(!row.event.is_empty());
        let decides = ["picture-skipped", "picture-held", "keyframe-forced", "decision", "retransmission-refused"];
        assert!(!decides.contains(&row.event) || !row.why.is_empty(), "{row:?}");
    }
    let displayed = rows.iter().filter(|row| row.event == "frame-displayed").count();
    assert!((450..=600).contains(&displayed), "{displayed}");
}
