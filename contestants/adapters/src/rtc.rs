//! webrtc-rs's estimator, through its own trait. It takes packet reports and an `Instant`, and reads no clock.

use std::time::Duration;

use rtc_interceptor::{BandwidthEstimator, Gcc, PacketReport};
use rtcp::transport_feedbacks::cc_feedback_report::Ecn;
use thalweg_control::Report;
use thalweg_lab::contestant::{Estimator, Limits};
use thalweg_units::{Rate, Time};
use thalweg_webrtc_rs::Config;

use crate::epoch::Epoch;

/// Any estimator of webrtc-rs.
struct Rtc<E> {
    estimator: E,
    /// Pacing over target.
    pace: f64,
    epoch: Epoch,
}

/// Paced as every other estimator around `gcc`.
pub(crate) fn gcc(limits: Limits) -> Box<dyn Estimator> {
    Box::new(of(limits, 1.1))
}

/// Paced as by its own pacer: the target is what that is asked for ("No hidden headroom", its `Gcc` says).
pub(crate) fn gcc_paced_at_target(limits: Limits) -> Box<dyn Estimator> {
    Box::new(of(limits, 1.0))
}

/// A scheme of ours in webrtc-rs's seam.
///
/// # Panics
/// For a scheme that does not play there ([`thalweg_webrtc_rs::playable`]).
pub fn ours(scheme: &str, limits: Limits) -> Box<dyn Estimator> {
    let Limits { start, min, max } = limits;
    let config = Config::new(start, min, max);
    let estimator = thalweg_webrtc_rs::Estimator::named(scheme, config).expect("a scheme that plays there");
    Box::new(Rtc { estimator, pace: 1.0, epoch: Epoch::new() })
}

fn of(limits: Limits, pace: f64) -> Rtc<Gcc> {
    let [start, min, max] = [limits.start, limits.min, limits.max].map(Rate::as_bps_f64);
    Rtc { estimator: Gcc::new(start, min, max), pace, epoch: Epoch::new() }
}

impl<E: BandwidthEstimator> Estimator for Rtc<E> {
    fn on_reports(&mut self, now: Time, reports: &[Report]) {
        let reports: Vec<PacketReport> = reports
            .iter()
            .map(|report| PacketReport {
                ssrc: 1,
                id: report.packet.id.0,
                rtp_sequence_number: report.packet.id.0 as u16,
                is_twcc: true,
                twcc_sequence_number: report.packet.id.0 as u16,
                size: report.packet.size.get() as usize,
                arrived: report.arrival().is_some(),
                departure: self.epoch.at(report.packet.at),
                arrival: report.arrival().map(|at| Duration::from_nanos(at.as_nanos())),
                ecn: Ecn::NotEct,
            })
            .collect();
        self.estimator.on_reports(self.epoch.at(now), &reports);
    }

    fn target(&self) -> Rate {
        Rate::from_bps_f64(self.estimator.target_bitrate())
    }

    fn pacing(&self) -> Rate {
        self.target().scale(self.pace)
    }
}
