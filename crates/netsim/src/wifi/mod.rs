//! Wi-Fi as an airtime model: one medium that the access point and its stations contend for, in both directions
//! (specs/rmcat.md 6, "Model `wifi`").
//!
//! An idle medium is divided into slots. A contender (each station, and the access point once for each access category)
//! waits its AIFS and its back-off and sends a frame of one or more packets to one receiver; of several at once all
//! fail, widen their windows and try again, until the retry limit drops the packets. Packets of an aggregate can be
//! received with errors one by one; a receiver releases them in order.
//!
//! Say "airtime model" over results, never "802.11n" (specs/rmcat.md 6, "What these models cannot say"): there are no
//! rate adaptation, capture, hidden nodes or path loss.
//!
//! Times are those of the table in specs/rmcat.md 6. Choices where it is silent (R): a back-off drawn after a frame
//! runs also without packets; a packet that arrives at a busy medium after it has run out draws another, one that
//! arrives at an idle medium is sent in the next slot; a collision lasts as long as its longest frame would have with
//! its answer, as stations wait for one; of an access point's categories that would send in the same slot, the higher
//! sends and the lower widens its window; a frame's result shows at its end but its packets leave the queue at its
//! beginning; the transmit opportunity limits one frame and its answer.

mod config;
mod queue;
mod timing;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use thalweg_units::{Bytes, ConfigError, Random, Rate, Seed, Span, Time};

use config::Modulation;
pub use config::{AccessCategory, Band, StationConfig, Turns, WifiConfig};
use queue::{Queue, oldest};
use timing::{LONGEST, MOST_BYTES, Timing, bytes_of};

use crate::{Departure, Direction, Drop, DropReason, Port, SharedLink};

/// See the module.
#[derive(Debug, Clone)]
pub struct Wifi<P> {
    config: WifiConfig,
    timing: Timing,
    stations: Vec<Station>,
    contenders: Vec<Contender>,
    /// Two for each station, down and up.
    queues: Vec<Queue<P>>,
    /// When the medium became idle, or will.
    idle_from: Time,
    /// The slot after that in which somebody sends; `None` while nobody has packets.
    next_slot: Option<u64>,
    back_offs: Random,
    errors: Random,
    usage: AirUsage,
    departed: VecDeque<Departure<P>>,
    dropped: VecDeque<Drop<P>>,
}

/// How the medium was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AirUsage {
    /// Frames sent.
    pub frames: u64,
    /// Frames of these that collided.
    pub collided: u64,
    /// The time that the medium was busy.
    pub busy: Span,
}

/// Parameters derived from a station's configuration.
#[derive(Debug, Clone)]
struct Station {
    rate: Rate,
    per: f64,
    /// The contenders that send its packets, down and up.
    contenders: [usize; 2],
    /// Max packets and bytes of an aggregate frame.
    most: (u16, u64),
    /// Duration of the interval or preamble that precedes each frame.
    lead: Span,
}

#[derive(Debug, Clone)]
struct Contender {
    /// Contenders of one node do not collide; the access point is `None`.
    station: Option<usize>,
    access: AccessCategory,
    /// The contention window.
    window: u32,
    /// Slots of back-off left when the medium became idle.
    left: u64,
    /// The first slot in which a packet was there to be sent.
    from: u64,
    queues: Vec<usize>,
    /// Packets in these queues.
    waiting: usize,
    /// Which queue's frame is in turn until it succeeds or is dropped.
    chosen: Option<usize>,
    /// Service that the queue last chosen had received by then.
    progress: u64,
}

impl Contender {
    /// The slot in which it sends; `None` without packets.
    fn slot(&self) -> Option<u64> {
        (self.waiting > 0).then(|| (self.access.access().aifsn + self.left).max(self.from))
    }

    fn draw(&mut self, random: &mut Random) {
        self.left = random.below(u64::from(self.window) + 1);
    }

    fn widen(&mut self) {
        self.window = (2 * self.window + 1).min(self.access.access().window.1);
    }

    fn narrow(&mut self) {
        self.window = self.access.access().window.0;
        self.chosen = None;
    }
}

/// A frame on the air.
struct Frame {
    contender: usize,
    queue: usize,
    packets: usize,
    /// Until the receiver has it, and until it has been answered.
    data: Span,
    whole: Span,
}

