//! tau: the smoothed interarrival time, without the sender's own pauses.

use alloc::collections::VecDeque;

use thalweg_units::{Span, Time};

use crate::estimate::{Average, Grace, WindowedMin};
use crate::feedback::Feedback;
use crate::packet::{PacketId, SentPacket};

/// Max number of packets whose grace is remembered: as many as 16 bits can distinguish.
const REMEMBERED: usize = 1 << 16;
/// The window of the min delay: two clocks drift apart by no more than a millisecond in that time (100 ppm).
const MIN_DELAY_MEMORY: Span = Span::from_secs(10);

/// The average, computed from reported arrivals.
#[derive(Debug, Clone)]
pub(super) struct Interarrival {
    average: Average,
    grace: Grace,
    last_sent: Option<Time>,
    /// Grace of packets not yet reported, in order.
    graces: VecDeque<(PacketId, Span)>,
    newest: Option<(PacketId, Time)>,
    /// Min of arrival minus sending time, by two clocks.
    min_delay: WindowedMin<Span>,
}

impl Interarrival {
    pub(super) fn new(average: Average, grace: Grace) -> Interarrival {
        Interarrival {
            average,
            grace,
            last_sent: None,
            graces: VecDeque::new(),
            newest: None,
            min_delay: WindowedMin::default(),
        }
    }

    /// tau; `None` before the first measurement.
    pub(super) fn smoothed(&self) -> Option<Span> {
        self.average.value()
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        let gap = self.last_sent.map_or(Span::ZERO, |last| packet.at - last);
        self.last_sent = Some(packet.at);
        self.graces.push_back((packet.id, self.grace.of(packet.place.is_none_or(|place| place.first), gap)));
        if self.graces.len() > REMEMBERED {
            self.graces.pop_front();
        }
    }

    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        for (at, packet) in feedback.in_order_of_arrival() {
            self.on_arrival(&packet, at);
        }
    }

    /// Records an arrival; of reordered packets only the newer ones count. The grace of packets that never arrived is
    /// added to that of the next that does: the path was idle in that time.
    fn on_arrival(&mut self, packet: &SentPacket, at: Time) {
        let SentPacket { id, size, .. } = *packet;
        self.min_delay.add(at, at - packet.at, MIN_DELAY_MEMORY);
        if self.newest.is_some_and(|(newest, _)| id <= newest) {
            return;
        }
        let mut grace = Span::ZERO;
        while let Some((_, span)) = self.graces.front().copied().filter(|(next, _)| *next <= id) {
            grace += span;
            self.graces.pop_front();
        }
        match self.newest {
            Some((_, last)) => {
                let idle = match (self.grace, self.min_delay.get()) {
                    // On an empty path it would have arrived at the min delay after it was sent.
                    (Grace::WhileEmpty, Some(delay)) => (packet.at + delay - last).max(Span::ZERO),
                    _ => grace,
                };
                self.average.add(at - last - idle, size);
            }
            None => self.average.begin(),
        }
        self.newest = Some((id, at));
    }
}
