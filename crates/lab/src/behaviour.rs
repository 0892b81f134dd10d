//! Behaviour of the laboratory, as a number: results of another are not comparable run by run.

/// The fingerprint of short runs of every known scheme. It changes whenever events of a run may: results that were kept
/// (a sweep's) are known to be of the same behaviour by it.
pub const BEHAVIOUR: u64 = 0x1ae5_0f58_bf74_ea86;

/// Identifies the build of a job whose result is computed from the whole run: this version, and [`BEHAVIOUR`] in
/// hexadecimal. All crates of the workspace have one version.
pub fn made_by() -> String {
    format!("{}, behaviour {BEHAVIOUR:016x}", env!("CARGO_PKG_VERSION"))
}

/// Checks that a job was made by what plays it.
///
/// # Errors
/// A sentence with both versions.
pub fn check_made_by(other: &str) -> Result<(), String> {
    let here = made_by();
    if other == here {
        return Ok(());
    }
    Err(format!("it was made by thalweg {other}, and this is {here}: install the same version"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;
    use thalweg_netsim::{HopConfig, LossModel};
    use thalweg_units::Span;

    #[test]
    fn the_behaviour_is_that_of_the_last_change() {
        let mut lossy = Scenario { duration: Span::from_secs(4), ..Scenario::over("umts-driving") };
        lossy.forward.hops.push(HopConfig::Loss(LossModel::Random { probability: 0.02 }));
        let scenarios = [Scenario { duration: Span::from_secs(4), ..Scenario::over("2Mbps/500kbps@2s") }, lossy];
        let mut found = 0u64;
        for known in thalweg_sender::scheme::known() {
            for scenario in &scenarios {
                let run = scenario.play(&known.scheme()).unwrap();
                found = found.rotate_left(7) ^ run.recorder.fingerprint();
            }
        }
        assert_eq!(found, BEHAVIOUR, "events have changed: set BEHAVIOUR to {found:#018x}");
    }
}
