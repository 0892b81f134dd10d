//! Figures beside what was recorded and what papers print.

use std::sync::Arc;

use thalweg_data::testing::needed;
use thalweg_netsim::Trace;
use thalweg_papers::{Experiment, Links, Origin, Rows, Seconds, figures, pages};
use thalweg_units::{Seed, Time};

thalweg_data::data_tests! {
    ["published"] => [every_number_is_that_of_its_line_of_the_published_set];
    ["mahimahi"] => [
        on_each_recorded_link_the_filter_is_near_the_best_average_and_never_near_the_worst,
        no_other_choice_of_recordings_varies_and_is_out_more_nearly_as_the_papers_traces,
    ];
}

/// The values that a printed number may stand for: in another unit, as a share, as a gain or a reduction of so many percent.
fn readings(printed: f64) -> Vec<f64> {
    let share = printed / 100.0;
    let units = [1.0, 10.0, 1e3, 1e6, 0.01, 1024.0].map(|unit| printed * unit);
    let compared = [1.0 - share, 1.0 + share, 1.0 / printed, 1.0 / (1.0 - share), 1.0 / (1.0 + share)];
    units.into_iter().chain(compared).collect()
}

/// The numbers in a text, without their signs.
fn numbers(text: &str) -> Vec<f64> {
    // A minus belongs to a number as part of its exponent only: elsewhere it is a range's.
    let text = text.replace("e-", "E");
    let parts = text.split(|char: char| !(char.is_ascii_digit() || ".E".contains(char)));
    parts.filter_map(|part| part.trim_matches(['.', 'E']).replace('E', "e-").parse().ok()).collect()
}

fn every_number_is_that_of_its_line_of_the_published_set() {
    let folder = needed("published");
    let mut checked = 0;
    for figure in figures() {
        let path = folder.join(format!("{}-published.csv", pages::paper_of(&figure)));
        for published in figure.published.iter().filter(|published| published.line.is_some()) {
            let text = std::fs::read_to_string(&path).unwrap();
            let line = text.lines().nth(published.line.unwrap() - 1).unwrap();
            let value = published.value.abs();
            let is_it = |reading: f64| (reading - value).abs() <= 1e-9 * value.max(1.0);
            let found = numbers(line.rsplit_once(',').unwrap().0).into_iter().flat_map(readings).any(is_it);
            assert!(found, "{}: {published:?} is not in '{line}'", figure.name);
            checked += 1;
        }
    }
    assert!(checked > 600, "{checked}");
}

fn read(recording: &str) -> Trace {
    Trace::parse(&std::fs::read_to_string(needed("mahimahi").join(recording)).unwrap()).unwrap()
}

/// Rebera's Table II.
fn forecasts() -> Rows {
    let table = figures().into_iter().find(|figure| figure.name == "rebera-table2").unwrap();
    let Experiment::Rows(rows) = table.experiment else { panic!("a table of rows") };
    rows
}

fn on_each_recorded_link_the_filter_is_near_the_best_average_and_never_near_the_worst() {
    let Rows { keys, play, .. } = forecasts();
    for row in play(&mut |name| Ok(Arc::new(read(name))), Seed::new(1)).unwrap() {
        let value = |key: &str| row.values[keys.iter().position(|known| *known == key).unwrap()].unwrap();
        println!("{:26} {:?}", row.link, row.values);
        let (rls, best, worst) = (value("rls_rms"), value("ewma_best_rms"), value("ewma_worst_rms"));
        assert!(rls <= 1.06 * best && rls > 0.8 * best, "{}: {rls} against {best}", row.link);
        assert!(rls < best + 0.5 * (worst - best).max(0.12 * best), "{}: {rls}, {best} to {worst}", row.link);
    }
}

/// Standard deviation over mean, and share of seconds without capacity.
type Shape = (f64, f64);
/// The shapes of the paper's Tr1, Tr2, Tr4, Tr5, Tr6 and Tr7.
const OF_THE_PAPER: [Shape; 6] =
    [(0.654, 0.020), (0.425, 0.005), (0.413, 0.0), (0.359, 0.002), (0.379, 0.012), (0.475, 0.001)];

fn shape(of: &Seconds, trace: &Trace) -> Shape {
    let rates = of.rates(trace).unwrap();
    let seconds = trace.period().as_millis() as u64 / 1000;
    let rate = |second: u64| rates.at(Time::from_millis(second * 1000)).0;
    let all: Vec<f64> = (0..seconds).map(|second| rate(second).as_bps_f64()).collect();
    let count = seconds as f64;
    let mean = all.iter().sum::<f64>() / count;
    let asked = of.mean.expect("Rebera's traces have the paper's means").as_bps_f64();
    assert!((mean - asked).abs() < 1e-6, "{}: {mean}", of.recording);
    let variance = all.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / count;
    (variance.sqrt() / mean, all.iter().filter(|rate| **rate == 0.0).count() as f64 / count)
}

fn distance(a: Shape, b: Shape) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

/// The least sum of distances over all assignments of recordings to the paper's traces.
fn min(of_the_paper: &[Shape], recordings: &[Shape]) -> f64 {
    let Some((first, others)) = of_the_paper.split_first() else { return 0.0 };
    let with = |place: usize| {
        let mut left = recordings.to_vec();
        distance(*first, left.swap_remove(place)) + min(others, &left)
    };
    (0..recordings.len()).map(with).fold(f64::INFINITY, f64::min)
}

/// The substitutes for the paper's traces in its figures, the slowest first.
fn chosen() -> Vec<Seconds> {
    let mut chosen: Vec<Seconds> = Vec::new();
    for figure in figures() {
        let Experiment::Runs { links: Links::Listed(links), .. } = figure.experiment else { continue };
        for link in links {
            let Origin::BySecond { forth, back } = link.origin else { continue };
            // Vidaptive's by-second links keep their own means.
            chosen.extend(forth.into_iter().chain(back).filter(|seconds| seconds.mean.is_some()));
        }
    }
    chosen.sort_by_key(|seconds| seconds.mean);
    chosen.dedup_by_key(|seconds| seconds.recording);
    chosen
}

fn no_other_choice_of_recordings_varies_and_is_out_more_nearly_as_the_papers_traces() {
    let of = |seconds: &Seconds| shape(seconds, &read(seconds.recording));
    let seconds = chosen();
    let chosen: Vec<Shape> = seconds.iter().map(of).collect();
    println!("{chosen:?}");
    assert_eq!(chosen.len(), OF_THE_PAPER.len());
    let sum: f64 = chosen.iter().zip(OF_THE_PAPER).map(|(ours, paper)| distance(*ours, paper)).sum();
    let all: Vec<Shape> = forecasts().traces.iter().map(|recording| of(&Seconds { recording, ..seconds[0] })).collect();
    assert!(sum <= min(&OF_THE_PAPER, &all) + 1e-6, "{sum}");
    // The values in the comments of `rebera/traces.rs`.
    let said = [(0.64, 0.0), (0.52, 0.007), (0.56, 0.0), (0.46, 0.029), (0.49, 0.093), (0.59, 0.0)];
    assert!(chosen.iter().zip(said).all(|(ours, said)| distance(*ours, said) < 0.0065), "{chosen:?}");
}
