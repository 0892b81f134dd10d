//! A paper's figures and tables, played again.
//!
//! A [`Figure`] says what a published figure is about, which runs answer the same question here, what is read off them,
//! and which of the paper's numbers are known, each with where it was read: a number that was not at hand is absent,
//! not guessed.

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
    /// What it is called on the command line: paper, figure.
    pub name: &'static str,
    /// What is played, and what the figure shows as this project reads it.
    pub about: &'static str,
    /// What to play.
    pub experiment: Experiment,
    /// How it is played by default.
    pub setup: Setup,
    /// The paper's numbers that are known.
    pub published: Vec<Published>,
    /// Where the authors' own points of it are, for who has their results.
    pub theirs: Vec<Theirs>,
    /// Whether delay against quality is what it shows.
    pub scattered: bool,
}

/// How a figure is played by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// Frames per second; `None` for 30 of the built-in scene and a file's own.
    pub frame_rate: Option<u32>,
    /// How long each link is played.
    pub duration: Span,
    /// One-way delay of the path, in each direction.
    pub delay: Span,
    /// How long encoding a picture takes; `None` for what it takes here.
    pub encode_time: Option<Span>,
    /// The size of pictures; `None` for 720p of the built-in scene and a file's own.
    pub size: Option<Size>,
    /// What encodes unless a codec is asked for.
    pub encoder: Encoder,
    /// Whether the receiver knows the round trip, as where media goes both ways (see [`crate::scenario::Scenario::call`]).
    pub call: bool,
    /// How old a frame may be that is still shown (see [`crate::scenario::Scenario::discard_after`]).
    pub discard_after: Option<Span>,
    /// How often each scheme is played over each link: with this many seeds, from the root of randomness on.
    pub runs: u32,
}

impl Setup {
    /// As this laboratory plays anything: two minutes, 25 ms, a real codec.
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

/// What to play.
#[derive(Debug, Clone)]
pub enum Experiment {
    /// Every scheme over every link.
    Runs {
        /// The schemes; the first is what the others are compared with.
        schemes: Vec<Scheme>,
        /// The links.
        links: Links,
        /// What to read off each run.
        readings: Vec<Reading>,
    },
    /// An encoder alone, its target stepping up and down.
    EncoderStep(EncoderStep),
    /// Signals of congestion on a synthetic queue.
    Signals(Signals),
    /// Numbers that are worked out without a sender and a receiver.
    Rows(Rows),
}

/// A number the paper prints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    /// Over which link of the figure; `None` of the mean over all.
    pub link: Option<&'static str>,
    /// For which scheme.
    pub scheme: &'static str,
    /// Of what: the key of a [`Reading`], or of a comparison with the first scheme (see [`compare`]).
    pub key: &'static str,
    /// How much, in the unit of the key.
    pub value: f64,
    /// The deviation it is printed with.
    pub sigma: Option<f64>,
    /// Where it was read.
    pub source: &'static str,
}

/// Every figure there is.
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
