//! The configuration of a watcher.

use std::path::PathBuf;

use thalweg_transport::sdp::{self, Capabilities, Direction};
use thalweg_units::{ConfigError, Span, above, check};

use super::place::Place;
use crate::measure::{Feedback, Handling};

/// Configuration of a viewer: the stream to watch, and its handling.
#[derive(Debug, Clone)]
pub struct WatchConfig {
    /// The address of the page or the WHEP endpoint.
    pub place: Place,
    /// The feedback to report arrivals with.
    pub feedback: Feedback,
    /// Decodes frames; otherwise a frame counts as shown when it is complete.
    pub decode: bool,
    /// File for frames as received: IVF, or H.264 as a byte stream (Annex B).
    pub record: Option<PathBuf>,
    /// File for decoded pictures as YUV4MPEG2; `-` is standard output.
    pub y4m: Option<PathBuf>,
    /// Joins again when a session ends.
    pub reconnect: bool,
    /// A picture with a higher latency from capture to display counts as late. 400 ms by default, the upper limit for
    /// conversation in ITU-T G.114.
    pub late: Span,
}

impl WatchConfig {
    /// Watches, decodes and reconnects; writes no files.
    pub fn new(place: Place) -> WatchConfig {
        WatchConfig {
            place,
            feedback: Feedback::default(),
            decode: true,
            record: None,
            y4m: None,
            reconnect: true,
            late: Span::from_millis(400),
        }
    }

    /// Checks the configuration.
    ///
    /// # Errors
    /// When pictures are to be written but not decoded, or every picture would be late.
    pub fn check(&self) -> Result<(), ConfigError> {
        check("y4m", "set").is(self.y4m.is_none() || self.decode, "decoded pictures only: decode too")?;
        check("late", self.late).within(above(Span::ZERO), "400ms")?;
        Ok(())
    }

    /// Handling of received frames.
    pub(super) fn handling(&self) -> Handling {
        Handling { decode: self.decode, record: self.record.clone(), y4m: self.y4m.clone() }
    }

    /// The capabilities to offer.
    pub(super) fn capabilities(&self) -> Capabilities {
        let all = Capabilities::all(Direction::ReceiveOnly);
        // With plain feedback the receiver sends no path reports either.
        let measures = self.feedback != Feedback::Plain;
        Capabilities {
            congestion: self.feedback.offered(),
            feedback: sdp::Feedback { path: measures, ..all.feedback },
            bytes_before: measures,
            ..all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_measured_by_all_but_who_tells_nothing() {
        for name in ["any", "twcc", "twcc-on-request", "ccfb", "xr", "plain"] {
            let feedback = name.parse().unwrap();
            let place = Place::new("http://127.0.0.1:8080/", None, None, None).unwrap();
            let config = WatchConfig { feedback, ..WatchConfig::new(place) };
            let offered = config.capabilities();
            assert_eq!((offered.feedback.path, offered.bytes_before), (name != "plain", name != "plain"), "{name}");
        }
    }
}
