//! How fast the path serves: the time that it worked on each packet, by the receiver's clock.

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time};

use crate::estimate::{Average, Smoothing, Unit, WindowedMin};
use crate::packet::{Payload, SentPacket};

use super::JITTER;
use super::raised::Raised;
use super::steps::{Measured, Steps};

/// The window of the min delay: two clocks drift apart by no more than a millisecond in that time (100 ppm).
const MIN_DELAY_MEMORY: Span = Span::from_secs(10);
/// Packets sent farther apart are not of one frame: four times what a full one takes at the least pacing rate.
pub(super) const LONGEST_GAP: Span = Span::from_millis(2);

/// No more packets in a row that are in no report count: those of 100 ms at 25 Mbps.
const MOST_UNREPORTED: u64 = 1 << 8;
/// Averages of the service time per byte, without the time in which the path was empty.
///
/// On an empty path a packet arrives at the min delay after it was sent; whatever it arrived later than that, or than
/// the packet before it, the path has worked for it. So frames are trains that measure the path at any rate at which
/// the sender sends, without padding.
#[derive(Debug, Clone)]
pub(super) struct Service {
    quick: Average,
    slow: Average,
    /// Both before the first packet.
    fresh: (Average, Average),
    steps: Option<Steps>,
    /// Steps so far.
    stepped: u64,
    wire: Bytes,
    longest: Span,
    /// An outage that is longer, far longer than any jitter, is a halt of the path: what a hop before it served meanwhile
    /// arrives at once when it ends.
    halt: Span,
    /// True if the last packet took longer than `longest`.
    was_long: bool,
    /// The newest packet that arrived.
    newest: Option<Arrival>,
    /// When the last outage ended, and how long it was.
    pause: Option<(Time, Span)>,
    /// When the last halt ended.
    halted: Option<Time>,
    /// The time of it in which no packet has been counted as served.
    withheld: Span,
    /// Packets that arrived behind another of their train.
    behind: u64,
    /// Packets that one of a short train stands for.
    weight: i64,
    /// The delay that an empty path's jitter may add.
    jitter: Span,
    /// How many packets before the next arrival are in no report.
    unreported: u64,
    /// True where packets overtake one another.
    reorders: bool,
    /// When the last packet arrived, be it overtaken.
    last: Time,
    /// The watch for a path that stands idle before frames although none is as early as the least.
    raised: Option<Raised>,
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
        let (quick, slow) = (average(config.quick)?, average(config.slow)?);
        Ok(Service {
            quick,
            slow,
            fresh: (quick, slow),
            stepped: 0,
            steps: config.steps.map(|steps| steps.check().map(Steps::new)).transpose()?,
            wire: config.wire,
            longest: config.longest_service,
            halt: config.jitter.unwrap_or_default().most * 2,
            was_long: false,
            newest: None,
            pause: None,
            halted: None,
            withheld: Span::ZERO,
            behind: 0,
            weight: config.trains.map_or(1, |trains| trains.weight as i64),
            jitter: Span::ZERO,
            unreported: 0,
            reorders: false,
            last: Time::ZERO,
            raised: config.rebases.then(|| Raised::new(quick)),
            min_delay: WindowedMin::default(),
        })
    }

    /// The rate on the wire: the lesser of both averages; `None` before the second arrival.
    pub(super) fn rate(&self) -> Option<Rate> {
        let rate = |average: &Average| Some(self.wire.per(average.value()?.max(Span::from_micros(1))));
        Some(rate(&self.quick)?.min(rate(&self.slow)?))
    }

    /// How long the path takes for a packet by its rate, or behind others of a frame if that is less: a rate that jitter has
    /// made too low takes longer.
    pub(super) fn least_service(&self) -> Span {
        let by_rate = self.rate().map_or(Span::ZERO, |rate| rate.time_for(self.wire));
        self.raised.as_ref().and_then(Raised::within).map_or(by_rate, |within| within.min(by_rate))
    }

    /// The delay of the empty path, by two clocks.
    pub(super) fn min_delay(&self) -> Option<Span> {
        self.min_delay.get()
    }

    /// When a packet that leaves now would arrive on an empty path, at the latest.
    pub(super) fn due(&self, packet: &SentPacket) -> Time {
        packet.at + self.min_delay.get().unwrap_or_default() + self.jitter
    }

    /// Keeps the least delay while the path is not seen empty.
    pub(super) fn keep(&mut self) {
        if let Some((least, newest)) = self.min_delay.get().zip(self.newest) {
            self.min_delay.add(newest.at, least, MIN_DELAY_MEMORY);
        }
    }

    /// The path has become longer: the least delay is that of the next packet.
    pub(super) fn forget_least(&mut self) {
        self.min_delay.clear();
    }

    /// The last pause of the path: the packet that it ended with, and how long it was.
    pub(super) fn pause(&self) -> Option<(Time, Span)> {
        self.pause
    }

    /// Returns true if a packet that arrived at `at` waited for the end of the last halt.
    pub(super) fn waited(&self, packet: &SentPacket, at: Time) -> bool {
        self.halted.is_some_and(|ended| self.due(packet) < ended && ended <= at)
    }

    /// Steps of the rate so far.
    pub(super) fn stepped(&self) -> u64 {
        self.stepped
    }

    /// Packets that arrived behind another of their train so far.
    pub(super) fn behind(&self) -> u64 {
        self.behind
    }

    /// Takes how many packets before the next arrival are in no report.
    pub(super) fn on_unreported(&mut self, packets: u64) {
        self.unreported = packets.min(MOST_UNREPORTED);
    }

    /// Takes arrivals, in their order; an empty path delays packets by up to `jitter` more than the least, and `reorders`
    /// says whether they overtake one another. Returns by how much the least delay has risen.
    pub(super) fn on_arrivals(&mut self, arrivals: &[(Time, SentPacket)], jitter: Span, reorders: bool) -> Span {
        (self.jitter, self.reorders) = (jitter, reorders);
        let mut risen = Span::ZERO;
        for (at, packet) in arrivals {
            risen += self.follow(packet, *at);
            self.on_arrival(packet, *at);
        }
        risen
    }

    /// Replaces the least delay if it holds no longer, and returns by how much.
    fn follow(&mut self, packet: &SentPacket, at: Time) -> Span {
        let newest = self.newest.filter(|newest| newest.packet.id < packet.id);
        let Some(((raised, newest), least)) = self.raised.as_mut().zip(newest).zip(self.min_delay.get()) else {
            return Span::ZERO;
        };
        let (delay, gap) = (at - packet.at, at - newest.at);
        if packet.at - newest.packet.at <= LONGEST_GAP {
            raised.on_behind(gap, packet.size);
            return Span::ZERO;
        }
        let late = delay > least + JITTER + self.jitter;
        let share = packet.size.as_f64() / self.wire.as_f64();
        let Some(now) = raised.on_first(at, delay, gap, late, share) else { return Span::ZERO };
        self.min_delay.clear();
        self.min_delay.add(at, now, MIN_DELAY_MEMORY);
        now - least
    }

    /// Records an arrival; of packets that were overtaken none counts, unless many are.
    fn on_arrival(&mut self, packet: &SentPacket, at: Time) {
        self.min_delay.add(at, at - packet.at, MIN_DELAY_MEMORY);
        let before = core::mem::replace(&mut self.last, at);
        let Some(newest) = self.newest else {
            self.newest = Some(Arrival { packet: *packet, at });
            return;
        };
        if newest.packet.id < packet.id {
            self.newest = Some(Arrival { packet: *packet, at });
        } else if !self.reorders {
            return;
        }
        // The mean for a packet of this size.
        let usual = self.rate().map_or(Span::ZERO, |rate| rate.time_for(packet.size));
        let gap = (packet.at - newest.packet.at).abs();
        let is_behind = gap <= LONGEST_GAP;
        let (served, is_busy) = if self.reorders {
            self.worked(packet, at, before, is_behind.then_some(gap))
        } else {
            self.served(packet, at, newest.at, is_behind.then_some(gap))
        };
        self.behind += u64::from(is_behind);
        let unreported = core::mem::take(&mut self.unreported);
        // The path has served those of which no report says so in the same time. Where it may have been idle before them that
        // shows a slower one only.
        let each = served / (unreported as i64 + 1);
        let is_known = is_busy || unreported == 0;
        // What a small packet of its own waits for on an empty path is the turn of a cell, in which a frame would have come
        // whole; and those that have waited for the same turn come at once.
        let measures = match packet.payload {
            Payload::Audio => is_busy && usual > Span::ZERO,
            _ => is_busy || (is_known && is_behind) || each > usual,
        };
        if !is_known && served > self.halt {
            self.outage(at, served, usual);
        } else if measures {
            self.count(packet, at, each, usual);
        }
    }

    /// The time that the path served a packet, which arrived after another at `before` and left `behind` another of its
    /// frame, and whether it had not been empty.
    fn served(&self, packet: &SentPacket, at: Time, before: Time, behind: Option<Span>) -> (Span, bool) {
        let due = self.due(packet);
        let served = if before >= due {
            at - before
        } else if let Some(gap) = behind {
            // It met an empty path. The min delay has the packet's own service in it, so that it seems to need none: it
            // shows that the path is as fast as packets leave, and no more.
            // Where jitter may explain it, half of the time since the packet before is taken for the path's.
            let served = gap + (at - due).max(Span::ZERO);
            if self.jitter > Span::ZERO { served.max((at - before) / 2) } else { served }
        } else {
            // Nor does the first of a frame show that, but that the path did not serve it at once.
            at - due - JITTER
        };
        (served, before >= due)
    }

    /// The same where packets overtake one another: they do behind the path's queue, which all have left in their order. It
    /// has worked until the latest arrival, without what jitter may explain.
    fn worked(&self, packet: &SentPacket, at: Time, before: Time, behind: Option<Span>) -> (Span, bool) {
        let (out, least) = (before - self.jitter, self.due(packet) - self.jitter);
        let (worked, is_busy) = (at - self.jitter - out.max(least), out >= least);
        let served = match behind {
            Some(gap) => worked.max(gap).max((at - before) / 2),
            None if is_busy => worked.max(Span::ZERO),
            None => worked - JITTER,
        };
        (served, is_busy)
    }

    /// If the path did not work all of the time that a packet seems to have been served: what of it counts.
    ///
    /// An outage is over when it is over: after it packets are served as before. Where the next one takes as long, the path
    /// is slow.
    fn outage(&mut self, at: Time, served: Span, usual: Span) -> Option<Span> {
        let longest = self.longest.max(usual * 2);
        let was_long = core::mem::replace(&mut self.was_long, served > longest);
        if was_long || !self.was_long {
            return None;
        }
        self.pause = Some((at, served));
        if served <= self.halt {
            return Some(longest);
        }
        (self.halted, self.withheld) = (Some(at), served - usual);
        Some(usual)
    }

    /// Takes up to this time from what the last halt withheld.
    fn withheld_from(&mut self, most: Span) -> Span {
        let taken = most.max(Span::ZERO).min(self.withheld);
        self.withheld -= taken;
        taken
    }

    /// Takes the time that a packet was served into the averages, `usual` being their mean.
    fn count(&mut self, packet: &SentPacket, at: Time, served: Span, usual: Span) {
        let size = packet.size;
        let outage = self.outage(at, served, usual);
        let waited = self.waited(packet, at);
        let served = match outage {
            Some(counts) => counts,
            None if waited => served + self.withheld_from(usual - served),
            None => served,
        };
        if waited {
            self.steps.iter_mut().for_each(Steps::forget);
        } else if let Some(steps) = self.steps.as_mut().filter(|_| self.jitter == Span::ZERO && !self.reorders) {
            // What lies within the jitter is no measurement that could be alike.
            let usual = self.slow.value().unwrap_or_default();
            if let Some(row) = steps.on_served(Measured { at, served, size }, usual, self.wire) {
                (self.quick, self.slow) = self.fresh;
                self.stepped += 1;
                for Measured { served, size, .. } in row {
                    self.quick.add(*served, *size);
                    self.slow.add(*served, *size);
                }
                return;
            }
        }
        let weight = if packet.probe.is_some() { self.weight } else { 1 };
        self.quick.add(served * weight, size * weight as u64);
        self.slow.add(served * weight, size * weight as u64);
    }
}
