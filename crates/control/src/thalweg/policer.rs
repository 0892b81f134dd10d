//! Paths that lose what exceeds a rate without making it wait: policers, and queues of a few packets.
//!
//! Random loss takes its share whatever is sent. A token bucket takes what exceeds its rate, so that its loss ends when
//! less is sent. Between two losses it was empty at both ends, so what passed between them is its rate. A queue of few
//! packets loses from each burst what it does not hold, however low the rate, and nothing of packets that leave one by one.
//! So where packets are lost that did not wait, what passed is tried as a rate that all packets keep to: if the losses end,
//! they were the path's answer to the rate or the burst, and the rate is held and raised with care. If they go on they are
//! random, and none of this is tried again until there are far more.

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time, above, between, check};

use crate::estimate::WindowedMax;
use crate::feedback::{Cause, Fate, Feedback};

/// The parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The share of lost packets above which the cause is looked for, 0..1.
    pub loss: f64,
    /// The time in which packets and their losses count.
    pub window: Span,
    /// A loss is no queue's if the packet before it waited less than this.
    pub waits: Span,
    /// The share of what passed that is tried and held.
    pub share: f64,
    /// The time between two steps up while nothing is lost.
    pub step: Span,
    /// The time after a loss until more than what passed before is tried again; twice as long after each such loss at about
    /// the same rate, at most four times this.
    pub retry: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            loss: 0.04,
            window: Span::from_millis(600),
            waits: Span::from_millis(40),
            share: 0.95,
            step: Span::from_millis(300),
            retry: Span::from_secs(8),
        }
    }
}

/// The window of the longest wait, and the share of it from which a queue is full, as in `overflow.rs`.
const MEMORY: Span = Span::from_secs(10);
const LONG: f64 = 0.7;
/// So many packets count for this many windows.
const FEW: usize = 60;
const SLOW: i64 = 3;
/// Losses from which a rate follows.
const LEAST_LOSSES: usize = 3;
/// Where most are lost, what passed in a time this many times shorter than the window is tried.
const SOON: i64 = 12;
/// Packets that judge a trial.
const LEAST_PACKETS: usize = 20;
/// The share of the window that a trial lasts at least.
const FULL: f64 = 0.8;
/// A trial with fewer lasts for so many windows.
const LONGEST_TRIAL: i64 = 4;
/// No rate below this is tried: a policer of less carries no video, and nothing says that it is one.
const LEAST: Rate = Rate::from_kbps(100);
/// Losses go on, and so are random, above this share of what they were.
const ENDED: f64 = 0.4;
/// Below this share of the losses, or if no more than this share of the rate passed, what passed is tried in turn.
const FEWER: f64 = 0.7;
const MUCH_LESS: f64 = 0.9;
/// Rates tried in a row.
const TRIALS: u8 = 3;
/// The greatest step up; each is twice as large as the last, from the first.
const STEPS: (f64, f64) = (0.05, 0.2);
/// A rate of which less than the former share is used says nothing of a higher one; once it has been held for two seconds
/// without a loss, less than the latter. An encoder that makes a tenth of what it is asked for, four times what is wanted,
/// uses a quarter of it.
const USED: (f64, f64) = (0.45, 0.1);
const QUIET: Span = Span::from_secs(2);
/// A path that loses at random would have lost within this time of what is held: of 40 packets and more.
const LOSSLESS: Span = Span::from_millis(1500);
/// So little may always be tried: frames are single packets.
const LITTLE: Rate = Rate::from_kbps(200);
/// At less than that, more than what failed is tried again after so many steps: the smallest frames may need more.
const SOON_AGAIN: i64 = 4;
/// Above this share of the rate that last lost packets, a step waits for [`Config::retry`].
const NEAR: f64 = 0.98;
/// After losses at the same rate again and again more is tried this many times as rarely.
const MOST_PATIENCE: i64 = 4;
/// Nothing is known of a rate that is this many times the last at which packets were lost.
const OTHER: f64 = 1.1;
/// Losses that go on where less than this share of a rate that passed before is sent are random: what passes only follows
/// what is sent.
const FOLLOWED: f64 = 0.55;
/// Random losses become suspicious again at this many times as many.
const FAR_MORE: f64 = 2.0;
/// Max packets that are remembered: half a second of 24 Mbps.
const REMEMBERED: usize = 1 << 10;

impl Config {
    pub(super) fn build(self) -> Result<Policer, ConfigError> {
        check("thalweg.policer.loss", self.loss).within(between(0.0, 1.0), "0.04")?;
        check("thalweg.policer.share", self.share).within(between(0.0, 1.0), "0.95")?;
        for (name, span) in [
            ("thalweg.policer.window", self.window),
            ("thalweg.policer.waits", self.waits),
            ("thalweg.policer.step", self.step),
            ("thalweg.policer.retry", self.retry),
        ] {
            check(name, span).within(above(Span::ZERO), "the default")?;
        }
        Ok(Policer {
            config: self,
            packets: VecDeque::new(),
            lost: 0,
            waited: Span::ZERO,
            longest: WindowedMax::default(),
            since: Time::ZERO,
            state: State::Free,
            patience: 1,
            ceiling: Rate::MAX,
            held: Rate::ZERO,
            random: 0.0,
        })
    }
}

