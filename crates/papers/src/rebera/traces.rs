//! Substitutes for the paper's traces: recordings as rates per second, scaled to the paper's means (specs/rebera.md 8,
//! R1).
//!
//! Assignment of six of the eight recordings to six traces: of all, this one has the least sum of distances in two
//! quantities: standard deviation over mean, and share of seconds without capacity. Each comment gives both, for the
//! paper's trace, then for the recording, and the recording's length: all recordings repeat, because none lasts 1000
//! periods, and all but one vary more than the trace.

use thalweg_units::Rate;

use super::super::Seconds;

const fn trace(kbps: u64, recording: &'static str) -> Seconds {
    Seconds { recording, mean: Some(Rate::from_kbps(kbps)) }
}

/// 0.65 and 2.0 %; 0.64 and 0.0 %, 140 s.
pub(super) const TR1: Seconds = trace(176, "Verizon-LTE-short.down");
/// 0.43 and 0.5 %; 0.52 and 0.7 %, 140 s.
pub(super) const TR2: Seconds = trace(388, "Verizon-LTE-short.up");
/// 0.41 and 0.0 %; 0.56 and 0.0 %, 786 s.
pub(super) const TR4: Seconds = trace(634, "ATT-LTE-driving.down");
/// 0.36 and 0.2 %; 0.46 and 2.9 %, 931 s.
pub(super) const TR5: Seconds = trace(735, "TMobile-UMTS-driving.up");
/// 0.38 and 1.2 %; 0.49 and 9.3 %, 1012 s, of which 77 consecutive ones have no capacity.
pub(super) const TR6: Seconds = trace(937, "ATT-LTE-driving.up");
/// 0.48 and 0.1 %; 0.59 and 0.0 %, 139 s.
pub(super) const TR7: Seconds = trace(1055, "TMobile-LTE-short.down");

/// The four forward paths of tables IV to VI.
pub(super) const FORTH: [(&str, Seconds); 4] = [("Tr2", TR2), ("Tr4", TR4), ("Tr5", TR5), ("Tr6", TR6)];
