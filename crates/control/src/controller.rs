//! The seam every congestion controller implements.

use thalweg_units::{Bytes, Rate, Span, Time};

use crate::feedback::{Feedback, PathReport};
use crate::packet::SentPacket;

/// A congestion controller: packets in, an allowance out.
///
/// Two methods are required; [`crate::fixed`] needs no others, [`crate::gcc`] uses all. Every call that changes state
/// carries the time, and times never go back.
pub trait Controller: Send {
    /// What became of packets sent earlier.
    fn on_feedback(&mut self, feedback: &Feedback<'_>);

    /// What may be sent now. Pure: two calls in a row agree.
    fn allowance(&self) -> Allowance;

    /// A packet left.
    fn on_sent(&mut self, packet: &SentPacket) {
        let _ = packet;
    }

    /// The receiver's own smoothed time between arrivals, less the time the sender let pass between the packets, if it measures
    /// that (Salsify's tau).
    fn on_interarrival(&mut self, now: Time, interarrival: Span) {
        let _ = (now, interarrival);
    }

    /// The receiver's own account of the path, if it measures that (Rebera's).
    fn on_path_report(&mut self, now: Time, report: &PathReport) {
        let _ = (now, report);
    }

    /// A group of frames begins that is planned as a whole and will take `period`: what the controller allows from here on is for that
    /// ([`Allowance::budget`]).
    fn on_period(&mut self, now: Time, period: Span) {
        let _ = (now, period);
    }

    /// What the application could use, told at the start and whenever it changes.
    fn on_demand(&mut self, now: Time, demand: Demand) {
        let _ = (now, demand);
    }

    /// A frame joins those that wait to leave: for controllers that aim the encoder by how well the queue empties
    /// (SCReAM, NADA).
    fn on_frame_queued(&mut self, now: Time, frame: FrameQueued) {
        let _ = (now, frame);
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

/// What a controller allows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowance {
    /// How much may be in flight (cwnd); `None` when only the pacing limits.
    pub window: Option<Bytes>,
    /// How fast packets may leave by the controller's own rule. A scheme may pace by another (Vidaptive: window / srtt).
    pub pacing: Rate,
    /// What the path is believed to bear: the base of the encoder's target.
    pub capacity: Rate,
    /// How much of a frame may leave back to back; `None` for strict pacing.
    pub burst: Option<Bytes>,
    /// Filler the controller wants sent when there is no media, beyond probes (WebRTC's padding rate).
    pub padding: Rate,
    /// The next probe cluster not yet begun; it has begun once a packet that carries its number was sent.
    pub probe: Option<Probe>,
    /// The share of frames the encoder should keep, 0..=1; below 1 the sender drops the rest before encoding (GCC's
    /// push-back).
    pub keep_frames: f64,
    /// The payload bytes that may be added to what was sent, where the controller counts in frames instead of holding packets
    /// back (Salsify's max_frame_size, from which what waits for the pacer is still to be taken); `None` where it does not.
    pub frame: Option<Bytes>,
    /// One parity packet is to leave after every so many media packets, as the controller's probe (FBRA's FEC interval N); `None`
    /// for none.
    pub parity_interval: Option<u16>,
    /// What may be sent in all, on the wire, in the period that [`Controller::on_period`] began last, where the controller plans ahead
    /// (Rebera's b); `None` where it does not.
    pub budget: Option<Bytes>,
}

impl Allowance {
    /// Pacing and encoder target at `rate`, no window, no burst, no probe.
    pub const fn of_rate(rate: Rate) -> Allowance {
        Allowance {
            window: None,
            pacing: rate,
            capacity: rate,
            burst: None,
            padding: Rate::ZERO,
            probe: None,
            keep_frames: 1.0,
            frame: None,
            parity_interval: None,
            budget: None,
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
