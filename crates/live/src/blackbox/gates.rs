//! Gates that tell whether a call measured the program or the machine.

use thalweg_units::{Span, Time};

use super::Observed;

/// Conditions that a call must meet to count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gates {
    /// The least share of the camera's pictures that were taken.
    pub camera: f64,
    /// The greatest lateness of the relay's packets, at the 99th percentile.
    pub lateness: Span,
    /// The least share of the processors' time in which nothing ran.
    pub idle: f64,
}

impl Default for Gates {
    /// One picture in twenty, because latency is compared by its 95th percentile; 5 ms, which is GCC's packet group
    /// (draft-ietf-rmcat-gcc-02 section 5.2); a tenth of the machine, below which the programs wait for each other.
    fn default() -> Gates {
        Gates { camera: 0.95, lateness: Span::from_millis(5), idle: 0.10 }
    }
}

/// How well the machine kept up with a call.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Validity {
    /// Pictures that the camera took over those that it should have taken.
    pub camera_ratio: f64,
    /// The 99th percentile of the relay's lateness, in ms.
    pub lateness_p99_ms: f64,
    /// Share of the processors' time in which nothing ran.
    pub idle_ratio: f64,
    /// Frames whose number was legible over frames decoded; null without any.
    pub legible_ratio: Option<f64>,
}

impl Validity {
    /// Judges a call.
    pub fn of(observed: &Observed) -> Validity {
        let end = observed.zero + observed.duration;
        let within = |at: Time| at >= observed.zero && at < end;
        let taken = observed.captured.iter().filter(|picture| within(picture.at)).count();
        let wanted = observed.duration.ratio(observed.format.interval());
        let mut lateness = observed.link.up.lateness.clone();
        lateness.merge(&observed.link.down.lateness);
        let (frames, legible) =
            (observed.received.len(), observed.received.iter().filter(|frame| frame.number.is_some()));
        Validity {
            camera_ratio: taken as f64 / wanted,
            lateness_p99_ms: lateness.percentile(0.99).unwrap_or_default().as_millis_f64(),
            idle_ratio: observed.idle,
            legible_ratio: (frames > 0).then(|| legible.count() as f64 / frames as f64),
        }
    }

    /// Each gate that it does not pass, with the figure.
    pub fn failures(&self, gates: &Gates) -> Vec<String> {
        let Validity { camera_ratio, lateness_p99_ms, idle_ratio, legible_ratio } = *self;
        let mut failures = Vec::new();
        let mut require = |holds: bool, words: String| {
            if !holds {
                failures.push(words);
            }
        };
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        require(
            camera_ratio >= gates.camera,
            format!("the camera took {} of its pictures, must be {}", percent(camera_ratio), percent(gates.camera)),
        );
        require(
            lateness_p99_ms <= gates.lateness.as_millis_f64(),
            format!("the relay was {lateness_p99_ms:.1} ms late (99 %), may be {}", gates.lateness),
        );
        require(
            idle_ratio >= gates.idle,
            format!("{} of the processors' time was idle, must be {}", percent(idle_ratio), percent(gates.idle)),
        );
        match legible_ratio {
            None => require(false, "no frame was decoded".into()),
            // The distance between the clocks is the median over legible frames.
            Some(ratio) => require(ratio >= 0.5, format!("{} of the frames had a legible number", percent(ratio))),
        }
        failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Validity =
        Validity { camera_ratio: 0.999, lateness_p99_ms: 0.6, idle_ratio: 0.4, legible_ratio: Some(0.99) };

    #[test]
    fn a_call_that_the_machine_kept_up_with_passes() {
        assert_eq!(GOOD.failures(&Gates::default()), Vec::<String>::new());
    }

    #[test]
    fn each_gate_alone_fails_a_call_and_names_its_figure() {
        for (bad, figure) in [
            (Validity { camera_ratio: 0.94, ..GOOD }, "94.0 %"),
            (Validity { lateness_p99_ms: 7.25, ..GOOD }, "7.2 ms"),
            (Validity { idle_ratio: 0.02, ..GOOD }, "2.0 %"),
            (Validity { legible_ratio: Some(0.1), ..GOOD }, "10.0 %"),
            (Validity { legible_ratio: None, ..GOOD }, "no frame"),
        ] {
            let failures = bad.failures(&Gates::default());
            assert!(failures.len() == 1 && failures[0].contains(figure), "{failures:?}");
        }
    }
}
