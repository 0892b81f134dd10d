//! Packet loss.

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, ConfigError, Random, Seed, Span, Time, check};

use crate::queue::DropReason;
use crate::{Change, Departure, Drop, Link};

/// Which packets are lost.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum LossModel {
    /// Independent loss of each packet with this probability (mm-loss).
    Random {
        /// 0 to 1.
        probability: f64,
    },
    /// Gilbert-Elliott: two states, each with its own loss; the state may change after each packet.
    GilbertElliott {
        /// Probability of changing from the good state to the bad one, per packet.
        to_bad: f64,
        /// Probability of changing from the bad state to the good one, per packet.
        to_good: f64,
        /// Loss probability in the good state.
        good_loss: f64,
        /// Loss probability in the bad state.
        bad_loss: f64,
    },
    /// The link goes off and on again after exponentially distributed times; packets that arrive while it is off are
    /// lost (mm-onoff).
    OnOff {
        /// Mean time until it goes off.
        on: Span,
        /// Mean time until it is on again.
        off: Span,
    },
    /// The link is off from `from` to `until`, once.
    Outage {
        /// When it goes off, since the start.
        from: Span,
        /// When it is on again, since the start.
        until: Span,
    },
}

impl LossModel {
    fn check(&self) -> Result<(), ConfigError> {
        let share = |name: &str, value: f64| check(name, value).within(0.0..=1.0, "0.02");
        match *self {
            LossModel::Random { probability } => share("loss.probability", probability),
            LossModel::GilbertElliott { to_bad, to_good, good_loss, bad_loss } => {
                share("loss.to_bad", to_bad)?;
                share("loss.to_good", to_good)?;
                share("loss.good_loss", good_loss)?;
                share("loss.bad_loss", bad_loss)
            }
            LossModel::OnOff { on, off } => check("loss.on-off", format_args!("on {on}, off {off}"))
                .is(on > Span::ZERO && off > Span::ZERO, "both longer than 0, such as 1s"),
            LossModel::Outage { from, until } => {
                check("loss.outage", format_args!("from {from}, until {until}")).is(from <= until, "from <= until")
            }
        }
    }
}

/// A hop that drops packets and passes the others on without delay.
#[derive(Debug, Clone)]
pub struct Loss<P> {
    model: LossModel,
    random: Random,
    bad: bool,
    /// On-off: whether the link is on, and until when.
    on: bool,
    until: Time,
    passed: VecDeque<Departure<P>>,
    dropped: VecDeque<Drop<P>>,
}

impl<P> Loss<P> {
    /// A hop that loses packets by `model`.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(model: LossModel, seed: Seed) -> Result<Loss<P>, ConfigError> {
        model.check()?;
        let mut random = seed.child("loss").random();
        let until = match model {
            LossModel::OnOff { on, .. } => Time::ZERO + Span::from_secs_f64(random.exponential(on.as_secs_f64())),
            _ => Time::NEVER,
        };
        Ok(Loss { model, random, bad: false, on: true, until, passed: VecDeque::new(), dropped: VecDeque::new() })
    }

    fn verdict(&mut self, now: Time) -> Option<DropReason> {
        match self.model {
            LossModel::Random { probability } => self.random.chance(probability).then_some(DropReason::Lost),
            LossModel::GilbertElliott { to_bad, to_good, good_loss, bad_loss } => {
                let lost = self.random.chance(if self.bad { bad_loss } else { good_loss });
                if self.random.chance(if self.bad { to_good } else { to_bad }) {
                    self.bad = !self.bad;
                }
                lost.then_some(DropReason::Lost)
            }
            LossModel::OnOff { on, off } => {
                while self.until <= now {
                    self.on = !self.on;
                    let mean = if self.on { on } else { off };
                    let lasts = Span::from_secs_f64(self.random.exponential(mean.as_secs_f64()));
                    self.until += lasts.max(Span::from_nanos(1));
                }
                (!self.on).then_some(DropReason::LinkOff)
            }
            LossModel::Outage { from, until } => {
                let since = now.since_start();
                (since >= from && since < until).then_some(DropReason::LinkOff)
            }
        }
    }
}

impl<P> Link<P> for Loss<P> {
    fn offer(&mut self, now: Time, size: Bytes, packet: P) {
        match self.verdict(now) {
            Some(why) => self.dropped.push_back(Drop { at: now, size, why, packet }),
            None => self.passed.push_back(Departure { at: now, size, queued: Span::ZERO, packet }),
        }
    }

    fn poll(&mut self, _now: Time) -> Option<Departure<P>> {
        self.passed.pop_front()
    }

    fn next_event(&self) -> Time {
        self.passed.front().map_or(Time::NEVER, |passed| passed.at)
    }

    fn poll_drop(&mut self) -> Option<Drop<P>> {
        self.dropped.pop_front()
    }

    fn change(&mut self, _now: Time, change: &Change) -> bool {
        let (Change::Loss(share), LossModel::Random { probability }) = (change, &mut self.model) else { return false };
        *probability = share.clamp(0.0, 1.0);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn lost(model: LossModel, count: u64) -> Vec<bool> {
        let mut loss = Loss::new(model, Seed::new(5)).unwrap();
        (0..count)
            .map(|i| {
                loss.offer(Time::from_millis(i), Bytes::new(100), i);
                loss.poll(Time::from_millis(i)).is_none()
            })
            .collect()
    }

    fn share(lost: &[bool]) -> f64 {
        lost.iter().filter(|lost| **lost).count() as f64 / lost.len() as f64
    }

    #[test]
    fn random_loss_has_its_probability() {
        let share = share(&lost(LossModel::Random { probability: 0.02 }, 100_000));
        assert!((0.018..0.022).contains(&share), "{share}");
    }

    #[test]
    fn gilbert_elliott_loses_in_bursts() {
        let model = LossModel::GilbertElliott { to_bad: 0.01, to_good: 0.2, good_loss: 0.0, bad_loss: 1.0 };
        let lost = lost(model, 100_000);
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let total = lost.iter().filter(|lost| **lost).count();
        // In the bad state 0.01 / 0.21 of the time, for five packets on average.
        assert!((0.043..0.053).contains(&share(&lost)), "{}", share(&lost));
        assert!((4.5..5.5).contains(&(total as f64 / bursts as f64)));
    }

    #[test]
    fn an_intermittent_link_is_off_for_its_share_of_time() {
        let model = LossModel::OnOff { on: Span::from_secs(5), off: Span::from_millis(200) };
        let share = share(&lost(model, 2_000_000));
        assert!((0.03..0.05).contains(&share), "{share}");
    }

    #[test]
    fn an_outage_begins_and_ends_when_it_should() {
        let lost = lost(LossModel::Outage { from: Span::from_millis(10), until: Span::from_millis(13) }, 20);
        assert_eq!(
            lost.iter().enumerate().filter(|(_, lost)| **lost).map(|(i, _)| i).collect::<Vec<_>>(),
            [10, 11, 12]
        );
    }

    #[test]
    fn a_probability_above_one_is_refused_with_the_range() {
        let error = Loss::<()>::new(LossModel::Random { probability: 2.0 }, Seed::new(0)).unwrap_err();
        assert!(alloc::string::ToString::to_string(&error).contains("0 to 1"));
    }
}
