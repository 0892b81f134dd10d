//! Real programs measured as black boxes: a sender and a receiver that know nothing of this one, over the simulator's link.
//!
//! ```text
//! camera      numbered pictures in a file, which the sender takes for a camera
//! Driver      starts sender and receiver and has them call each other through the relay: chromium, by two pages and a mailbox
//! relay       the link; its observer sees each packet's header
//! identity    which picture each received frame shows
//! gates       whether the figures are the program's or the machine's
//! ```
//!
//! After Salsify's evaluation (Fouladi et al., NSDI 2018, section 5.1), whose testbed read barcodes from a screen.

mod camera;
mod chromium;
mod error;
mod gates;
mod identity;
mod load;
mod mailbox;
mod report;
mod route;
pub mod sdp;

use std::fmt::{self, Display};
use std::ops::ControlFlow;
use std::sync::Arc;

use thalweg_netsim::Trace;
use thalweg_units::{Span, Time};
use thalweg_video::source::Format;

pub use camera::{CameraFile, Scratch};
pub use chromium::{Chromium, Coding};
pub use error::BlackBoxError;
pub use gates::{Gates, Validity};
pub use identity::Identity;
pub use report::{Presented, Report, SeenPicture};
pub use route::Route;

pub use thalweg_emulate::Packet;
use thalweg_emulate::{LinkConfig, Statistics};

/// An end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// It has the camera.
    Sender,
    /// It has the screen.
    Receiver,
}

impl Part {
    /// Both.
    pub const BOTH: [Part; 2] = [Part::Sender, Part::Receiver];
}

impl Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Sender => "sender",
            Part::Receiver => "receiver",
        })
    }
}

/// A kind of program that can be measured.
pub trait Driver {
    /// Its name in tables.
    fn name(&self) -> String;

    /// The program's name, with its version.
    ///
    /// # Errors
    /// When the program is not there.
    fn version(&self) -> Result<String, BlackBoxError>;

    /// Has the program send the camera's pictures to itself, as long as the route goes on.
    ///
    /// # Errors
    /// When there is no call, or it breaks off.
    fn call(&self, camera: &CameraFile, route: &mut Route<'_>) -> Result<Seen, BlackBoxError>;
}

/// Observations of a call that a driver gets from the program.
#[derive(Debug, Default)]
pub struct Seen {
    /// The reports of the sender, whose pictures are the camera's.
    pub sender: Vec<Report>,
    /// The reports of the receiver.
    pub receiver: Vec<Report>,
    /// The payload types of retransmissions.
    pub retransmissions: Vec<u8>,
}

/// A measured call.
#[derive(Debug)]
pub struct Observed {
    /// Time zero: the first packet at the link.
    pub zero: Time,
    /// How long it was measured from then on.
    pub duration: Span,
    /// Size and rate of the camera's pictures.
    pub format: Format,
    /// Pictures from the camera, before time zero too.
    pub captured: Vec<SeenPicture>,
    /// Decoded pictures.
    pub received: Vec<SeenPicture>,
    /// Reports of each program, once a second.
    pub seen: Seen,
    /// The sender's RTP.
    pub packets: Vec<Packet>,
    /// The link's counts.
    pub link: Statistics,
    /// Share of the processors' time in which nothing ran.
    pub idle: f64,
}

/// Measures a call of this duration over a link. `find` returns traces by name; `progress` receives the time since time
/// zero.
///
/// # Errors
/// When there is no call, or it breaks off.
pub fn measure<E: Display>(
    driver: &dyn Driver,
    camera: &CameraFile,
    (link, duration): (&LinkConfig, Span),
    find: &mut dyn FnMut(&str) -> Result<Arc<Trace>, E>,
    progress: &mut dyn FnMut(Time) -> ControlFlow<()>,
) -> Result<Observed, BlackBoxError> {
    let mut start = |config: &_| thalweg_emulate::Relay::start(config, find);
    let mut route = Route::new(link.clone(), duration, &mut start, progress);
    let seen = driver.call(camera, &mut route)?;
    let (zero, packets, link, idle) = route.finish()?;
    let pictures = |reports: &[Report]| reports.iter().flat_map(|report| report.pictures.clone()).collect();
    let (captured, received) = (pictures(&seen.sender), pictures(&seen.receiver));
    Ok(Observed { zero, duration, format: camera.format, captured, received, seen, packets, link, idle })
}
