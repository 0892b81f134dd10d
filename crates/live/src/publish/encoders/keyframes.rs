//! How often keyframes are made for viewers that share what is encoded.

use std::collections::BTreeMap;

use thalweg_units::{Span, Time};

use crate::publish::messages::Key;

/// Keyframes are at least this far apart (libwebrtc `EncoderRtcpFeedback`, 300 ms).
const KEYFRAMES_APART: Span = Span::from_millis(300);
/// One viewer is granted so many in this time, as keyframes cost the others quality: a few in a row for its beginning, and
/// one in three seconds for one on a bad path.
const OF_ONE: usize = 3;
const OF_ONE_IN: Span = Span::from_secs(9);

/// Which requests for keyframes are granted.
#[derive(Debug, Default)]
pub(crate) struct Keyframes {
    wanted: bool,
    made: Option<Time>,
    /// When viewers asked whose requests were granted.
    asked: BTreeMap<Key, Vec<Time>>,
}

impl Keyframes {
    /// A viewer needs one.
    pub(crate) fn ask(&mut self, now: Time, viewer: Key) {
        self.asked.values_mut().for_each(|asked| asked.retain(|at| now - *at < OF_ONE_IN));
        self.asked.retain(|_, asked| !asked.is_empty());
        if !self.wanted && self.asked.get(&viewer).is_none_or(|asked| asked.len() < OF_ONE) {
            self.asked.entry(viewer).or_default().push(now);
            self.wanted = true;
        }
    }

    /// Returns true if one is to be made now.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.wanted && self.made.is_none_or(|made| now - made >= KEYFRAMES_APART)
    }

    /// One was made.
    pub(crate) fn on_made(&mut self, now: Time) {
        (self.wanted, self.made) = (false, Some(now));
    }
}
