//! A controller that a policy leads, with GCC beside it that takes over.

mod sender;
mod shadow;

use std::fmt;
use std::sync::Arc;

use thalweg_control::{Controller, Decision, Demand, Feedback, SendLimits, SentPacket, Signal};
use thalweg_units::{ConfigError, Rate, Span, Time};

use crate::bounds::Bounds;
use crate::times::Times;
use crate::{Action, Observation, Observer, Setting};
use shadow::Shadow;

pub use sender::LearnedSender;

/// A trained policy: an observation in, an action out.
pub trait Policy: Send {
    /// Answers an observation; `answer` has as many numbers as the action has. An answer that is no number is no error
    /// here: the controller does not follow it.
    ///
    /// # Errors
    /// When it cannot be computed.
    fn answer(&mut self, observation: &[f32], answer: &mut [f32]) -> Result<(), String>;

    /// Forgets what it remembers of earlier observations: an answer was none.
    fn restart(&mut self) {}
}

impl<F: FnMut(&[f32], &mut [f32]) + Send> Policy for F {
    fn answer(&mut self, observation: &[f32], answer: &mut [f32]) -> Result<(), String> {
        self(observation, answer);
        Ok(())
    }
}

/// A policy's requirements on the controller around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// Its observation.
    pub observation: Observation,
    /// Its action.
    pub action: Action,
    /// The time between two answers.
    pub interval: Span,
    /// The rate before the first answer.
    pub start: Rate,
}

/// How soon a policy must answer, where time passes while it does.
#[derive(Clone)]
pub struct Deadline {
    /// A later answer is none.
    pub within: Span,
    /// The time.
    pub clock: Arc<dyn Fn() -> Time + Send + Sync>,
}

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Deadline").field(&self.within).finish()
    }
}

/// Leader of the sender: the policy or GCC.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Lead {
    Policy,
    /// GCC; the policy's answers have been sane since then.
    Shadow(Option<Time>),
}

/// How long a policy's answers must be sane before it leads again: our choice, some fifteen answers.
const SANE_FOR: Span = Span::from_secs(1);

/// A policy as a controller. It acts at the same times as in training ([`External`](crate::External)) on the same
/// observations, within what the application can use. GCC is given the same packets and reports; it leads while the
/// policy's answers are no numbers, cannot be computed or are late, until they have been sane for a second.
pub struct Learned {
    policy: Box<dyn Policy>,
    action: Action,
    deadline: Option<Deadline>,
    observer: Observer,
    times: Times,
    has_begun: bool,
    /// The observation at the time that is due, once something happened at that time or later.
    observed: bool,
    observation: Vec<f32>,
    answer: Vec<f32>,
    setting: Setting,
    bounds: Bounds,
    lead: Lead,
    shadow: Shadow,
}

impl Learned {
    /// A controller led by `policy`.
    ///
    /// # Errors
    /// When the interval is not above zero.
    pub fn new(policy: Box<dyn Policy>, terms: Terms, deadline: Option<Deadline>) -> Result<Learned, ConfigError> {
        let setting = Setting { rate: terms.start, window: None };
        Ok(Learned {
            policy,
            action: terms.action,
            deadline,
            observer: Observer::new(terms.observation, setting),
            times: Times::every(terms.interval)?,
            has_begun: false,
            observed: false,
            observation: vec![0.0; terms.observation.len()],
            answer: vec![0.0; terms.action.len()],
            setting,
            bounds: Bounds::default(),
            lead: Lead::Policy,
            shadow: Shadow::new()?,
        })
    }

    /// Takes the observation of the time that is due: an environment takes it before anything else happens at that time.
    fn observe(&mut self, now: Time) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.observer.begin(now);
        } else if self.times.has_begun()
            && !self.observed
            && let Some(due) = self.times.due(now)
        {
            self.observer.close(due);
            self.observer.write(due, &mut self.observation);
            self.observed = true;
        }
    }

    /// Asks the policy; the error is the reason why it is not followed.
    fn ask(&mut self) -> Result<Setting, &'static str> {
        let now = || self.deadline.as_ref().map(|deadline| (deadline.clock)());
        let began = now();
        self.answer.fill(f32::NAN);
        let answered = self.policy.answer(&self.observation, &mut self.answer);
        let is_late = began.zip(now()).zip(self.deadline.as_ref());
        let is_late = is_late.is_some_and(|((began, ended), deadline)| ended - began > deadline.within);
        match self.action.apply(&self.answer, self.setting) {
            _ if answered.is_err() => Err("the policy's answer cannot be computed"),
            None => Err("the policy's answer is not finite"),
            Some(_) if is_late => Err("the policy's answer is late"),
            Some(setting) => Ok(setting),
        }
    }

    fn decide(&mut self, now: Time) {
        let before = self.limits().capacity;
        let wanted = self.ask();
        match (wanted, self.lead) {
            (Ok(setting), Lead::Policy) => self.setting = setting,
            (Ok(setting), Lead::Shadow(since)) => {
                let since = since.unwrap_or(now);
                self.lead = Lead::Shadow(Some(since));
                if now - since >= SANE_FOR {
                    (self.lead, self.setting) = (Lead::Policy, setting);
                    let why = "its answers were sane for a second";
                    self.shadow.record(Decision { at: now, what: "policy leads", why, from: before, to: before });
                }
            }
            (Err(why), lead) => {
                self.policy.restart();
                self.lead = Lead::Shadow(None);
                if lead == Lead::Policy {
                    let to = self.limits().capacity;
                    self.shadow.record(Decision { at: now, what: "gcc leads", why, from: before, to });
                }
            }
        }
        if self.lead != Lead::Policy {
            // What a relative action is relative to.
            self.setting = Setting { rate: self.limits().capacity, window: None };
        }
        self.observer.set(self.setting);
    }
}

impl Controller for Learned {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.observe(feedback.now);
        self.observer.on_feedback(feedback);
        self.shadow.gcc.on_feedback(feedback);
    }

    fn limits(&self) -> SendLimits {
        if self.lead == Lead::Policy { self.bounds.limits(self.setting) } else { self.shadow.gcc.limits() }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.observe(packet.at);
        self.observer.on_sent(packet);
        self.shadow.gcc.on_sent(packet);
    }

    fn on_demand(&mut self, now: Time, demand: Demand) {
        self.bounds.on_demand(demand);
        self.shadow.gcc.on_demand(now, demand);
    }

    fn on_signal(&mut self, now: Time, signal: Signal) {
        self.bounds.on_signal(signal);
        self.shadow.gcc.on_signal(now, signal);
    }

    fn on_timeout(&mut self, now: Time) {
        if self.shadow.gcc.next_timeout() <= now {
            self.shadow.gcc.on_timeout(now);
        }
        if self.times.next() <= now {
            self.observe(now);
            self.decide(now);
            self.times.pass(now);
            self.observed = false;
        }
    }

    fn next_timeout(&self) -> Time {
        self.times.next().min(self.shadow.gcc.next_timeout())
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.shadow.poll(self.lead != Lead::Policy)
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("policy_leads", f64::from(u8::from(self.lead == Lead::Policy)));
        see("gcc_bps", self.shadow.gcc.limits().capacity.as_bps_f64());
    }
}
