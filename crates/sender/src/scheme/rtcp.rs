//! FBRA and what its paper compares it with: rates computed every few hundred milliseconds, starting at 128 kbps, never
//! below 32.

use thalweg_control::{cnadu as cnadu_control, fbra as fbra_control, rrtcc as rrtcc_control, tfrc as tfrc_control};

use thalweg_units::Span;

use super::peers::{by_reports, under_webrtc};
use super::{ControllerConfig, FeedbackStyle, Scheme};
use crate::repair::{self, fec};

/// A controller paced at its own rate; reports every 62 ms come more often than it evaluates them. All four take losses
/// as receivers report them.
fn of(controller: ControllerConfig) -> Scheme {
    by_reports(under_webrtc(controller, FeedbackStyle::Twcc))
}

/// FBRA (specs/fbra.md), whose probes are FEC packets that can still help in time.
pub(super) fn fbra() -> Scheme {
    let config = fbra_control::Config::default();
    let repair = fec_as_asked(config.delay_max);
    Scheme { repair, ..of(ControllerConfig::Fbra(config)) }
}

/// FEC where the controller asks for it, if it can arrive within `deadline`.
fn fec_as_asked(deadline: Span) -> Option<repair::Config> {
    let (amount, deadline) = (fec::Amount::Asked, Some(deadline));
    let fec = Some(fec::Config { amount, deadline, ..fec::Config::default() });
    Some(repair::Config { fec, ..repair::Config::default() })
}

/// FBRA with RTCP extended reports, as in its paper. The receiver keeps the interval, so each report ends one: a report
/// that comes up to a tenth too early is not an early report but one that the reverse path delayed less than the last.
pub(super) fn fbra_extended() -> Scheme {
    let config = fbra_control::Config {
        report_interval: Span::from_millis(180),
        report_round_trips: 1.8,
        longest_interval: Span::from_millis(810),
        ..fbra_control::Config::default()
    };
    Scheme { controller: ControllerConfig::Fbra(config), feedback: FeedbackStyle::Extended, ..fbra() }
}

/// The same with the random intervals of RTCP (RFC 3550 section 6.3.1), each report ending one: a report that comes
/// sooner than 1.5 round trips after the last is then an early one even if nothing was lost.
pub(super) fn fbra_randomised() -> Scheme {
    let mut scheme = fbra_extended();
    if let ControllerConfig::Fbra(config) = &mut scheme.controller {
        config.each_report = true;
    }
    Scheme { feedback: FeedbackStyle::ExtendedRandomised, ..scheme }
}

/// RRTCC (specs/rrtcc.md).
pub(super) fn rrtcc() -> Scheme {
    of(ControllerConfig::Rrtcc(rrtcc_control::Config::default()))
}

/// RRTCC that tries a raise with FEC for a second, the interval of its updates, before it gives it to media (FBRA
/// section 7).
pub(super) fn rrtcc_with_fec() -> Scheme {
    let config = rrtcc_control::Config::default();
    let config = rrtcc_control::Config { prove_for: Some(config.receiver.period), ..config };
    let repair = fec_as_asked(fbra_control::Config::default().delay_max);
    Scheme { repair, ..of(ControllerConfig::Rrtcc(config)) }
}

/// A reading of the C-NADU paper (specs/cnadu.md).
pub(super) fn cnadu() -> Scheme {
    of(ControllerConfig::Cnadu(cnadu_control::Config::default()))
}

/// TFRC (specs/tfrc.md).
pub(super) fn tfrc() -> Scheme {
    of(ControllerConfig::Tfrc(tfrc_control::Config::default()))
}
