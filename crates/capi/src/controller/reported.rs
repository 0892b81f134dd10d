//! Reports of a controller beside its limits.

use std::ffi::c_char;

use thalweg_control::Decision;
use thalweg_driver::Stats;
use thalweg_units::Span;

use crate::clock::Clock;
use crate::sized::Structure;
use crate::text::lasting;

/// A decision, and why.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct ReportedDecision {
    /// sizeof(thalweg_decision).
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// When it was made, ns.
    pub at: u64,
    /// The estimated capacity before, bit/s from the IP header up.
    pub from: u64,
    /// The estimated capacity after, bit/s from the IP header up.
    pub to: u64,
    /// The decision: a verb. Valid as long as the program runs.
    pub what: *const c_char,
    /// The reason, in the terms of the paper. Valid as long as the program runs.
    pub why: *const c_char,
}

// SAFETY: numbers and pointers that are not followed, without gaps.
unsafe impl Structure for ReportedDecision {
    const NAME: &'static str = "thalweg_decision";
    const DEFAULT: ReportedDecision = ReportedDecision {
        size: size_of::<ReportedDecision>() as u32,
        reserved: 0,
        at: 0,
        from: 0,
        to: 0,
        what: std::ptr::null(),
        why: std::ptr::null(),
    };
}

impl ReportedDecision {
    pub(crate) fn new(decision: &Decision, clock: &Clock) -> ReportedDecision {
        ReportedDecision {
            at: clock.caller(decision.at),
            from: decision.from.as_bps(),
            to: decision.to.as_bps(),
            what: lasting(decision.what),
            why: lasting(decision.why),
            ..ReportedDecision::DEFAULT
        }
    }
}

/// Diagnostics of a controller: smoothed RTT, bytes in flight, loss.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct ControllerStats {
    /// sizeof(thalweg_stats).
    pub size: u32,
    /// 1 if silence cannot be distinguished from idleness: in the joined mode without thalweg_controller_set_sending.
    /// The target does not fall then while nothing is heard.
    pub blind: u32,
    /// How many departures lay before an earlier one, or after their report.
    pub clock_steps: u64,
    /// How many packets were reported whose keys are unknown: never sent, or forgotten.
    pub unknown: u64,
    /// Bytes sent and neither acknowledged nor lost; in the joined mode with what was presumably sent since.
    pub in_flight: u64,
    /// Smoothed time from sending a packet to feedback on it, ns; -1 before the first.
    pub srtt: i64,
    /// The last round trip without the wait for its report, ns; -1 before the first.
    pub path_rtt: i64,
    /// The share of packets lost of those whose fate became known in the last second, 0 to 1; -1 before the first.
    pub loss: f64,
}

// SAFETY: numbers without gaps.
unsafe impl Structure for ControllerStats {
    const NAME: &'static str = "thalweg_stats";
    const DEFAULT: ControllerStats = ControllerStats {
        size: size_of::<ControllerStats>() as u32,
        blind: 0,
        clock_steps: 0,
        unknown: 0,
        in_flight: 0,
        srtt: -1,
        path_rtt: -1,
        loss: -1.0,
    };
}

impl ControllerStats {
    pub(crate) fn new(stats: &Stats) -> ControllerStats {
        let nanos = |span: Option<Span>| span.map_or(-1, Span::as_nanos);
        ControllerStats {
            blind: stats.blind.into(),
            clock_steps: stats.clock_steps,
            unknown: stats.unknown,
            in_flight: stats.in_flight.get(),
            srtt: nanos(stats.srtt),
            path_rtt: nanos(stats.path_rtt),
            loss: stats.loss.unwrap_or(-1.0),
            ..ControllerStats::DEFAULT
        }
    }
}