impl<P> Wifi<P> {
    /// An idle medium with random numbers from children of `seed`.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: &WifiConfig, seed: Seed) -> Result<Wifi<P>, ConfigError> {
        config.check()?;
        let timing = Timing::of(config.band, config.has_dsss());
        let mut contenders: Vec<Contender> = Vec::new();
        let mut join = |station: Option<usize>, access: AccessCategory, queue: usize| {
            let existing = contenders.iter().position(|known| known.station == station && known.access == access);
            let place = existing.unwrap_or(contenders.len());
            if existing.is_none() {
                let window = access.access().window.0;
                let (queues, chosen) = (Vec::new(), None);
                let new =
                    Contender { station, access, window, left: 0, from: 0, queues, waiting: 0, chosen, progress: 0 };
                contenders.push(new);
            }
            contenders[place].queues.push(queue);
            place
        };
        let stations = config.stations.iter().enumerate().map(|(number, station)| {
            let StationConfig { rate, access, per } = *station;
            let lead = match (Modulation::of(rate), config.cts_to_self) {
                (Modulation::Dsss, _) | (_, None) => Span::ZERO,
                (_, Some(basic)) => timing.clear_to_send(basic),
            };
            let packets = if Modulation::of(rate) == Modulation::Ht { config.aggregate } else { 1 };
            let around = lead + timing.sifs + timing.answer(true, rate);
            let within = access.access().txop.map_or(LONGEST, |txop| LONGEST.min(txop - around));
            let contenders = [join(None, access, 2 * number), join(Some(number), access, 2 * number + 1)];
            Station { rate, per, contenders, most: (packets, timing.most_bytes(rate, within).min(MOST_BYTES)), lead }
        });
        let stations: Vec<Station> = stations.collect();
        let seed = seed.child("link.wifi");
        Ok(Wifi {
            config: config.clone(),
            timing,
            queues: (0..2 * stations.len()).map(|_| Queue::new()).collect(),
            stations,
            contenders,
            idle_from: Time::ZERO,
            next_slot: None,
            back_offs: seed.child("back-off").random(),
            errors: seed.child("errors").random(),
            usage: AirUsage::default(),
            departed: VecDeque::new(),
            dropped: VecDeque::new(),
        })
    }

    /// How the medium was used until now.
    pub fn usage(&self) -> AirUsage {
        self.usage
    }

    fn time_of(&self, slot: u64) -> Time {
        self.idle_from + self.timing.sifs + self.timing.slot * i64::try_from(slot).unwrap_or(i64::MAX)
    }

    fn advance(&mut self, now: Time) {
        while let Some(slot) = self.next_slot
            && let at = self.time_of(slot)
            && at <= now
        {
            self.transmit(at, slot);
            self.next_slot = self.contenders.iter().filter_map(Contender::slot).min();
        }
    }

    /// Chooses the queue of a contender's next frame at `at`; `None` if all its packets were too old.
    fn choose(&mut self, contender: usize, at: Time) -> Option<usize> {
        let contender = &mut self.contenders[contender];
        loop {
            let in_turn = contender.queues.iter().copied().filter(|queue| self.queues[*queue].waiting() > 0);
            let queue = contender.chosen.or_else(|| in_turn.min_by_key(|queue| self.queues[*queue].served))?;
            let before = self.queues[queue].waiting();
            self.queues[queue].expire(at, oldest(at, self.config.queue_age), &mut self.dropped);
            contender.waiting -= before - self.queues[queue].waiting();
            self.queues[queue].release(at, &mut self.departed);
            if self.queues[queue].waiting() > 0 {
                contender.chosen = Some(queue);
                return Some(queue);
            }
            contender.chosen = None;
        }
    }

    /// The frame that a contender sends from a queue.
    fn frame(&self, contender: usize, queue: usize) -> Frame {
        let station = &self.stations[queue / 2];
        let (mut packets, mut total, mut first) = (0, 0, 0);
        for size in self.queues[queue].sizes().take(usize::from(station.most.0)) {
            let bytes = bytes_of(size.get(), true);
            if packets == 0 {
                first = bytes_of(size.get(), false);
            } else if total + bytes > station.most.1 {
                break;
            }
            total += bytes;
            packets += 1;
        }
        let is_block = packets > 1;
        let data = station.lead + self.timing.frame(if is_block { total } else { first }, station.rate);
        let whole = data + self.timing.sifs + self.timing.answer(is_block, station.rate);
        Frame { contender, queue, packets, data, whole }
    }

    /// Everybody whose slot it is sends.
    fn transmit(&mut self, at: Time, slot: u64) {
        let mut frames: Vec<Frame> = Vec::new();
        let mut outranked = Vec::new();
        for contender in 0..self.contenders.len() {
            if self.contenders[contender].slot() != Some(slot) {
                continue;
            }
            let Some(queue) = self.choose(contender, at) else { continue };
            let frame = self.frame(contender, queue);
            let mine = &self.contenders[contender];
            let rival = frames.iter().position(|other| self.contenders[other.contender].station == mine.station);
            match rival {
                None => frames.push(frame),
                Some(rival) if self.contenders[frames[rival].contender].access < mine.access => {
                    outranked.push(core::mem::replace(&mut frames[rival], frame).contender);
                }
                Some(_) => outranked.push(contender),
            }
        }
        let Some(whole) = frames.iter().map(|frame| frame.whole).max() else { return };
        for contender in &mut self.contenders {
            if contender.slot().is_none_or(|own| own != slot) {
                let counted = slot.saturating_sub(contender.access.access().aifsn);
                contender.left = contender.left.saturating_sub(counted);
            }
            contender.from = 0;
        }
        for contender in outranked {
            self.contenders[contender].widen();
            self.contenders[contender].draw(&mut self.back_offs);
        }
        let collides = frames.len() > 1;
        self.usage.frames += frames.len() as u64;
        self.usage.collided += if collides { frames.len() as u64 } else { 0 };
        self.usage.busy += whole;
        for frame in &frames {
            self.finish(at, frame, collides);
        }
        self.idle_from = at + whole;
    }

    /// Ends a transmission: updates the frame's packets and its sender's window.
    fn finish(&mut self, at: Time, frame: &Frame, collides: bool) {
        let Frame { queue, packets, data, whole, .. } = *frame;
        let (per, errors) = (self.stations[queue / 2].per, &mut self.errors);
        let is_lost = || collides || per > 0.0 && errors.chance(per);
        let contender = &mut self.contenders[frame.contender];
        let queue = &mut self.queues[queue];
        let before = queue.waiting();
        let (lost, gone) = queue.send(at, packets, self.config.retry_limit, is_lost, &mut self.dropped);
        contender.waiting -= before - queue.waiting();
        queue.release(at + data, &mut self.departed);
        contender.progress = queue.served;
        queue.served += match self.config.turns {
            Turns::Airtime => whole.as_nanos().unsigned_abs(),
            Turns::Packets => packets as u64,
        };
        if lost < packets || gone > 0 {
            contender.narrow();
        } else {
            contender.widen();
        }
        contender.draw(&mut self.back_offs);
    }
}

