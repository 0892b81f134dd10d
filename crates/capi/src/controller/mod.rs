//! A congestion controller around the caller's packets: `thalweg_driver::Driver`, in C.

mod callbacks;
mod config;
mod packets;
mod reported;

use std::ffi::{c_char, c_void};

use thalweg_control::Signal;
use thalweg_driver::RtcpFeedback;
use thalweg_units::Span;

pub(crate) use callbacks::Own;
pub use callbacks::{
    Callbacks, PacketReport, ReportedFeedback, THALWEG_REPORT_CE, THALWEG_REPORT_LOST, THALWEG_REPORT_WAS_LOST,
};
use config::Driven;
pub use config::{ControllerConfig, THALWEG_JOINED, THALWEG_SEEN};
pub use packets::{
    Ack, JoinedPacket, Queued, Sent, THALWEG_AUDIO, THALWEG_JOINED_CE, THALWEG_JOINED_LOST, THALWEG_MEDIA,
    THALWEG_PADDING, THALWEG_REPAIR, THALWEG_SENT_APP_LIMITED, THALWEG_SENT_FIRST, THALWEG_SENT_KEYFRAME,
    THALWEG_SENT_LAST, THALWEG_SENT_STREAM,
};
pub use reported::{ControllerStats, ReportedDecision};

use crate::clock::THALWEG_NEVER;
use crate::error::{Error, THALWEG_E_UNSUPPORTED, failed};
use crate::handle::{Handle, Opaque, ask, call, free, make};
use crate::limits::Limits;
use crate::schemes::checked;
use crate::sized::{read, read_all, slice, writable, write};
use crate::text::lasting;

/// thalweg_controller_on_rtcp: the receiver also requested a keyframe.
pub const THALWEG_RTCP_KEYFRAME: i32 = 1;
/// thalweg_controller_on_rtcp: the receiver also requested packets again.
pub const THALWEG_RTCP_MISSING: i32 = 2;

/// A congestion controller.
pub struct Controller(Handle<Kind>);

/// Whose packets it controls.
pub(crate) enum Kind {
    /// The caller's.
    Driven(Box<Driven>),
    /// Those of an engine that will take it.
    Own(Own),
}

impl Opaque for Controller {
    type State = Kind;
    const NAME: &'static str = "controller";

    fn new(handle: Handle<Kind>) -> Controller {
        Controller(handle)
    }

    fn handle(&self) -> &Handle<Kind> {
        &self.0
    }

    fn into_handle(self) -> Handle<Kind> {
        self.0
    }
}

impl Kind {
    fn driven(&mut self) -> Result<&mut Driven, Error> {
        let why = "a controller written in C is an engine's: pass it to thalweg_engine_new";
        match self {
            Kind::Driven(driven) => Ok(driven),
            Kind::Own(_) => Err(Error::new(THALWEG_E_UNSUPPORTED, why)),
        }
    }

    /// For calls of one mode.
    fn in_mode(&mut self, joined: bool) -> Result<&mut Driven, Error> {
        let driven = self.driven()?;
        if driven.joined == joined {
            return Ok(driven);
        }
        let why =
            "departures are either shown as they happen (on_sent, on_acks, on_lost) or joined with their fate (join)";
        Err(Error::new(THALWEG_E_UNSUPPORTED, format_args!("{why}: thalweg_controller_config.mode says which")))
    }
}

/// A controller of a scheme, for packets that the caller sends. `now` begins its clock: ns of any monotonic clock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_controller_new(
    config: *const ControllerConfig,
    now: u64,
    out: *mut *mut Controller,
) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe { make(out, || Ok(Kind::Driven(Box::new(read(config)?.driven(now)?)))) }
}

/// A controller written in C, for thalweg_engine_new. `drop` may be NULL; it is called once with `user`, after the last
/// other call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_controller_from_callbacks(
    callbacks: *const Callbacks,
    user: *mut c_void,
    drop: Option<unsafe extern "C" fn(user: *mut c_void)>,
    out: *mut *mut Controller,
) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe { make(out, || Ok(Kind::Own(Own::new(read(callbacks)?, user, drop)?))) }
}

/// Ends it. NULL is fine. THALWEG_E_BUSY while a call runs: then it goes on to exist.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_controller_free(controller: *mut Controller) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe { free(controller) }
}

