//! Short versions of FBRA's tables (specs/fbra.md 7).

use std::collections::BTreeSet;

use thalweg_lab::metrics::Summary;
use thalweg_lab::record::{Record, What};
use thalweg_lab::scenario::{Scenario, Video};
use thalweg_lab::simulate::Run;
use thalweg_netsim::{HopConfig, PathConfig, Trace};
use thalweg_papers::{Experiment, Figure, Links, Origin, drawn, figures};
use thalweg_units::{Rate, Seed, Size, Span};

use crate::support::{self, scenario};

/// Runs a table with its link of this delay in milliseconds, for one scheme.
fn play(table: &str, millis: i64, scheme: &str, seconds: i64, seed: u64) -> Summary {
    let figures = figures();
    let Figure { experiment, setup, .. } = figures.iter().find(|figure| figure.name == table).unwrap();
    let Experiment::Runs { schemes, links: Links::Listed(links), .. } = experiment else { panic!("{table}") };
    let scheme = schemes.iter().find(|known| known.name == scheme).unwrap();
    let link = links.iter().find(|link| link.name == format!("{millis} ms")).unwrap();
    let seed = Seed::new(seed);
    let rate = match &link.origin {
        Origin::Rates(rates) => rates.clone(),
        Origin::Drawn { rates, each } => drawn(rates, *each, seed).unwrap(),
        other => panic!("{other:?}"),
    };
    let delay = HopConfig::delay(link.delay.unwrap());
    let hops = vec![HopConfig::Rate { rate, queue: link.queue }, delay.clone()];
    let scenario = Scenario {
        seed,
        codec: setup.encoder.codec().unwrap(),
        video: Video::scene(setup.size.unwrap(), setup.frame_rate.unwrap()),
        measure_quality: true,
        forward: PathConfig { hops },
        reverse: PathConfig { hops: vec![delay] },
        call: setup.call,
        discard_after: setup.discard_after,
        competitors: link.competitors(&scheme.name, seed),
        ..scenario(seconds, setup.size.unwrap())
    };
    scenario.play(scheme).unwrap().outcome.summary
}

/// Means over the seeds of runs of five minutes.
struct Cell {
    goodput_kbps: f64,
    lost: f64,
    lost_or_late: f64,
    fec_share: f64,
    frcc: f64,
    tfs: f64,
    tfs_of_tcp_alone: f64,
}

fn cell(table: &str, millis: i64, scheme: &str) -> Cell {
    const SEEDS: u64 = 3;
    let runs: Vec<Summary> = (1..=SEEDS).map(|seed| play(table, millis, scheme, 300, seed)).collect();
    let mean = |of: fn(&Summary) -> Option<f64>| runs.iter().filter_map(of).sum::<f64>() / SEEDS as f64;
    let cell = Cell {
        goodput_kbps: mean(|run| Some(run.delivery?.goodput_bps / 1e3)),
        lost: mean(|run| Some(run.packet_loss_ratio)),
        lost_or_late: mean(|run| Some(run.packet_loss_ratio + run.delivery?.discard_ratio)),
        fec_share: mean(|run| Some(run.redundancy?.fec_share)),
        frcc: mean(|run| run.redundancy?.frcc),
        tfs: mean(|run| Some(run.tcp?.tfs)),
        tfs_of_tcp_alone: mean(|run| Some(run.tcp?.tfs_of_tcp_alone)),
    };
    let Cell { goodput_kbps, lost, lost_or_late, fec_share, frcc, tfs, tfs_of_tcp_alone } = &cell;
    println!(
        "{table} {millis} ms {scheme}: {goodput_kbps:.0} kbps, lost {lost:.4}, or late {lost_or_late:.4}, FEC {fec_share:.3}, FRCC {frcc:.3}, \
         TFS {tfs:.2} and {tfs_of_tcp_alone:.2}"
    );
    cell
}

#[test]
fn thirty_seeds_of_a_table_are_thirty_runs() {
    // Long enough for a change of the link's rate and a page of the one reader.
    const SECONDS: i64 = 60;
    for table in 1..=5 {
        let table = format!("fbra-table{table}");
        // The seed is the link's and the readers', whoever sends.
        let of = |seed| play(&table, 50, "fbra", SECONDS, seed).events_fingerprint;
        let fingerprints: BTreeSet<String> = (1..=30).map(of).collect();
        assert_eq!(fingerprints.len(), 30, "{table}");
    }
}

