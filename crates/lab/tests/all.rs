//! Whole runs, and what is measured of encoders.

mod curves;
mod invariants;
mod scenarios;
mod undershoot;
