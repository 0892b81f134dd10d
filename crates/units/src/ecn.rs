//! The ECN field of an IP packet.

use core::fmt;

/// The ECN field of an IP packet (RFC 3168 section 5): the two lowest bits of the IPv4 TOS byte or of the IPv6 traffic
/// class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Ecn {
    /// 00: not ECN-capable transport.
    #[default]
    NotCapable,
    /// 01: ECN-capable transport, for low latency (RFC 9331).
    Ect1,
    /// 10: ECN-capable transport.
    Ect0,
    /// 11: congestion experienced in a queue on the path.
    Ce,
}

impl Ecn {
    /// All values, in the order of their bits.
    pub const ALL: [Ecn; 4] = [Ecn::NotCapable, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];

    /// The value in the traffic class of a packet: its two lowest bits.
    pub const fn of_traffic_class(class: u8) -> Ecn {
        Ecn::ALL[(class & 0b11) as usize]
    }

    /// Its two bits.
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// CE, or where reports say no more than that, Not-ECT.
    pub const fn of_mark(is_marked: bool) -> Ecn {
        if is_marked { Ecn::Ce } else { Ecn::NotCapable }
    }

    /// Returns true if a queue marks the packet in place of dropping it.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Ecn::NotCapable)
    }

    /// Returns true if the packet goes into the queue for low latency of a dual queue: ECT(1), and CE, which may have
    /// been ECT(1) (RFC 9331 section 5.1).
    pub const fn is_low_latency(self) -> bool {
        matches!(self, Ecn::Ect1 | Ecn::Ce)
    }
}

impl fmt::Display for Ecn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Ecn::NotCapable => "Not-ECT",
            Ecn::Ect1 => "ECT(1)",
            Ecn::Ect0 => "ECT(0)",
            Ecn::Ce => "CE",
        })
    }
}
