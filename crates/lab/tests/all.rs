//! Whole runs, and what is measured of encoders.

mod curves;
mod scenarios;
mod undershoot;
