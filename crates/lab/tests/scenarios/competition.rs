//! Several flows and cross traffic on one path.

use crate::support::{play, scenario};
use thalweg_lab::metrics::response::mean_between;
use thalweg_lab::record::What;
use thalweg_lab::scenario::{Competitor, Scenario, Sender};
use thalweg_link::{DatagramsConfig, Trace};
use thalweg_units::{Rate, Size, Span};

const SIZE: Size = Size::new(320, 180);

fn link() -> Trace {
    Trace::constant(Rate::from_kbps(1000)).unwrap()
}

#[test]
fn a_sender_yields_to_datagrams_and_takes_the_link_back() {
    let datagrams = DatagramsConfig {
        rate: Rate::from_kbps(600),
        from: Span::from_secs(15),
        until: Some(Span::from_secs(30)),
        ..DatagramsConfig::default()
    };
    let shared = Scenario { competitors: vec![Competitor::Datagrams(datagrams)], ..scenario(45, SIZE) };
    let run = play(&shared, "vidaptive", link());
    let series = &run.outcome.series;
    let sent = |from, to| mean_between(&series.sent_mbps, series.bin_s, from, to);
    let (before, during, after) = (sent(8.0, 14.0), sent(20.0, 30.0), sent(36.0, 45.0));
    assert!((0.8..=1.1).contains(&before) && (0.8..=1.1).contains(&after), "{before} {after}");
    assert!((0.2..=0.55).contains(&during), "{during}");
    let crossed = run.recorder.records().filter(|r| matches!(r.what, What::DatagramArrived { .. })).count();
    assert!((900..=938).contains(&crossed), "{crossed} of 937.5");
}

#[test]
fn two_senders_of_one_kind_share_a_link() {
    let other =
        Sender { scheme: "vidaptive".into(), video: None, from: Span::from_secs(5), until: Some(Span::from_secs(40)) };
    let shared = Scenario { competitors: vec![Competitor::Sender(other)], ..scenario(50, SIZE) };
    let run = play(&shared, "vidaptive", link());
    let [ours, theirs] = [&run.outcome, &run.competitors[0]].map(|outcome| outcome.series.clone());
    let share = |from, to| {
        let (a, b) = (mean_between(&ours.sent_mbps, 0.1, from, to), mean_between(&theirs.sent_mbps, 0.1, from, to));
        (a / (a + b), a + b)
    };
    let (before, total) = share(2.0, 5.0);
    assert!(before == 1.0 && total > 0.6, "{before} of {total}");
    let (during, total) = share(15.0, 40.0);
    assert!((0.25..=0.75).contains(&during) && (0.8..=1.1).contains(&total), "{during} of {total}");
    let (after, total) = share(44.0, 50.0);
    assert!(after > 0.97 && total > 0.7, "{after} of {total}");
    let theirs = &run.outcome.summary.competitors[0];
    assert!(theirs.duration_s == 35.0 && theirs.frame_rate_fps > 20.0, "{theirs:?}");
}

/// 57,600 pixels take 0.3 ms to encode, and the last picture is read 0.13 ms before the end.
#[test]
fn a_sender_that_stops_while_it_encodes_ends_there_and_its_events_are_in_order() {
    let until = Some(Span::from_micros(2_966_800));
    let other = Sender { scheme: "gcc".into(), video: None, from: Span::from_secs(1), until };
    let shared = Scenario { competitors: vec![Competitor::Sender(other)], ..scenario(4, SIZE) };
    let run = play(&shared, "vidaptive", link());
    assert_eq!(run.competitors[0].frames.len(), 60);
    assert!(run.recorder.records().is_sorted_by_key(|record| record.at));
}

#[test]
fn a_competitor_that_stops_before_it_begins_is_refused() {
    let other = Sender { scheme: "gcc".into(), video: None, from: Span::from_secs(5), until: Some(Span::from_secs(5)) };
    let shared = Scenario { competitors: vec![Competitor::Sender(other)], ..scenario(50, SIZE) };
    let link = std::sync::Arc::new(link());
    let error = thalweg_lab::simulate(&shared, &"gcc".parse().unwrap(), &mut |_| Ok(link.clone()), &mut |_| {})
        .err()
        .expect("refused")
        .to_string();
    assert!(error.contains("begin at 5s and stop at 5s"), "{error}");
}
