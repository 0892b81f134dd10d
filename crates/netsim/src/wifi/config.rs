//! Parameters of the airtime model.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use thalweg_units::{ConfigError, Rate, Span, above, check};

/// An access point and its stations. The defaults are those of specs/rmcat.md 6, with one station.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct WifiConfig {
    /// The band.
    pub band: Band,
    /// The stations; [`Port::station`](crate::Port::station) counts them from 0.
    pub stations: Vec<StationConfig>,
    /// Max packets in a frame, 1 to 64 (the window of a block acknowledgement); 1 for no aggregation.
    pub aggregate: u16,
    /// A packet that was sent this often without an acknowledgement is dropped, at least 1.
    pub retry_limit: u8,
    /// Max packets in a queue, at least 1; further ones are dropped. Each station has a queue in each direction.
    pub queue_packets: u32,
    /// A packet that waited longer is dropped instead of sent; `None` keeps it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub queue_age: Option<Span>,
    /// Between which queues of the access point turns are taken, and by what measure.
    pub turns: Turns,
    /// A CTS-to-self at this basic rate (1, 2, 5.5 or 11 Mbps) before every frame that an 802.11b station could not
    /// hear; `None` sends none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub cts_to_self: Option<Rate>,
}

/// A station.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct StationConfig {
    /// The rate of data frames from and to it, which never changes. 1, 2, 5.5 and 11 Mbps are an 802.11b client's (DSSS,
    /// long preamble; never aggregated), 6, 9, 12, 18, 24, 36, 48 and 54 Mbps those of non-HT OFDM, any other is an HT
    /// rate with two streams. The default is HT MCS 11.
    pub rate: Rate,
    /// The access category of its packets in both directions.
    pub access: AccessCategory,
    /// The probability that a packet of a frame is received with an error, 0 to below 1.
    pub per: f64,
}

/// The band, which decides the timing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum Band {
    /// 5 GHz.
    #[default]
    FiveGigahertz,
    /// 2.4 GHz; with the long slot if a station is an 802.11b client.
    TwoPointFourGigahertz,
}

/// The modulation that belongs to a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modulation {
    /// 802.11b: DSSS and CCK, long preamble.
    Dsss,
    /// 802.11a/g.
    Ofdm,
    /// 802.11n, two streams, long guard interval.
    Ht,
}

impl Modulation {
    pub fn of(rate: Rate) -> Modulation {
        match rate.as_bps() / 1000 {
            1000 | 2000 | 5500 | 11_000 => Modulation::Dsss,
            6000 | 9000 | 12_000 | 18_000 | 24_000 | 36_000 | 48_000 | 54_000 => Modulation::Ofdm,
            _ => Modulation::Ht,
        }
    }
}

/// How the access point chooses among stations with packets of one access category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum Turns {
    /// Equal airtime.
    #[default]
    Airtime,
    /// Equal numbers of packets.
    Packets,
}

/// Access categories of EDCA, with the default parameters of IEEE 802.11 (specs/rmcat.md 6), and the distributed
/// coordination without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum AccessCategory {
    /// AC_BK.
    Background,
    /// AC_BE.
    #[default]
    BestEffort,
    /// Distributed coordination without EDCA.
    Legacy,
    /// AC_VI.
    Video,
    /// AC_VO.
    Voice,
}

/// The parameters of an access category.
pub(super) struct Access {
    /// Slots after the SIFS that the medium must be idle.
    pub aifsn: u64,
    /// The contention window's bounds, in slots.
    pub window: (u32, u32),
    /// Max duration of a frame with its acknowledgement.
    pub txop: Option<Span>,
}

impl AccessCategory {
    pub(super) const fn access(self) -> Access {
        let (aifsn, window, txop) = match self {
            AccessCategory::Background => (7, (15, 1023), None),
            AccessCategory::BestEffort => (3, (15, 1023), None),
            AccessCategory::Legacy => (2, (15, 1023), None),
            AccessCategory::Video => (2, (7, 15), Some(Span::from_micros(3008))),
            AccessCategory::Voice => (2, (3, 7), Some(Span::from_micros(1504))),
        };
        Access { aifsn, window, txop }
    }
}

impl Default for StationConfig {
    fn default() -> StationConfig {
        StationConfig { rate: Rate::from_kbps(52_000), access: AccessCategory::default(), per: 0.0 }
    }
}

impl Default for WifiConfig {
    fn default() -> WifiConfig {
        WifiConfig {
            band: Band::default(),
            stations: vec![StationConfig::default()],
            aggregate: 8,
            retry_limit: 7,
            queue_packets: 1000,
            queue_age: Some(Span::from_millis(300)),
            turns: Turns::default(),
            cts_to_self: None,
        }
    }
}

impl WifiConfig {
    /// This many stations with the defaults.
    pub fn of(stations: u16) -> WifiConfig {
        WifiConfig { stations: vec![StationConfig::default(); usize::from(stations)], ..WifiConfig::default() }
    }

    /// Returns true if one of the stations is an 802.11b client.
    pub(super) fn has_dsss(&self) -> bool {
        self.stations.iter().any(|station| Modulation::of(station.rate) == Modulation::Dsss)
    }

    /// Checks that the parameters are in range.
    ///
    /// # Errors
    /// When one is not.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check("wifi.stations", self.stations.len()).within(1..=2007, "16")?;
        check("wifi.aggregate", self.aggregate).within(1..=64, "8")?;
        check("wifi.retry_limit", self.retry_limit).within(1.., "7")?;
        check("wifi.queue_packets", self.queue_packets).within(1.., "1000")?;
        check("wifi.queue_age", self.queue_age.unwrap_or(Span::MAX)).within(above(Span::ZERO), "300ms, or absent")?;
        for (number, StationConfig { rate, per, .. }) in self.stations.iter().enumerate() {
            check(&format!("wifi.stations[{number}].per"), *per).within(0.0..1.0, "0.1")?;
            check(&format!("wifi.stations[{number}].rate"), *rate)
                .within(Rate::from_kbps(1000)..=Rate::from_kbps(600_000), "52Mbps")?;
            check(&format!("wifi.stations[{number}].rate"), *rate).is(
                self.band == Band::TwoPointFourGigahertz || Modulation::of(*rate) != Modulation::Dsss,
                "an OFDM rate such as 52Mbps: 802.11b clients need band = \"two-point-four-gigahertz\"",
            )?;
        }
        self.cts_to_self.map_or(Ok(()), |rate| {
            check("wifi.cts_to_self", rate)
                .is(Modulation::of(rate) == Modulation::Dsss, "1, 2, 5.5 or 11 Mbps, or absent")
        })
    }
}
