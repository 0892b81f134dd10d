//! Which engine.

use std::ffi::c_char;

use thalweg_sender::frames::EveryFrame;
use thalweg_sender::{Camera, Engine, Parts, SenderFactory};
use thalweg_units::{Size, Span, Time};

use super::bounds::Bounds;
use super::state::State;
use crate::clock::Clock;
use crate::controller::{Controller, Kind};
use crate::error::{Error, THALWEG_E_UNSUPPORTED};
use crate::handle::{ask, take};
use crate::schemes::Rates;
use crate::sized::Structure;
use crate::text::text;

/// `thalweg_engine_config.flags`: events are kept for thalweg_engine_drain_events, which must be called often.
pub const THALWEG_KEEP_EVENTS: u32 = 1;

/// Which engine, for which camera.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct EngineConfig {
    /// sizeof(thalweg_engine_config).
    pub size: u32,
    /// THALWEG_KEEP_EVENTS or 0.
    pub flags: u32,
    /// A name of thalweg_schemes, such as "gcc". With `controller` also NULL: each picture at the controller's
    /// capacity.
    pub scheme: *const c_char,
    /// Parameters that replace the scheme's own, as TOML, such as "packets.max_payload = '1000B'"; or NULL.
    pub toml: *const c_char,
    /// A controller of thalweg_controller_from_callbacks in place of the scheme's, or NULL. If the call succeeds, it is
    /// the engine's and no longer the caller's.
    pub controller: *mut Controller,
    /// Pixels in a row of the camera's pictures.
    pub width: u16,
    /// Rows of the camera's pictures.
    pub height: u16,
    /// Max payload of a media packet, bytes; 0 for the scheme's own (1140).
    pub max_payload: u32,
    /// The time between pictures, ns.
    pub interval: i64,
    /// The first target, bit/s; 0 for the scheme's own, or 300000 if `min` or `max` is given.
    pub start: u64,
    /// The encoder's min rate, bit/s; 0 for the scheme's own, or 30000 if another is given.
    pub min: u64,
    /// The encoder's max rate, bit/s; 0 for the scheme's own, or 12000000 if another is given.
    pub max: u64,
    /// Bytes that a media packet has beside its payload, from the IP header up; 0 for the scheme's own (74).
    pub overhead: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: numbers and pointers that are followed only where the caller wrote them, without gaps.
unsafe impl Structure for EngineConfig {
    const NAME: &'static str = "thalweg_engine_config";
    const DEFAULT: EngineConfig = EngineConfig {
        size: size_of::<EngineConfig>() as u32,
        flags: 0,
        scheme: std::ptr::null(),
        toml: std::ptr::null(),
        controller: std::ptr::null_mut(),
        width: 0,
        height: 0,
        max_payload: 0,
        interval: 0,
        start: 0,
        min: 0,
        max: 0,
        overhead: 0,
        reserved: 0,
    };
}

impl EngineConfig {
    /// # Safety
    /// Its texts are NULL or end with a zero byte; its controller is NULL or the caller's.
    pub(crate) unsafe fn state(&self, now: u64) -> Result<State, Error> {
        // SAFETY: as for this function.
        let (name, toml) = unsafe { (text(self.scheme, "scheme")?, text(self.toml, "toml")?) };
        let clock = Clock::new(now)?;
        let camera = self.camera()?;
        let rates = Rates { start: self.start, min: self.min, max: self.max };
        let bounds = Bounds::new(rates, self.max_payload, self.overhead)?;
        if name.is_none() && self.controller.is_null() {
            return Err(Error::null("scheme"));
        }
        let scheme = bounds.scheme(name.unwrap_or("gcc"), toml)?;
        // With the scheme's own controller first: if that fails, the caller keeps its controller.
        let mut engine = Engine::new(&scheme, camera, Time::ZERO)?;
        if !self.controller.is_null() {
            // SAFETY: as for this function.
            let controller = Box::new(unsafe { self.own() }?.controller(clock));
            let mut parts = scheme.parts(camera.size)?;
            if name.is_none() {
                parts = Parts::new(controller, Box::new(EveryFrame));
                parts.packets = scheme.packets;
            } else {
                parts.controller = controller;
            }
            engine = Engine::with(parts, camera, Time::ZERO)?;
        }
        let (plain, keeps_events) = (scheme.works_on_receiver_reports(), self.flags & THALWEG_KEEP_EVENTS != 0);
        Ok(State::new(engine, clock, bounds, plain, keeps_events))
    }

    fn camera(&self) -> Result<Camera, Error> {
        let size = Size::new(self.width, self.height);
        let sides = 2..=16_382;
        if !(sides.contains(&self.width) && sides.contains(&self.height)) {
            return Err(Error::range("width x height", size, "2 to 16382 each, such as 1280x720"));
        }
        const LONGEST: i64 = 10_000_000_000;
        if !(1_000_000..=LONGEST).contains(&self.interval) {
            let range = format!("1000000 to {LONGEST} ns, such as 33333333");
            return Err(Error::range("interval", self.interval, range));
        }
        Ok(Camera { size, interval: Span::from_nanos(self.interval) })
    }

    /// Takes the controller.
    ///
    /// # Safety
    /// It is the caller's.
    unsafe fn own(&self) -> Result<crate::controller::Own, Error> {
        let why =
            "controller: not one of thalweg_controller_from_callbacks; the controller of a scheme is had by `scheme`";
        let refused = || Error::new(THALWEG_E_UNSUPPORTED, why);
        // SAFETY: as for this function; no call of the caller's can run between the two.
        unsafe {
            ask(self.controller, |kind| if let Kind::Own(_) = kind { Ok(()) } else { Err(refused()) })?;
            match take(self.controller)? {
                Kind::Own(own) => Ok(own),
                Kind::Driven(_) => Err(refused()),
            }
        }
    }
}
