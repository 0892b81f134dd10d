//! Reproduces papers' figures and tables.
//!
//! A [`Figure`] defines the subject of a published figure, the runs that answer the same question here, the readings of
//! those runs, and the known numbers of the paper, each with its source: a number that was not available is absent, not
//! guessed.

mod authors;
mod camel;
mod encoder;
mod encoder_step;
mod fbra;
mod links;
mod padding;
mod reading;
mod rebera;
mod rows;
mod salsify;
mod sample;
mod scatter;
mod seconds;
mod signals;
mod vidaptive;

use thalweg_sender::Scheme;
use thalweg_units::{Size, Span};

pub use authors::{Place, Point, Theirs};
pub use encoder::Encoder;
pub use encoder_step::{EncoderStep, StepResponse};
pub use links::{Folder, Link, Links, Origin, Other, drawn};
pub use reading::{Reading, Windowed};
pub use rows::{Row, Rows};
pub use sample::{Sample, Spread, compare, mean, spread};
pub use scatter::{beaten, scatters};
pub use seconds::Seconds;
pub use signals::Signals;

/// A published figure.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Its command-line name: paper, figure.
    pub name: &'static str,
    /// What is run, and what the figure shows according to this project's reading.
    pub about: &'static str,
    /// The experiment.
    pub experiment: Experiment,
    /// The default setup.
    pub setup: Setup,
    /// The known numbers of the paper.
    pub published: Vec<Published>,
    /// Locations of the authors' own points, for users who have their results.
    pub theirs: Vec<Theirs>,
    /// Whether it shows delay against quality.
    pub scattered: bool,
}

/// The default setup of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// Frames per second; `None` for the default: 30 for the built-in scene, a file's own rate.
    pub frame_rate: Option<u32>,
    /// Duration of a run over each link.
    pub duration: Span,
    /// One-way delay of the path, in each direction.
    pub delay: Span,
    /// Encoding time per picture; `None` for the scenario's default.
    pub encode_time: Option<Span>,
    /// Picture size; `None` for the default: 720p for the built-in scene, a file's own size.
    pub size: Option<Size>,
    /// The encoder, unless a codec is selected.
    pub encoder: Encoder,
    /// Whether the receiver knows the round-trip time, as when media is sent both ways (see
    /// [`crate::scenario::Scenario::call`]).
    pub call: bool,
    /// Max age of a frame that is still shown (see [`crate::scenario::Scenario::discard_after`]).
    pub discard_after: Option<Span>,
    /// Number of runs of each scheme over each link, with consecutive seeds from the root seed on.
    pub runs: u32,
}

impl Setup {
    /// The laboratory's defaults: two minutes, 25 ms, a real codec.
    pub const USUAL: Setup = Setup {
        frame_rate: None,
        duration: Span::from_secs(120),
        delay: Span::from_millis(25),
        encode_time: None,
        size: None,
        encoder: Encoder::Real,
        call: false,
        discard_after: None,
        runs: 1,
    };
}

impl Default for Setup {
    fn default() -> Self {
        Setup::USUAL
    }
}

/// An experiment.
#[derive(Debug, Clone)]
pub enum Experiment {
    /// Every scheme over every link.
    Runs {
        /// The schemes; the others are compared with the first.
        schemes: Vec<Scheme>,
        /// The links.
        links: Links,
        /// The readings of each run.
        readings: Vec<Reading>,
    },
    /// An encoder alone, with a target that steps up and down.
    EncoderStep(EncoderStep),
    /// Congestion signals on a synthetic queue.
    Signals(Signals),
    /// Numbers computed without a sender and a receiver.
    Rows(Rows),
}

/// A number the paper prints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    /// The link of the figure; `None` for the mean over all.
    pub link: Option<&'static str>,
    /// The scheme.
    pub scheme: &'static str,
    /// The key of a [`Reading`], or of a comparison with the first scheme (see [`compare`]).
    pub key: &'static str,
    /// The value, in the unit of the key.
    pub value: f64,
    /// The printed standard deviation.
    pub sigma: Option<f64>,
    /// Where it is printed.
    pub source: &'static str,
}

