//! A mobile cell: users who share its radio in one direction (specs/rmcat.md 6, "Model `cell`").
//!
//! Each transmission time interval of 1 ms goes to one user: to a block that is sent again, or else to the user whose
//! channel is best relative to what the user had (proportional fair). The rate of a block follows a report of the
//! channel that is 6 ms old, with a margin by which one in ten blocks fails; a block that fails is sent again after 8 ms
//! up to three times, and then by the link layer after 50 ms, so nothing is lost but in the queue. Packets are released
//! in order.
//!
//! Say "cell model" over results, never "LTE" (specs/rmcat.md 6, "What these models cannot say"): there is one cell, no
//! handover, no interference that follows the neighbours' load, no scheduling by frequency.
//!
//! Choices where the specification is silent (R): a receiver combines the transmissions of a block
//! ([`CellConfig::combining`]); what the link layer sends again is cut anew at the rate of that time;
//! a block sent again counts for the scheduler as a new one; a new user's mean is the least one; shadowing is renewed
//! every 10 ms. Nothing happens while no user has bytes: channels then advance over the gap in one step of the same
//! distribution.

mod channel;
mod config;
mod user;

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use thalweg_units::{Bytes, ConfigError, Random, Seed, Span, Time};

pub use channel::read_eta;
use channel::{Channel, Efficiency, Mobility};
pub use config::{CellConfig, Deployment, UserConfig};
use user::User;

use crate::queue::Limits;
use crate::{Departure, Direction, Drop, DropReason, Packet, Port, QueueConfig, SharedLink};

/// A transmission time interval.
const INTERVAL: Span = Span::from_millis(1);
/// 9 MHz of a 10 MHz carrier for one interval, less a quarter for control and reference signals: bits per bit/s/Hz.
const BITS: f64 = 9e6 * 1e-3 * 0.75;
/// A failed block is sent again after this many intervals, this often, and then by the link layer after that many.
const AGAIN_AFTER: u64 = 8;
const AGAIN: u8 = 3;
const LINK_LAYER_AFTER: u64 = 50;
/// A user with nothing to send uplink waits for a grant: until the next opportunity to ask, and then this long.
const ASK_EVERY: Span = Span::from_millis(5);
const GRANT_AFTER: Span = Span::from_millis(8);
/// CoDel of each user's queue.
const TARGET: Span = Span::from_millis(15);
const HORIZON: Span = Span::from_millis(100);

/// Resolves the name of a recording in a cell's configuration; the error says why there is none.
pub type FindEta<'a> = dyn FnMut(&str) -> Result<Arc<[f32]>, String> + 'a;

/// See the module.
#[derive(Debug, Clone)]
pub struct Cell<P> {
    direction: Direction,
    efficiency: Efficiency,
    mobility: Mobility,
    combines: bool,
    users: Vec<User<P>>,
    /// When each arrives and leaves.
    stays: Vec<Range<Time>>,
    /// The next interval that has not passed.
    next: u64,
    /// The next interval in which a user has bytes; `None` while none has.
    wakes: Option<u64>,
    /// Blocks to be sent again, in order.
    again: VecDeque<Block>,
    grants: Random,
    usage: CellUsage,
    departed: VecDeque<Departure<P>>,
    /// Packets of the direction that is not modelled.
    passed: VecDeque<Departure<P>>,
    dropped: VecDeque<Drop<P>>,
}

/// How the cell was used.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CellUsage {
    /// Blocks sent for the first time.
    pub blocks: u64,
    /// Blocks of these that failed.
    pub failed: u64,
    /// Blocks sent again.
    pub again: u64,
    /// Blocks given up, whose bytes the link layer sent again.
    pub given_up: u64,
    /// Bits that blocks sent for the first time had room for: what the cell could give to those with data.
    pub offered_bits: f64,
}

/// Bytes sent in one interval.
#[derive(Debug, Clone)]
struct Block {
    user: usize,
    bytes: Vec<Range<u64>>,
    /// Bit/s/Hz that it needs to arrive.
    eta: f64,
    /// The signal-to-interference ratio of what was received of it.
    received: f64,
    /// When it is sent again.
    due: u64,
    /// How often it was sent again.
    again: u8,
}

impl<P: Packet> Cell<P> {
    /// A cell with random numbers from children of `seed`, one for each user. `find` returns the recording of a name.
    ///
    /// # Errors
    /// When a parameter is out of range, or there is no such recording.
    pub fn new(config: &CellConfig, seed: Seed, find: &mut FindEta<'_>) -> Result<Cell<P>, ConfigError> {
        config.check()?;
        let seed = seed.child("link.cell");
        let efficiency = Efficiency::of(config.direction);
        let limits = Limits::bytes(config.queue);
        let queue = if config.aqm {
            QueueConfig::Codel { limits, target: TARGET, interval: HORIZON }
        } else {
            QueueConfig::DropTail(limits)
        };
        let users = config.users.iter().enumerate().map(|(number, user)| {
            let seed = seed.child(&alloc::format!("user {number}"));
            let channel = match &user.eta {
                None => {
                    let geometry = config.deployment.geometry_at(seed.child("geometry").random().unit());
                    Channel::fading(geometry, seed.child("channel"))
                }
                Some(name) => {
                    let eta = find(name).and_then(|eta| if eta.is_empty() { Err("empty".into()) } else { Ok(eta) });
                    let field = alloc::format!("cell.users[{number}].eta");
                    Channel::recorded(eta.map_err(|why| ConfigError::out_of_range(&field, name, why))?)
                }
            };
            Ok(User::new(channel, queue.build(seed)?))
        });
        let stays = config.users.iter().map(|user| {
            let until = user.until.map_or(Time::NEVER, |until| Time::ZERO + until);
            Time::ZERO + user.from..until
        });
        Ok(Cell {
            direction: config.direction,
            efficiency,
            mobility: Mobility::new(config.speed_kmh, config.shadowing_db, efficiency),
            combines: config.combining,
            users: users.collect::<Result<_, ConfigError>>()?,
            stays: stays.collect(),
            next: 0,
            wakes: None,
            again: VecDeque::new(),
            grants: seed.child("grants").random(),
            usage: CellUsage::default(),
            departed: VecDeque::new(),
            passed: VecDeque::new(),
            dropped: VecDeque::new(),
        })
    }

