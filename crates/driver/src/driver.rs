//! A controller that sees another program's packets.

use alloc::boxed::Box;
use alloc::vec::Vec;

use thalweg_control::{
    Acknowledgement, Decision, Demand, DynController, History, LossDetectionConfig, PacketId, SendLimits, SentPacket,
    Signal,
};
use thalweg_sender::Scheme;
use thalweg_types::feedback::{Reader, RtcpFeedback};
use thalweg_units::{Bytes, ConfigError, Ecn, Rate, Span, Time, check};
use thalweg_wire::ParseError;

use crate::config::Config;
use crate::error::DriverError;
use crate::keys::Keys;
use crate::names;
use crate::packets::{Acked, Departure, Joined, Outcome};
use crate::raise::Raises;
use crate::reported::Reported;
use crate::silence::Silence;
use crate::sizes::Sizes;
use crate::stats::Stats;

/// A rate fills a window if it is this many times what the window sustains, as Linux paces a window that does not grow fast
/// (`tcp_pacing_ca_ratio`): at the rate itself the window would never be full, and the controller would take the program
/// for idle.
const FILL: f64 = 1.2;

/// A congestion controller around the packets of a foreign program, which names them by keys of its own and counts their
/// sizes in its own way.
///
/// A program that shows each departure calls [`Driver::on_sent`], and for reports [`Driver::on_rtcp`],
/// [`Driver::on_acks`] or [`Driver::on_lost`]. One whose departures become known only together with their fate calls
/// [`Driver::join`]; what is lost then is what happens between two reports: bytes in flight, so that a window acts one
/// report late, and whether the program sends at all ([`Driver::set_sending`]).
///
/// After any of them the program reads [`Driver::target`] (and [`Driver::limits`], if it can follow more than one
/// number), and calls [`Driver::on_timeout`] at [`Driver::next_timeout`]. Times are of one clock that does not go back; a
/// time that does counts as the last one, and [`Stats::clock_steps`] says so.
///
/// ```
/// use thalweg_driver::{Acked, Config, Departure, Driver};
/// use thalweg_units::{Bytes, Rate, Time};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let config = Config::new(Rate::from_kbps(500), Rate::from_kbps(30), Rate::from_kbps(2500));
/// let mut driver = Driver::named("gcc", config)?;
/// // Packets of 1200 bytes every 20 ms, each 25 ms under way and acknowledged 25 ms later.
/// for number in 0..500 {
///     let now = Time::from_millis(20 * number);
///     if driver.next_timeout() <= now {
///         driver.on_timeout(now);
///     }
///     driver.on_sent(now, Departure::new(7000 + number, Bytes::new(1200)))?;
///     if let Some(before) = number.checked_sub(3) {
///         let arrival = Some(Time::from_millis(20 * before + 25));
///         driver.on_acks(now, &[Acked::new(7000 + before, arrival, false)], None)?;
///     }
/// }
/// assert!(driver.target() > Rate::from_kbps(500), "{}", driver.target());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Driver {
    controller: Box<dyn DynController>,
    history: History,
    /// The scheme's, for receivers that name what is missing; of a program's own acknowledgements none is known to do so.
    loss_detection: LossDetectionConfig,
    reader: Reader,
    keys: Keys,
    sizes: Sizes,
    silence: Silence,
    raises: Option<Raises>,
    /// True if the target is the pacing rate.
    paces: bool,
    reported: Reported,
    /// Bytes that the last report left in flight beyond the known ones, in the joined mode.
    presumed: Bytes,
    config: Config,
    mode: Option<Mode>,
    now: Time,
    /// When the last packet left.
    departed: Time,
    clock_steps: u64,
    unknown: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Seen,
    Joined,
}

impl Driver {
    /// The controller of a scheme ([`playable`](crate::playable)) with its published parameters, within these rates.
    ///
    /// # Errors
    /// For an unknown name, for a scheme that needs more than a controller, and for rates out of order.
    pub fn named(name: &str, config: Config) -> Result<Driver, ConfigError> {
        Driver::of_scheme(&names::scheme(name)?, config)
    }

    /// The controller of a scheme, within these rates.
    ///
    /// # Errors
    /// For a scheme that needs more than a controller, and for parameters out of range.
    pub fn of_scheme(scheme: &Scheme, config: Config) -> Result<Driver, ConfigError> {
        names::check(scheme)?;
        config.check()?;
        let scheme = scheme.within(config.limits())?;
        let mut driver = Driver::new(scheme.controller.build()?, config)?;
        driver.loss_detection = scheme.loss_detection;
        driver.history.set_config(LossDetectionConfig { unreported_are_lost: true, ..scheme.loss_detection });
        driver.silence = Silence::new(&scheme.loss_detection);
        driver.paces = names::paces(&scheme);
        if scheme.controller.works_on_receiver_reports() {
            driver.reader = Reader::of_plain_reports();
        }
        Ok(driver)
    }

