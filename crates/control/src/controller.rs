//! The trait that every congestion controller implements.

use alloc::boxed::Box;

use thalweg_units::{Bytes, Rate, Span, Time};

use crate::feedback::{Feedback, PathReport};
use crate::packet::SentPacket;

/// A congestion controller: packets in, send limits out.
///
/// Two methods are required; [`crate::fixed`] needs no others. Every call that changes state carries the time, and
/// times never go back. The methods cover what most controllers need. Input that only a few controllers use is a
/// [`Signal`], so that the measurement of another paper becomes another variant instead of another method.
///
/// A controller that adds 100 kbit/s with each report and cuts its rate by a tenth after packet loss:
///
/// ```
/// use thalweg_control::{Acknowledgement, SendLimits, Controller, Feedback, History, PacketId, SentPacket};
/// use thalweg_units::{Bytes, Rate, Time};
///
/// struct Aimd(Rate);
///
/// impl Controller for Aimd {
///     fn on_feedback(&mut self, feedback: &Feedback<'_>) {
///         let lost = feedback.lost_bytes() > Bytes::ZERO;
///         self.0 = if lost { self.0.scale(0.9) } else { self.0 + Rate::from_kbps(100) };
///     }
///
///     fn limits(&self) -> SendLimits {
///         SendLimits::of_rate(self.0)
///     }
/// }
///
/// // The caller records each sent packet in a history, which turns reports of any kind into feedback.
/// let (mut history, mut aimd) = (History::default(), Aimd(Rate::from_kbps(500)));
/// for number in 0..10 {
///     let packet = SentPacket::new(PacketId(number), Time::from_millis(10 * number), Bytes::new(1200));
///     aimd.on_sent(&history.on_sent(packet));
/// }
/// let arrived = |number| Acknowledgement::new(PacketId(number), Some(Time::from_millis(10 * number + 25)));
/// aimd.on_feedback(&history.on_report(Time::from_millis(90), &[arrived(0), arrived(1)], None));
/// assert_eq!(aimd.limits().capacity, Rate::from_kbps(600));
/// // Three packets sent later have arrived: number 2 is lost.
/// aimd.on_feedback(&history.on_report(Time::from_millis(120), &[3, 4, 5].map(arrived), None));
/// assert_eq!(aimd.limits().capacity, Rate::from_kbps(540));
/// ```
pub trait Controller: Send {
    /// Takes feedback: which packets sent earlier have arrived, and when, and which are lost.
    fn on_feedback(&mut self, feedback: &Feedback<'_>);

    /// The current limits on sending. Pure: two calls in a row return the same.
    fn limits(&self) -> SendLimits;

    /// Records that a packet left: at [`SentPacket::at`], which never lies before that of the packet before it. It may lie
    /// before the last call's time, where a departure becomes known only with the packet's fate (`thalweg-driver`).
    fn on_sent(&mut self, packet: &SentPacket) {
        let _ = packet;
    }

    /// Takes the rates that the application can use: called at the start and whenever they change.
    fn on_demand(&mut self, now: Time, demand: Demand) {
        let _ = (now, demand);
    }

    /// Takes input that only some controllers use, about the sender's queue or from the receiver's measurements. Ignore
    /// the variants that your controller does not use: others may be added.
    fn on_signal(&mut self, now: Time, signal: Signal) {
        let _ = (now, signal);
    }

    /// Returns true if it keeps to a limit of this kind, [`Signal::ReceiverLimit`] or [`Signal::Bounds`], by a rule of its
    /// own. A sender holds any other controller to the max rate; its min rate has no effect then.
    fn obeys(&self, limit: &Signal) -> bool {
        let _ = limit;
        false
    }

    /// Called when the time returned by [`Controller::next_timeout`] has come.
    fn on_timeout(&mut self, now: Time) {
        let _ = now;
    }

    /// When to call [`Controller::on_timeout`] next; [`Time::NEVER`] if not at all.
    fn next_timeout(&self) -> Time {
        Time::NEVER
    }

    /// Returns the next decision not yet polled, oldest first.
    fn poll_decision(&mut self) -> Option<Decision> {
        None
    }

    /// Why it can decide no more, for a controller that works outside this program: the run ends with this error.
    fn failure(&self) -> Option<&str> {
        None
    }

    /// Passes the variables worth charting to `see`, named as in the paper or specification.
    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        let _ = see;
    }
}