/// A packet leaves now. Writes its number in the order of sending to `id`, unless that is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_controller_on_sent(
    controller: *mut Controller,
    sent: *const Sent,
    id: *mut u64,
) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(controller, |kind| {
            let sent = read(sent)?;
            let driven = kind.in_mode(false)?;
            let now = driven.clock.advance(sent.at)?;
            let number = driven.driver.on_sent(now, sent.departure(&driven.clock)?)?;
            if !id.is_null() {
                id.write(number.0);
            }
            Ok(0)
        })
    }
}

/// A report on `count` packets. `hold` is how long the receiver held it after the newest of them arrived, ns; -1 if
/// unknown. A packet that no report names is lost like one reported missing, unless reports came by RTCP before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_controller_on_acks(
    controller: *mut Controller,
    now: u64,
    acks: *const Ack,
    count: usize,
    hold: i64,
) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(controller, |kind| {
            let acks = read_all(acks, count)?.iter().map(Ack::acked).collect::<Result<Vec<_>, _>>()?;
            let driven = kind.in_mode(false)?;
            let now = driven.clock.advance(now)?;
            driven.driver.on_acks(now, &acks, held(hold)?)?;
            Ok(0)
        })
    }
}

/// The span that a receiver held its report.
pub(crate) fn held(hold: i64) -> Result<Option<Span>, Error> {
    const LONGEST: i64 = 3_600_000_000_000;
    match hold {
        -1 => Ok(None),
        0..=LONGEST => Ok(Some(Span::from_nanos(hold))),
        _ => Err(Error::range("hold", hold, format_args!("0 to {LONGEST} ns, or -1 for unknown"))),
    }
}

/// These packets are lost, by a verdict that is final. Where a report only lacks a packet, pass it to
/// thalweg_controller_on_acks instead: it may have been overtaken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_controller_on_lost(
    controller: *mut Controller,
    now: u64,
    keys: *const u64,
    count: usize,
) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(controller, |kind| {
            let keys = slice(keys, count, "keys")?;
            let driven = kind.in_mode(false)?;
            let now = driven.clock.advance(now)?;
            driven.driver.on_lost(now, keys)?;
            Ok(0)
        })
    }
}

/// A report on `count` packets whose departures were not shown, in order of sending.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_controller_join(
    controller: *mut Controller,
    now: u64,
    joined: *const JoinedPacket,
    count: usize,
) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(controller, |kind| {
            let joined = read_all(joined, count)?;
            let driven = kind.in_mode(true)?;
            let now = driven.clock.advance(now)?;
            let joined = joined.iter().map(|one| one.joined(&driven.clock)).collect::<Result<Vec<_>, _>>()?;
            driven.driver.join(now, &joined)?;
            Ok(0)
        })
    }
}

/// The receiver's RTCP, decrypted: transport-wide feedback, whose numbers are the low 16 bits of the keys; RFC 8888 and
/// receiver reports, for packets with a stream (THALWEG_SENT_STREAM). Answers what else it says: 0 or THALWEG_RTCP_...
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_controller_on_rtcp(
    controller: *mut Controller,
    now: u64,
    datagram: *const u8,
    length: usize,
) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(controller, |kind| {
            let datagram = slice(datagram, length, "datagram")?;
            let driven = kind.in_mode(false)?;
            let now = driven.clock.advance(now)?;
            let requests = driven.driver.on_rtcp(now, datagram)?;
            let flag = |request: &RtcpFeedback| match request {
                RtcpFeedback::KeyframeNeeded => THALWEG_RTCP_KEYFRAME,
                RtcpFeedback::Missing(_) => THALWEG_RTCP_MISSING,
                _ => 0,
            };
            Ok(requests.iter().map(flag).fold(0, |all, one| all | one))
        })
    }
}

/// The program can use targets between `min` and `max` from now on, bit/s.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_controller_on_demand(
    controller: *mut Controller,
    now: u64,
    min: u64,
    max: u64,
) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(controller, |kind| {
            let (min, max) = (checked("min", min)?, checked("max", max)?);
            let driven = kind.driven()?;
            let now = driven.clock.advance(now)?;
            driven.driver.on_demand(now, min, max)?;
            Ok(0)
        })
    }
}

