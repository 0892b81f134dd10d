//! How fast the path serves: the time that it worked on each packet, by the receiver's clock.

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time};

use crate::estimate::{Average, Smoothing, Unit, WindowedMin};
use crate::packet::SentPacket;

use super::JITTER;

/// The window of the min delay: two clocks drift apart by no more than a millisecond in that time (100 ppm).
const MIN_DELAY_MEMORY: Span = Span::from_secs(10);
/// Packets sent farther apart are not of one frame: four times what a full one takes at the least pacing rate.
const LONGEST_GAP: Span = Span::from_millis(2);

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
    /// True if the last packet took longer than `longest`.
    was_long: bool,
    /// The newest packet that arrived.
    newest: Option<Arrival>,
    /// Arrival minus sending time, by two clocks.
    min_delay: WindowedMin<Span>,
}

#[derive(Debug, Clone, Copy)]
struct Arrival {
    packet: SentPacket,
    at: Time,
}

impl Service {
    pub(super) fn new(config: &super::Config) -> Result<Service, ConfigError> {
        let average = |gain| Smoothing { gain, corrects_beginning: true, unit: Unit::Bytes(config.wire) }.build();
        Ok(Service {
            quick: average(config.quick)?,
            slow: average(config.slow)?,
            wire: config.wire,
            longest: config.longest_service,
            was_long: false,
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

    /// Takes arrivals, in their order.
    pub(super) fn on_arrivals(&mut self, arrivals: &[(Time, SentPacket)]) {
        for (at, packet) in arrivals {
            self.on_arrival(packet, *at);
        }
    }

    /// Records an arrival; of reordered packets only the newer ones count.
    fn on_arrival(&mut self, packet: &SentPacket, at: Time) {
        self.min_delay.add(at, at - packet.at, MIN_DELAY_MEMORY);
        let Some(newest) = self.newest.filter(|newest| newest.packet.id < packet.id) else {
            self.newest.get_or_insert(Arrival { packet: *packet, at });
            return;
        };
        self.newest = Some(Arrival { packet: *packet, at });
        let due = packet.at + self.min_delay.get().unwrap_or_default();
        // The mean for a packet of this size.
        let usual = self.rate().map_or(Span::ZERO, |rate| rate.time_for(packet.size));
        let gap = packet.at - newest.packet.at;
        let served = if newest.at >= due {
            at - newest.at
        } else if gap <= LONGEST_GAP {
            // It met an empty path. The min delay has the packet's own service in it, so that it seems to need none: it
            // shows that the path is as fast as packets leave, and no more.
            gap + (at - due)
        } else {
            // Nor does the first of a frame show that, but that the path did not serve it at once.
            at - due - JITTER
        };
        if newest.at >= due || gap <= LONGEST_GAP || served > usual {
            // An outage is over when it is over: after it packets are served as before. Where the next one takes as
            // long, the path is slow.
            let longest = self.longest.max(usual * 2);
            let is_outage = served > longest && !self.was_long;
            self.was_long = served > longest;
            let served = if is_outage { longest } else { served };
            self.quick.add(served, packet.size);
            self.slow.add(served, packet.size);
        }
    }
}
