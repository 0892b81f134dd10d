//! A controller behind webrtc-rs's own seam.

use std::time::{Duration, Instant};

use rtc_interceptor::{BandwidthEstimator, EstimatorStats, PacketReport};
use rtcp::transport_feedbacks::cc_feedback_report::Ecn;
use thalweg_driver::{Config, Driver, Joined, Outcome};
use thalweg_units::{Bytes, ConfigError, Time};

use crate::clock::Clock;
use crate::handle::Handle;

/// A controller as webrtc-rs's `BandwidthEstimator`, in place of its `Gcc`.
///
/// The seam names departures only with their fate, has one number for an answer, and reads it only after reports. So
/// bytes in flight are presumed, silence needs [`Handle::set_sending`], and probes are raises of the target
/// ([`Config::raises_target`], on by default here). [`Interceptor`](crate::Interceptor) has none of these limits.
///
/// ```
/// use rtc_interceptor::{CongestionControlBuilder, PacerBuilder, Registry, Slot, TwccSenderBuilder};
/// use thalweg_webrtc_rs::{Config, Estimator};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let config = Config::default();
/// let estimator = Estimator::named("gcc", config)?;
/// let handle = estimator.handle();
/// let chain = Registry::new()
///     .with(Slot::CongestionControl, CongestionControlBuilder::new(estimator).build())
///     .with(Slot::TwccSender, TwccSenderBuilder::new().build())
///     // Its default is 1 Mbps until the target first changes.
///     .with(Slot::Pacer, PacerBuilder::new().with_target_bitrate(config.start.as_bps_f64()).build())
///     .build();
/// assert_eq!(handle.snapshot().target, config.start);
/// # let _ = chain;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Estimator {
    driver: Driver,
    clock: Clock,
    handle: Handle,
    /// The last known arrival, for a report that has none.
    arrival: Time,
}

impl Estimator {
    /// The controller of a scheme ([`thalweg_driver::playable`]) within these rates, which probes by raising its target.
    ///
    /// # Errors
    /// Those of [`Driver::named`].
    pub fn named(name: &str, mut config: Config) -> Result<Estimator, ConfigError> {
        config.raises_target = true;
        Ok(Estimator::new(Driver::named(name, config)?))
    }

    /// Any controller.
    pub fn new(driver: Driver) -> Estimator {
        let handle = Handle::new(&driver);
        Estimator { driver, clock: Clock::default(), handle, arrival: Time::ZERO }
    }

    /// Handle for the application's threads.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    fn joined(&mut self, report: &PacketReport) -> Joined {
        let outcome = if report.arrived {
            let at = report.arrival.and_then(|since| u64::try_from(since.as_nanos()).ok()).map(Time::from_nanos);
            self.arrival = at.unwrap_or(self.arrival);
            Outcome::Arrived { at: self.arrival, ce: report.ecn == Ecn::Ce }
        } else {
            // What webrtc-rs takes for lost may have been overtaken; it is not heard of again.
            Outcome::Missing
        };
        Joined::new(report.id, Bytes::new(report.size as u64), self.clock.time(report.departure), outcome)
    }
}

impl BandwidthEstimator for Estimator {
    fn on_reports(&mut self, now: Instant, reports: &[PacketReport]) {
        if reports.is_empty() {
            return;
        }
        let joined: Vec<Joined> = reports.iter().map(|report| self.joined(report)).collect();
        let now = self.clock.time(now);
        self.handle.tell(now, &mut self.driver);
        // Its history names each packet once.
        let _ = self.driver.join(now, &joined);
        self.handle.show(now, &mut self.driver);
    }

    fn target_bitrate(&self) -> f64 {
        self.driver.target().as_bps_f64()
    }

    fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock.time(now);
        self.handle.tell(now, &mut self.driver);
        if self.driver.next_timeout() <= now {
            self.driver.on_timeout(now);
        }
        self.handle.show(now, &mut self.driver);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.clock.instant(self.driver.next_timeout())
    }

    fn stats(&self) -> EstimatorStats {
        let stats = self.driver.stats();
        let mut known = EstimatorStats::default();
        known.packet_loss = stats.loss;
        known.round_trip_time = stats.path_rtt.map(|rtt| Duration::from_nanos(rtt.as_nanos().max(0) as u64));
        known
    }
}
