//! Bounds that the caller fixes for the whole call, whatever the scheme: rates and packet sizes.

use thalweg_sender::Scheme;
use thalweg_types::PacketSizes;
use thalweg_units::{Bytes, ConfigError, check};

use crate::error::Error;
use crate::schemes::{self, Rates};

/// See the module; what is zero is the scheme's own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    rates: Rates,
    max_payload: u32,
    overhead: u32,
}

impl Bounds {
    pub(super) fn new(rates: Rates, max_payload: u32, overhead: u32) -> Result<Bounds, ConfigError> {
        if max_payload != 0 {
            check("max_payload", max_payload).within(50..=65_000, "1140")?;
        }
        if overhead != 0 {
            check("overhead", overhead).within(1..=500, "74")?;
        }
        Ok(Bounds { rates, max_payload, overhead })
    }

    /// The scheme of this name within them.
    pub(super) fn scheme(&self, name: &str, toml: Option<&str>) -> Result<Scheme, Error> {
        let scheme = schemes::find(name, toml)?;
        if let Some(refused) = schemes::refused(&scheme) {
            return Err(refused);
        }
        let mut scheme = self.rates.bound(scheme)?;
        let given = |own: Bytes, bytes: u32| if bytes == 0 { own } else { Bytes::new(bytes.into()) };
        let PacketSizes { max_payload, overhead, .. } = scheme.packets;
        scheme.packets.max_payload = given(max_payload, self.max_payload);
        scheme.packets.overhead = given(overhead, self.overhead);
        Ok(scheme)
    }
}
