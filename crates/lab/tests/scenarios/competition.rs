//! Several flows and cross traffic on one path.

use crate::scenarios::support::{delay, play, scenario};
use thalweg_codecs::Codec;
use thalweg_lab::metrics::jain;
use thalweg_lab::metrics::response::mean_between;
use thalweg_lab::record::What;
use thalweg_lab::scenario::{Competitor, Scenario, Sender};
use thalweg_lab::unattended;
use thalweg_netsim::queue::Limits;
use thalweg_netsim::{DatagramsConfig, DropReason, HopConfig, PathConfig, QueueConfig, TcpConfig, Trace, WebConfig};
use thalweg_sender::Scheme;
use thalweg_sender::scheme::ControllerConfig;
use thalweg_units::{Bytes, Rate, Size, Span};

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

/// 57,600 pixels take 0.3 ms to encode, and the last picture is captured 0.13 ms before the end.
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
    let error =
        thalweg_lab::simulate(&shared, &"gcc".parse::<Scheme>().unwrap(), &mut |_| Ok(link.clone()), &mut unattended)
            .err()
            .expect("refused")
            .to_string();
    assert!(error.contains("begin at 5s and stop at 5s"), "{error}");
}

/// Encoder models over a queue of this size, with these competitors.
fn modelled(seconds: i64, queue: Limits, competitors: Vec<Competitor>) -> Scenario {
    let queue = QueueConfig::DropTail(queue);
    let bottleneck = HopConfig::Bottleneck { trace: "link".into(), queue, once: false };
    let forward = PathConfig { hops: vec![bottleneck, delay()] };
    Scenario { codec: Codec::Model(Default::default()), forward, competitors, ..scenario(seconds, SIZE) }
}

/// Frames of two cameras in step meet at the path each time. At a pace that follows from what a flow was served, the
/// one that is served less would lose ever more: 0.2 of the link instead of half.
#[test]
fn two_of_thalweg_share_a_link_evenly_although_neither_keeps_it_full() {
    let other = Sender { scheme: "thalweg".into(), video: None, from: Span::from_secs(10), until: None };
    let queue = Limits::bytes(Bytes::new(500_000));
    let video = scenario(60, Size::new(1280, 720)).video;
    let shared = Scenario { video, ..modelled(60, queue, vec![Competitor::Sender(other)]) };
    let run = play(&shared, "thalweg", Trace::constant(Rate::from_kbps(8000)).unwrap());
    let [ours, theirs] = [&run.outcome, &run.competitors[0]]
        .map(|outcome| mean_between(&outcome.series.delivered_mbps, outcome.series.bin_s, 20.0, 60.0));
    assert!(jain(&[ours, theirs]) > Some(0.97), "{ours} and {theirs} Mbps");
    assert!((6.5..=8.0).contains(&(ours + theirs)), "{ours} and {theirs} Mbps");
}

/// Throughput of GCC and of a Cubic flow that begins at 30 s, between 40 s and 90 s, in Mbps; the threshold of GCC's
/// overuse detector decreases by `fall` per millisecond.
fn gcc_and_cubic(queue: u64, fall: f64) -> [f64; 2] {
    let cubic = TcpConfig { from: Span::from_secs(30), until: Some(Span::from_secs(90)), ..TcpConfig::default() };
    let scenario = modelled(90, Limits::bytes(Bytes::new(queue)), vec![Competitor::Tcp(cubic)]);
    let mut scheme: Scheme = "gcc".parse().unwrap();
    let ControllerConfig::Gcc(gcc) = &mut scheme.controller else { panic!("GCC is not GCC") };
    gcc.overuse.fall = fall;
    let link = std::sync::Arc::new(link());
    let run = thalweg_lab::simulate(&scenario, &scheme, &mut |_| Ok(link.clone()), &mut unattended).unwrap();
    let cubic = &run.outcome.summary.traffic[0];
    assert_eq!((cubic.name.as_str(), cubic.from_s, cubic.active_s, cubic.pages), ("tcp", 30.0, 60.0, None));
    let [ours, theirs] = [&run.outcome.series.delivered_mbps, &run.outcome.series.others[0].delivered_mbps];
    assert_eq!(mean_between(theirs, 0.1, 0.0, 30.0), 0.0);
    let mean = mean_between(theirs, 0.1, 30.0, 90.0);
    assert!((mean - cubic.delivered_bps / 1e6).abs() < 1e-3, "{mean} and {cubic}");
    [ours, theirs].map(|delivered| mean_between(delivered, 0.1, 40.0, 90.0))
}

