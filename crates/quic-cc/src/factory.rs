//! The factory that a connection's transport configuration takes.

use thalweg_units::ConfigError;

use crate::handle::Handle;
use crate::settings::Settings;

/// Makes a controller for each path of a connection of quinn or noq. Give each connection a factory of its own: its handle
/// follows the path that was used last.
#[derive(Debug, Clone)]
pub struct Factory {
    settings: Settings,
    handle: Handle,
}

impl Factory {
    /// Controllers with these settings.
    #[must_use]
    pub fn new(settings: Settings) -> Factory {
        let handle = Handle::new(settings.start());
        Factory { settings, handle }
    }

    /// Controllers of a scheme of [`FIRST_CLASS`](crate::FIRST_CLASS), starting at 1 Mbps, between 100 kbps and 100 Mbps.
    ///
    /// # Errors
    /// For any other name.
    pub fn named(name: &str) -> Result<Factory, ConfigError> {
        Settings::named(name).map(Factory::new)
    }

    /// Controllers of a scheme of [`EXPERIMENTAL`](crate::EXPERIMENTAL).
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

    /// A new path, whose packets have at most `mtu` bytes of UDP payload.
    #[cfg(any(feature = "quinn", feature = "noq"))]
    pub(crate) fn flow(&self, now: std::time::Instant, mtu: u16) -> crate::Flow {
        crate::Flow::new(&self.settings, self.handle.clone(), now, mtu)
    }
}
