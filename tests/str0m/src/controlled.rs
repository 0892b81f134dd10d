//! The adapter: what of str0m a controller can see, and what it can decide.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use str0m::rtp::rtcp::{Rtcp, Twcc};
use str0m::rtp::{RawPacket, RtpHeader, RtpWrite, Ssrc};
use str0m::{Event, Rtc};
use thalweg_driver::{Acked, Config, Departure, Driver};
use thalweg_control::Payload;
use thalweg_units::{Bytes, ConfigError, Rate, Span, Time};

/// A timer that was late is made up for by this much.
const CATCH_UP: Duration = Duration::from_millis(5);
/// Age at the target rate above which queued packets are taken from the encoder's target.
const BACKLOG: Span = Span::from_millis(100);
/// Time within which the queue is sent, and over which its excess is taken from the target.
const DRAINS: Span = Span::from_secs(1);

/// A controller around the packets of one [`Rtc`] in RTP mode, with raw packets and without str0m's own estimator.
///
/// * [`Controlled::on_event`] for every event, with the time of the `poll_output` that it came from: departures and reports;
/// * [`Controlled::write`] for packets, instead of `StreamTx::write_rtp`, and [`Controlled::release`] after it, after each
///   report, and at [`Controlled::next_timeout`]: then `poll_output` up to a timeout, as after any write;
/// * [`Controlled::target`] for the encoder.
pub struct Controlled {
    driver: Driver,
    epoch: Instant,
    ssrc: Ssrc,
    queue: VecDeque<(RtpWrite, Bytes)>,
    queued: Bytes,
    due: Instant,
    /// The key of the last packet that left, whose low 16 bits are its transport-wide number.
    newest: Option<u64>,
}

impl Controlled {
    /// For the stream of this SSRC, with the controller of this name ([`thalweg_driver::playable`]).
    ///
    /// # Errors
    /// As [`Driver::named`].
    pub fn new(now: Instant, ssrc: Ssrc, scheme: &str, config: Config) -> Result<Controlled, ConfigError> {
        let driver = Driver::named(scheme, config)?;
        Ok(Controlled { driver, epoch: now, ssrc, queue: VecDeque::new(), queued: Bytes::ZERO, due: now, newest: None })
    }

    fn time(&self, now: Instant) -> Time {
        Time::from_nanos(u64::try_from((now - self.epoch).as_nanos()).unwrap_or(u64::MAX >> 1))
    }

    /// Takes what str0m says about packets; other events are not its concern.
    pub fn on_event(&mut self, now: Instant, event: &Event) {
        let Event::RawPacket(packet) = event else { return };
        match &**packet {
            RawPacket::RtpTx(header, bytes) => self.departed(now, header, bytes.len()),
            RawPacket::RtcpRx(Rtcp::Twcc(report)) => self.reported(now, report.clone()),
            _ => {}
        }
    }

    /// str0m numbers a packet when it leaves, so numbers come in order.
    fn departed(&mut self, now: Instant, header: &RtpHeader, size: usize) {
        let Some(number) = header.ext_vals.transport_cc else { return };
        let key =
            self.newest.map_or(u64::from(number), |newest| newest + u64::from(number.wrapping_sub(newest as u16)));
        self.newest = Some(key);
        let mut departure = Departure::new(key, Bytes::new(size as u64));
        if header.ssrc != self.ssrc {
            departure.payload = Payload::Repair;
        }
        // Keys are numbers that are used once.
        let _ = self.driver.on_sent(self.time(now), departure);
    }

    fn reported(&mut self, now: Instant, report: Twcc) {
        let Some(newest) = self.newest else { return };
        // The receiver's clock; only differences count.
        let acked: Vec<Acked> = report
            .into_iter(self.epoch, newest.into())
            .map(|(number, _, arrival)| Acked::new(*number, arrival.map(|at| self.time(at)), false))
            .collect();
        let _ = self.driver.on_acks(self.time(now), &acked, None);
    }

    /// Queues a packet of so many bytes of RTP.
    pub fn write(&mut self, packet: RtpWrite, size: usize) {
        let size = Bytes::new(size as u64);
        self.queue.push_back((packet, size));
        self.queued += size;
    }

    /// Lets a packet leave that is due; returns whether one did. Then poll str0m and call this again before time passes.
    pub fn release(&mut self, now: Instant, rtc: &mut Rtc) -> bool {
        if self.driver.next_timeout() <= self.time(now) {
            self.driver.on_timeout(self.time(now));
        }
        if self.due > now {
            return false;
        }
        let rate = self.pacing();
        let mut direct = rtc.direct_api();
        let Some(stream) = direct.stream_tx(&self.ssrc) else { return false };
        let Some((packet, size)) = self.queue.pop_front() else { return false };
        self.queued -= size;
        let takes = rate.time_for(size).as_nanos();
        self.due = self.due.max(now - CATCH_UP) + Duration::from_nanos(u64::try_from(takes).unwrap_or(0));
        stream.write_rtp(packet);
        true
    }

    /// The controller's pacing rate. A window is not held in bytes: str0m reports each 50 ms, and a window that is sent once in
    /// a round trip and that time is half of one. The target is the rate that fills it.
    fn pacing(&self) -> Rate {
        let windowed = self.driver.limits().window.is_some();
        let rate = if windowed { self.driver.target() } else { self.driver.pacing() };
        rate.max(self.queued.per(DRAINS)).max(Rate::from_kbps(1))
    }

    /// When to call [`Controlled::release`] again.
    pub fn next_timeout(&self) -> Option<Instant> {
        let timer = self.driver.next_timeout();
        let timer = timer.is_set().then(|| self.epoch + Duration::from_nanos(timer.as_nanos()));
        let paced = (!self.queue.is_empty()).then_some(self.due);
        timer.into_iter().chain(paced).min()
    }

    /// The rate to encode at, of RTP: the controller's target, less what waits already.
    pub fn target(&self) -> Rate {
        let target = self.driver.target();
        if self.queued <= target.over(BACKLOG) { target } else { target.saturating_sub(self.queued.per(DRAINS)) }
    }
}
