//! What schemes of the RTCP days share: they judge a report every few hundred milliseconds, here gathered from whatever tells of
//! packets (specs/fbra.md 1), and frames by their RTP timestamps.
//!
//! * `gathering`: the packets of a report interval; `swallowed`: losses that a silence made up;
//! * `frames`: arrivals in order, and the frames they make;
//! * `limits`: between which rates.

mod frames;
mod gathering;
mod limits;
mod swallowed;

pub(crate) use frames::{Frame, Frames, in_order_of_arrival};
pub(crate) use gathering::{Gathering, Heard, Interval};
pub(crate) use limits::Limits;
#[cfg(test)]
pub(crate) mod tests {
    pub(crate) use super::frames::tests::packet_of;
    pub(crate) use super::gathering::tests::{heard, heard_of};
}