impl<P> SharedLink<P> for Wifi<P> {
    fn offer(&mut self, now: Time, port: Port, size: Bytes, packet: P) {
        self.advance(now);
        let (station, way) = (usize::from(port.station), usize::from(port.direction == Direction::Up));
        let Some(&contender) = self.stations.get(station).map(|station| &station.contenders[way]) else {
            self.dropped.push_back(Drop { at: now, size, why: DropReason::LinkOff, packet });
            return;
        };
        let contender = &mut self.contenders[contender];
        let queue = &mut self.queues[2 * station + way];
        if queue.waiting() >= self.config.queue_packets as usize {
            self.dropped.push_back(Drop { at: now, size, why: DropReason::QueueFull, packet });
            return;
        }
        if queue.waiting() == 0 {
            queue.served = queue.served.max(contender.progress);
        }
        queue.push(now, size, packet);
        contender.waiting += 1;
        if contender.waiting > 1 {
            return;
        }
        let idle = now.since_start() - self.idle_from.since_start() - self.timing.sifs;
        let slot = idle.max(Span::ZERO).as_nanos().unsigned_abs().div_ceil(self.timing.slot.as_nanos().unsigned_abs());
        if contender.left == 0 && (idle < Span::ZERO || slot <= contender.access.access().aifsn) {
            contender.draw(&mut self.back_offs);
        }
        contender.from = slot;
        let own = contender.slot();
        self.next_slot = self.next_slot.into_iter().chain(own).min();
    }

    fn poll(&mut self, now: Time) -> Option<Departure<P>> {
        self.advance(now);
        if self.departed.front()?.at <= now { self.departed.pop_front() } else { None }
    }

    fn next_event(&self) -> Time {
        let left = self.departed.front().map(|departure| departure.at);
        left.into_iter().chain(self.next_slot.map(|slot| self.time_of(slot))).min().unwrap_or(Time::NEVER)
    }

    fn stations(&self) -> usize {
        self.stations.len()
    }

    fn poll_drop(&mut self) -> Option<Drop<P>> {
        self.dropped.pop_front()
    }
}
