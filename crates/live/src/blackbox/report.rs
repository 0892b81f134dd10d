//! Report of a page since its last one, in times of the mailbox's clock.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use thalweg_units::{Size, Time};

/// A page's report.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Report {
    /// When it was written.
    #[serde(deserialize_with = "time")]
    pub at: Time,
    /// Pictures that left the camera, or the decoder.
    pub pictures: Vec<SeenPicture>,
    /// Pictures that the browser presented.
    pub presented: Vec<Presented>,
    /// `getStats`: the dictionaries of the video's RTP stream, the candidate pair and what belongs to them.
    pub statistics: Map<String, Value>,
}

impl Report {
    /// A number of `getStats`.
    pub fn number(&self, dictionary: &str, key: &str) -> Option<f64> {
        self.statistics.get(dictionary)?.get(key)?.as_f64()
    }

    /// A text of `getStats`.
    pub fn text(&self, dictionary: &str, key: &str) -> Option<&str> {
        self.statistics.get(dictionary)?.get(key)?.as_str()
    }
}

/// A picture that a page read.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct SeenPicture {
    /// The number drawn on it; `None` if it could not be read.
    pub number: Option<u64>,
    /// When the page read it.
    #[serde(deserialize_with = "time")]
    pub at: Time,
    /// The browser's timestamp of the picture, in microseconds since some instant.
    pub timestamp: f64,
    /// Its RTP timestamp, if it was received.
    pub rtp: Option<u32>,
    width: u16,
    height: u16,
}

impl SeenPicture {
    /// Its size.
    pub fn size(&self) -> Size {
        Size::new(self.width, self.height)
    }

    /// A picture for tests, of a browser whose timestamps count from half a day ago.
    #[cfg(test)]
    pub(super) fn of(number: Option<u64>, at: Time, rtp: Option<u32>) -> SeenPicture {
        SeenPicture { number, at, timestamp: (43_200.0 + at.as_secs_f64()) * 1e6, rtp, width: 640, height: 360 }
    }
}

/// A picture that the browser presented.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Presented {
    /// When.
    #[serde(deserialize_with = "time")]
    pub at: Time,
    /// Its RTP timestamp, if it was received.
    pub rtp: Option<u32>,
}

fn time<'de, D: Deserializer<'de>>(value: D) -> Result<Time, D::Error> {
    let milliseconds = f64::deserialize(value)?;
    Ok(Time::from_secs_f64((milliseconds / 1e3).max(0.0)))
}
