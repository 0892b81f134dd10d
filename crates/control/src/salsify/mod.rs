//! Salsify's transport (Fouladi et al., NSDI 2018; Salsify section 3.2; specs/salsify.md): limits the size of the next
//! frame.
//!
//! There is no window. The interarrival time, minus the sender's own pauses, is the time that the path needs per
//! packet. The next frame may have what the path carries in 100 ms, minus what is in flight.

mod interarrival;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time, above, check};

use crate::controller::{Controller, MediaLimit, SendLimits, Signal};
pub use crate::estimate::{Average, Grace, Smoothing, Unit};
use crate::feedback::outstanding::Outstanding;
use crate::feedback::{End, Feedback};
use crate::packet::SentPacket;
use interarrival::Interarrival;

/// The parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// d: the path may need this long for the packets in flight (Salsify section 3.2: 100 ms).
    pub delay: Span,
    /// How interarrival times are averaged.
    pub smoothing: Smoothing,
    /// Which side's tau is used; in the paper, the receiver's acknowledgements carry it.
    pub measured_by: End,
    /// MTU: the payload of a packet that the path is assumed to carry in tau (the authors' 1400 bytes; set it lower for
    /// a sender of smaller packets).
    pub packet: Bytes,
    /// Which of the sender's pauses are subtracted.
    pub grace: Grace,
    /// Packets in flight for longer than this without any acknowledgement count as lost. The paper does not say;
    /// without it, an outage would silence the sender forever (specs/salsify.md 6: 1 s).
    pub forget_after: Span,
    /// Counts one packet more in flight than there is, as the authors' code does (specs/salsify.md 3).
    pub counts_one_more: bool,
    /// Packets that may be sent before the first interarrival times are known; `None` for any number, as in the paper
    /// (specs/salsify.md 6). Ten packets, as TCP's initial window (RFC 6928).
    #[cfg_attr(feature = "serde", serde(default))]
    pub first_packets: Option<u64>,
    /// The capacity reported until then.
    pub start: Rate,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            delay: Span::from_millis(100),
            smoothing: Smoothing::default(),
            measured_by: End::default(),
            packet: Bytes::new(1400),
            grace: Grace::default(),
            forget_after: Span::from_secs(1),
            counts_one_more: false,
            first_packets: Some(10),
            start: Rate::from_kbps(1000),
        }
    }
}

/// Min and max time between two packets (the authors' pacer: tau / 5 within 0.5 and 2 ms).
const SPACING: (Span, Span) = (Span::from_micros(500), Span::from_millis(2));
/// Wire overhead of a packet beyond its payload, to convert the spacing into a rate; the pacer waits as long for a
/// packet with a few bytes more.
const OVERHEAD: Bytes = Bytes::new(90);
/// A rate that no path of today exceeds: a tau of zero would request an unlimited rate.
const FASTEST: Rate = Rate::from_kbps(10_000_000);

/// The state of Salsify's transport.
#[derive(Debug, Clone)]
pub struct Salsify {
    config: Config,
    /// tau as computed by the sender from reported arrivals.
    interarrival: Interarrival,
    /// tau as reported by the receiver.
    reported: Option<Span>,
    outstanding: Outstanding,
}

impl Salsify {
    /// The transport before its first packet.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<Salsify, ConfigError> {
        for (name, value) in [("salsify.delay", config.delay), ("salsify.forget_after", config.forget_after)] {
            check(name, value).within(above(Span::ZERO), "100ms")?;
        }
        check("salsify.packet", config.packet).within(above(Bytes::ZERO), "1400B")?;
        check("salsify.start", config.start).within(above(Rate::ZERO), "1Mbps")?;
        Ok(Salsify {
            config,
            interarrival: Interarrival::new(config.smoothing.build()?, config.grace),
            reported: None,
            outstanding: Outstanding::new(config.forget_after),
        })
    }

    /// tau: the time that the path needs per packet; `None` before the first arrival.
    pub fn interarrival(&self) -> Option<Span> {
        self.reported.or(self.interarrival.smoothed())
    }

    /// max_frame_size: MTU x (d / tau - N), the payload bytes that may be sent in addition; `None` if there is no
    /// limit.
    pub fn max_frame_size(&self) -> Option<Bytes> {
        let Config { delay, packet, first_packets, counts_one_more, smoothing, .. } = self.config;
        let micros = |span: Span| span.as_nanos() as u64 / 1000;
        let one_more = u64::from(counts_one_more);
        match smoothing.unit {
            // In whole packets, division first (specs/salsify.md 8).
            Unit::Packets => {
                let fit = self.interarrival().map(|tau| micros(delay) / micros(tau).max(1)).or(first_packets)?;
                Some(packet * fit.saturating_sub(self.outstanding.count() + one_more))
            }
            Unit::Bytes(unit) => {
                let measured = self.interarrival().map(|tau| delay.as_secs_f64() / tau.as_secs_f64().max(1e-6));
                let fit = measured.or(first_packets.map(|packets| packets as f64))?;
                let under_way = self.outstanding.bytes().as_f64() / unit.as_f64() + one_more as f64;
                Some(packet.scale((fit - under_way).max(0.0)))
            }
        }
    }
}

impl Controller for Salsify {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.interarrival.on_feedback(feedback);
        self.outstanding.on_feedback(feedback);
    }

    fn limits(&self) -> SendLimits {
        let spacing = self.interarrival().map_or(SPACING.0, |tau| (tau / 5).clamp(SPACING.0, SPACING.1));
        let rate = |span: Span| self.config.packet.per(span.max(Span::from_micros(1))).min(FASTEST);
        SendLimits {
            capacity: self.interarrival().map_or(self.config.start, rate).max(Rate::from_kbps(1)),
            media: MediaLimit::Frame(self.max_frame_size().unwrap_or(Bytes::MAX)),
            ..SendLimits::of_rate((self.config.packet + OVERHEAD).per(spacing))
        }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.interarrival.on_sent(packet);
        self.outstanding.on_sent(packet);
    }

    fn on_signal(&mut self, _now: Time, signal: Signal) {
        if let Signal::Interarrival(interarrival) = signal
            && self.config.measured_by == End::Receiver
        {
            self.reported = Some(interarrival);
        }
    }

    fn on_timeout(&mut self, now: Time) {
        self.outstanding.on_timeout(now);
    }

    fn next_timeout(&self) -> Time {
        self.outstanding.next_timeout()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        if let Some(tau) = self.interarrival() {
            see("tau ms", tau.as_millis_f64());
        }
        see("N packets", self.outstanding.count() as f64);
        if let Some(size) = self.max_frame_size() {
            see("max frame kB", size.as_f64() / 1000.0);
        }
    }
}

#[cfg(test)]
mod tests;
