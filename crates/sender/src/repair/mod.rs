//! Repair of losses: retransmissions on request, FEC in advance, and how much of the wire both may take.
//!
//! Repair packets count on the wire like any other, so they take from what the controller allows. The share they take
//! is measured together with the headers, and the encoder's target leaves room for both
//! ([`crate::frames::View::payload_share`]).

mod budget;
pub mod fec;
mod retransmission;
pub mod shares;

use thalweg_control::Feedback;
use thalweg_types::{Content, Fragment, PacketSizes};
use thalweg_units::{Bytes, ConfigError, Rate, Span, Time, check};

use crate::event::Why;
use budget::Budget;
pub use budget::Config as BudgetConfig;
use fec::{Amount, Fec, RoundTrips};
use retransmission::Retransmissions;
pub use retransmission::RoundTripFrom;

/// How losses are repaired.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// For this long, or three round trips, every packet can be retransmitted, and for three times that while fewer
    /// than `packets` are remembered (libwebrtc `RtpPacketHistory`, `kMinPacketDuration` and
    /// `kPacketCullingDelayFactor`).
    pub history: Span,
    /// See `history`: 1 to 9600 (libwebrtc: 600).
    pub packets: usize,
    /// Repeated requests within a round trip are refused: from which event the round trip counts.
    pub round_trip_from: RoundTripFrom,
    /// Where packets leave in bursts, a retransmission joins a burst without waiting for the pacer as long as the burst
    /// stays within this share of its max length, 0..1. Ours: in specs/camel.md 6 retransmissions always join. Behind
    /// 2 KB of queue the picture then freezes for 19 % of the time instead of 7 %; if all waited for the pacer, for 60
    /// % instead of 46 % where half of the packets are lost.
    pub riding_share: f64,
    /// FEC; `None` for retransmissions only.
    #[cfg_attr(feature = "serde", serde(default))]
    pub fec: Option<fec::Config>,
    /// How much of the wire retransmissions and FEC may take; `None` retransmits every packet asked for.
    #[cfg_attr(feature = "serde", serde(default))]
    pub budget: Option<BudgetConfig>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            history: Span::from_secs(1),
            packets: 600,
            round_trip_from: RoundTripFrom::Departure,
            riding_share: 0.5,
            fec: None,
            budget: None,
        }
    }
}

impl Config {
    /// Repair for a stream with these packet sizes.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn build(self, sizes: PacketSizes) -> Result<Repair, ConfigError> {
        check("repair.packets", self.packets).within(1..=retransmission::MAX, "600")?;
        check("repair.riding_share", self.riding_share).within(0.0..=1.0, "0.5")?;
        check("repair.fec.amount", "granted, where no budget grants any").is(
            self.budget.is_some() || !self.fec.is_some_and(|fec| fec.amount == Amount::Granted),
            "a share, such as 0.1, or repair.budget must be set",
        )?;
        Ok(Repair {
            sizes,
            retransmissions: Retransmissions::new(self.history, self.packets, self.round_trip_from),
            fec: self.fec.map(fec::Config::build).transpose()?,
            budget: self.budget.map(BudgetConfig::build).transpose()?,
            round_trip_from: self.round_trip_from,
            riding_share: self.riding_share,
            round_trip: None,
        })
    }
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Repair {
    sizes: PacketSizes,
    retransmissions: Retransmissions,
    fec: Option<Fec>,
    budget: Option<Budget>,
    round_trip_from: RoundTripFrom,
    riding_share: f64,
    /// The path's round trip, without the delay of batched reports: RTCP's, by which libwebrtc judges requests.
    round_trip: Option<Span>,
}

