//! The standard's larger tables.

mod coefficients;
mod subblock_modes;

pub use coefficients::{COEFFICIENT_UPDATES, CoefficientProbabilities, DEFAULT_COEFFICIENTS};
pub use subblock_modes::KEY_SUBBLOCK_MODES;
