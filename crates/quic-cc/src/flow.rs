//! A controller on one path, in QUIC's terms.

use std::time::{Duration, Instant};

use thalweg_driver::{Acked, Departure, Driver};
use thalweg_units::{Bytes, Rate, Span, Time};

use crate::frames::Frames;
use crate::handle::{Handle, Snapshot};
use crate::settings::Settings;

/// Without a window of the controller's own, a pacer that follows its rate is bounded by this many times what is under way
/// at the estimated capacity (docs/quic.md).
const BOUND: u64 = 2;
/// The least round trip in that product.
const LEAST_RTT: Span = Span::from_millis(10);
/// Without a window of the controller's own, where the window sets the pace: the most that a round trip may count beyond the
/// least one, a quarter of it and QUIC's wait for an acknowledgement (docs/quic.md).
const RTT_GAIN: f64 = 1.25;
const ACK_DELAY: Span = Span::from_millis(25);
/// Packets that wait at the receiver for an acknowledgement and at the sender for the pace: two acknowledgements of two
/// packets each (RFC 9000 section 13.2.2).
const GATHERED: u64 = 4;
/// A smoothed round trip so many times as long as the latest is from before.
const STALE: f64 = 2.0;
/// A batch of packets is what the pacing rate sends in this time ...
const QUANTUM: Span = Span::from_millis(1);
/// ... and so many packets: at least, and at most.
const QUANTUM_PACKETS: (u64, u64) = (2, 10);
/// RFC 9002 section 7.2.
const INITIAL_PACKETS: u64 = 10;
const LEAST_PACKETS: u64 = 2;

/// As QUIC measured them.
#[derive(Debug, Clone, Copy)]
struct RoundTrips {
    least: Span,
    smoothed: Span,
    latest: Span,
}

/// A controller on one path. QUIC offers no timers: the controller's run at the next call after they are due.
#[derive(Debug, Clone)]
pub struct Flow {
    driver: Driver,
    epoch: Instant,
    mtu: u64,
    round_trips: Option<RoundTrips>,
    frames: Frames,
    next_key: u64,
    /// Acknowledged by the report that is being read.
    acked: Vec<u64>,
    /// True if a queue marked one of the packets before.
    marked: bool,
    /// True if the application had nothing to send when the stack last reported on it.
    app_limited: bool,
    handle: Handle,
    demands: u64,
}

impl Flow {
    /// A new path, whose packets have at most `mtu` bytes of UDP payload.
    #[must_use]
    pub fn new(settings: &Settings, handle: Handle, now: Instant, mtu: u16) -> Flow {
        Flow {
            driver: settings.driver(),
            epoch: now,
            mtu: mtu.into(),
            round_trips: None,
            frames: Frames::default(),
            next_key: 0,
            acked: Vec::new(),
            marked: false,
            app_limited: false,
            handle,
            demands: 0,
        }
    }

    /// A packet of so many bytes leaves. Returns its key.
    pub fn on_sent(&mut self, now: Instant, size: u64) -> u64 {
        let now = self.begin(now);
        let key = self.next_key;
        self.next_key += 1;
        let mut departure = Departure::new(key, Bytes::new(size));
        departure.app_limited = self.app_limited;
        departure.place = Some(self.frames.on_sent(now, departure.size, self.pacing()));
        let sent = self.driver.on_sent(now, departure);
        debug_assert!(sent.is_ok(), "{sent:?}");
        self.show(now);
        key
    }

    /// A packet is acknowledged, by a report that [`Flow::on_end_acks`] ends.
    pub fn on_ack(&mut self, key: u64) {
        self.acked.push(key);
    }

    /// The report ends. `app_limited`: whether the application had nothing more to send.
    pub fn on_end_acks(&mut self, now: Instant, app_limited: bool) {
        self.app_limited = app_limited;
        let now = self.begin(now);
        let ce = std::mem::take(&mut self.marked);
        let acked: Vec<Acked> = self.acked.drain(..).map(|key| Acked::new(key, Some(now), ce)).collect();
        let known = self.driver.on_acks(now, &acked, None);
        debug_assert!(known.is_ok(), "{known:?}");
        self.show(now);
    }

    /// Packets are lost, by QUIC's verdict.
    pub fn on_lost(&mut self, now: Instant, keys: &[u64]) {
        let now = self.begin(now);
        let known = self.driver.on_lost(now, keys);
        debug_assert!(known.is_ok(), "{known:?}");
        self.show(now);
    }

    /// A queue marked packets (ECN CE): QUIC says so after their acknowledgement, so the next report is marked.
    pub fn on_marked(&mut self) {
        self.marked = true;
    }