/// Camel's Fig. 17 (specs/camel.md C13) with GCC: a queue of 0.8 s. The draft's detector adapts to a queue that another
/// flow fills, and keeps its share; libwebrtc's, whose threshold decreases two hundred times as fast, yields to each of
/// Cubic's waves.
#[test]
fn gcc_shares_a_short_queue_with_cubic_as_the_draft_has_it_and_gives_way_as_libwebrtc_has_it() {
    let [draft, theirs] = gcc_and_cubic(100_000, 0.00018);
    assert!((0.15..=0.7).contains(&draft) && (0.95..=1.01).contains(&(draft + theirs)), "{draft} {theirs}");
    let [libwebrtc, theirs] = gcc_and_cubic(100_000, 0.039);
    assert!(
        (0.02..=0.5 * draft).contains(&libwebrtc) && (0.95..=1.01).contains(&(libwebrtc + theirs)),
        "{libwebrtc} {theirs}"
    );
}

/// The other queue of that figure: four seconds long.
#[test]
fn gcc_is_left_with_little_when_cubic_fills_a_long_queue() {
    let [ours, theirs] = gcc_and_cubic(500_000, 0.039);
    assert!((0.005..=0.3).contains(&ours) && (0.7..=1.0).contains(&theirs), "{ours} {theirs}");
}

/// FBRA's background traffic, with hardly any competitor.
#[test]
fn ten_readers_have_the_pages_and_idle_times_of_their_distributions() {
    let web = WebConfig { count: 10, ..WebConfig::default() };
    let scenario = modelled(300, Limits::packets(50), vec![Competitor::Web(web)]);
    let run = play(&scenario, "gcc", Trace::constant(Rate::from_kbps(5_000)).unwrap());
    let traffic = &run.outcome.summary.traffic;
    assert_eq!(traffic.iter().map(|web| web.name.as_str()).collect::<Vec<_>>()[8..], ["web 9", "web 10"]);
    let sizes = run.recorder.records().filter_map(|record| match record.what {
        What::PageRead { size, .. } => Some(size.as_f64()),
        _ => None,
    });
    let sizes: Vec<f64> = sizes.collect();
    let pages: u64 = traffic.iter().filter_map(|web| web.pages).sum();
    assert_eq!(pages, sizes.len() as u64);
    let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
    let idle = traffic.iter().map(|web| 300.0 - web.active_s).sum::<f64>() / (pages as f64 + 10.0);
    // The standard deviation of sizes is 404 kB, of idle times 10 s; a web user who is idle at the end adds a part of
    // one.
    assert!((700e3..900e3).contains(&mean), "{mean} bytes over {pages} pages");
    assert!((7.0..13.0).contains(&idle), "{idle} s over {pages} pages");
}

