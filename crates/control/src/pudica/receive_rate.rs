//! The receive rate.

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Rate, Span, Time};

use crate::feedback::Feedback;

/// Arrivals in the window, by the receiver's clock.
#[derive(Debug, Clone)]
pub(super) struct ReceiveRate {
    window: Span,
    began: Option<Time>,
    newest: Time,
    arrivals: VecDeque<(Time, Bytes)>,
    sum: Bytes,
}

impl ReceiveRate {
    pub(super) fn new(window: Span) -> ReceiveRate {
        ReceiveRate { window, began: None, newest: Time::ZERO, arrivals: VecDeque::new(), sum: Bytes::ZERO }
    }

    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        for report in feedback.reports {
            if let Some(at) = report.arrival() {
                self.add(at, report.packet.size);
            }
        }
    }

    fn add(&mut self, at: Time, size: Bytes) {
        // If the clock goes back further than any reordering, it was set or the receiver lies: the earlier arrivals
        // would stay in the window until the clock reaches them again.
        if at + self.window < self.newest {
            *self = ReceiveRate::new(self.window);
        }
        self.began.get_or_insert(at);
        self.newest = self.newest.max(at);
        self.arrivals.push_back((at, size));
        self.sum += size;
        while let Some((_, old)) = self.arrivals.front().copied().filter(|(at, _)| *at + self.window <= self.newest) {
            self.arrivals.pop_front();
            self.sum -= old;
        }
    }

    /// The mean over the window, or over the elapsed part of the first window; zero before two arrivals.
    pub(super) fn get(&self) -> Rate {
        let since = self.began.map_or(Span::ZERO, |began| self.newest - began);
        self.sum.per(since.min(self.window))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_mean_of_the_window() {
        let mut rate = ReceiveRate::new(Span::from_millis(200));
        assert_eq!(rate.get(), Rate::ZERO);
        for packet in 0..100 {
            rate.add(Time::from_millis(5_000 + packet * 10), Bytes::new(1000));
        }
        assert_eq!(rate.get(), Rate::from_kbps(800));
        rate.add(Time::from_millis(9_000), Bytes::new(1000));
        assert_eq!(rate.get(), Rate::from_kbps(40));
    }

    #[test]
    fn arrivals_an_hour_ahead_are_forgotten_when_the_clock_is_set_back() {
        let mut rate = ReceiveRate::new(Span::from_millis(200));
        for packet in 0..100 {
            rate.add(Time::from_millis(3_600_000 + packet * 10), Bytes::new(10_000));
        }
        for packet in 0..100 {
            rate.add(Time::from_millis(5_000 + packet * 10), Bytes::new(1000));
        }
        assert_eq!((rate.get(), rate.arrivals.len()), (Rate::from_kbps(800), 20));
    }
}
