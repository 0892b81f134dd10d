//! Code shared by the schemes designed for RTCP reports: they evaluate a report every few hundred milliseconds, here
//! accumulated from per-packet reports of any kind (specs/fbra.md 1), and frames by their RTP timestamps.
//!
//! * `accumulator`: the packets of a report interval; `feedback_gap`: losses declared because feedback was missing;
//! * `frames`: packets in order of arrival, grouped into frames;
//! * `limits`: the min and max rate.

mod accumulator;
mod feedback_gap;
mod frames;
mod limits;

pub(crate) use accumulator::{Accumulator, Interval, Reported};
pub(crate) use frames::{Frame, Frames};
pub(crate) use limits::Limits;
#[cfg(test)]
pub(crate) mod tests {
    pub(crate) use super::accumulator::tests::{reported, reported_of};
    pub(crate) use super::frames::tests::packet_of;
}
