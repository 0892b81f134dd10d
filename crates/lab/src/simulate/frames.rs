//! The outcome of each picture of a flow, and its frames that may still be shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use thalweg_codecs::{Candidate, ModelledQuality};
use thalweg_sender::{Event, Timed};
use thalweg_units::{Bytes, Size, Time};

use crate::outcome::FrameRecord;

/// A frame that was encoded and may still be shown.
pub struct Encoded {
    /// Its bytes; empty for a model.
    pub data: Arc<[u8]>,
    /// The size it was encoded at.
    pub size: Size,
    /// The encoder's quality estimate, if it is a model.
    pub modelled: Option<ModelledQuality>,
}

/// Tracks pictures by their events.
#[derive(Default)]
pub struct Frames {
    /// By picture number.
    records: Vec<FrameRecord>,
    /// The picture of each frame.
    pictures: BTreeMap<u64, u64>,
    encoded: BTreeMap<u64, Encoded>,
}

impl Frames {
    /// A picture was captured.
    pub fn on_picture(&mut self, now: Time, size: Size) {
        self.records.push(FrameRecord::read(now, size));
    }

    /// A candidate was committed as a frame.
    pub fn on_commit(&mut self, frame: u64, candidate: &Candidate) {
        let Candidate { data, frame: made, modelled } = candidate;
        self.encoded.insert(frame, Encoded { data: data.clone(), size: made.picture, modelled: *modelled });
    }

    /// An event occurred at the sender.
    pub fn on_event(&mut self, timed: &Timed) {
        match timed.event {
            Event::FrameQueued { frame, picture, size, keyframe, quantizer, .. } => {
                self.pictures.insert(frame, picture);
                let height = self.encoded.get(&frame).map(|encoded| encoded.size.height);
                if let Some(record) = self.records.get_mut(picture as usize) {
                    record.queued_s = Some(timed.at.as_secs_f64());
                    record.bytes = Bytes::get(size);
                    record.keyframe = keyframe;
                    record.quantizer = (quantizer != u8::MAX).then_some(quantizer);
                    record.height = height.unwrap_or(record.height);
                }
            }
            Event::FrameSent { frame, .. } => {
                let picture = self.pictures.get(&frame);
                if let Some(record) = picture.and_then(|picture| self.records.get_mut(*picture as usize)) {
                    record.sent_s = Some(timed.at.as_secs_f64());
                }
            }
            Event::FrameFlushed { frame, .. } => self.let_go(frame),
            _ => {}
        }
    }

    /// A frame with a picture was shown; `quality` is its PSNR in dB and its SSIM, if known.
    pub fn on_shown(&mut self, now: Time, (frame, picture): (u64, u64), quality: Option<(f64, f64)>) {
        if let Some(record) = self.records.get_mut(picture as usize) {
            record.displayed_s = Some(now.as_secs_f64());
            record.psnr_db = quality.map(|quality| quality.0);
            record.ssim = quality.map(|quality| quality.1);
        }
        self.let_go(frame);
    }

    /// A frame will not be shown, or was shown.
    pub fn let_go(&mut self, frame: u64) {
        self.encoded.remove(&frame);
        self.pictures.remove(&frame);
    }

    /// The payload bytes of the frame of a picture.
    pub fn size(&self, picture: u64) -> Bytes {
        Bytes::new(self.records.get(picture as usize).map_or(0, |record| record.bytes))
    }

    /// A frame that may still be shown.
    pub fn encoded(&self, frame: u64) -> Option<&Encoded> {
        self.encoded.get(&frame)
    }

    /// The outcome of each picture, in order.
    pub fn into_records(self) -> Vec<FrameRecord> {
        self.records
    }
}
