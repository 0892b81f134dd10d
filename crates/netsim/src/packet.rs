//! Fields of a packet that the network reads and writes.

use alloc::vec::Vec;

use thalweg_units::Ecn;

/// Why a queue marked a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MarkReason {
    /// It waited longer than a threshold.
    Step,
    /// It waited so long that a ramp's probability hit.
    Ramp,
    /// It was for low latency, and the delay of the classic queue beside its own asked for marks.
    Coupled,
    /// It was marked in place of being dropped (CoDel, DualPI2's classic queue).
    Classic,
    /// It was going to wait too long.
    Predicted,
}

/// A packet as queues and middleboxes see it. By default its transport is not capable of ECN, nothing is written, and
/// all belong to one flow.
///
/// ```
/// use thalweg_netsim::{Ecn, MarkReason, Packet};
///
/// struct Datagram { ecn: Ecn, bytes: Vec<u8> }
///
/// impl Packet for Datagram {
///     fn ecn(&self) -> Ecn { self.ecn }
///     fn mark(&mut self, _: MarkReason) { self.ecn = Ecn::Ce; }
///     fn bleach(&mut self) { self.ecn = Ecn::NotCapable; }
/// }
/// ```
pub trait Packet {
    /// Its ECN field.
    fn ecn(&self) -> Ecn {
        Ecn::NotCapable
    }

    /// Which flow it belongs to, for queues that keep flows apart; the same for all where that is not known.
    fn flow(&self) -> u64 {
        0
    }

    /// Why a queue marked it, where that is kept.
    fn marked(&self) -> Option<MarkReason> {
        None
    }

    /// A queue sets the field to [`Ecn::Ce`]; called only while it is ECT(0) or ECT(1).
    fn mark(&mut self, _why: MarkReason) {}

    /// A middlebox clears the field.
    fn bleach(&mut self) {}

    /// A hop duplicates it: the copy; `None` for packets that are not duplicated.
    fn duplicate(&mut self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

/// The number of the flow that these bytes name, such as its addresses and ports (FNV-1a).
pub fn flow_of(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

// Numbers, names, nothing, and bytes whose field is not known.
macro_rules! not_capable {
    ($($of:ty),*) => {
        $(impl Packet for $of {
            fn duplicate(&mut self) -> Option<Self> {
                Some(Clone::clone(self))
            }
        })*
    };
}
not_capable!(u8, u16, u32, u64, usize, i32, &str, (), Vec<u8>);

/// A packet with what its owner keeps beside it.
impl<K, P: Packet> Packet for (K, P) {
    fn ecn(&self) -> Ecn {
        self.1.ecn()
    }

    fn flow(&self) -> u64 {
        self.1.flow()
    }

    fn marked(&self) -> Option<MarkReason> {
        self.1.marked()
    }

    fn mark(&mut self, why: MarkReason) {
        self.1.mark(why);
    }

    fn bleach(&mut self) {
        self.1.bleach();
    }
}