/// A [`Controller`] that can be copied while it runs, as QUIC stacks do when a path changes, and shared between
/// threads. Implemented for every controller that is `Clone` and `Sync`.
pub trait DynController: Controller + Sync {
    /// A copy in the same state.
    fn clone_box(&self) -> Box<dyn DynController>;
}

impl<C: Controller + Clone + Sync + 'static> DynController for C {
    fn clone_box(&self) -> Box<dyn DynController> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn DynController> {
    fn clone(&self) -> Box<dyn DynController> {
        (**self).clone_box()
    }
}

/// Input for a controller besides packets, their outcome and the application's demand.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Signal {
    /// From the sender: a frame joins the send queue. For controllers that set the encoder's target by how well the
    /// queue empties (SCReAM, NADA).
    FrameQueued(FrameQueued),
    /// From the sender: a group of frames that is planned as a whole begins and will last this long. The controller's
    /// next limit applies to this group ([`MediaLimit::Period`]).
    Period(Span),
    /// From the receiver: its smoothed interarrival time, less the sender's pauses between packets (Salsify's tau).
    Interarrival(Span),
    /// From the receiver: its own measurement of the path (Rebera's).
    PathReport(PathReport),
    /// From the receiver: the most that it lets the sender send, as in a REMB message; `None` for no limit. GCC obeys it
    /// as libwebrtc does ([`Controller::obeys`]).
    ReceiverLimit(Option<Rate>),
    /// From the network: packets take another route from now on, and reports on those sent before concern the old one.
    /// For GCC.
    RouteChanged {
        /// True if the sender changed to another network adapter.
        adapter: bool,
    },
    /// From the application: bounds on the estimate itself, beside what its encoder can use ([`Controller::on_demand`]).
    /// GCC obeys them as libwebrtc does ([`Controller::obeys`]).
    Bounds(Demand),
}

/// The limits that a controller sets. Make one with [`SendLimits::of_rate`] and set the other limits as needed.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SendLimits {
    /// Max bytes in flight (cwnd); `None` when only pacing limits.
    pub window: Option<Bytes>,
    /// The pacing rate by the controller's own rule. A scheme may pace by another rule (Vidaptive: window / srtt).
    pub pacing: Rate,
    /// Estimated capacity of the path: the base of the encoder's target.
    pub capacity: Rate,
    /// How many bytes of a frame may leave back to back; `None` for strict pacing.
    pub burst: Option<Bytes>,
    /// Padding that the controller wants sent when there is no media, beyond probes.
    pub padding: PaddingLimit,
    /// The next probe cluster not yet begun. A cluster has begun once a packet that carries its number was sent.
    pub probe: Option<Probe>,
    /// Limits on frames besides `capacity`.
    pub media: MediaLimit,
    /// One FEC packet is to leave after this many media packets, as the controller's probe (FBRA's FEC interval N);
    /// `None` for no FEC.
    pub fec_interval: Option<u16>,
    /// When losses last ended that what was sent had caused, such as by more than a policer's rate: what was lost until then
    /// says nothing of what to protect packets from. `None` where the controller does not tell such losses from others.
    pub losses_ended: Option<Time>,
    /// How much more than the least a path without a queue may delay packets; zero where the controller does not tell that
    /// from queueing.
    pub jitter: Span,
}

/// How much padding leaves while the send queue is empty, besides probes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum PaddingLimit {
    /// None.
    #[default]
    None,
    /// Padding in what media leaves of this rate, so that both together do not exceed it (WebRTC's padding rate).
    UpTo(Rate),
    /// This rate, whatever media there is beside it (Pudica's probes).
    Beside(Rate),
}

impl PaddingLimit {
    /// Media that leaves after a pause does not hold padding back for longer than this (libwebrtc pacing_controller,
    /// `kMaxDebtInTime`).
    pub const MAX_DEBT: Span = Span::from_millis(500);

    /// Padding and media up to this rate; none for zero.
    pub fn up_to(rate: Rate) -> PaddingLimit {
        if rate > Rate::ZERO { PaddingLimit::UpTo(rate) } else { PaddingLimit::None }
    }

    /// Padding at this rate beside media; none for zero.
    pub fn beside(rate: Rate) -> PaddingLimit {
        if rate > Rate::ZERO { PaddingLimit::Beside(rate) } else { PaddingLimit::None }
    }