/// A packet whose fate is known.
#[derive(Debug, Clone, Copy)]
struct Known {
    sent: Time,
    size: Bytes,
    /// How long it waited; `None` for one that was lost.
    waited: Option<Span>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    /// No rate is held.
    Free,
    /// A rate is tried, at most for the [`TRIALS`]th time; `lossless` if one had been held without losses for a while.
    Trial { rate: Rate, loss: f64, trial: u8, failed: Rate, lossless: bool },
    /// It is held, and raised by the next step at `next`; of more than `failed` packets were lost last.
    Held { rate: Rate, step: f64, next: Time, failed: Rate },
}

/// A change, for a decision with its reason.
pub(super) type Change = (&'static str, &'static str);

/// Losses have ended at a rate.
pub(super) const HELD: &str = "hold";

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Policer {
    config: Config,
    /// Those sent since `since`, in order of what became known.
    packets: VecDeque<Known>,
    lost: usize,
    /// How long the last packet that arrived waited.
    waited: Span,
    longest: WindowedMax<Span>,
    /// Since when packets were sent as they are now.
    since: Time,
    state: State,
    /// How many times [`Config::retry`] is waited.
    patience: i64,
    /// The rate at which packets were lost last, of those that were held.
    ceiling: Rate,
    /// The greatest rate that was held, and sent at, since the path was free.
    held: Rate,
    /// The share of losses that did not end.
    random: f64,
}

impl Policer {
    /// The rate that all packets keep to.
    pub(super) fn rate(&self) -> Option<Rate> {
        match self.state {
            State::Free => None,
            State::Trial { rate, .. } | State::Held { rate, .. } => Some(rate),
        }
    }

