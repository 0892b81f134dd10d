//! A controller written in C, for an engine.

use std::cell::Cell;
use std::ffi::c_void;

use thalweg_control::Cause;
use thalweg_control::{Controller, Demand, Fate, Feedback, Payload, Report, SendLimits, SentPacket, Signal};
use thalweg_units::{Bytes, Rate, Span, Time};

use super::packets::{
    Queued, Sent, THALWEG_AUDIO, THALWEG_MEDIA, THALWEG_PADDING, THALWEG_REPAIR, THALWEG_SENT_APP_LIMITED,
    THALWEG_SENT_FIRST, THALWEG_SENT_KEYFRAME, THALWEG_SENT_LAST,
};
use crate::clock::{Clock, THALWEG_NEVER};
use crate::error::Error;
use crate::limits::Limits;
use crate::sized::{Structure, checked_size, lay};

/// `thalweg_report.flags`: it is declared lost.
pub const THALWEG_REPORT_LOST: u32 = 1;
/// `thalweg_report.flags`: a queue on the path marked it (ECN CE).
pub const THALWEG_REPORT_CE: u32 = 2;
/// `thalweg_report.flags`: it had been declared lost, and was only late.
pub const THALWEG_REPORT_WAS_LOST: u32 = 4;

/// A packet whose fate became known.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct PacketReport {
    /// sizeof(thalweg_report).
    pub size: u32,
    /// THALWEG_REPORT_...
    pub flags: u32,
    /// Its number in the order of sending, from 0.
    pub id: u64,
    /// When it left, ns.
    pub departed: u64,
    /// Its size from the IP header up.
    pub bytes: u64,
    /// When it arrived by the receiver's clock, ns; THALWEG_NEVER if it is lost.
    pub arrival: u64,
    /// The probe that it belonged to, or -1.
    pub probe: i64,
}

// SAFETY: numbers without gaps.
unsafe impl Structure for PacketReport {
    const NAME: &'static str = "thalweg_report";
    const DEFAULT: PacketReport = PacketReport {
        size: size_of::<PacketReport>() as u32,
        flags: 0,
        id: 0,
        departed: 0,
        bytes: 0,
        arrival: THALWEG_NEVER,
        probe: -1,
    };
}

/// Feedback on sent packets.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct ReportedFeedback {
    /// sizeof(thalweg_feedback).
    pub size: u32,
    /// 1 if nothing was heard for so long that all in flight is declared lost; 0 for a report.
    pub timed_out: u32,
    /// When it came, ns.
    pub now: u64,
    /// The packets whose fate became known, in order of sending, each as large as `report_size` says; valid during the
    /// call.
    pub reports: *const PacketReport,
    /// How many they are; 0 when a report held nothing new.
    pub count: u64,
    /// Round trip of the newest packet that arrived, ns; -1 if none did.
    pub rtt: i64,
    /// The same without the time for which the receiver held its report, ns; -1 if none did.
    pub path_rtt: i64,
    /// Smoothed round trip, ns; -1 before the first.
    pub srtt: i64,
    /// The least round trip, ns; -1 before the first.
    pub min_rtt: i64,
    /// Bytes sent and neither acknowledged nor declared lost.
    pub in_flight: u64,
    /// Bytes acknowledged so far.
    pub delivered: u64,
}

