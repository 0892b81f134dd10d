//! How fast the path serves: the time that it worked on each packet, by the receiver's clock.

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time};

use crate::estimate::{Average, Smoothing, Unit, WindowedMin};
use crate::feedback::Feedback;
use crate::packet::{PacketId, SentPacket};

/// The window of the min delay: two clocks drift apart by no more than a millisecond in that time (100 ppm).
const MIN_DELAY_MEMORY: Span = Span::from_secs(10);

/// Averages of the service time per byte, without the time in which the path was empty.
///
/// On an empty path a packet arrives at the min delay after it was sent; whatever it arrived later than that, or than
/// the packet before it, the path has worked for it. So frames are trains that measure the path at any rate at which
/// the sender sends, without padding.
#[derive(Debug, Clone)]
pub(super) struct Service {
    quick: Average,
    slow: Average,
    wire: Bytes,
    longest: Span,
    /// The newest packet that arrived, and when.
    newest: Option<(PacketId, Time)>,
    /// Arrival minus sending time, by two clocks.
    min_delay: WindowedMin<Span>,
}

impl Service {
    pub(super) fn new(config: &super::Config) -> Result<Service, ConfigError> {
        let average = |gain| Smoothing { gain, corrects_beginning: true, unit: Unit::Bytes(config.wire) }.build();
        Ok(Service {
            quick: average(config.quick)?,
            slow: average(config.slow)?,
            wire: config.wire,
            longest: config.longest_service,
            newest: None,
            min_delay: WindowedMin::default(),
        })
    }

    /// The rate on the wire: the lesser of both averages; `None` before the second arrival.
    pub(super) fn rate(&self) -> Option<Rate> {
        let rate = |average: &Average| Some(self.wire.per(average.value()?.max(Span::from_micros(1))));
        Some(rate(&self.quick)?.min(rate(&self.slow)?))
    }

    /// The delay of the empty path, by two clocks.
    pub(super) fn min_delay(&self) -> Option<Span> {
        self.min_delay.get()
    }

    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        for (at, packet) in feedback.in_order_of_arrival() {
            self.on_arrival(&packet, at);
        }
    }

    /// Of reordered packets only the newer ones count.
    fn on_arrival(&mut self, packet: &SentPacket, at: Time) {
        self.min_delay.add(at, at - packet.at, MIN_DELAY_MEMORY);
        if self.newest.is_some_and(|(newest, _)| packet.id <= newest) {
            return;
        }
        if let (Some((_, last)), Some(delay)) = (self.newest, self.min_delay.get()) {
            // The min delay has the packet's own service in it, so one that meets an empty path seems to need none, and
            // a path on which nothing ever waits seems endless. Frames of few packets see it too fast by the first.
            let served = (at - last.max(packet.at + delay)).min(self.longest);
            self.quick.add(served, packet.size);
            self.slow.add(served, packet.size);
        }
        self.newest = Some((packet.id, at));
    }
}