#[test]
fn on_a_link_that_varies_cnadu_has_the_least_lost_or_late_and_rrtcc_the_most_and_fbra_less_goodput_the_longer_the_path()
{
    let of = |scheme: &str| [50, 100, 240].map(|millis| cell("fbra-table1", millis, scheme));
    let (fbra, rrtcc, cnadu) = (of("fbra"), of("rrtcc"), of("cnadu"));
    for (place, max) in [0.04, 0.06, 0.2].into_iter().enumerate() {
        let (fbra, rrtcc, cnadu) = (&fbra[place], &rrtcc[place], &cnadu[place]);
        let late = [cnadu.lost_or_late, fbra.lost_or_late, rrtcc.lost_or_late];
        assert!(late.is_sorted() && late[0] > 0.002 && late[1] < max && (0.03..0.4).contains(&late[2]), "{late:?}");
        // Fifty packets are more than a second here, so packets are late and not lost.
        assert!(fbra.lost == 0.0 && rrtcc.lost == 0.0);
        assert!((0.9..=1.0).contains(&fbra.frcc) && (0.045..0.15).contains(&fbra.fec_share), "{}", fbra.fec_share);
    }
    let goodput = fbra.map(|cell| cell.goodput_kbps);
    assert!((115.0..150.0).contains(&goodput[0]) && (75.0..115.0).contains(&goodput[2]), "{goodput:?}");
    assert!(goodput[2] < goodput[1] && goodput[1] < goodput[0], "{goodput:?}");
}

#[test]
fn beside_ten_readers_fbra_probes_well_and_leaves_tcp_its_share_and_rrtcc_by_the_drafts_words_does_not() {
    for (millis, min, max) in [(50, 1.5, 3.0), (100, 1.1, 2.0)] {
        let fbra = cell("fbra-table2", millis, "fbra");
        assert!((min..max).contains(&fbra.tfs) && (0.75..0.95).contains(&fbra.frcc), "{} {}", fbra.tfs, fbra.frcc);
        assert!((0.0005..0.02).contains(&fbra.lost) && (200.0..1_500.0).contains(&fbra.goodput_kbps));
        let rrtcc = cell("fbra-table2", millis, "rrtcc:draft");
        // The paper: 3.68 and 4.05 % of loss, 3593 and 3699 kbps.
        assert!((0.03..0.07).contains(&rrtcc.lost) && (1_800.0..4_000.0).contains(&rrtcc.goodput_kbps));
        assert!((0.5..1.0).contains(&rrtcc.tfs), "{}", rrtcc.tfs);
    }
    // Two senders, by the paper's rule for its table 3, which has 20 % at 240 ms.
    let two = cell("fbra-table3", 240, "rrtcc:draft");
    assert!((0.1..0.4).contains(&two.tfs_of_tcp_alone), "{}", two.tfs_of_tcp_alone);
}

#[test]
fn fec_is_some_per_cent_of_the_media_and_by_the_specifications_formula_half_of_that_with_more_probes_that_are_right() {
    for (millis, min) in [(50, 0.05), (100, 0.045), (240, 0.025)] {
        let (fbra, rare) = (cell("fbra-table2", millis, "fbra"), cell("fbra-table2", millis, "fbra:n14"));
        assert!((min..0.15).contains(&fbra.fec_share) && rare.fec_share < 0.65 * fbra.fec_share);
        assert!(rare.frcc > fbra.frcc && rare.lost < fbra.lost && (0.9..=1.0).contains(&rare.frcc));
    }
}

#[test]
fn beside_ten_readers_cnadu_loses_less_than_fbra_and_fbra_less_than_rrtcc_by_the_drafts_words() {
    for millis in [100, 240] {
        let lost = ["cnadu", "fbra", "rrtcc:draft"].map(|scheme| cell("fbra-table2", millis, scheme).lost);
        assert!(lost.is_sorted() && lost[0] > 0.0005 && lost[1] < 0.02 && lost[2] < 0.07, "{lost:?}");
    }
}

#[test]
fn told_by_extended_reports_it_probes_behind_240_ms_too() {
    let reported = cell("fbra-table1", 240, "fbra:xr");
    assert!((0.04..0.15).contains(&reported.fec_share) && (70.0..115.0).contains(&reported.goodput_kbps));
}

#[test]
fn a_receiver_that_discards_shows_nothing_past_the_deadline_and_decodes_on() {
    let age = Span::from_millis(400);
    // GCC fills the queue when the link falls from 2 Mbps to 300 kbps.
    let link = || Trace::periodic(Rate::from_kbps(2000), Rate::from_kbps(300), Span::from_secs(10)).unwrap();
    let all = scenario(16, Size::new(320, 180));
    let discarding = Scenario { discard_after: Some(age), measure_quality: true, ..all.clone() };
    let (all, run) = (support::play(&all, "gcc", link()), support::play(&discarding, "gcc", link()));
    let discarded = run.recorder.records().filter(|record| matches!(record.what, What::FrameDiscarded { .. })).count();
    let decoding = Span::from_millis(20);
    let late = |run: &Run| {
        let shown =
            |record: &&Record| matches!(record.what, What::Displayed { latency, .. } if latency > age + decoding);
        run.recorder.records().filter(shown).count()
    };
    println!("{discarded} discarded; shown late {} without and {} with the rule", late(&all), late(&run));
    assert!((10..200).contains(&discarded) && late(&run) == 0 && late(&all) >= 10);
    // The same pictures except those: frames after a discarded one were decoded from it.
    let shown = |run: &Run| run.outcome.frames.iter().filter(|frame| frame.displayed_s.is_some()).count();
    assert_eq!(shown(&run) + discarded, shown(&all));
    let psnr = run.outcome.summary.psnr_db.unwrap();
    assert!((30.0..50.0).contains(&psnr), "{psnr}");
}