/// A frame joins the program's queue. Only some controllers use it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_controller_on_frame_queued(
    controller: *mut Controller,
    now: u64,
    queued: *const Queued,
) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(controller, |kind| {
            let queued = read(queued)?.queued()?;
            let driven = kind.driven()?;
            let now = driven.clock.advance(now)?;
            driven.driver.on_signal(now, Signal::FrameQueued(queued));
            Ok(0)
        })
    }
}

/// Says whether the program is sending, in the joined mode: 1 or 0. While it is and no report comes for the larger of 2
/// s and four round trips, the target is halved, and again after as long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_controller_set_sending(controller: *mut Controller, now: u64, sending: i32) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(controller, |kind| {
            let driven = kind.in_mode(true)?;
            let now = driven.clock.advance(now)?;
            driven.driver.set_sending(now, sending != 0);
            Ok(0)
        })
    }
}

/// To be called at thalweg_controller_next_timeout; at other times it does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_controller_on_timeout(controller: *mut Controller, now: u64) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(controller, |kind| {
            let driven = kind.driven()?;
            let now = driven.clock.advance(now)?;
            driven.driver.on_timeout(now);
            Ok(0)
        })
    }
}

/// When to call thalweg_controller_on_timeout next, ns; THALWEG_NEVER if not at all, or if this call fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_controller_next_timeout(controller: *mut Controller) -> u64 {
    // SAFETY: the caller's, by the rules of the header.
    let next = unsafe {
        ask(controller, |kind| {
            let driven = kind.driven()?;
            Ok(driven.clock.caller(driven.driver.next_timeout()))
        })
    };
    next.unwrap_or_else(|error| {
        failed(&error);
        THALWEG_NEVER
    })
}

/// The rate to send at for a program that can follow only one number, bit/s; 0 if this call fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_controller_target(controller: *mut Controller) -> u64 {
    // SAFETY: the caller's, by the rules of the header.
    let target = unsafe { ask(controller, |kind| Ok(kind.driven()?.driver.target().as_bps())) };
    target.unwrap_or_else(|error| {
        failed(&error);
        0
    })
}

/// Everything that the controller allows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_controller_limits(controller: *mut Controller, limits: *mut Limits) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(controller, |kind| {
            let driver = &kind.driven()?.driver;
            write(limits, &Limits::new(&driver.limits(), driver.target(), |wire| driver.foreign(wire)))?;
            Ok(0)
        })
    }
}

/// The next decision not yet polled, oldest first. Answers 1 if there was one, 0 if not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_controller_poll_decision(
    controller: *mut Controller,
    decision: *mut ReportedDecision,
) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(controller, |kind| {
            let driven = kind.driven()?;
            writable(decision)?;
            let Some(decided) = driven.driver.poll_decision() else { return Ok(0) };
            write(decision, &ReportedDecision::new(&decided, &driven.clock))?;
            Ok(1)
        })
    }
}

/// Passes the controller's variables worth charting to `see`. Names last as long as the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_controller_inspect(
    controller: *mut Controller,
    see: Option<unsafe extern "C" fn(user: *mut c_void, name: *const c_char, value: f64)>,
    user: *mut c_void,
) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(controller, |kind| {
            let see = see.ok_or_else(|| Error::null("see"))?;
            kind.driven()?.driver.inspect(&mut |name, value| see(user, lasting(name), value));
            Ok(0)
        })
    }
}

/// Diagnostics: smoothed RTT, bytes in flight, loss.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_controller_stats(controller: *mut Controller, stats: *mut ControllerStats) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(controller, |kind| {
            write(stats, &ControllerStats::new(&kind.driven()?.driver.stats()))?;
            Ok(0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::THALWEG_E_CONFIG;
    use crate::sized::Structure;

    #[test]
    fn a_wrong_hold_is_refused_by_its_value() {
        assert_eq!(held(-1).unwrap(), None);
        let refused = held(-2).unwrap_err();
        assert_eq!(refused.code, THALWEG_E_CONFIG);
        assert!(refused.message.starts_with("hold is -2, must be 0 to"), "{}", refused.message);
        assert_eq!(Ack::DEFAULT.acked().unwrap().arrival, None);
    }
}
