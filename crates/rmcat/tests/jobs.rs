//! Runs that are kept, and played as text.

use std::sync::atomic::{AtomicUsize, Ordering};

use thalweg_lab::kept::Kept;
use thalweg_lab::unattended;
use thalweg_rmcat::{Bench, Job, Options, Others, find, json, page};
use thalweg_sender::Scheme;

#[test]
fn what_was_played_with_every_seed_is_left_of_a_bench_that_was_stopped() {
    let schemes: [Scheme; 2] = ["gcc", "copa"].map(|name| name.parse().unwrap());
    let contestants = schemes.iter().map(|scheme| scheme as _).collect();
    let bench = Bench { cases: find("5.1").unwrap(), contestants, seeds: vec![1, 2], options: Options::default() };
    let count = AtomicUsize::new(0);
    let three = |_: &_, _: &str| count.fetch_add(1, Ordering::Relaxed) < 2;
    let (outcomes, is_whole) = bench.run_kept(1, None, &three).unwrap();
    assert!(!is_whole && outcomes.iter().map(|outcome| outcome.scheme.as_str()).eq(["gcc"]), "{}", outcomes.len());
    assert_eq!(bench.run(1, &|_, _| false).unwrap().map(|outcomes| outcomes.len()), None);
}

#[test]
fn a_run_played_as_text_is_the_run_and_none_is_played_twice() {
    let folder = std::env::temp_dir().join(format!("thalweg-rmcat-jobs-{}", std::process::id()));
    let schemes: [Scheme; 2] = ["gcc", "copa"].map(|name| name.parse().unwrap());
    // 5.6 is compared with TCP alone, 6.1 asks for weights, which Copa has not.
    let cases = ["5.1", "5.6", "6.1"].map(|id| find(id).unwrap().remove(0)).to_vec();
    let contestants = schemes.iter().map(|scheme| scheme as _).collect();
    let bench = Bench { cases, contestants, seeds: vec![1, 2], options: Options::default() };
    let shown = |outcomes: &[thalweg_rmcat::Outcome]| {
        (json(outcomes).to_string(), page::page(outcomes, &page::About { command: String::new(), seeds: 2 }))
    };
    let plain = shown(&bench.run(2, &|_, _| true).unwrap().unwrap());

    let kept = Kept::open(&folder).unwrap();
    let left = bench.left(&kept).unwrap();
    assert_eq!(left.len(), 12);
    let others = Others::new();
    for planned in left.iter().take(9) {
        // As on another machine.
        let job: Job = serde_json::from_str(&serde_json::to_string(&planned.job).unwrap()).unwrap();
        assert_eq!(job.key(), planned.key);
        kept.put(planned.key, &job.play(&others, &mut unattended).unwrap()).unwrap();
    }
    drop(kept);

    let count = AtomicUsize::new(0);
    let count_all = |_: &_, _: &str| count.fetch_add(1, Ordering::Relaxed) < 100;
    let kept = Kept::open(&folder).unwrap();
    assert_eq!(bench.left(&kept).unwrap().len(), 3);
    let (outcomes, is_whole) = bench.run_kept(2, Some(&kept), &count_all).unwrap();
    assert!(is_whole);
    assert!(shown(&outcomes) == plain, "other pages");
    assert_eq!(count.load(Ordering::Relaxed), 3);
    drop(kept);
    assert!(bench.left(&Kept::open(&folder).unwrap()).unwrap().is_empty());

    let other = Job { made_by: "0.0.9, behaviour 0123456789abcdef".into(), ..left[0].job.clone() };
    let refused = other.play(&others, &mut unattended).unwrap_err().to_string();
    assert!(refused.contains("0.0.9") && refused.contains(env!("CARGO_PKG_VERSION")), "{refused}");
    std::fs::remove_dir_all(&folder).unwrap();
}