    /// How the cell was used until now.
    pub fn usage(&self) -> CellUsage {
        self.usage
    }

    fn advance(&mut self, now: Time) {
        while let Some(interval) = self.wakes
            && time_of(interval) <= now
        {
            self.pass(interval);
            self.next = interval + 1;
            let again = self.again.front().map(|block| block.due.max(self.next));
            self.wakes = self.users.iter().filter_map(|user| user.wakes(self.next)).chain(again).min();
        }
    }

    /// One interval.
    fn pass(&mut self, interval: u64) {
        let at = time_of(interval);
        for (number, user) in self.users.iter_mut().enumerate() {
            if self.stays[number].end <= at && user.wakes(interval).is_some() {
                user.leave(at, &mut self.dropped);
                self.again.retain(|block| block.user != number);
            }
        }
        if self.again.front().is_some_and(|block| block.due <= interval)
            && let Some(block) = self.again.pop_front()
        {
            self.usage.again += 1;
            let user = &mut self.users[block.user];
            user.channel.advance(interval, &self.mobility);
            user.give(interval, block.eta * BITS);
            self.send(interval, Block { again: block.again + 1, ..block });
            return;
        }
        let mut best: Option<(f64, usize, f64)> = None;
        for (number, user) in self.users.iter_mut().enumerate() {
            if user.wakes(interval) != Some(interval) {
                continue;
            }
            user.channel.advance(interval, &self.mobility);
            let eta = self.efficiency.at(user.channel.reported() * user.margin);
            let priority = eta * BITS / user.average(interval);
            if eta > 0.0 && best.is_none_or(|(highest, ..)| priority > highest) {
                best = Some((priority, number, eta));
            }
        }
        let Some((_, number, eta)) = best else { return };
        let user = &mut self.users[number];
        let bytes = user.take(interval, at, (eta * BITS / 8.0) as u64, &mut self.dropped);
        if bytes.is_empty() {
            return;
        }
        user.give(interval, eta * BITS);
        self.usage.blocks += 1;
        self.usage.offered_bits += eta * BITS;
        self.send(interval, Block { user: number, bytes, eta, received: 0.0, due: 0, again: 0 });
    }

    /// A block is sent; it arrives if the channel is at least as good as its rate needs.
    fn send(&mut self, interval: u64, mut block: Block) {
        let user = &mut self.users[block.user];
        block.received = user.channel.ratio() + if self.combines { block.received } else { 0.0 };
        let arrives = self.efficiency.at(block.received) >= block.eta;
        if block.again == 0 {
            self.usage.failed += u64::from(!arrives);
            user.adapt(arrives);
        }
        if arrives {
            user.arrived(&block.bytes, time_of(interval + 1), &mut self.departed);
            return;
        }
        user.failed(&block.bytes);
        if block.again < AGAIN {
            self.again.push_back(Block { due: interval + AGAIN_AFTER, ..block });
        } else {
            self.usage.given_up += 1;
            user.given_up(&block.bytes, interval + LINK_LAYER_AFTER);
        }
    }
}

/// When an interval begins.
fn time_of(interval: u64) -> Time {
    Time::from_millis(interval)
}

/// The first interval that begins at or after `time`.
fn interval_from(time: Time) -> u64 {
    time.as_nanos().div_ceil(INTERVAL.as_nanos().unsigned_abs())
}

impl<P: Packet> SharedLink<P> for Cell<P> {
    fn offer(&mut self, now: Time, port: Port, size: Bytes, packet: P) {
        self.advance(now);
        let number = usize::from(port.station);
        if !self.stays.get(number).is_some_and(|stay| stay.contains(&now)) {
            self.dropped.push_back(Drop { at: now, size, why: DropReason::LinkOff, packet });
            return;
        }
        if port.direction != self.direction {
            self.passed.push_back(Departure { at: now, size, queued: Span::ZERO, packet });
            return;
        }
        self.next = self.next.max(interval_from(now));
        let user = &mut self.users[number];
        if !user.has_new() {
            let wait = match self.direction {
                Direction::Down => Span::ZERO,
                Direction::Up => ASK_EVERY.scale(self.grants.unit()) + GRANT_AFTER,
            };
            user.granted = interval_from(now + wait).max(self.next);
        }
        user.push(now, size, packet, &mut self.dropped);
        self.wakes = self.wakes.into_iter().chain(user.wakes(self.next)).min();
    }

    fn poll(&mut self, now: Time) -> Option<Departure<P>> {
        self.advance(now);
        if let Some(passed) = self.passed.pop_front() {
            return Some(passed);
        }
        if self.departed.front()?.at <= now { self.departed.pop_front() } else { None }
    }

    fn next_event(&self) -> Time {
        let left = [&self.passed, &self.departed].into_iter().filter_map(|queue| queue.front().map(|left| left.at));
        left.chain(self.wakes.map(time_of)).min().unwrap_or(Time::NEVER)
    }

    fn stations(&self) -> usize {
        self.users.len()
    }

    fn poll_drop(&mut self) -> Option<Drop<P>> {
        self.dropped.pop_front()
    }
}
