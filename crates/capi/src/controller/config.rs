//! Which controller.

use std::ffi::c_char;

use thalweg_driver::{Config, Driver};
use thalweg_units::Bytes;

use crate::clock::Clock;
use crate::error::Error;
use crate::schemes::{self, Rates};
use crate::sized::Structure;
use crate::text::text;

/// `thalweg_controller_config.mode`: each departure is shown as it happens (thalweg_controller_on_sent).
pub const THALWEG_SEEN: i32 = 0;
/// `thalweg_controller_config.mode`: departures become known together with their fate (thalweg_controller_join).
pub const THALWEG_JOINED: i32 = 1;

/// Which controller, and between which rates.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct ControllerConfig {
    /// sizeof(thalweg_controller_config).
    pub size: u32,
    /// THALWEG_SEEN or THALWEG_JOINED.
    pub mode: i32,
    /// A name of thalweg_schemes, such as "gcc".
    pub scheme: *const c_char,
    /// Parameters that replace the scheme's own, as TOML, such as "controller.gcc.min = '50kbps'"; or NULL.
    pub toml: *const c_char,
    /// The target before the first report, bit/s; 0 for 300000, or what of `min` and `max` is nearer.
    pub start: u64,
    /// The min target, bit/s; 0 for 30000.
    pub min: u64,
    /// The max target, bit/s; 0 for 12000000.
    pub max: u64,
    /// Bytes that the wire adds to each packet's size as the program counts it, 0 to 1000: 0 if it counts from the IP
    /// header up, 28 from UDP's payload over IPv4, 38 from the RTP header on under SRTP.
    pub overhead: u32,
    /// 1 to probe the path by raising the target, in the joined mode; else 0.
    pub raises_target: u32,
}

// SAFETY: numbers and pointers that are followed only where the caller wrote them, without gaps.
unsafe impl Structure for ControllerConfig {
    const NAME: &'static str = "thalweg_controller_config";
    const DEFAULT: ControllerConfig = ControllerConfig {
        size: size_of::<ControllerConfig>() as u32,
        mode: THALWEG_SEEN,
        scheme: std::ptr::null(),
        toml: std::ptr::null(),
        start: 0,
        min: 0,
        max: 0,
        overhead: 0,
        raises_target: 0,
    };
}

/// A controller around the caller's packets.
pub(crate) struct Driven {
    pub(crate) driver: Driver,
    pub(crate) clock: Clock,
    pub(crate) joined: bool,
}

impl ControllerConfig {
    /// # Safety
    /// Its texts are NULL or end with a zero byte.
    pub(crate) unsafe fn driven(&self, now: u64) -> Result<Driven, Error> {
        // SAFETY: as for this function.
        let (name, toml) = unsafe { (text(self.scheme, "scheme")?, text(self.toml, "toml")?) };
        let name = name.ok_or_else(|| Error::null("scheme"))?;
        let joined = match self.mode {
            THALWEG_SEEN => false,
            THALWEG_JOINED => true,
            other => return Err(Error::range("mode", other, "THALWEG_SEEN or THALWEG_JOINED")),
        };
        let usual = Config::default();
        let rates = Rates { start: self.start, min: self.min, max: self.max }.given()?;
        let [start, min, max] = rates.unwrap_or([usual.start, usual.min, usual.max]);
        let (overhead, raises_target) = (Bytes::new(self.overhead.into()), joined && self.raises_target != 0);
        let mut config = Config::new(start, min, max).with_overhead(overhead);
        config.raises_target = raises_target;
        let driver = match toml {
            // By name also those that are part of other schemes only.
            None => Driver::named(name, config)?,
            toml => Driver::of_scheme(&schemes::find(name, toml)?, config)?,
        };
        Ok(Driven { driver, clock: Clock::new(now)?, joined })
    }
}
