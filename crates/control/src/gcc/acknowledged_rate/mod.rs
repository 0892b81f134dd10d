//! The acknowledged rate: the rate at which packets arrive.

mod bayesian;
mod robust;

use thalweg_units::{Rate, Time};

use crate::feedback::Report;
pub(super) use bayesian::Bayesian;
pub(super) use robust::Robust;

/// The estimator of the acknowledged rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Config {
    /// Today's default (specs/gcc.md 4.1).
    #[default]
    Robust,
    /// The estimator of builds around 2020 to 2022 (specs/gcc.md 4.2).
    Bayesian,
}

/// Either estimator.
#[derive(Debug, Clone)]
pub(super) enum AcknowledgedRate {
    Robust(Robust),
    Bayesian(Bayesian),
}

impl AcknowledgedRate {
    pub(super) fn new(config: Config) -> AcknowledgedRate {
        match config {
            Config::Robust => AcknowledgedRate::Robust(Robust::default()),
            Config::Bayesian => AcknowledgedRate::Bayesian(Bayesian::default()),
        }
    }

    /// Takes arrived packets, in order of arrival.
    pub(super) fn on_arrivals(&mut self, arrived: &[Report]) {
        for report in arrived {
            let Some(arrival) = report.arrival() else { continue };
            match self {
                AcknowledgedRate::Robust(robust) => robust.add(report.packet.at, arrival, report.packet.size),
                AcknowledgedRate::Bayesian(bayesian) => bayesian.add(arrival, report.packet.size),
            }
        }
    }

    pub(super) fn on_alr_ended(&mut self, at: Time) {
        if let AcknowledgedRate::Bayesian(bayesian) = self {
            bayesian.expect_change(at);
        }
    }

    pub(super) fn rate(&self) -> Option<Rate> {
        match self {
            AcknowledgedRate::Robust(robust) => robust.rate(),
            AcknowledgedRate::Bayesian(bayesian) => bayesian.rate(),
        }
    }
}
