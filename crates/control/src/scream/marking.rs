//! l4s_alpha: the share of packets that are marked.

use thalweg_units::{Span, Time};

use super::L4s;

/// An average of the share of marked packets with fast attack and slow decay.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marking {
    alpha: f64,
    updated: Time,
    delivered: u32,
    marked: u32,
}

impl Marking {
    /// Records that `delivered` packets arrived, `marked` of them marked.
    pub(super) fn on_arrivals(&mut self, now: Time, delivered: u32, marked: u32, srtt: Span, config: &L4s) {
        self.delivered += delivered;
        self.marked += marked;
        if self.delivered == 0 || now - self.updated < config.interval.min(srtt) {
            return;
        }
        let share = f64::from(self.marked) / f64::from(self.delivered);
        self.alpha = if share >= self.alpha {
            self.alpha + config.gain_up * (share - self.alpha)
        } else {
            (1.0 - config.gain_down) * self.alpha
        };
        *self = Marking { alpha: self.alpha, updated: now, delivered: 0, marked: 0 };
    }

    pub(super) fn alpha(&self) -> f64 {
        self.alpha
    }

    #[cfg(test)]
    pub(super) fn of(alpha: f64) -> Marking {
        Marking { alpha, ..Marking::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_share_of_marked_packets_rises_by_eighths_and_falls_by_128ths() {
        let mut marking = Marking::default();
        let (srtt, config) = (Span::from_millis(50), L4s::default());
        for (at, delivered, marked, alpha) in
            [(10, 4, 2, 0.0625), (15, 4, 4, 0.0625), (20, 4, 4, 0.1796875), (30, 8, 0, 0.178283691)]
        {
            marking.on_arrivals(Time::from_millis(at), delivered, marked, srtt, &config);
            assert!((marking.alpha() - alpha).abs() < 1e-9, "{at} ms: {}", marking.alpha());
        }
    }
}