impl Repair {
    /// Takes feedback on sent packets.
    pub fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.round_trip = feedback.path_rtt.or(self.round_trip);
        if let Some(budget) = &mut self.budget {
            budget.on_feedback(feedback);
        }
        if let Some(fec) = &mut self.fec {
            fec.on_feedback(feedback);
        }
    }

    /// Sets the estimated capacity of the path.
    pub fn set_wire(&mut self, now: Time, wire: Rate) {
        if let Some(budget) = &mut self.budget {
            budget.set_wire(now, wire);
        }
    }

    /// The controller asks for one FEC packet after every N media packets; ignored unless the amount of FEC is up to
    /// it.
    pub fn set_fec_interval(&mut self, interval: Option<u16>) {
        if let Some(fec) = self.fec.as_mut().filter(|fec| fec.is_asked_for()) {
            fec.set_interval(interval);
        }
    }

    /// Sets when losses last ended that what was sent had caused: FEC that follows the measured loss measures it anew.
    pub fn set_losses_ended(&mut self, ended: Option<Time>) {
        if let Some(fec) = &mut self.fec {
            fec.set_losses_ended(ended);
        }
    }

    /// Returns true if its FEC is the controller's probe.
    pub fn probes(&self) -> bool {
        self.fec.as_ref().is_some_and(Fec::is_asked_for)
    }

    /// See [`Config::riding_share`].
    pub fn riding_share(&self) -> f64 {
        self.riding_share
    }

    fn fec_share(&self) -> f64 {
        self.fec.as_ref().map_or(0.0, |fec| fec.share(self.granted()))
    }

    /// The share that the budget grants to FEC.
    fn granted(&self) -> f64 {
        self.budget.as_ref().map_or(0.0, |budget| budget.shares().redundancy)
    }

    /// The receiver reported media packet `sequence` missing; `srtt` is used until a report gives the path's round
    /// trip.
    ///
    /// # Errors
    /// The reason why it will not be retransmitted.
    pub fn request(&mut self, now: Time, sequence: u64, srtt: Span) -> Result<(), Why> {
        let budget = &self.budget;
        let has_room = |waiting| budget.as_ref().is_none_or(|budget| budget.has_room(now, waiting));
        let round_trip = match self.round_trip_from {
            RoundTripFrom::Departure => self.round_trip.unwrap_or(srtt),
            RoundTripFrom::Request => srtt,
        };
        self.retransmissions.request(now, sequence, round_trip, has_room)
    }

    /// The number of the oldest media packet that may still be retransmitted.
    pub fn retransmits_from(&self) -> u64 {
        self.retransmissions.first()
    }

    /// The repair packet that may leave now, and its wire size. Retransmissions go first, because the receiver waits
    /// for them.
    pub fn head(&self, now: Time) -> Option<(Content, Bytes)> {
        let retransmission = self.retransmissions.head().filter(|_| self.next_retransmission() <= now);
        retransmission.map(|(of, fragment)| self.retransmission(of, fragment)).or_else(|| self.next_fec())
    }

    fn retransmission(&self, of: u64, fragment: Fragment) -> (Content, Bytes) {
        let size = Bytes::new(u64::from(fragment.length)) + self.sizes.overhead + self.sizes.retransmission;
        (Content::Retransmission { of, fragment }, size)
    }

    fn next_fec(&self) -> Option<(Content, Bytes)> {
        let due = self.fec.as_ref()?.head()?;
        Some((due.content(), due.size))
    }

    fn next_retransmission(&self) -> Time {
        self.budget.as_ref().map_or(Time::ZERO, Budget::next_retransmission)
    }

    /// Returns true if an FEC packet is due: it leaves right after the media it protects.
    pub fn has_fec(&self) -> bool {
        self.fec.as_ref().is_some_and(|fec| fec.head().is_some())
    }

    /// When [`Repair::head`] returns a packet, if nothing else happens.
    pub fn next_time(&self) -> Time {
        if self.has_fec() {
            Time::ZERO
        } else if self.retransmissions.head().is_some() {
            self.next_retransmission()
        } else {
            Time::NEVER
        }
    }

    /// Removes the packet that [`Repair::head`] returns: it leaves now.
    pub fn pop(&mut self, now: Time) -> Option<(Content, Bytes)> {
        let granted = self.granted();
        let (content, size) = self.head(now)?;
        match content {
            Content::Fec { .. } => {
                self.fec.as_mut()?.pop();
            }
            _ => {
                self.retransmissions.pop(now);
                if let Some(fec) = &mut self.fec {
                    fec.on_other(size, granted);
                }
                if let Some(budget) = &mut self.budget {
                    budget.on_retransmission(now, size);
                }
            }
        }
        Some((content, size))
    }

    /// Media packet `sequence` is retransmitted as padding.
    pub fn on_retransmitted_elsewhere(&mut self, now: Time, sequence: u64) {
        self.retransmissions.on_retransmitted_elsewhere(now, sequence);
    }

    /// An FEC packet left, of this module or of padding.
    pub fn on_fec(&mut self) {
        if let Some(fec) = &mut self.fec {
            fec.on_fec();
        }
    }

    /// Media packet `sequence` of wire size `size` left; sequences come without gaps.
    pub fn on_media(&mut self, now: Time, (sequence, fragment): (u64, Fragment), size: Bytes, srtt: Span) {
        let granted = self.granted();
        self.retransmissions.on_sent(now, sequence, fragment, srtt);
        if let Some(fec) = &mut self.fec {
            let round_trips = RoundTrips { smoothed: srtt, path: self.round_trip.unwrap_or(srtt) };
            fec.on_media(now, (sequence, fragment), size, granted, round_trips);
        }
    }

    /// The frames in flight were abandoned.
    pub fn flush(&mut self) {
        self.retransmissions.flush();
        if let Some(fec) = &mut self.fec {
            fec.flush();
        }
    }

    /// Variables by name, for charts.
    pub fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        if let Some(budget) = &self.budget {
            see("fec_share", self.fec_share());
            see("rtx_share", budget.shares().retransmissions);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fragment;

    fn config(share: f64) -> Config {
        let fec = fec::Config { amount: Amount::Share(share), ..fec::Config::default() };
        Config { fec: Some(fec), ..Config::default() }
    }

    #[test]
    fn a_retransmission_goes_before_fec() {
        let srtt = Span::from_millis(50);
        let mut repair = config(0.25).build(PacketSizes::default()).unwrap();
        for index in 0..4 {
            assert_eq!(repair.next_time(), Time::NEVER);
            repair.on_media(Time::ZERO, (index.into(), fragment(0, (index, 4))), Bytes::new(1074), srtt);
        }
        assert_eq!(repair.request(Time::ZERO, 2, srtt), Ok(()));
        assert_eq!(repair.next_time(), Time::ZERO);
        let retransmission = (Content::Retransmission { of: 2, fragment: fragment(0, (2, 4)) }, Bytes::new(1076));
        assert_eq!((repair.head(Time::ZERO), repair.pop(Time::ZERO)), (Some(retransmission), Some(retransmission)));
        let (content, size) = repair.pop(Time::ZERO).unwrap();
        assert!(matches!(content, Content::Fec { protects, .. } if protects.iter().eq(0..4)));
        assert_eq!(size, Bytes::new(1074 + 20 + 8));
        assert_eq!(repair.pop(Time::ZERO), None);
        assert!((repair.fec_share() - 0.25).abs() < 1e-9);
    }

    #[test]
    fn a_retransmission_that_may_not_leave_does_not_keep_fec_back() {
        let srtt = Span::from_millis(50);
        let max_delay = Span::from_nanos(i64::MAX);
        let budget = BudgetConfig { burst: Span::ZERO, max_delay, min: 0.0, ..BudgetConfig::default() };
        let config = Config { budget: Some(budget), ..config(0.25) };
        let mut repair = config.build(PacketSizes::default()).unwrap();
        repair.set_wire(Time::ZERO, Rate::from_kbps(1000));
        for index in 0..4 {
            repair.on_media(Time::ZERO, (index.into(), fragment(0, (index, 4))), Bytes::new(1074), srtt);
        }
        assert_eq!([0, 1].map(|sequence| repair.request(Time::ZERO, sequence, srtt)), [Ok(()), Ok(())]);
        let kinds: [bool; 2] =
            core::array::from_fn(|_| matches!(repair.pop(Time::ZERO), Some((Content::Retransmission { .. }, _))));
        assert_eq!(kinds, [true, false]);
        // Nothing was lost, so nothing is granted, and the one packet already exceeded that.
        assert!(repair.head(Time::ZERO).is_none() && repair.next_time() > Time::from_millis(1_000_000_000));
    }

    #[test]
    fn fec_that_nobody_grants_is_refused() {
        let fec = Some(fec::Config::default());
        assert!(Config { fec, ..Config::default() }.build(PacketSizes::default()).is_err());
        let budget = Some(BudgetConfig::default());
        assert!(Config { fec, budget, ..Config::default() }.build(PacketSizes::default()).is_ok());
        assert!(Config { packets: 0, ..Config::default() }.build(PacketSizes::default()).is_err());
    }
}
