//! Scenarios as files.

use thalweg_lab::Scenario;

/// Reads a scenario, writes it and reads that, which is the same: an option that is absent is none, never a default.
pub fn scenario(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let scenario = match toml::from_str::<Scenario>(text) {
        Ok(scenario) => scenario,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    // Numbers beyond TOML's integers are refused when they are written.
    if let Ok(written) = toml::to_string(&scenario) {
        let again: Scenario =
            toml::from_str(&written).unwrap_or_else(|error| panic!("{error} in what was written:\n{written}"));
        assert_eq!(toml::to_string(&again), Ok(written));
    }
}
