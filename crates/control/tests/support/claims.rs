//! How long packets may stand in the queue once settled, by what each algorithm claims; a report's interval comes on top.

use thalweg_units::{Bytes, Rate, Span};

use super::encoder::INTERVAL;

/// The longest time in the queue on a path of this capacity and round trip.
pub type Claim = fn(Rate, Span) -> Span;

/// The time of so many packets of 1500 bytes.
fn packets(count: u64, rate: Rate) -> Span {
    rate.time_for(Bytes::new(1500) * count)
}

/// No claim.
pub fn none(_: Rate, _: Span) -> Span {
    Span::MAX
}

/// 1 / delta packets on average, up to 2.5 times that as it swings, and a round trip where velocity carried it too far.
pub fn copa(rate: Rate, rtt: Span) -> Span {
    rtt + packets(8, rate)
}

/// gamma of a round trip of which a packet's own time is part, and alpha (specs/rocc.md 4).
pub fn rocc(rate: Rate, rtt: Span) -> Span {
    rtt.scale(0.52) + packets(6, rate)
}

/// What overuse detection lets stand; below the start rate the start itself (specs/gcc.md 5).
pub fn gcc(rate: Rate, rtt: Span) -> Span {
    if rate < Rate::from_kbps(300) { Span::from_secs(2) } else { rtt / 2 + Span::from_millis(100) }
}

/// The window is two BDP and three quanta of two packets; BtlBw may be a tenth too high, and RTprop has the four packets in
/// it that PROBE_RTT leaves under way.
pub fn bbr(rate: Rate, rtt: Span) -> Span {
    rtt.scale(1.2) + packets(16, rate)
}

/// A frame paced at twice the target leaves half of its interval in the queue.
pub fn sqp(rate: Rate, _: Span) -> Span {
    INTERVAL / 2 + packets(4, rate)
}

/// R <= 1: a frame is gone before the next.
pub fn pudica(rate: Rate, _: Span) -> Span {
    INTERVAL + packets(3, rate)
}

/// qdelay_target, and the least window of three packets with what may be in flight beyond it.
pub fn scream(rate: Rate, _: Span) -> Span {
    Span::from_millis(60) + packets(10, rate)
}

/// x = PRIO x XREF x RMAX / r: 40 ms for an application that could use four times what there is, and QBOUND.
pub fn nada(rate: Rate, _: Span) -> Span {
    Span::from_millis(90) + packets(4, rate)
}

/// A frame leaves back to back, and the next may come before gamma falls.
pub fn camel(rate: Rate, _: Span) -> Span {
    INTERVAL * 2 + packets(4, rate)
}

/// d: no more is under way than the path carries in 100 ms.
pub fn salsify(rate: Rate, _: Span) -> Span {
    Span::from_millis(100) + packets(2, rate)
}
