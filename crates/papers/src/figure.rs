//! The description of a figure, and how one is written down: a constructor for its experiment, and a method for each
//! thing in which it differs from the defaults.

use std::fmt;

use thalweg_netsim::FindTrace;
use thalweg_sender::Scheme;
use thalweg_units::{Seed, Size, Span};

use super::published;
use super::{Bounded, Distribution, Encoder, EncoderStep, Links, Order, Published, Reading, Statistic};
use thalweg_lab::playout;
use thalweg_lab::simulate::SimulateError;

/// A published figure.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Its command-line name: paper, figure.
    pub name: &'static str,
    /// Description of the runs, and of the figure's result according to this project's reading.
    pub about: &'static str,
    /// The experiment.
    pub experiment: Experiment,
    /// The default setup.
    pub setup: Setup,
    /// The known numbers of the paper.
    pub published: Vec<Published>,
    /// Orders that the paper states or draws without printing numbers.
    pub orders: Vec<Order>,
    /// How schemes are compared over several links.
    pub statistic: Statistic,
    /// Distributions that are shown: of all links together in a page, of each too in JSON.
    pub distributions: Vec<Distribution>,
    /// True if it shows delay against quality.
    pub scattered: bool,
    /// Why what is missed is missed, in one line; empty if nothing is, or if the numbers say it.
    pub because: &'static str,
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
    /// Picture size; `None` for the default: 720p for the built-in scene, a file's own size.
    pub size: Option<Size>,
    /// The encoder, unless a codec is selected.
    pub encoder: Encoder,
    /// Lets the receiver know the round-trip time, as when media is sent both ways (see
    /// [`thalweg_lab::scenario::Scenario::call`]).
    pub call: bool,
    /// A clip of the data manifest; `None` for the built-in scene.
    pub video: Option<&'static str>,
    /// How long the receiver holds frames back; `None` for not at all.
    pub playout: Option<playout::Config>,
    /// Max age of a frame that is still shown (see [`thalweg_lab::scenario::Scenario::discard_after`]).
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
        size: None,
        encoder: Encoder::Real,
        call: false,
        video: None,
        playout: None,
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
    /// Numbers computed without a sender and a receiver.
    Rows(Rows),
    /// Runs whose figures have bounds.
    Bounded(Bounded),
}

/// A computed table.
#[derive(Clone, Copy)]
pub struct Rows {
    /// The keys of its columns, as `--json` prints them.
    pub keys: &'static [&'static str],
    /// The names of the required recorded links.
    pub traces: &'static [&'static str],
    /// Computes the table.
    pub play: fn(&mut FindTrace<'_>, Seed) -> Result<Vec<Row>, SimulateError>,
}

/// Without the function, whose address is another in each program.
impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("keys", &self.keys).field("traces", &self.traces).finish_non_exhaustive()
    }
}

/// A row of a computed table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The link or setting.
    pub link: String,
    /// The scheme.
    pub scheme: String,
    /// One value per key.
    pub values: Vec<Option<f64>>,
}

impl Figure {
    /// Another experiment than runs, with what the paper prints of it.
    pub(super) fn new(name: &'static str, about: &'static str, experiment: Experiment) -> Figure {
        let (setup, published) = (Setup::USUAL, published::of(name));
        let (statistic, distributions) = (Statistic::default(), Vec::new());
        Figure {
            name,
            about,
            experiment,
            setup,
            published,
            orders: Vec::new(),
            statistic,
            distributions,
            scattered: false,
            because: "",
        }
    }

    /// Every scheme over every link.
    pub(super) fn of_runs(
        name: &'static str,
        about: &'static str,
        schemes: Vec<Scheme>,
        links: impl Into<Links>,
        readings: &[Reading],
    ) -> Figure {
        Figure::new(name, about, Experiment::Runs { schemes, links: links.into(), readings: readings.to_vec() })
    }

    /// Sets the setup.
    pub(super) fn setup(self, setup: Setup) -> Figure {
        Figure { setup, ..self }
    }

    /// Sets the duration of a run.
    pub(super) fn seconds(mut self, seconds: i64) -> Figure {
        self.setup.duration = Span::from_secs(seconds);
        self
    }

    /// Compares link by link, and shows these distributions.
    pub(super) fn per_link(self, distributions: &[Distribution]) -> Figure {
        Figure { statistic: Statistic::PerLink, distributions: distributions.to_vec(), ..self }
    }

    /// Adds readings.
    pub(super) fn reading(mut self, more: &[Reading]) -> Figure {
        if let Experiment::Runs { readings, .. } = &mut self.experiment {
            readings.extend(more);
        }
        self
    }

    /// Adds orders that the paper states.
    pub(super) fn orders(mut self, orders: impl IntoIterator<Item = Order>) -> Figure {
        self.orders.extend(orders);
        self
    }

    /// Says why what is missed is missed.
    pub(super) fn because(self, because: &'static str) -> Figure {
        Figure { because, ..self }
    }

    /// Draws delay against quality.
    pub(super) fn scattered(self) -> Figure {
        Figure { scattered: true, ..self }
    }
}

/// Schemes by name. `NAME@55ms` is the scheme NAME with an encoder that takes 55 ms for a picture ([`encode_time`]).
pub(super) fn known(names: &[&str]) -> Vec<Scheme> {
    let find = |name: &&str| {
        let plain = name.split_once('@').map_or(*name, |(plain, _)| plain);
        let scheme: Scheme = plain.parse().unwrap_or_else(|error| panic!("{error}"));
        Scheme { name: (*name).into(), ..scheme }
    };
    names.iter().map(find).collect()
}

/// The encoding time per picture in the name of a figure's scheme; `None` for the scenario's own.
pub fn encode_time(scheme: &str) -> Option<Span> {
    scheme.split_once('@')?.1.parse().ok()
}