    /// Takes feedback; `empty` is the delay of the empty path by two clocks.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>, empty: Span) -> Option<Change> {
        if feedback.cause == Cause::FeedbackTimeout {
            return None;
        }
        for report in feedback.reports.iter().filter(|report| report.packet.at >= self.since) {
            let waited = report.arrival().map(|at| (at - report.packet.at - empty).max(Span::ZERO));
            if matches!(report.fate, Fate::Arrived { was_lost: true, .. }) {
                let sent = report.packet.at;
                let known = self.packets.iter_mut().find(|known| known.sent == sent && known.waited.is_none());
                if let Some(known) = known {
                    (known.waited, self.lost) = (waited, self.lost - 1);
                }
                continue;
            }
            // Behind packets that waited it was a full queue that lost it.
            if let Some(waited) = waited {
                self.waited = waited;
                self.longest.add(feedback.now, waited, MEMORY);
            } else if self.waited >= self.longest.get().unwrap_or_default().scale(LONG).max(self.config.waits) {
                continue;
            }
            self.lost += usize::from(waited.is_none());
            self.packets.push_back(Known { sent: report.packet.at, size: report.packet.size, waited });
        }
        let newest = self.packets.back()?.sent;
        while let Some(oldest) = self.packets.front().copied() {
            // Losses that come in bursts say little of a moment, too.
            let slow = self.packets.len() <= FEW || (self.state == State::Free && self.random >= self.config.loss);
            let window = if slow { self.config.window * SLOW } else { self.config.window };
            if oldest.sent + window >= newest && self.packets.len() <= REMEMBERED {
                break;
            }
            self.packets.pop_front();
            self.lost -= usize::from(oldest.waited.is_none());
        }
        self.judge(feedback.now, newest)
    }

    /// Others' packets wait with ours.
    pub(super) fn on_shared(&mut self, now: Time) -> Option<Change> {
        let held = self.rate().is_some();
        self.change(now, State::Free);
        held.then_some(("release", "others' packets wait with ours: it is a queue that loses them"))
    }

    fn judge(&mut self, now: Time, newest: Time) -> Option<Change> {
        let Config { window, share, step: every, retry, .. } = self.config;
        let loss = self.lost as f64 / self.packets.len() as f64;
        let is_heavy = self.lost >= LEAST_LOSSES && loss > (self.random * FAR_MORE).max(self.config.loss);
        match self.state {
            State::Free if is_heavy => {
                let rate = self.passed()?.scale(share);
                self.change(now, State::Trial { rate, loss, trial: 1, failed: Rate::MAX, lossless: false });
                Some(("try", "packets are lost that did not wait: is it the rate or the burst?"))
            }
            State::Free => None,
            State::Trial { rate, loss: before, trial, failed, lossless } => {
                let is_full = self.packets.len() >= LEAST_PACKETS && newest - self.since >= window.scale(FULL);
                if !is_full && now - self.since < window * LONGEST_TRIAL {
                    return None;
                }
                if loss <= before * ENDED {
                    self.random = loss;
                    self.held = self.held.max(rate);
                    self.change(now, State::Held { rate, step: STEPS.0, next: now + every, failed });
                    return Some((
                        HELD,
                        "losses ended at a rate and without bursts: a policer, or a queue of few packets",
                    ));
                }
                // What passes of far too much says little: once more from here. So does one rate on a path that loses nothing
                // of lesser ones.
                let less = |passed: &Rate| loss <= before * FEWER || *passed < rate.scale(MUCH_LESS);
                let passed = self.passed();
                let next = if lossless { Some(passed.unwrap_or(rate).min(rate)) } else { passed.filter(less) };
                if let Some(rate) = next.filter(|_| trial < TRIALS) {
                    let (rate, trial) = (rate.scale(share), trial + 1);
                    self.change(now, State::Trial { rate, loss: before, trial, failed, lossless });
                    return None;
                }
                Some(self.release(now, loss))
            }
            State::Held { rate, .. } if is_heavy => {
                let failed = self.passed()?.min(rate);
                if failed <= LEAST || failed.scale(1.0 / (1.0 - loss)) < self.held.scale(FOLLOWED) {
                    return Some(self.release(now, loss));
                }
                let is_known = failed < self.ceiling.scale(OTHER) && self.ceiling < failed.scale(OTHER);
                self.patience = if is_known { (self.patience * 2).min(MOST_PATIENCE) } else { 1 };
                self.ceiling = failed;
                let (rate, lossless) = (failed.scale(share), now - self.since >= LOSSLESS);
                self.change(now, State::Trial { rate, loss, trial: 1, failed, lossless });
                Some(("lower", "packets are lost again"))
            }
            State::Held { rate, step, next, failed }
                if now >= next && self.sent(newest).max(LITTLE) >= rate.scale(self.least_used(now)) =>
            {
                let near = failed.scale(NEAR);
                // Up to what failed, then, after a while, beyond it.
                let (raised, failed) = if rate < near {
                    (rate.scale(1.0 + step).min(near), failed)
                } else {
                    (rate.scale(1.0 + step), Rate::MAX)
                };
                let (step, wait) = if raised < failed.scale(NEAR) {
                    (step * 2.0, every)
                } else {
                    (STEPS.0, if raised < LITTLE { every * SOON_AGAIN } else { retry * self.patience })
                };
                self.held = self.held.max(self.sent(newest).min(rate));
                self.state = State::Held { rate: raised, step: step.min(STEPS.1), next: now + wait, failed };
                None
            }
            State::Held { .. } => None,
        }
    }

    /// The share of a held rate that must be used for it to be raised.
    fn least_used(&self, now: Time) -> f64 {
        if now - self.since >= QUIET { USED.1 } else { USED.0 }
    }

    /// The losses are random.
    fn release(&mut self, now: Time, loss: f64) -> Change {
        self.random = loss.max(self.random);
        self.held = Rate::ZERO;
        self.change(now, State::Free);
        ("release", "losses go on at a lower rate: they are random")
    }

    /// Packets are sent in another way from now on.
    fn change(&mut self, now: Time, state: State) {
        self.state = state;
        self.forget(now);
    }

    /// Packets sent until now say nothing of the path: nothing arrived, although a policer passes its rate, or another flow
    /// filled the queue.
    pub(super) fn forget(&mut self, now: Time) {
        self.since = now;
        self.packets.clear();
        self.lost = 0;
    }

    /// The rate at which packets left.
    fn sent(&self, newest: Time) -> Rate {
        let sent: Bytes = self.packets.iter().map(|packet| packet.size).sum();
        let since = self.packets.front().map_or(Span::ZERO, |first| newest - first.sent);
        if since < self.config.window / 3 { Rate::ZERO } else { sent.per(since) }
    }

    /// The rate at which packets passed between the first loss and the last.
    fn passed(&self) -> Option<Rate> {
        let lost = self.packets.iter().filter(|packet| packet.waited.is_none()).map(|packet| packet.sent);
        let first = lost.clone().min()?;
        let last = lost.max()?;
        let passed: Bytes = self
            .packets
            .iter()
            .filter(|packet| packet.waited.is_some() && first < packet.sent && packet.sent <= last)
            .map(|packet| packet.size)
            .sum();
        let most_are_lost = self.lost * 2 >= self.packets.len();
        let least = self.config.window / if most_are_lost { SOON } else { 3 };
        (last - first >= least && passed > Bytes::ZERO).then(|| passed.per(last - first).max(LEAST))
    }
}
