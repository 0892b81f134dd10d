//! Thalweg's congestion controllers for quinn 0.11.
//!
//! * [`Factory`]: for `TransportConfig::congestion_controller_factory`;
//! * [`Handle`]: what an application reads and says while the connection runs.
//!
//! quinn says of an acknowledged packet only when it left and how large it was; that is enough to find it among what left.
//! It paces by window and round trip, not by a rate: the window is the rate.
#![forbid(unsafe_code)]

mod controller;
mod transmits;

use std::sync::Arc;
use std::time::Instant;

use quinn_proto::congestion;

pub use controller::Controller;
pub use thalweg_quic::{EXPERIMENTAL, FIRST_CLASS, Handle, Settings, Snapshot};
pub use thalweg_units::{Bytes, ConfigError, Rate, Span};

/// Makes a controller for each path of a connection. Give each connection a factory of its own: its handle follows the
/// path that was used last.
#[derive(Debug, Clone)]
pub struct Factory {
    settings: Settings,
    handle: Handle,
}

impl Factory {
    /// Controllers of this kind.
    #[must_use]
    pub fn new(settings: Settings) -> Factory {
        let handle = Handle::new(settings.start());
        Factory { settings, handle }
    }

    /// Controllers of a scheme of [`FIRST_CLASS`], starting at 1 Mbps, between 100 kbps and 100 Mbps.
    ///
    /// # Errors
    /// For any other name.
    pub fn named(name: &str) -> Result<Factory, ConfigError> {
        Settings::named(name).map(Factory::new)
    }

    /// Controllers of a scheme of [`EXPERIMENTAL`].
    ///
    /// # Errors
    /// For any other name.
    pub fn experimental(name: &str) -> Result<Factory, ConfigError> {
        Settings::experimental(name).map(Factory::new)
    }

    /// The application's end.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }
}

impl congestion::ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        Box::new(Controller::new(&self.settings, self.handle.clone(), now, current_mtu))
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
