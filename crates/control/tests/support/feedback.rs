//! The receiver's side: its clock and how it reports.

use thalweg_control::{Acknowledgement, PacketId};
use thalweg_units::{Span, Time};

/// The receiver's clock relative to the sender's.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    pub offset: Span,
    pub drift_ppm: f64,
}

impl Clock {
    /// The same clock as the sender's.
    pub const TRUE: Clock = Clock { offset: Span::ZERO, drift_ppm: 0.0 };
    /// Seventeen minutes ahead and 100 ppm fast.
    pub const ODD: Clock = Clock { offset: Span::from_secs(1024), drift_ppm: 100.0 };
    /// The same, but slow.
    pub const SLOW: Clock = Clock { offset: Span::from_secs(1024), drift_ppm: -100.0 };

    fn read(self, now: Time, tick: Span) -> Time {
        let drifted = now + now.since_start().scale(self.drift_ppm * 1e-6) + self.offset;
        Time::from_nanos(drifted.as_nanos() / tick.as_nanos() as u64 * tick.as_nanos() as u64)
    }
}

/// How arrivals are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Each packet at once, to the nanosecond.
    PerPacket,
    /// Transport-wide feedback as Chromium sends it: every 62 ms in ticks of 250 us, without the hold time.
    Twcc,
    /// RFC 8888 as Chromium sends it: every 31 ms in ticks of 1/1024 s, with the hold time.
    Rfc8888,
    /// As `PerPacket`, but only on packets that ask: the first of a burst (a full queue may drop the last), the last, and
    /// one after which the window blocks.
    Asked,
}

impl Style {
    pub const ALL: [Style; 3] = [Style::PerPacket, Style::Twcc, Style::Rfc8888];

    pub fn interval(self) -> Option<Span> {
        match self {
            Style::PerPacket | Style::Asked => None,
            Style::Twcc => Some(Span::from_millis(62)),
            Style::Rfc8888 => Some(Span::from_millis(31)),
        }
    }

    fn tick(self) -> Span {
        match self {
            Style::PerPacket | Style::Asked => Span::from_nanos(1),
            Style::Twcc => Span::from_micros(250),
            Style::Rfc8888 => Span::from_nanos(976_562),
        }
    }
}

/// A report on the reverse path.
#[derive(Debug, Clone)]
pub struct Message {
    pub acknowledgements: Vec<Acknowledgement>,
    pub hold: Option<Span>,
}

/// Arrivals that were not reported yet.
#[derive(Debug)]
pub struct Receiver {
    style: Style,
    clock: Clock,
    arrived: Vec<(PacketId, Time)>,
}

impl Receiver {
    pub fn new(style: Style, clock: Clock) -> Receiver {
        Receiver { style, clock, arrived: Vec::new() }
    }

    pub fn on_packet(&mut self, now: Time, id: PacketId) {
        self.arrived.push((id, now));
    }

    /// A report on all packets since the last report, missing packets between them included; `None` when nothing
    /// arrived.
    pub fn report(&mut self, now: Time) -> Option<Message> {
        let newest = self.arrived.iter().map(|(_, at)| *at).max()?;
        self.arrived.sort_unstable();
        let (first, last) = (self.arrived[0].0.0, self.arrived[self.arrived.len() - 1].0.0);
        let mut acknowledgements = Vec::with_capacity(self.arrived.len());
        let mut arrived = self.arrived.drain(..).peekable();
        for id in (first..=last).map(PacketId) {
            let mut arrival = None;
            while let Some((_, at)) = arrived.next_if(|(other, _)| *other == id) {
                arrival.get_or_insert(self.clock.read(at, self.style.tick()));
            }
            acknowledgements.push(Acknowledgement::new(id, arrival));
        }
        let hold = (self.style == Style::Rfc8888).then_some(now - newest);
        Some(Message { acknowledgements, hold })
    }
}
