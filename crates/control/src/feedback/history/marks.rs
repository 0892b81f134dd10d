//! Marks that come late: the path made a copy of a packet, and marked the copy (specs/l4s.md 3.4).

use alloc::collections::BTreeSet;

use thalweg_units::Ecn;

use crate::packet::PacketId;

/// Max packets remembered: a copy is about as late as packets are reordered.
const REMEMBERED: usize = 1024;

/// The last packets that arrived capable of ECN and without a mark; none on a path without ECN.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks {
    unmarked: BTreeSet<PacketId>,
    late: u32,
}

impl Marks {
    /// A report comes.
    pub(super) fn begin(&mut self) {
        self.late = 0;
    }

    /// The report says that a packet arrived with this field; its arrival may be known.
    #[inline]
    pub(super) fn on_acknowledgement(&mut self, id: PacketId, ecn: Ecn) {
        if ecn == Ecn::Ce && self.unmarked.remove(&id) {
            self.late += 1;
        }
    }

    /// Its arrival is news.
    #[inline]
    pub(super) fn on_arrival(&mut self, id: PacketId, ecn: Ecn) {
        if ecn.is_capable() && ecn != Ecn::Ce {
            self.unmarked.insert(id);
            if self.unmarked.len() > REMEMBERED {
                self.unmarked.pop_first();
            }
        }
    }

    /// The late marks of this report.
    pub(super) fn late(&self) -> u32 {
        self.late
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut marks = Marks::default();
        (0..5000).for_each(|id| marks.on_arrival(PacketId(id), Ecn::Ect1));
        assert_eq!(marks.unmarked.len(), REMEMBERED);
        [0, 3975, 3976, 4999].into_iter().for_each(|id| marks.on_acknowledgement(PacketId(id), Ecn::Ce));
        assert_eq!(marks.late(), 2);
    }
}