    /// Any controller. It begins at its own start rate; the target never leaves the bounds.
    ///
    /// # Errors
    /// For rates out of order.
    pub fn new(mut controller: Box<dyn DynController>, config: Config) -> Result<Driver, ConfigError> {
        config.check()?;
        let limits = config.limits();
        controller.on_demand(Time::ZERO, Demand { min: limits.min, max: limits.wire });
        Ok(Driver {
            controller,
            history: History::default(),
            reader: Reader::new(),
            keys: Keys::default(),
            sizes: Sizes::new(config.overhead),
            loss_detection: LossDetectionConfig::default(),
            silence: Silence::new(&Default::default()),
            raises: config.raises_target.then(Raises::default),
            paces: false,
            reported: Reported::default(),
            presumed: Bytes::ZERO,
            config,
            mode: None,
            now: Time::ZERO,
            departed: Time::ZERO,
            clock_steps: 0,
            unknown: 0,
        })
    }

    /// The target becomes the pacing rate instead of the capacity: for a controller that finds more capacity only by
    /// sending faster than its estimate for a while (BBR), where nothing else can.
    pub fn at_pacing_rate(mut self) -> Driver {
        self.paces = true;
        self
    }

    /// The application can use targets between `min` and `max` from now on.
    ///
    /// # Errors
    /// When they are out of order; then nothing changes.
    pub fn on_demand(&mut self, now: Time, min: Rate, max: Rate) -> Result<(), ConfigError> {
        check("target", format_args!("min {min}, max {max}"))
            .is(Rate::ZERO < min && min <= max && max < Rate::MAX, "0 < min <= max")?;
        self.advance(now);
        (self.config.min, self.config.max) = (min, max);
        let demand = Demand { min: self.sizes.wire(min), max: self.sizes.wire(max) };
        self.controller.on_demand(self.now, demand);
        Ok(())
    }

    /// A packet leaves now. Returns its number in the order of sending.
    ///
    /// # Errors
    /// For a key in use, and after [`Driver::join`]; then nothing counts.
    pub fn on_sent(&mut self, now: Time, departure: Departure) -> Result<PacketId, DriverError> {
        if self.keys.find(departure.key).is_some() {
            return Err(DriverError::DuplicateKey(departure.key));
        }
        self.enter(Mode::Seen)?;
        self.advance(now);
        self.expire();
        let packet = self.depart(self.now, &departure);
        self.controller.on_sent(&packet);
        Ok(packet.id)
    }

    /// A report on packets; `hold` is how long the receiver held it after the newest of them arrived, if known.
    ///
    /// # Errors
    /// After [`Driver::join`]; then nothing counts.
    pub fn on_acks(&mut self, now: Time, acked: &[Acked], hold: Option<Span>) -> Result<(), DriverError> {
        self.enter(Mode::Seen)?;
        self.advance(now);
        let mut acknowledgements = Vec::with_capacity(acked.len());
        for one in acked {
            match self.keys.find(one.key) {
                Some(id) => acknowledgements.push(Acknowledgement::new(id, one.arrival).with_ecn(Ecn::of_mark(one.ce))),
                None => self.unknown += 1,
            }
        }
        self.report(&acknowledgements, hold);
        Ok(())
    }

    /// These packets are lost, by a verdict that is final. Where the foreign program only concludes from a report that a
    /// packet is missing, report that by [`Driver::on_acks`] instead: it may have been overtaken.
    ///
    /// # Errors
    /// After [`Driver::join`]; then nothing counts.
    pub fn on_lost(&mut self, now: Time, keys: &[u64]) -> Result<(), DriverError> {
        self.enter(Mode::Seen)?;
        self.advance(now);
        let lost: Vec<PacketId> = keys.iter().filter_map(|key| self.keys.find(*key)).collect();
        self.unknown += (keys.len() - lost.len()) as u64;
        self.lose(&lost);
        Ok(())
    }

    /// The receiver's RTCP, decrypted: transport-wide feedback, RFC 8888, receiver and extended reports. Returns what else
    /// it says: requests for packets and keyframes.
    ///
    /// # Errors
    /// When it is malformed; then nothing of it counts.
    pub fn on_rtcp(&mut self, now: Time, datagram: &[u8]) -> Result<Vec<RtcpFeedback>, ParseError> {
        self.advance(now);
        let heard = self.reader.read_at(self.now, datagram, &self.keys)?;
        let mut requests = Vec::new();
        for one in heard {
            match one {
                RtcpFeedback::Arrivals { acknowledgements, hold } => {
                    self.history.set_config(self.loss_detection);
                    self.report(&acknowledgements, hold);
                }
                RtcpFeedback::Path(path) => self.controller.on_signal(self.now, Signal::PathReport(path)),
                request => requests.push(request),
            }
        }
        Ok(requests)
    }