/// The functions of a controller written in C. Each is called with the `user` of thalweg_controller_from_callbacks, by
/// the thread that calls the engine and while it does: none may call the engine, throw or jump out. Those that are NULL
/// are not called; the first two must be there. What they are passed has the library's size, and may lack fields of a
/// newer header.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Callbacks {
    /// sizeof(thalweg_controller_callbacks).
    pub size: u32,
    /// sizeof(thalweg_report): how far apart reports are laid.
    pub report_size: u32,
    /// Feedback came.
    pub on_feedback: Option<unsafe extern "C" fn(user: *mut c_void, feedback: *const ReportedFeedback)>,
    /// Writes the present limits into `limits`, which is empty: `capacity` at least; `pacing` is the capacity where it
    /// stays
    /// 0. Limits out of range are not taken: the last ones hold.
    pub limits: Option<unsafe extern "C" fn(user: *mut c_void, limits: *mut Limits)>,
    /// A packet left; its `key` is its number in the order of sending.
    pub on_sent: Option<unsafe extern "C" fn(user: *mut c_void, sent: *const Sent)>,
    /// The rates that the encoder can use, bit/s.
    pub on_demand: Option<unsafe extern "C" fn(user: *mut c_void, now: u64, min: u64, max: u64)>,
    /// A frame joins the queue.
    pub on_frame_queued: Option<unsafe extern "C" fn(user: *mut c_void, now: u64, queued: *const Queued)>,
    /// The time that `next_timeout` said has come.
    pub on_timeout: Option<unsafe extern "C" fn(user: *mut c_void, now: u64)>,
    /// When `on_timeout` is to be called next, ns; THALWEG_NEVER if not at all. After a call at that time it must be
    /// later.
    pub next_timeout: Option<unsafe extern "C" fn(user: *mut c_void) -> u64>,
}

// SAFETY: numbers and pointers that are followed only where the caller wrote them; no function is a zero. Without gaps.
unsafe impl Structure for Callbacks {
    const NAME: &'static str = "thalweg_controller_callbacks";
    const DEFAULT: Callbacks = Callbacks {
        size: size_of::<Callbacks>() as u32,
        report_size: size_of::<PacketReport>() as u32,
        on_feedback: None,
        limits: None,
        on_sent: None,
        on_demand: None,
        on_frame_queued: None,
        on_timeout: None,
        next_timeout: None,
    };
}

/// Controller handed over by the caller, until an engine takes it.
pub(crate) struct Own {
    callbacks: Callbacks,
    user: *mut c_void,
    dropped: Option<unsafe extern "C" fn(*mut c_void)>,
}

// SAFETY: the header says that a handle may move between threads, and `user` with it; calls do not overlap.
unsafe impl Send for Own {}

impl Own {
    /// # Safety
    /// The functions may be called with `user` until `dropped` was.
    pub(crate) unsafe fn new(
        callbacks: Callbacks,
        user: *mut c_void,
        dropped: Option<unsafe extern "C" fn(*mut c_void)>,
    ) -> Result<Own, Error> {
        let missing = |name| Error::null(&format!("thalweg_controller_callbacks.{name}"));
        callbacks.on_feedback.ok_or_else(|| missing("on_feedback"))?;
        callbacks.limits.ok_or_else(|| missing("limits"))?;
        checked_size::<PacketReport>(callbacks.report_size)?;
        Ok(Own { callbacks, user, dropped })
    }

    /// As a controller of an engine with this clock.
    pub(crate) fn controller(self, clock: Clock) -> InC {
        InC { own: self, clock, last: Cell::new(SendLimits::of_rate(Rate::ZERO)) }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(dropped) = self.dropped {
            // SAFETY: promised to `new`; nothing is called afterwards.
            unsafe { dropped(self.user) };
        }
    }
}

/// The controller behind the seam.
pub(crate) struct InC {
    own: Own,
    clock: Clock,
    /// The last limits in range.
    last: Cell<SendLimits>,
}

impl InC {
    fn report(&self, report: &Report) -> PacketReport {
        let SentPacket { id, at, size, probe, .. } = report.packet;
        let (flags, arrival) = match report.fate {
            Fate::Lost => (THALWEG_REPORT_LOST, THALWEG_NEVER),
            fate @ Fate::Arrived { at, was_lost, .. } => {
                let ce = if fate.is_marked() { THALWEG_REPORT_CE } else { 0 };
                (ce | if was_lost { THALWEG_REPORT_WAS_LOST } else { 0 }, at.as_nanos())
            }
        };
        PacketReport {
            size: self.own.callbacks.report_size,
            flags,
            id: id.0,
            departed: self.clock.caller(at),
            bytes: size.get(),
            arrival,
            probe: probe.map_or(-1, i64::from),
        }
    }

