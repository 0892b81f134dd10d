//! Papers' figures and tables, played again.
//!
//! A [`Figure`] defines the subject of a published figure, the runs that answer the same question here, the readings of
//! those runs, and the known numbers of the paper, each with its source: a number that was not available is absent, not
//! guessed.
//!
//! A new figure is an entry in the list of its paper's file: `Figure::of_runs` with schemes, links and readings, and
//! what differs from the defaults (`figure.rs`). The command line plays and prints every figure alike.

mod bounded;
mod camel;
mod chromium;
mod distribution;
mod encoder;
mod encoder_step;
mod fbra;
mod figure;
mod job;
mod l4s;
mod links;
mod padding;
pub mod pages;
mod per_link;
mod published;
mod reading;
mod rebera;
mod salsify;
mod sample;
mod scatter;
mod seconds;
mod verdict;
mod vidaptive;

pub use bounded::{Answer, Asked, Bound, Bounded, Line, Observed, Part, Window};
pub use distribution::{BOX, Distribution, Quantiles};
pub use encoder::Encoder;
pub use encoder_step::{EncoderStep, StepResponse};
pub use figure::{Experiment, Figure, Row, Rows, Setup, encode_time};
pub use job::{Job, JobError, KeptSample};
pub use links::{Folder, Link, Links, Origin, Other, drawn};
pub use per_link::{Comparison, Statistic, each_link, pooled, values_over_links};
pub use published::{Claim, Order, Published};
pub use reading::{Reading, Windowed};
pub use sample::{Sample, Spread, compare, mean, spread};
pub use scatter::{beaten, scatters};
pub use seconds::Seconds;
pub use verdict::{Ranking, Verdict};

/// All figures.
pub fn figures() -> Vec<Figure> {
    let mut figures = vidaptive::figures();
    figures.extend(salsify::figures());
    figures.extend(camel::figures());
    figures.extend(fbra::figures());
    figures.extend(chromium::figures());
    figures.extend(padding::figures());
    figures.extend(rebera::figures());
    figures.extend(l4s::figures());
    figures
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_the_papers_owe_is_there_once() {
        let figures = figures();
        let names: Vec<&str> = figures.iter().map(|figure| figure.name).collect();
        let numbers = [1, 2, 3].into_iter().chain(7..=27).map(|number| number.to_string());
        for number in numbers.chain(["6a", "6b"].map(str::to_string)) {
            let name = format!("vidaptive-fig{number}");
            assert_eq!(names.iter().filter(|known| **known == name).count(), 1, "{name}");
        }
        for of in [
            "fig3",
            "fig7",
            "fig9",
            "fig10",
            "fig11",
            "table1",
            "fig12",
            "fig13",
            "fig14",
            "fig15",
            "fig16",
            "fig17",
            "fig18",
            "fig19",
            "fig20",
            "fig13-30fps",
        ] {
            let name = format!("camel-{of}");
            assert_eq!(names.iter().filter(|known| **known == name).count(), 1, "{name}");
        }
        for of in (1..=5).map(|table| format!("table{table}")).chain((6..=10).map(|number| format!("fig{number}"))) {
            let name = format!("fbra-{of}");
            assert_eq!(names.iter().filter(|known| **known == name).count(), 1, "{name}");
        }
        for of in
            ["table2", "table3", "table4", "table5", "table6", "table7", "fig4", "fig6", "fig7", "fig8", "recorded"]
        {
            let name = format!("rebera-{of}");
            assert_eq!(names.iter().filter(|known| **known == name).count(), 1, "{name}");
        }
        for of in ["latency", "drop", "cubic", "prague", "classic", "cellular", "bleaching", "libwebrtc"] {
            let name = format!("l4s-{of}");
            assert_eq!(names.iter().filter(|known| **known == name).count(), 1, "{name}");
        }
        for of in
            ["fig1", "fig6a", "fig6b", "fig6c", "fig6d", "fig6e", "fig6f", "fig7", "fig8", "fig9", "fig10", "pareto"]
        {
            let name = format!("salsify-{of}");
            assert_eq!(names.iter().filter(|known| **known == name).count(), 1, "{name}");
        }
    }

    #[test]
    fn an_order_ranks_schemes_of_its_figure_by_a_key_that_it_has() {
        for figure in figures() {
            let Experiment::Runs { schemes, readings, .. } = &figure.experiment else {
                assert!(figure.orders.is_empty(), "{}", figure.name);
                continue;
            };
            let compared = figure.statistic.compare(&[], &[]).into_iter().map(|(key, _)| key);
            let keys: Vec<&str> = readings.iter().map(|reading| reading.key()).chain(compared).collect();
            for Order { key, falling } in &figure.orders {
                let is_played = |of: &&&str| schemes.iter().any(|scheme| scheme.name == ***of);
                assert!(
                    keys.contains(key) && falling.iter().filter(is_played).count() == falling.len(),
                    "{}",
                    figure.name
                );
            }
        }
    }

    #[test]
    fn every_published_number_belongs_to_a_scheme_and_a_key_that_its_figure_has() {
        for figure in figures() {
            for published in &figure.published {
                let (schemes, keys) = match &figure.experiment {
                    Experiment::Runs { schemes, readings, .. } => {
                        let keys = readings.iter().map(|reading| reading.key());
                        let compared = figure.statistic.compare(&[], &[]).into_iter().map(|(key, _)| key);
                        (schemes.iter().map(|scheme| scheme.name.clone()).collect(), keys.chain(compared).collect())
                    }
                    Experiment::EncoderStep(_) => (vec!["encoder".to_string()], StepResponse::KEYS.to_vec()),
                    Experiment::Rows(rows) => (vec![published.scheme.to_string()], rows.keys.to_vec()),
                    Experiment::Bounded(_) => panic!("{}: a specification's bounds are in its lines", figure.name),
                };
                let (scheme, key) = (published.scheme.to_string(), published.key);
                let is_known = schemes.contains(&scheme) || published.claim == Claim::Elsewhere;
                assert!(is_known && keys.contains(&key), "{}: {scheme} {key}", figure.name);
                assert!(!published.source.is_empty());
                if let (Some(link), Experiment::Runs { links, .. }) = (published.link, &figure.experiment) {
                    let Links::Listed(links) = links else { panic!("{}: {link} of no list", figure.name) };
                    assert!(links.iter().any(|known| known.name == link), "{}: {link}", figure.name);
                }
            }
        }
    }
}
