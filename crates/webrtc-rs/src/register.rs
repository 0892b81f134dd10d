//! Puts a controller into a registry.

use rtc_interceptor::{PacerBuilder, Registry, Slot};
use thalweg_driver::Driver;

use crate::handle::Handle;
use crate::interceptor::{Feedback, Interceptor};
use crate::padder::{Asked, Padder};

/// Between webrtc-rs's pacer (3000) and its numbering (2000).
const PADDER: usize = 2_500;

/// Adds a controller that sees each departure, its probes and padding, and a pacer that begins at the controller's start rate
/// (webrtc-rs's begins at 1 Mbps until the target first changes). They take the places of what another function put at
/// the same slots, such as `configure_congestion_control`, which also registers what is negotiated with the remote.
///
/// ```
/// use rtc_interceptor::Registry;
/// use thalweg_webrtc_rs::{Config, Driver, Feedback, register};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver = Driver::named("gcc", Config::default())?;
/// let (registry, handle) = register(Registry::new(), driver, Feedback::Twcc);
/// let chain = registry.build();
/// assert_eq!(handle.snapshot().target, Config::default().start);
/// # let _ = chain;
/// # Ok(())
/// # }
/// ```
pub fn register(registry: Registry, driver: Driver, feedback: Feedback) -> (Registry, Handle) {
    let (start, overhead, asked) = (driver.target().as_bps_f64(), driver.overhead(), Asked::default());
    let interceptor = Interceptor::new(driver, feedback, asked.clone());
    let handle = interceptor.handle();
    let registry = registry
        .with(Slot::CongestionControl, interceptor)
        .with(Slot::from(PADDER), Padder::new(asked, overhead))
        .with(Slot::Pacer, PacerBuilder::new().with_target_bitrate(start).build());
    (registry, handle)
}