/// A transfer beside a call, as in libwebrtc's scenarios (specs/rmcat.md 8.2), over hops as a file writes them.
#[test]
fn a_file_is_transferred_once_over_a_path_with_a_policer_and_schedules() {
    let written = r#"
        [[hops]]
        policer = { rate = "2.5Mbps", bucket = "16384B" }
        [[hops]]
        rate = { rate = "2Mbps@8s/3Mbps", queue = { drop-tail = { time = "100ms" } } }
        [[hops]]
        delay = { delay = "25ms@10s/40ms", jitter = { truncated-normal = { deviation = "5ms", max = "15ms" } } }
    "#;
    let forward: PathConfig = toml::from_str(written).unwrap();
    assert_eq!(toml::from_str::<PathConfig>(&toml::to_string(&forward).unwrap()).unwrap(), forward);
    let size = Bytes::new(2_000_000);
    let file = TcpConfig { from: Span::from_secs(3), size: Some(size), ..TcpConfig::default() };
    let scenario = Scenario { forward, ..modelled(30, Limits::packets(50), vec![Competitor::Tcp(file)]) };
    let run = play(&scenario, "gcc", link());
    let read = run.recorder.records().filter_map(|record| match record.what {
        What::PageRead { size, took } => Some((size, took.as_secs_f64())),
        _ => None,
    });
    let [(read, took)] = read.collect::<Vec<_>>()[..] else { panic!("not one page") };
    // Alone it would take 6.4 s at 2.5 Mbps.
    assert!(read == size && (6.5..20.0).contains(&took), "{read} in {took} s");
    let tcp = &run.outcome.summary.traffic[0];
    assert!(tcp.pages == Some(1) && (tcp.active_s - took).abs() < 1e-6, "{tcp}");
    let dropped = |reason| {
        let of_it = |what: &What| matches!(what, What::SegmentDropped { why, .. } if *why == reason);
        run.recorder.records().filter(|record| of_it(&record.what)).count()
    };
    let [policed, full] = [DropReason::Policed, DropReason::QueueFull].map(dropped);
    assert!(policed > 0 && full > 0, "{policed} policed, {full} in a full queue");
}

/// Camel's Fig. 14 (specs/camel.md C10): five senders of one scheme, one starting every ten seconds.
#[test]
fn five_senders_that_begin_one_after_another_share_the_link() {
    let sender = |index: i64| {
        Competitor::Sender(Sender { scheme: "gcc".into(), video: None, from: Span::from_secs(10 * index), until: None })
    };
    let limits = Limits::bytes(Bytes::new(100_000));
    let run = play(&modelled(100, limits, (1..5).map(sender).collect()), "gcc", link());
    let series = &run.outcome.series;
    let mut all = vec![&series.delivered_mbps];
    all.extend(series.others.iter().map(|share| &share.delivered_mbps));
    for (index, delivered) in all.iter().enumerate() {
        let begins = 10.0 * index as f64;
        assert!(index == 0 || mean_between(delivered, 0.1, 0.0, begins) == 0.0, "{index} before it begins");
        assert!(mean_between(delivered, 0.1, begins, begins + 2.0) > 0.0, "{index} after it begins");
    }
    let shares: Vec<f64> = all.iter().map(|delivered| mean_between(delivered, 0.1, 60.0, 100.0)).collect();
    let total: f64 = shares.iter().sum();
    assert!((0.7..=1.01).contains(&total), "{shares:?}");
    assert!((0.7..=1.0).contains(&jain(&shares).unwrap()), "{shares:?}");
}

#[test]
fn the_example_is_played_with_all_its_competitors() {
    let scenario: Scenario = toml::from_str(include_str!("../../../../examples/cubic.toml")).unwrap();
    let run = play(&scenario, "gcc", Trace::constant(Rate::from_kbps(3_000)).unwrap());
    let traffic = &run.outcome.summary.traffic;
    let names: Vec<_> = traffic.iter().map(|traffic| traffic.name.as_str()).collect();
    assert_eq!(names, ["tcp", "web 1", "web 2", "datagrams"]);
    assert!(traffic.iter().all(|traffic| traffic.delivered_bps > 100e3 && traffic.loss_ratio < 0.3), "{traffic:?}");
    let again = play(&scenario, "gcc", Trace::constant(Rate::from_kbps(3_000)).unwrap());
    assert_eq!(again.recorder.fingerprint(), run.recorder.fingerprint());
}