/// All figures.
pub fn figures() -> Vec<Figure> {
    let mut figures = vidaptive::figures();
    figures.extend(salsify::figures());
    figures.extend(camel::figures());
    figures.extend(fbra::figures());
    figures.extend(padding::figures());
    figures.extend(rebera::figures());
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_the_papers_owe_is_there_once() {
        let figures = figures();
        let names: Vec<&str> = figures.iter().map(|figure| figure.name).collect();
        for number in [1, 2, 6, 7, 9, 10, 11, 12, 13, 15, 16, 17] {
            let name = format!("vidaptive-fig{number}");
            assert_eq!(names.iter().filter(|known| **known == name).count(), 1, "{name}");
        }
        for of in [
            "fig7", "fig9", "fig10", "fig11", "table1", "fig12", "fig13", "fig14", "fig15", "fig16", "fig17", "fig18",
            "fig19",
        ] {
            let name = format!("camel-{of}");
            assert_eq!(names.iter().filter(|known| **known == name).count(), 1, "{name}");
        }
        for table in 1..=5 {
            let name = format!("fbra-table{table}");
            assert_eq!(names.iter().filter(|known| **known == name).count(), 1, "{name}");
        }
        for of in ["table2", "table3", "table4", "table5", "table6", "table7", "fig4", "fig6", "recorded"] {
            let name = format!("rebera-{of}");
            assert_eq!(names.iter().filter(|known| **known == name).count(), 1, "{name}");
        }
        for of in ["cellular", "intermittent", "wifi", "ramp", "dropout", "queue", "components", "pareto"] {
            let name = format!("salsify-{of}");
            assert_eq!(names.iter().filter(|known| **known == name).count(), 1, "{name}");
        }
    }

    #[test]
    fn what_the_authors_published_belongs_to_a_link_and_a_scheme_of_its_figure() {
        for figure in figures() {
            let played = |ours: &str| match &figure.experiment {
                Experiment::Runs { schemes, .. } => schemes.iter().any(|scheme| scheme.name == ours),
                Experiment::EncoderStep(_) | Experiment::Signals(_) | Experiment::Rows(_) => false,
            };
            let answered = figure.theirs.iter().filter(|theirs| theirs.ours.is_some_and(played)).count();
            assert!(
                figure.theirs.is_empty() || answered > 0,
                "nothing in {} answers to the authors' points",
                figure.name
            );
            for theirs in &figure.theirs {
                let Experiment::Runs { links: Links::Listed(links), .. } = &figure.experiment else {
                    panic!("{} has authors' points but no links of its own", figure.name);
                };
                assert!(links.iter().any(|link| link.name == theirs.link), "{}: {}", figure.name, theirs.link);
                assert!(theirs.ours.is_none_or(|ours| ours.parse::<Scheme>().is_ok()), "{}: {theirs:?}", figure.name);
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
                        let compared = compare(&[], &[]).into_iter().map(|(key, _)| key);
                        (schemes.iter().map(|scheme| scheme.name.clone()).collect(), keys.chain(compared).collect())
                    }
                    Experiment::EncoderStep(_) => (vec!["encoder".to_string()], StepResponse::KEYS.to_vec()),
                    Experiment::Signals(_) => (vec!["signals".to_string()], Signals::KEYS.to_vec()),
                    Experiment::Rows(rows) => (vec![published.scheme.to_string()], rows.keys.to_vec()),
                };
                let (scheme, key) = (published.scheme.to_string(), published.key);
                assert!(schemes.contains(&scheme) && keys.contains(&key), "{}: {scheme} {key}", figure.name);
                assert!(!published.source.is_empty());
                if let (Some(link), Experiment::Runs { links, .. }) = (published.link, &figure.experiment) {
                    let Links::Listed(links) = links else { panic!("{}: {link} of no list", figure.name) };
                    assert!(links.iter().any(|known| known.name == link), "{}: {link}", figure.name);
                }
            }
        }
    }
}
