//! What schemes of the RTCP days share: they judge a report every few hundred milliseconds, here gathered from whatever reports
//! packets (specs/fbra.md 1), and frames by their RTP timestamps.
//!
//! * `accumulator`: the packets of a report interval; `feedback_gap`: losses declared because feedback was missing;
//! * `frames`: arrivals in order, and the frames they make;
//! * `limits`: between which rates.

mod accumulator;
mod feedback_gap;
mod frames;
mod limits;

pub(crate) use accumulator::{Accumulator, Interval, Reported};
pub(crate) use frames::{Frame, Frames, in_order_of_arrival};
pub(crate) use limits::Limits;
#[cfg(test)]
pub(crate) mod tests {
    pub(crate) use super::accumulator::tests::{reported, reported_of};
    pub(crate) use super::frames::tests::packet_of;
}
