//! Cellular links by name.

use thalweg_units::{Rate, Span};

use super::CellularModel;

/// A named model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preset {
    /// The name.
    pub name: &'static str,
    /// A description of it.
    pub about: &'static str,
    /// Its parameters.
    pub model: CellularModel,
}

/// Every preset. The first four are fitted to the mean, the variation per second and its autocorrelation, and the
/// outages of recordings (`cargo test -p thalweg-netsim --test recorded -- --nocapture` shows them side by side).
pub fn presets() -> &'static [Preset] {
    PRESETS
}

const SECOND: i64 = 1_000;

const PRESETS: &[Preset] = &[
    Preset {
        name: "lte-driving",
        about: "a car on a city's LTE downlink: 5 Mbps on average, deep fades, an outage now and then",
        model: CellularModel {
            mean: Rate::from_kbps(5_000),
            spread: 0.65,
            memory: Span::from_millis(4 * SECOND),
            ceiling: Rate::from_kbps(40_000),
            outage_every: Some(Span::from_millis(20 * SECOND)),
            min_outage: Span::from_millis(200),
            outage_shape: 1.6,
            max_outage: Span::from_millis(6 * SECOND),
        },
    },
    Preset {
        name: "lte-walking",
        about: "a pedestrian on LTE: 10 Mbps, slower changes, short outages",
        model: CellularModel {
            mean: Rate::from_kbps(10_000),
            spread: 0.45,
            memory: Span::from_millis(8 * SECOND),
            ceiling: Rate::from_kbps(50_000),
            outage_every: Some(Span::from_millis(60 * SECOND)),
            min_outage: Span::from_millis(150),
            outage_shape: 2.0,
            max_outage: Span::from_millis(2 * SECOND),
        },
    },
    Preset {
        name: "umts-driving",
        about: "a car on a 3G link: 2 Mbps, outages of seconds",
        model: CellularModel {
            mean: Rate::from_kbps(2_000),
            spread: 0.6,
            memory: Span::from_millis(10 * SECOND),
            ceiling: Rate::from_kbps(8_000),
            outage_every: Some(Span::from_millis(45 * SECOND)),
            min_outage: Span::from_millis(300),
            outage_shape: 1.3,
            max_outage: Span::from_millis(6 * SECOND),
        },
    },
    Preset {
        name: "5g-mmwave",
        about: "mmWave on foot: hundreds of Mbps, cut to a fraction when something is in the way",
        model: CellularModel {
            mean: Rate::from_kbps(300_000),
            spread: 0.8,
            memory: Span::from_millis(6 * SECOND),
            ceiling: Rate::from_kbps(1_500_000),
            outage_every: Some(Span::from_millis(25 * SECOND)),
            min_outage: Span::from_millis(100),
            outage_shape: 1.5,
            max_outage: Span::from_millis(3 * SECOND),
        },
    },
    Preset {
        name: "wifi-congested",
        about: "a shared access point: 8 Mbps, quick swings, no outages longer than a beacon or two",
        model: CellularModel {
            mean: Rate::from_kbps(8_000),
            spread: 0.5,
            memory: Span::from_millis(500),
            ceiling: Rate::from_kbps(60_000),
            outage_every: Some(Span::from_millis(10 * SECOND)),
            min_outage: Span::from_millis(50),
            outage_shape: 2.5,
            max_outage: Span::from_millis(400),
        },
    },
];
