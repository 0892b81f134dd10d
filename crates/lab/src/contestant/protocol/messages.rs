//! Messages on the lines.
//!
//! Times are whole nanoseconds of virtual time, rates bit/s, sizes bytes on the wire from the IP header upwards.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thalweg_control::{Fate, PacketId, Payload, Probe, Report, SentPacket};
use thalweg_units::{Bytes, Ecn, Rate, Span, Time};

use crate::contestant::{Estimator, Limits};

/// A line to the process. A process ignores keys that it does not know: others may be added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Request {
    /// The first line.
    Hello {
        /// [`PROTOCOL`](super::PROTOCOL).
        protocol: String,
        /// [`VERSION`](super::VERSION).
        version: u32,
        /// [`Limits::start`].
        start_bps: u64,
        /// [`Limits::min`].
        min_bps: u64,
        /// [`Limits::max`].
        max_bps: u64,
    },
    /// A packet left: only for a process that asked for it ([`Welcome::sent`]).
    Sent {
        /// When.
        now_ns: u64,
        /// The packet.
        packet: Packet,
    },
    /// A report of the receiver arrived.
    Reports {
        /// When.
        now_ns: u64,
        /// Every packet whose outcome became known, in order of sending.
        packets: Vec<PacketReport>,
    },
    /// The time of the last reply's `timeout_ns` has come.
    Timeout {
        /// The time.
        now_ns: u64,
    },
}

/// A packet as it was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packet {
    /// Its number in the order of sending, from 0.
    pub id: u64,
    /// When it was sent.
    pub sent_ns: u64,
    /// Its size.
    pub size_bytes: u64,
    /// Purpose: media, padding, repair or audio.
    pub payload: String,
    /// The probe cluster that it belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<u32>,
}

/// A packet and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketReport {
    /// The packet.
    #[serde(flatten)]
    pub packet: Packet,
    /// When it arrived, by the receiver's clock; absent if it is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrived_ns: Option<u64>,
    /// True if it was marked on the path (ECN CE).
    #[serde(default, skip_serializing_if = "is_false")]
    pub ce: bool,
    /// True if it was reported lost before.
    #[serde(default, skip_serializing_if = "is_false")]
    pub was_lost: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl From<&SentPacket> for Packet {
    fn from(packet: &SentPacket) -> Packet {
        Packet {
            id: packet.id.0,
            sent_ns: packet.at.as_nanos(),
            size_bytes: packet.size.get(),
            payload: packet.payload.name().into(),
            probe: packet.probe,
        }
    }
}

impl From<&Packet> for SentPacket {
    /// A payload of another name is media.
    fn from(packet: &Packet) -> SentPacket {
        let at = Time::from_nanos(packet.sent_ns);
        let mut sent = SentPacket::new(PacketId(packet.id), at, Bytes::new(packet.size_bytes));
        sent.payload =
            Payload::ALL.into_iter().find(|payload| payload.name() == packet.payload).unwrap_or(Payload::Media);
        sent.probe = packet.probe;
        sent
    }
}

impl From<&Report> for PacketReport {
    fn from(report: &Report) -> PacketReport {
        let (ce, was_lost) = match report.fate {
            fate @ Fate::Arrived { was_lost, .. } => (fate.is_marked(), was_lost),
            Fate::Lost => (false, false),
        };
        let arrived_ns = report.arrival().map(Time::as_nanos);
        PacketReport { packet: Packet::from(&report.packet), arrived_ns, ce, was_lost }
    }
}

impl From<&PacketReport> for Report {
    fn from(report: &PacketReport) -> Report {
        let ecn = Ecn::of_mark(report.ce);
        let arrived = |at| Fate::Arrived { at: Time::from_nanos(at), ecn, was_lost: report.was_lost };
        Report::new(SentPacket::from(&report.packet), report.arrived_ns.map_or(Fate::Lost, arrived))
    }
}

/// The reply to every request: the limits from now on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// [`Estimator::target`].
    pub target_bps: f64,
    /// [`Estimator::pacing`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacing_bps: Option<f64>,
    /// [`Estimator::padding`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub padding_bps: Option<f64>,
    /// [`Estimator::window`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_bytes: Option<u64>,
    /// [`Estimator::probe`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Cluster>,
    /// [`Estimator::next_timeout`]; absent for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ns: Option<u64>,
}

/// A probe cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// [`Probe::cluster`].
    pub cluster: u32,
    /// [`Probe::rate`].
    pub rate_bps: f64,
    /// [`Probe::packets`]: libwebrtc's 5 when absent.
    #[serde(default = "min_packets")]
    pub packets: u32,
    /// [`Probe::bytes`].
    #[serde(default)]
    pub bytes: u64,
}

/// libwebrtc's min number of packets of a probe (`kMinProbePacketsSent`).
const fn min_packets() -> u32 {
    5
}

