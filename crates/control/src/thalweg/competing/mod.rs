//! A share beside flows that fill the queue until it overflows.
//!
//! A scheme that keeps queues short gets what such a flow leaves. Copa (Arun and Balakrishnan, NSDI 2018) competes with
//! losses as its signal when the queue was not nearly empty for five round trips; Nimbus (Goyal et al., SIGCOMM 2022)
//! when cross traffic does not give way to pulses. Here the queue was not empty for a while, others' packets are among
//! ours in it, and it does not drain although we send next to nothing: that is the pulse, downwards. Then Cubic's window
//! says how much is under way. It ends when the others' packets do, which needs no empty queue.
//!
//! * `cross.rs`: what others send.
//! * `window.rs`: the window.

mod cross;
mod window;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time, above, above_to, check};

use crate::feedback::{Fate, Feedback};
use crate::packet::SentPacket;
use cross::Cross;
use window::Window;

/// The parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The queue is suspected when it was not empty for so many round trips (Copa's five) ...
    pub round_trips: f64,
    /// ... and this long ...
    pub after: Span,
    /// ... while others had this share of what the path served.
    pub enters: f64,
    /// ... and either a packet was lost not longer ago than this ...
    pub lost_within: Span,
    /// ... or the queue was as long as this.
    pub long: Span,
    /// Below this share of others it ends.
    pub leaves: f64,
    /// The longest queue that is competed for: what the path carries in this time.
    pub longest: Span,
    /// Time for which what the window allowed and frames did not use is kept for them.
    pub credit: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            round_trips: 5.0,
            after: Span::from_millis(1000),
            enters: 0.2,
            lost_within: Span::from_secs(3),
            long: Span::from_millis(150),
            leaves: 0.15,
            longest: Span::from_millis(300),
            credit: Span::from_millis(300),
        }
    }
}

/// The path is not taken for busy if it served without a pause for less of the window than this.
const BUSY: f64 = 0.5;

/// It ends where frames have said nothing of others for so long, as single packets cannot.
const UNKNOWN: Span = Span::from_secs(3);
/// A queue below this is no other flow's: twice the jitter.
const SHORT: Span = Span::from_millis(10);
/// Beside other flows we have at least this share: a greater one of others is that of a path that was taken for too fast.
const LEAST_OWN: f64 = 0.1;
/// The share of what the path carries in a round trip that is under way while it is looked whether the queue drains.
const LITTLE: f64 = 0.125;

impl Config {
    pub(super) fn build(self, wire: Bytes, together: Span) -> Result<Competing, ConfigError> {
        check("thalweg.competing.round_trips", self.round_trips).within(0.0..=1000.0, "5")?;
        check("thalweg.competing.enters", self.enters).within(above_to(0.0, 1.0), "0.2")?;
        check("thalweg.competing.leaves", self.leaves).within(0.0..=self.enters, "0.15")?;
        for (name, value) in [
            ("thalweg.competing.after", self.after),
            ("thalweg.competing.lost_within", self.lost_within),
            ("thalweg.competing.long", self.long),
            ("thalweg.competing.longest", self.longest),
            ("thalweg.competing.credit", self.credit),
        ] {
            check(name, value).within(above(Span::ZERO), "the default")?;
        }
        Ok(Competing {
            config: self,
            wire,
            together,
            cross: Cross::default(),
            lost: None,
            suspected: None,
            active: None,
        })
    }
}

/// Competition that goes on.
#[derive(Debug, Clone, Copy)]
struct Active {
    since: Time,
    /// When the share of others was last known.
    known: Time,
    window: Window,
    /// The smoothed round trip.
    round_trip: Span,
    /// Wire bytes that the window allowed and that were not sent at `paid`.
    credit: f64,
    paid: Time,
}

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Competing {
    config: Config,
    wire: Bytes,
    together: Span,
    cross: Cross,
    /// When a packet was last reported lost.
    lost: Option<Time>,
    /// The path's rate when another flow was suspected.
    suspected: Option<Rate>,
    active: Option<Active>,
}

impl Competing {
    pub(super) fn is_active(&self) -> bool {
        self.active.is_some()
    }

    /// The share of others in what the path serves.
    pub(super) fn others(&self) -> Option<f64> {
        self.cross.share()
    }

    /// Wire bytes that may be under way.
    pub(super) fn window(&self) -> Option<Bytes> {
        self.active.map(|active| self.wire.scale(active.window.packets()))
    }

    /// The rate that the window sustains.
    pub(super) fn rate(&self) -> Option<Rate> {
        Some(self.window()?.per(self.active?.round_trip))
    }

    /// Wire bytes that the window has allowed until `now` and that were not sent.
    pub(super) fn free(&self, now: Time) -> Option<Bytes> {
        Some(Bytes::new(self.credit(now)?.max(0.0) as u64))
    }

    /// The same, negative where frames took more.
    fn credit(&self, now: Time) -> Option<f64> {
        let (active, rate) = (self.active?, self.rate()?);
        let most = rate.over(self.config.credit).as_f64();
        Some((active.credit + rate.over(now - active.paid).as_f64()).clamp(-most, most))
    }

    /// Brings the credit up to date.
    fn pay(&mut self, now: Time) {
        let credit = self.credit(now);
        if let Some((active, credit)) = self.active.as_mut().zip(credit) {
            (active.credit, active.paid) = (credit, now);
        }
    }

