//! The max queueing time of packets in steady state according to each algorithm; a report interval is added to it.

use thalweg_units::{Bytes, Rate, Span};

use super::encoder::INTERVAL;

/// The max queueing time on a path of this capacity and round trip.
pub type Claim = fn(Rate, Span) -> Span;

/// The transmission time of `count` packets of 1500 bytes.
fn packets(count: u64, rate: Rate) -> Span {
    rate.time_for(Bytes::new(1500) * count)
}

/// No claim.
pub fn none(_: Rate, _: Span) -> Span {
    Span::MAX
}

/// 1 / delta packets on average, up to 2.5 times that during oscillation, and a round trip when velocity overshoots.
pub fn copa(rate: Rate, rtt: Span) -> Span {
    rtt + packets(8, rate)
}

/// gamma of a round trip, which includes a packet's own transmission time, and alpha (specs/rocc.md 4).
pub fn rocc(rate: Rate, rtt: Span) -> Span {
    rtt.scale(0.52) + packets(6, rate)
}

/// The queue that overuse detection tolerates; below the start rate, the start itself (specs/gcc.md 5).
pub fn gcc(rate: Rate, rtt: Span) -> Span {
    if rate < Rate::from_kbps(300) { Span::from_secs(2) } else { rtt / 2 + Span::from_millis(100) }
}

/// The window is two BDP and three quanta of two packets; BtlBw may be a tenth too high, and RTprop includes the four
/// packets that PROBE_RTT leaves in flight.
pub fn bbr(rate: Rate, rtt: Span) -> Span {
    rtt.scale(1.2) + packets(16, rate)
}

/// A frame paced at twice the target leaves half of its interval in the queue.
pub fn sqp(rate: Rate, _: Span) -> Span {
    INTERVAL / 2 + packets(4, rate)
}

/// R <= 1: a frame has passed before the next begins.
pub fn pudica(rate: Rate, _: Span) -> Span {
    INTERVAL + packets(3, rate)
}

/// qdelay_target, and the min window of three packets plus what may be in flight beyond it.
pub fn scream(rate: Rate, _: Span) -> Span {
    Span::from_millis(60) + packets(10, rate)
}

/// x = PRIO x XREF x RMAX / r: 40 ms for an application that could use four times the capacity, and QBOUND.
pub fn nada(rate: Rate, _: Span) -> Span {
    Span::from_millis(90) + packets(4, rate)
}

/// A frame leaves back to back, and the next may follow before gamma falls.
pub fn camel(rate: Rate, _: Span) -> Span {
    INTERVAL * 2 + packets(4, rate)
}

/// d: at most the bytes that the path carries in 100 ms are in flight.
pub fn salsify(rate: Rate, _: Span) -> Span {
    Span::from_millis(100) + packets(2, rate)
}

/// The greatest budget, four packets beyond it, as many that a frame of one packet may exceed it by, and a train's.
pub fn thalweg(rate: Rate, _: Span) -> Span {
    Span::from_millis(120) + packets(9, rate)
}