    fn sent(&self, packet: &SentPacket) -> Sent {
        let payload = match packet.payload {
            Payload::Media => THALWEG_MEDIA,
            Payload::Padding => THALWEG_PADDING,
            Payload::Repair => THALWEG_REPAIR,
            Payload::Audio => THALWEG_AUDIO,
        };
        let mut sent = Sent {
            payload,
            at: self.clock.caller(packet.at),
            bytes: packet.size.get(),
            key: packet.id.0,
            probe: packet.probe.map_or(-1, i64::from),
            ..Sent::DEFAULT
        };
        let mut flag = |set: bool, flag: u32| sent.flags |= if set { flag } else { 0 };
        flag(packet.app_limited, THALWEG_SENT_APP_LIMITED);
        if let Some(place) = packet.place {
            flag(place.first, THALWEG_SENT_FIRST);
            flag(place.last, THALWEG_SENT_LAST);
            flag(place.keyframe, THALWEG_SENT_KEYFRAME);
            sent.frame = i64::try_from(place.frame).unwrap_or(i64::MAX);
            (sent.offset, sent.captured) = (place.offset.get(), self.clock.caller(place.captured));
        }
        sent
    }
}

impl Controller for InC {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let Some(on_feedback) = self.own.callbacks.on_feedback else { return };
        let reports: Vec<PacketReport> = feedback.reports.iter().map(|report| self.report(report)).collect();
        let laid = lay(&reports, self.own.callbacks.report_size);
        let nanos = |span: Option<Span>| span.map_or(-1, Span::as_nanos);
        let reported = ReportedFeedback {
            size: size_of::<ReportedFeedback>() as u32,
            timed_out: (feedback.cause == Cause::FeedbackTimeout).into(),
            now: self.clock.caller(feedback.now),
            reports: laid.as_ptr().cast(),
            count: reports.len() as u64,
            rtt: nanos(feedback.rtt),
            path_rtt: nanos(feedback.path_rtt),
            srtt: nanos(feedback.srtt),
            min_rtt: nanos(feedback.min_rtt),
            in_flight: feedback.in_flight.get(),
            delivered: feedback.delivered.get(),
        };
        // SAFETY: promised to `Own::new`; what is passed outlives the call.
        unsafe { on_feedback(self.own.user, &raw const reported) };
    }

    fn limits(&self) -> SendLimits {
        let Some(limits) = self.own.callbacks.limits else { return self.last.get() };
        let mut allowed = Limits::DEFAULT;
        // SAFETY: promised to `Own::new`; what is passed outlives the call.
        unsafe { limits(self.own.user, &raw mut allowed) };
        if let Ok(limits) = allowed.of_caller() {
            self.last.set(limits);
        }
        self.last.get()
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        if let Some(on_sent) = self.own.callbacks.on_sent {
            let sent = self.sent(packet);
            // SAFETY: promised to `Own::new`; what is passed outlives the call.
            unsafe { on_sent(self.own.user, &raw const sent) };
        }
    }

    fn on_demand(&mut self, now: Time, demand: Demand) {
        if let Some(on_demand) = self.own.callbacks.on_demand {
            // SAFETY: promised to `Own::new`.
            unsafe { on_demand(self.own.user, self.clock.caller(now), demand.min.as_bps(), demand.max.as_bps()) };
        }
    }

    fn on_signal(&mut self, now: Time, signal: Signal) {
        if let (Signal::FrameQueued(frame), Some(on_frame_queued)) = (signal, self.own.callbacks.on_frame_queued) {
            let queued = Queued {
                bytes: frame.size.get(),
                interval: frame.interval.as_nanos(),
                ahead: Bytes::get(frame.ahead),
                age: frame.age.as_nanos(),
                ..Queued::DEFAULT
            };
            // SAFETY: promised to `Own::new`; what is passed outlives the call.
            unsafe { on_frame_queued(self.own.user, self.clock.caller(now), &raw const queued) };
        }
    }

    fn on_timeout(&mut self, now: Time) {
        if let Some(on_timeout) = self.own.callbacks.on_timeout {
            // SAFETY: promised to `Own::new`.
            unsafe { on_timeout(self.own.user, self.clock.caller(now)) };
        }
    }

    fn next_timeout(&self) -> Time {
        let Some(next_timeout) = self.own.callbacks.next_timeout else { return Time::NEVER };
        // SAFETY: promised to `Own::new`.
        self.clock.time(unsafe { next_timeout(self.own.user) })
    }
}
