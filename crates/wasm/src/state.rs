//! State of a controller, as 64-bit numbers for the host.

use core::sync::atomic::Ordering::Relaxed;

use thalweg_driver::Driver;
use thalweg_units::{Bytes, Span};

use crate::memory::{STATE, STATE_OUT};

/// There is none: of windows, times and probes.
pub const NONE: u64 = u64::MAX;

/// Places in the state. Sizes and rates are the host's, without overhead, unless they are said to be of the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The rate to send at for a host that follows one number, bit/s.
    Target,
    /// The rate to pace at, bit/s.
    Pacing,
    /// The estimated capacity, bit/s.
    Capacity,
    /// Max bytes in flight on the wire; [`NONE`] where only pacing limits.
    Window,
    /// Bytes in flight on the wire.
    InFlight,
    /// When to call [`crate::thalweg_timeout`], ns; [`NONE`] if not at all.
    NextTimeout,
    /// Smoothed round trip, ns, or [`NONE`].
    Srtt,
    /// The last round trip without the wait for its report, ns, or [`NONE`].
    PathRtt,
    /// The share of packets lost in the last second, 0 to 1 as the bits of an f64; NaN before the first report.
    Loss,
    /// The share of frames to keep, 0 to 1 as the bits of an f64.
    KeepFrames,
    /// Bytes on the wire that may leave back to back, or [`NONE`].
    Burst,
    /// The number of the probe to begin, or [`NONE`]; then its min rate on the wire, bytes on the wire, packets and spacing in ns.
    ProbeCluster,
    /// See [`Field::ProbeCluster`].
    ProbeRate,
    /// See [`Field::ProbeCluster`].
    ProbeBytes,
    /// See [`Field::ProbeCluster`].
    ProbePackets,
    /// See [`Field::ProbeCluster`].
    ProbeSpacing,
    /// How many packets were reported that are not known.
    Unknown,
    /// How many times lay before an earlier one.
    ClockSteps,
    /// The length of a panic's text; 0 as long as there was none.
    Panic,
}

/// The state of a driver, as it stands in memory.
pub fn of(driver: &Driver) -> [u64; STATE] {
    let (limits, stats) = (driver.limits(), driver.stats());
    let size = |size: Option<Bytes>| size.map_or(NONE, Bytes::get);
    let span = |span: Option<Span>| span.map_or(NONE, |span| u64::try_from(span.as_nanos()).unwrap_or(0));
    let probe = limits.probe;
    let mut state = [0; STATE];
    for (field, value) in [
        (Field::Target, driver.target().as_bps()),
        (Field::Pacing, driver.foreign(limits.pacing).as_bps()),
        (Field::Capacity, driver.foreign(limits.capacity).as_bps()),
        (Field::Window, size(limits.window)),
        (Field::InFlight, stats.in_flight.get()),
        (Field::NextTimeout, driver.next_timeout().as_nanos()),
        (Field::Srtt, span(stats.srtt)),
        (Field::PathRtt, span(stats.path_rtt)),
        (Field::Loss, stats.loss.unwrap_or(f64::NAN).to_bits()),
        (Field::KeepFrames, limits.media.share().to_bits()),
        (Field::Burst, size(limits.burst)),
        (Field::ProbeCluster, probe.map_or(NONE, |probe| probe.cluster.into())),
        (Field::ProbeRate, probe.map_or(0, |probe| probe.rate.as_bps())),
        (Field::ProbeBytes, probe.map_or(0, |probe| probe.bytes.get())),
        (Field::ProbePackets, probe.map_or(0, |probe| probe.packets.into())),
        (Field::ProbeSpacing, span(probe.map(|probe| probe.spacing))),
        (Field::Unknown, stats.unknown),
        (Field::ClockSteps, stats.clock_steps),
    ] {
        state[field as usize] = value;
    }
    state
}

pub(crate) fn show(driver: &Driver) {
    for (place, value) in STATE_OUT.iter().zip(of(driver)) {
        place.store(value, Relaxed);
    }
}

/// The length of a panic's text, which stands at [`crate::thalweg_text`].
pub(crate) fn panicked(length: u32) {
    STATE_OUT[Field::Panic as usize].store(length.into(), Relaxed);
}