    /// The rate, zero for no padding.
    pub fn rate(self) -> Rate {
        match self {
            PaddingLimit::None => Rate::ZERO,
            PaddingLimit::UpTo(rate) | PaddingLimit::Beside(rate) => rate,
        }
    }

    /// The same with at most this rate.
    pub fn min(self, most: Rate) -> PaddingLimit {
        match self {
            PaddingLimit::None => PaddingLimit::None,
            PaddingLimit::UpTo(rate) => PaddingLimit::UpTo(rate.min(most)),
            PaddingLimit::Beside(rate) => PaddingLimit::Beside(rate.min(most)),
        }
    }

    /// Returns true if media counts towards the rate.
    pub fn counts_media(self) -> bool {
        matches!(self, PaddingLimit::UpTo(_))
    }
}

/// Limits on frames besides the encoder's rate.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum MediaLimit {
    /// No further limit.
    #[default]
    None,
    /// The share of frames to keep, 0..=1; the sender drops the rest before encoding (GCC's pushback; 0: nothing is
    /// sent at all).
    Share(f64),
    /// Payload bytes that may be sent in addition to those already sent, for a controller that limits frames instead of
    /// holding packets back (Salsify's max_frame_size). The caller still has to subtract what waits in the pacer.
    Frame(Bytes),
    /// Wire bytes for the whole of the last period begun by [`Signal::Period`], for a controller that plans ahead
    /// (Rebera's b).
    Period(Bytes),
}

impl MediaLimit {
    /// The share of frames to keep, 0..=1: 1 unless [`MediaLimit::Share`] is set.
    pub fn share(self) -> f64 {
        if let MediaLimit::Share(share) = self { share } else { 1.0 }
    }

    /// The limit of [`MediaLimit::Frame`], if set.
    pub fn frame(self) -> Option<Bytes> {
        if let MediaLimit::Frame(size) = self { Some(size) } else { None }
    }

    /// The limit of [`MediaLimit::Period`], if set.
    pub fn period(self) -> Option<Bytes> {
        if let MediaLimit::Period(size) = self { Some(size) } else { None }
    }
}

impl SendLimits {
    /// Pacing and encoder target at `rate`, no window, no burst, no probe.
    pub const fn of_rate(rate: Rate) -> SendLimits {
        SendLimits {
            window: None,
            pacing: rate,
            capacity: rate,
            burst: None,
            padding: PaddingLimit::None,
            probe: None,
            media: MediaLimit::None,
            fec_interval: None,
            losses_ended: None,
            jitter: Span::ZERO,
        }
    }
}

/// A probe cluster: packets sent faster than the estimate, to test whether the path sustains that rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Probe {
    /// The number of the cluster, copied into [`SentPacket::probe`]; each new cluster has a higher one.
    pub cluster: u32,
    /// The rate to send at.
    pub rate: Rate,
    /// Min number of packets.
    pub packets: u32,
    /// Min number of bytes.
    pub bytes: Bytes,
    /// The min time between two bursts of the cluster; packets of one burst leave together.
    pub spacing: Span,
}

impl Probe {
    /// A cluster of at least so many packets and bytes, in bursts with this time between them.
    pub const fn new(cluster: u32, rate: Rate, packets: u32, bytes: Bytes, spacing: Span) -> Probe {
        Probe { cluster, rate, packets, bytes, spacing }
    }
}

/// The rates that the application can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    /// The min rate.
    pub min: Rate,
    /// The max rate: the encoder's maximum.
    pub max: Rate,
}

/// A frame as it joins the sender's queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameQueued {
    /// Its size on the wire.
    pub size: Bytes,
    /// The time between two frames of the source.
    pub interval: Span,
    /// Bytes queued ahead of it, on the wire.
    pub ahead: Bytes,
    /// How long the oldest of these bytes has waited; zero for an empty queue.
    pub age: Span,
}

impl FrameQueued {
    /// A frame of this size behind a queue of so many bytes and this age.
    pub const fn new(size: Bytes, interval: Span, ahead: Bytes, age: Span) -> FrameQueued {
        FrameQueued { size, interval, ahead, age }
    }
}

/// One decision of a controller with its reason, for logs and for `thalweg explain`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision {
    /// When the decision was made.
    pub at: Time,
    /// The decision: a verb, such as "decrease".
    pub what: &'static str,
    /// Why, in the terms of the paper, such as "delay gradient above threshold".
    pub why: &'static str,
    /// The capacity estimate before.
    pub from: Rate,
    /// The capacity estimate after.
    pub to: Rate,
}