    /// QUIC's round trips: the least, the smoothed one, and that of the packet just acknowledged.
    pub fn set_round_trips(&mut self, least: Duration, smoothed: Duration, latest: Duration) {
        let [least, smoothed, latest] = [least, smoothed, latest].map(span);
        self.round_trips = Some(RoundTrips { least, smoothed, latest });
    }

    /// The largest packet has this many bytes of UDP payload from now on.
    pub fn on_mtu(&mut self, mtu: u16) {
        self.mtu = mtu.into();
    }

    /// The largest packet's bytes of UDP payload.
    pub fn mtu(&self) -> u64 {
        self.mtu
    }

    /// Bytes that may be in flight at the start (RFC 9002 section 7.2).
    pub fn initial_window(&self) -> u64 {
        INITIAL_PACKETS * self.mtu
    }

    /// Bytes that may be in flight where [`Flow::pacing`] sets the pace.
    pub fn window(&self) -> u64 {
        let of_rate = |rtt: Span| self.capacity().over(rtt.max(LEAST_RTT)) * BOUND;
        self.whole(self.own_window().or(self.driver.stats().srtt.map(of_rate)))
    }

    /// Bytes that may be in flight where they set the pace too, so many in each smoothed round trip: the controller's own
    /// window, and no more than its pacing rate sends in the least round trip and while acknowledgements are gathered. With
    /// the smoothed round trip a queue would raise the window that causes it. After an outage that one is much longer than
    /// what packets take by now, and the window as many times larger, or it would be sent far too slowly.
    pub fn window_as_pace(&self) -> u64 {
        let Some(rtt) = self.round_trips else { return self.whole(self.own_window()) };
        let Some(own) = self.own_window() else {
            return self.whole(Some(self.capacity().over(rtt.smoothed.min(rtt.least.scale(RTT_GAIN) + ACK_DELAY))));
        };
        let paced = self.pacing().over(rtt.least) + Bytes::new(GATHERED * self.mtu);
        let stale = Some(rtt.smoothed.ratio(rtt.latest)).filter(|ratio| *ratio > STALE);
        self.whole(Some(own.min(paced).scale(stale.unwrap_or(1.0))))
    }

    /// The rate at which packets are to leave.
    pub fn pacing(&self) -> Rate {
        self.driver.pacing()
    }

    /// How many bytes may leave back to back.
    pub fn quantum(&self) -> u64 {
        let (least, most) = QUANTUM_PACKETS;
        let burst = self.driver.limits().burst.map(|burst| burst.get());
        burst.unwrap_or_else(|| self.pacing().over(QUANTUM).get().clamp(least * self.mtu, most * self.mtu))
    }

    /// The estimated capacity of the path.
    pub fn capacity(&self) -> Rate {
        self.driver.foreign(self.driver.limits().capacity)
    }

    /// When the path began.
    pub fn epoch(&self) -> Instant {
        self.epoch
    }

    /// The time of an instant; those before the path began count as its beginning.
    fn time(&self, at: Instant) -> Time {
        Time::ZERO + span(at.saturating_duration_since(self.epoch))
    }

    fn own_window(&self) -> Option<Bytes> {
        self.driver.limits().window.map(|window| self.driver.foreign_size(window))
    }

    /// A window of whole packets, at least two; before the first round trip the initial one.
    fn whole(&self, window: Option<Bytes>) -> u64 {
        let window = window.map_or(self.initial_window(), Bytes::get);
        window.max(LEAST_PACKETS * self.mtu).next_multiple_of(self.mtu)
    }

    fn begin(&mut self, now: Instant) -> Time {
        let now = self.time(now);
        if self.driver.next_timeout() <= now {
            self.driver.on_timeout(now);
        }
        now
    }

    fn show(&mut self, now: Time) {
        let (limits, stats) = (self.driver.limits(), self.driver.stats());
        let snapshot = Snapshot {
            pacing: self.pacing(),
            capacity: self.capacity(),
            window: Bytes::new(self.window_as_pace()),
            keep_frames: limits.media.share(),
            padding: self.driver.foreign(limits.padding.rate()),
            srtt: stats.srtt,
            in_flight: stats.in_flight,
            loss: stats.loss,
            ..Snapshot::of_rate(self.driver.target())
        };
        if let Some((min, max)) = self.handle.exchange(snapshot, &mut self.demands) {
            // Rates out of order change nothing: the application's handle says so.
            let _ = self.driver.on_demand(now, min, max);
        }
    }
}

fn span(duration: Duration) -> Span {
    Span::from_nanos(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
}