    /// Takes an arrival; see [`Cross::on_arrival`].
    pub(super) fn on_arrival(&mut self, at: Time, packet: &SentPacket, due: Time) {
        self.cross.on_arrival(at, packet, due, self.together);
    }

    /// Packets overtake one another: their times say nothing of what is between them in a queue.
    pub(super) fn forget_others(&mut self) {
        self.cross = Cross::default();
    }

    /// Takes feedback for losses.
    pub(super) fn observe(&mut self, feedback: &Feedback<'_>) {
        if feedback.reports.iter().any(|report| report.fate == Fate::Lost) {
            self.lost = Some(feedback.now);
        }
    }

    /// Returns true if another flow seems to fill the queue of a path with this round trip, and `queue` more at present,
    /// which was last seen empty at `empty` and serves us at `served`.
    pub(super) fn suspects(
        &mut self,
        now: Time,
        empty: Option<Time>,
        round_trip: Span,
        queue: Span,
        served: Rate,
    ) -> bool {
        let patience = self.config.after.max(round_trip.scale(self.config.round_trips));
        let is_full = empty.is_some_and(|empty| now - empty > patience) && self.cross.busy() >= BUSY;
        self.suspected = self.path(served).filter(|_| is_full && self.finds_others(now, queue));
        self.suspected.is_some()
    }

    /// The rate of the path, of which we and the others have no more than this: a cell that serves some packets of a frame in
    /// one turn seems faster.
    fn path(&self, served: Rate) -> Option<Rate> {
        let (path, others) = self.cross.path().zip(self.cross.share())?;
        Some(path.min(served.scale(1.0 / (1.0 - others).max(LEAST_OWN))))
    }

    /// Returns true if others' packets are among ours in a queue that overflows, or is long: a flow that keeps it short
    /// loses nothing in it.
    fn finds_others(&self, now: Time, queue: Span) -> bool {
        let Config { lost_within, long, .. } = self.config;
        let overflows = queue >= long || self.lost.is_some_and(|lost| now - lost <= lost_within);
        queue >= SHORT && overflows && self.is_shared()
    }

    /// Returns true if others' packets are among ours.
    pub(super) fn is_shared(&self) -> bool {
        self.cross.share().is_some_and(|share| share >= self.config.enters)
    }

    /// Returns true if the queue that does not drain is one that was suspected.
    pub(super) fn is_suspected(&self, now: Time, queue: Span) -> bool {
        self.suspected.is_some() || self.finds_others(now, queue)
    }

    /// Wire bytes that may be under way while it is looked whether the queue drains, given the round trip of the empty path.
    pub(super) fn little(&self, empty: Span, served: Rate) -> Bytes {
        self.path(served).map_or(self.wire, |path| path.over(empty).scale(LITTLE)).max(self.wire)
    }

    /// Time for which as few packets wait for each other on an empty path.
    pub(super) fn own_wait(&self, empty: Span, served: Rate) -> Span {
        let takes = self.path(served).map_or(Span::ZERO, |path| path.time_for(self.little(empty, served)));
        (takes - empty).max(Span::ZERO)
    }

    /// The queue did not drain: half of what is under way on the path, as beside one flow. Returns true if that is known.
    pub(super) fn enter(&mut self, feedback: &Feedback<'_>, served: Rate) -> bool {
        let Some((round_trip, path)) = feedback.srtt.zip(self.suspected.take().or(self.path(served))) else {
            return false;
        };
        let half = path.over(round_trip).as_f64() / self.wire.as_f64() / 2.0;
        let window = Window::new(feedback.now, half);
        let now = feedback.now;
        self.active = Some(Active { since: now, known: now, window, round_trip, credit: 0.0, paid: now });
        true
    }

    /// Takes feedback while it competes, `empty` being the round trip of the empty path; returns why it ends.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>, empty: Span) -> Option<&'static str> {
        let now = feedback.now;
        self.pay(now);
        let (path, others, busy) = (self.cross.path(), self.cross.share(), self.cross.busy());
        let active = self.active.as_mut()?;
        if others.is_some() {
            active.known = now;
        }
        active.round_trip = feedback.srtt.unwrap_or(active.round_trip).max(Span::from_millis(1));
        let most = path.map_or(active.window.packets(), |path| {
            path.over(empty + self.config.longest).as_f64() / self.wire.as_f64()
        });
        active.window.on_time(now, active.round_trip, most);
        let lost = feedback.reports.iter().filter(|report| report.fate == Fate::Lost);
        for report in lost {
            active.window.on_loss(now, report.packet.at);
        }
        if now - active.since < cross::WINDOW {
            return None;
        }
        if busy < BUSY / 2.0 {
            return Some("the path is idle at times");
        }
        if now - active.known > UNKNOWN {
            return Some("frames do not show whether others' packets are among ours");
        }
        let alone = others.is_some_and(|share| share < self.config.leaves);
        alone.then_some("hardly any packets of others are among ours")
    }

    /// Ends it.
    pub(super) fn leave(&mut self) {
        self.active = None;
    }

    /// Takes a packet that leaves.
    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        self.pay(packet.at);
        if let Some(active) = &mut self.active {
            active.credit -= packet.size.as_f64();
        }
    }
}