    /// A report on packets whose departure was not shown, in order of sending. A packet that was [`Outcome::Missing`] may
    /// come again under its key when it arrives late.
    ///
    /// # Errors
    /// For a key that comes twice, and after [`Driver::on_sent`]; then nothing counts.
    pub fn join(&mut self, now: Time, joined: &[Joined]) -> Result<(), DriverError> {
        let mut keys: Vec<u64> = joined.iter().map(|one| one.departure.key).collect();
        keys.sort_unstable();
        if let Some(twice) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(DriverError::DuplicateKey(twice[0]));
        }
        self.enter(Mode::Joined)?;
        self.advance(now);
        let mut joined = joined.to_vec();
        if let Some(raises) = &mut self.raises {
            raises.mark(self.now, &mut joined);
        }
        self.depart_late(&joined);
        let find = |one: &Joined| self.keys.find(one.departure.key);
        let acknowledgements: Vec<Acknowledgement> = joined
            .iter()
            .filter_map(|one| match one.outcome {
                Outcome::Arrived { at, ce } => {
                    Some(Acknowledgement::new(find(one)?, Some(at)).with_ecn(Ecn::of_mark(ce)))
                }
                Outcome::Missing | Outcome::Lost => None,
            })
            .collect();
        let lost: Vec<PacketId> = joined.iter().filter(|one| one.outcome == Outcome::Lost).filter_map(find).collect();
        self.lose(&lost);
        self.report(&acknowledgements, None);
        if let Some(raises) = &mut self.raises {
            raises.on_report(self.now, &self.controller.limits());
        }
        Ok(())
    }

    /// Says whether the program is sending, where departures are joined with their fate; elsewhere they say so themselves,
    /// and this does nothing. While it is and no report comes for the larger of 2 s and four round trips, the target is
    /// halved, and again after as long.
    pub fn set_sending(&mut self, now: Time, sending: bool) {
        self.advance(now);
        if self.mode != Some(Mode::Seen) {
            self.silence.set_sending(self.now, sending);
        }
    }

    /// Input that only some controllers use, such as a change of route.
    pub fn on_signal(&mut self, now: Time, signal: Signal) {
        self.advance(now);
        self.controller.on_signal(self.now, signal);
    }

    /// To be called at [`Driver::next_timeout`]; at other times it does nothing.
    pub fn on_timeout(&mut self, now: Time) {
        self.advance(now);
        self.expire();
        if self.silence.on_timeout(self.now, self.history.srtt()) {
            self.presumed = Bytes::ZERO;
            self.controller.on_feedback(&self.history.declare_lost(self.now, &[]));
        }
        if let Some(raises) = &mut self.raises {
            raises.on_timeout(self.now);
        }
    }

    /// When to call [`Driver::on_timeout`] next; [`Time::NEVER`] if not at all. After a call at that time it is later.
    pub fn next_timeout(&self) -> Time {
        let raises = self.raises.as_ref().map_or(Time::NEVER, Raises::next_timeout);
        let silence = self.silence.next_timeout(self.history.srtt());
        self.controller.next_timeout().min(self.history.next_timeout()).min(silence).min(raises)
    }

    /// The rate to send at, for a program that knows only one number, as it counts: the estimated capacity
    /// ([`Driver::at_pacing_rate`]: the pacing rate), or what fills the window if that is less, times the share of frames
    /// to keep; without the overhead of packets as large as in the last second. Before the first report it is the start.
    pub fn target(&self) -> Rate {
        if self.history.srtt().is_none() {
            return self.silence.lower(self.config.start).clamp(self.config.min, self.config.max);
        }
        let limits = self.limits();
        let sustained =
            limits.window.zip(self.reported.turn()).map_or(Rate::MAX, |(window, turn)| window.per(turn).scale(FILL));
        let rate = if self.paces { limits.pacing } else { limits.capacity };
        let rate = rate.min(sustained).scale(limits.media.share());
        let raised = self.raises.as_ref().and_then(Raises::rate).map_or(rate, |raised| raised.max(rate));
        self.silence.lower(self.sizes.foreign(raised)).clamp(self.config.min, self.config.max)
    }

    /// The rate to pace at, as the foreign program counts.
    pub fn pacing(&self) -> Rate {
        self.sizes.foreign(self.limits().pacing)
    }

    /// Everything that the controller limits, in bytes on the wire.
    pub fn limits(&self) -> SendLimits {
        self.controller.limits()
    }

    /// A rate on the wire as the foreign program counts it: without the overhead of packets as large as in the last
    /// second.
    pub fn foreign(&self, wire: Rate) -> Rate {
        self.sizes.foreign(wire)
    }

    /// A size on the wire as the foreign program counts it: without the overhead of packets as large as in the last
    /// second.
    pub fn foreign_size(&self, wire: Bytes) -> Bytes {
        wire.scale(self.sizes.ratio())
    }

    /// Bytes that the wire adds to each packet.
    pub fn overhead(&self) -> Bytes {
        self.config.overhead
    }

    /// Diagnostics beside the target: smoothed RTT, bytes in flight, loss.
    pub fn stats(&self) -> Stats {
        Stats {
            blind: self.mode == Some(Mode::Joined) && self.silence.is_unknown(),
            clock_steps: self.clock_steps,
            unknown: self.unknown,
            in_flight: self.history.in_flight() + self.presumed,
            srtt: self.history.srtt(),
            path_rtt: self.history.path_rtt(),
            loss: self.reported.lost(),
        }
    }

    /// The next decision of the controller not yet polled, oldest first.
    pub fn poll_decision(&mut self) -> Option<Decision> {
        self.controller.poll_decision()
    }

    /// Why the controller can decide no more.
    pub fn failure(&self) -> Option<&str> {
        self.controller.failure()
    }

    /// Passes the controller's variables worth charting to `see`.
    pub fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        self.controller.inspect(see);
    }

    fn enter(&mut self, mode: Mode) -> Result<(), DriverError> {
        if self.mode.is_none() && mode == Mode::Seen {
            self.silence.forget();
        }
        if *self.mode.get_or_insert(mode) == mode { Ok(()) } else { Err(DriverError::Mode) }
    }

    /// Time passes; the controller's timeout is not missed even by a program that has no timers.
    fn advance(&mut self, now: Time) {
        self.clock_steps += u64::from(now < self.now);
        self.now = self.now.max(now);
        if self.controller.next_timeout() <= self.now {
            self.controller.on_timeout(self.now);
        }
    }

    /// Declares everything in flight lost if nothing was heard for too long. Not before a report is read: that is heard.
    fn expire(&mut self) {
        if let Some(feedback) = self.history.on_timeout(self.now) {
            self.reported.on_feedback(&feedback);
            self.controller.on_feedback(&feedback);
        }
    }

    /// Packets that left since the last report. The newest stands for those sent after it, of which nothing is known yet.
    fn depart_late(&mut self, joined: &[Joined]) {
        let new: Vec<&Joined> = joined.iter().filter(|one| self.keys.find(one.departure.key).is_none()).collect();
        let size = new.iter().map(|one| one.departure.size + self.config.overhead).sum();
        let last = new.iter().map(|one| one.departed.min(self.now)).fold(self.departed, Time::max);
        self.presumed = self.silence.on_report(self.now, size, last);
        for (index, one) in new.iter().enumerate() {
            let at = one.departed.min(self.now).max(self.departed);
            self.clock_steps += u64::from(at != one.departed);
            let mut packet = self.depart(at, &one.departure);
            if index + 1 == new.len() {
                packet.in_flight += self.presumed;
            }
            self.controller.on_sent(&packet);
        }
    }

    fn depart(&mut self, at: Time, departure: &Departure) -> SentPacket {
        let mut packet = SentPacket::new(self.keys.add(departure), at, self.sizes.on_sent(at, departure.size));
        (packet.payload, packet.probe, packet.place) = (departure.payload, departure.probe, departure.place);
        packet.app_limited = departure.app_limited;
        self.departed = at;
        let packet = self.history.on_sent(packet);
        self.keys.forget(self.history.oldest());
        packet
    }

    fn report(&mut self, acknowledgements: &[Acknowledgement], hold: Option<Span>) {
        let mut feedback = self.history.on_report(self.now, acknowledgements, hold);
        feedback.in_flight += self.presumed;
        self.reported.on_feedback(&feedback);
        self.controller.on_feedback(&feedback);
        self.keys.forget(self.history.oldest());
    }

    fn lose(&mut self, lost: &[PacketId]) {
        if lost.is_empty() {
            return;
        }
        let mut feedback = self.history.declare_lost(self.now, lost);
        feedback.in_flight += self.presumed;
        self.reported.on_feedback(&feedback);
        self.controller.on_feedback(&feedback);
        self.keys.forget(self.history.oldest());
    }
}

impl core::fmt::Debug for Driver {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Driver").field("target", &self.target()).field("stats", &self.stats()).finish_non_exhaustive()
    }
}
