//! Handle of an application on the controller of a running connection.

use std::sync::{Arc, Mutex, PoisonError};

use thalweg_units::{Bytes, Rate, Span};

/// A controller's state after its last call. Rates and sizes are of UDP payload.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Snapshot {
    /// Rate that the application may send, bit/s: frames, their headers and QUIC's own 30 bytes or so a packet.
    pub target: Rate,
    /// The rate at which packets are to leave.
    pub pacing: Rate,
    /// The estimated capacity of the path.
    pub capacity: Rate,
    /// Bytes that may be in flight.
    pub window: Bytes,
    /// The share of frames to send, 0..=1; drop the others before encoding.
    pub keep_frames: f64,
    /// The rate of padding that the controller wants while there is no media, beside it or up to it
    /// ([`PaddingLimit`](thalweg_control::PaddingLimit)): QUIC sends none by itself, an application may as datagrams.
    pub padding: Rate,
    /// Smoothed time from sending a packet to its acknowledgement; `None` before the first.
    pub srtt: Option<Span>,
    /// Bytes in flight, on the wire.
    pub in_flight: Bytes,
    /// The share of packets lost in the last second, 0..=1; `None` before the first.
    pub loss: Option<f64>,
}

impl Snapshot {
    pub(crate) fn of_rate(rate: Rate) -> Snapshot {
        Snapshot {
            target: rate,
            pacing: rate,
            capacity: rate,
            window: Bytes::ZERO,
            keep_frames: 1.0,
            padding: Rate::ZERO,
            srtt: None,
            in_flight: Bytes::ZERO,
            loss: None,
        }
    }
}

/// The application's end of a controller, to be kept and asked from any thread. It belongs to a factory and follows the
/// controller of it that was called last: give each connection a factory of its own.
#[derive(Debug, Clone)]
pub struct Handle(Arc<Mutex<Shared>>);

#[derive(Debug)]
struct Shared {
    snapshot: Snapshot,
    /// The application's last demand, and the number of demands so far.
    demand: Option<(Rate, Rate)>,
    demands: u64,
}

impl Handle {
    /// Before the first acknowledgement.
    #[must_use]
    pub fn new(start: Rate) -> Handle {
        let snapshot = Snapshot::of_rate(start);
        Handle(Arc::new(Mutex::new(Shared { snapshot, demand: None, demands: 0 })))
    }

    /// The state after the controller's last call.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.with(|shared| shared.snapshot)
    }

    /// The application can use rates between these two from now on; the controller learns it at its next call. Rates out of
    /// order change nothing.
    pub fn set_demand(&self, min: Rate, max: Rate) {
        self.with(|shared| (shared.demand, shared.demands) = (Some((min, max)), shared.demands + 1));
    }

    /// Shows a state, and returns what the application demanded since it had demanded `seen` times.
    pub(crate) fn exchange(&self, snapshot: Snapshot, seen: &mut u64) -> Option<(Rate, Rate)> {
        self.with(|shared| {
            shared.snapshot = snapshot;
            let new = core::mem::replace(seen, shared.demands) != shared.demands;
            shared.demand.filter(|_| new)
        })
    }

    fn with<T>(&self, f: impl FnOnce(&mut Shared) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