/// The reply to the first request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Welcome {
    /// [`PROTOCOL`](super::PROTOCOL).
    pub protocol: String,
    /// [`VERSION`](super::VERSION).
    pub version: u32,
    /// Name of the estimating program, and its version.
    pub name: String,
    /// The scheme whose encoder, pacing and feedback surround the estimate; `gcc` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<String>,
    /// Requests each sent packet as a message of its own; otherwise a packet is first heard of in a report.
    #[serde(default)]
    pub sent: bool,
    /// The first limits.
    pub limits: Reply,
}

/// Max rate of padding and of a probe, which make packets of their own: beyond it a run would be nothing else.
const MAX_FILLER: f64 = 1e9;
/// Max bytes of a probe.
const MAX_PROBE_BYTES: f64 = 1e8;
/// Max packets of a probe; libwebrtc's have 5.
const MAX_PROBE_PACKETS: f64 = 1000.0;
/// The fastest rate and the largest window that are believed: a terabit a second. What is above it, or not positive, is
/// a mistake of units.
const MAX: f64 = 1e12;
/// libwebrtc's probes leave in bursts 2 ms apart (`kMinProbeDelta`).
const PROBE_SPACING: Span = Span::from_millis(2);

impl Reply {
    /// The limits of this estimator.
    pub fn of(estimator: &dyn Estimator) -> Reply {
        let next = estimator.next_timeout();
        let probe = estimator.probe();
        Reply {
            target_bps: estimator.target().as_bps_f64(),
            pacing_bps: Some(estimator.pacing().as_bps_f64()),
            padding_bps: Some(estimator.padding().as_bps_f64()).filter(|rate| *rate > 0.0),
            window_bytes: estimator.window().map(Bytes::get),
            probe: probe.map(|Probe { cluster, rate, packets, bytes, .. }| Cluster {
                cluster,
                rate_bps: rate.as_bps_f64(),
                packets,
                bytes: bytes.get(),
            }),
            timeout_ns: next.is_set().then(|| next.as_nanos()),
        }
    }

    /// Reads a line.
    ///
    /// # Errors
    /// When it is no reply, or a value is out of range.
    pub fn read(line: &str) -> Result<Reply, String> {
        let reply: Reply = read(line)?;
        reply.check()?;
        Ok(reply)
    }

    fn check(&self) -> Result<(), String> {
        let within = |name: &str, value: f64, min: f64, max: f64| match (min..=max).contains(&value) {
            true => Ok(()),
            false => Err(format!("{name} is {value}, must be {min} to {max:e}")),
        };
        let rate = |name: &str, value: f64, min: f64| within(name, value, min, MAX);
        rate("target_bps", self.target_bps, 1.0)?;
        rate("pacing_bps", self.pacing_bps.unwrap_or(1.0), 1.0)?;
        within("padding_bps", self.padding_bps.unwrap_or(0.0), 0.0, MAX_FILLER)?;
        rate("window_bytes", self.window_bytes.unwrap_or(0) as f64, 0.0)?;
        let Some(probe) = &self.probe else { return Ok(()) };
        within("probe.rate_bps", probe.rate_bps, 1.0, MAX_FILLER)?;
        within("probe.bytes", probe.bytes as f64, 0.0, MAX_PROBE_BYTES)?;
        within("probe.packets", f64::from(probe.packets), 1.0, MAX_PROBE_PACKETS)
    }

    pub(super) fn probe(&self) -> Option<Probe> {
        self.probe.as_ref().map(|probe| {
            let rate = Rate::from_bps_f64(probe.rate_bps);
            Probe::new(probe.cluster, rate, probe.packets, Bytes::new(probe.bytes), PROBE_SPACING)
        })
    }
}

impl Welcome {
    /// Reads a line.
    ///
    /// # Errors
    /// When it is no reply to the first request, or one of another protocol or version.
    pub fn read(line: &str) -> Result<Welcome, String> {
        let welcome: Welcome = read(line)?;
        let Welcome { protocol, version, .. } = &welcome;
        if (protocol.as_str(), *version) != (super::PROTOCOL, super::VERSION) {
            let (ours, supported) = (super::PROTOCOL, super::VERSION);
            return Err(format!("it speaks {protocol} version {version}, must be {ours} version {supported}"));
        }
        welcome.limits.check()?;
        Ok(welcome)
    }
}

/// A line of the process: an object of the wanted kind, or `{"error": "..."}`.
fn read<T: serde::de::DeserializeOwned>(line: &str) -> Result<T, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    match value.get("error") {
        Some(Value::String(error)) => Err(error.clone()),
        _ => serde_json::from_value(value).map_err(|error| error.to_string()),
    }
}

impl Request {
    /// The first line.
    pub fn hello(limits: Limits) -> Request {
        Request::Hello {
            protocol: super::PROTOCOL.into(),
            version: super::VERSION,
            start_bps: limits.start.as_bps(),
            min_bps: limits.min.as_bps(),
            max_bps: limits.max.as_bps(),
        }
    }

    /// The line, without its end.
    pub fn line(&self) -> String {
        match serde_json::to_string(self) {
            Ok(line) => line,
            Err(error) => unreachable!("numbers and strings have a form in JSON: {error}"),
        }
    }
}
