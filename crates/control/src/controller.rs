//! The seam every congestion controller implements.

use alloc::boxed::Box;

use thalweg_units::{Bytes, Rate, Span, Time};

use crate::feedback::{Feedback, PathReport};
use crate::packet::SentPacket;

/// A congestion controller: packets in, send limits out.
///
/// Two methods are required; [`crate::fixed`] needs no others. Every call that changes state carries the time, and times never go
/// back. The methods are what most controllers need; what a few of them are reported besides is a [`Signal`], so that another paper's
/// measurement is another variant and not another method.
///
/// A controller that adds 100 kbit/s with each report and takes a tenth off when something was lost:
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
/// // Whoever drives it notes what leaves in a history, which turns reports of any kind into feedback.
/// let (mut history, mut aimd) = (History::default(), Aimd(Rate::from_kbps(500)));
/// for number in 0..10 {
///     let packet = SentPacket::new(PacketId(number), Time::from_millis(10 * number), Bytes::new(1200));
///     aimd.on_sent(&history.on_sent(packet));
/// }
/// let arrived = |number| Acknowledgement {
///     id: PacketId(number),
///     arrival: Some(Time::from_millis(10 * number + 25)),
///     ce: false,
/// };
/// aimd.on_feedback(&history.on_report(Time::from_millis(90), &[arrived(0), arrived(1)], None));
/// assert_eq!(aimd.limits().capacity, Rate::from_kbps(600));
/// // Three that were sent later have arrived: number 2 is lost.
/// aimd.on_feedback(&history.on_report(Time::from_millis(120), &[3, 4, 5].map(arrived), None));
/// assert_eq!(aimd.limits().capacity, Rate::from_kbps(540));
/// ```
pub trait Controller: Send {
    /// Feedback: which packets sent earlier have arrived, and when, and which are lost.
    fn on_feedback(&mut self, feedback: &Feedback<'_>);

    /// What may be sent now. Pure: two calls in a row agree.
    fn limits(&self) -> SendLimits;

    /// A packet left.
    fn on_sent(&mut self, packet: &SentPacket) {
        let _ = packet;
    }

    /// What the application could use: reported at the start and whenever it changes.
    fn on_demand(&mut self, now: Time, demand: Demand) {
        let _ = (now, demand);
    }

    /// What only some controllers use, of the sender's queue or of what the receiver measured. Ignore the variants that are not
    /// yours: others may be added.
    fn on_signal(&mut self, now: Time, signal: Signal) {
        let _ = (now, signal);
    }

    /// The time asked for by [`Controller::next_timeout`] has come.
    fn on_timeout(&mut self, now: Time) {
        let _ = now;
    }

    /// When [`Controller::on_timeout`] wants to be called; [`Time::NEVER`] if not at all.
    fn next_timeout(&self) -> Time {
        Time::NEVER
    }

    /// The next decision not yet reported, oldest first.
    fn poll_decision(&mut self) -> Option<Decision> {
        None
    }

    /// Shows the variables a person would want to see in a chart, by their name in the paper or specification.
    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        let _ = see;
    }
}

/// A [`Controller`] that can be copied while it runs, as QUIC stacks do when a path changes, and shared between threads. Whatever is
/// `Clone` and `Sync` is one.
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

/// What a controller may be reported besides packets, their outcome and the application's demand.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Signal {
    /// The sender: a frame joins those that wait to leave. For controllers that aim the encoder by how well the queue empties (SCReAM,
    /// NADA).
    FrameQueued(FrameQueued),
    /// The sender: a group of frames begins that is planned as a whole and will take so long. What the controller allows from here on
    /// is for that ([`MediaLimit::Period`]).
    Period(Span),
    /// The receiver: its own smoothed time between arrivals, less the time the sender let pass between the packets (Salsify's tau).
    Interarrival(Span),
    /// The receiver: its own account of the path (Rebera's).
    PathReport(PathReport),
}

/// What a controller allows. Make one with [`SendLimits::of_rate`] and set what else it limits.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SendLimits {
    /// How much may be in flight (cwnd); `None` when only the pacing limits.
    pub window: Option<Bytes>,
    /// How fast packets may leave by the controller's own rule. A scheme may pace by another (Vidaptive: window / srtt).
    pub pacing: Rate,
    /// What the path is believed to bear: the base of the encoder's target.
    pub capacity: Rate,
    /// How much of a frame may leave back to back; `None` for strict pacing.
    pub burst: Option<Bytes>,
    /// Padding the controller wants sent when there is no media, beyond probes (WebRTC's padding rate).
    pub padding_rate: Rate,
    /// The next probe cluster not yet begun; it has begun once a packet that carries its number was sent.
    pub probe: Option<Probe>,
    /// What limits frames besides `capacity`.
    pub media: MediaLimit,
    /// One FEC packet is to leave after every so many media packets, as the controller's probe (FBRA's FEC interval N); `None`
    /// for none.
    pub fec_interval: Option<u16>,
}

/// What limits frames besides the rate of the encoder.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum MediaLimit {
    /// Nothing.
    #[default]
    None,
    /// The share of frames to keep, 0..=1; the sender drops the rest before encoding (GCC's pushback; 0: nothing is sent at all).
    Share(f64),
    /// Payload bytes that may be added to what was sent: of a controller that counts in frames instead of holding packets back
    /// (Salsify's max_frame_size, from which what waits for the pacer is still to be taken).
    Frame(Bytes),
    /// Bytes on the wire in all of the period that [`Signal::Period`] began last: of a controller that plans ahead (Rebera's b).
    Period(Bytes),
}

impl MediaLimit {
    /// The share of frames to keep: 1 unless [`MediaLimit::Share`] says less.
    pub fn share(self) -> f64 {
        if let MediaLimit::Share(share) = self { share } else { 1.0 }
    }

    /// What the next frame may have, where that is limited.
    pub fn frame(self) -> Option<Bytes> {
        if let MediaLimit::Frame(size) = self { Some(size) } else { None }
    }

    /// What the period may have, where that is limited.
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
            padding_rate: Rate::ZERO,
            probe: None,
            media: MediaLimit::None,
            fec_interval: None,
        }
    }
}

/// A probe cluster: packets sent faster than the estimate, to see whether the path bears it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Its number, written into [`SentPacket::probe`]; each new cluster has a higher one.
    pub cluster: u32,
    /// The rate to send at.
    pub rate: Rate,
    /// How many packets at least.
    pub packets: u32,
    /// How many bytes at least.
    pub bytes: Bytes,
    /// The least time between two of its bursts; packets of one burst leave together.
    pub spacing: Span,
}

/// What the application could use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    /// Never less than this.
    pub min: Rate,
    /// Never more than this: the encoder's maximum.
    pub max: Rate,
}

/// A frame as it joins the sender's queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameQueued {
    /// Its size on the wire.
    pub size: Bytes,
    /// The time between two frames of the source.
    pub interval: Span,
    /// What waits ahead of it, on the wire.
    pub ahead: Bytes,
    /// How long the oldest of that has waited; zero where nothing does.
    pub age: Span,
}

/// One decision of a controller with its reason, for people and for `thalweg explain`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision {
    /// When.
    pub at: Time,
    /// What was decided: a verb, such as "decrease".
    pub what: &'static str,
    /// Why, in the terms of the paper, such as "delay gradient above threshold".
    pub why: &'static str,
    /// The capacity estimate before.
    pub from: Rate,
    /// The capacity estimate after.
    pub to: Rate,
}
