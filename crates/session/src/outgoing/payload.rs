//! From a frame's bytes to the payload of one packet.

use std::collections::BTreeMap;
use std::sync::Arc;

use thalweg_sender::packet::Fragment;
use thalweg_transport::sdp::VideoCodec;
use thalweg_wire::WriteError;
use thalweg_wire::vp8::{Descriptor, PictureId};

/// Frames of which packets have yet to leave.
#[derive(Debug, Default)]
pub(super) struct Frames(BTreeMap<u64, Arc<[u8]>>);

impl Frames {
    /// A frame was chosen to be sent.
    pub(super) fn keep(&mut self, frame: u64, data: Arc<[u8]>) {
        self.0.insert(frame, data);
    }

    /// The payload of a fragment. Frames leave in order, so with a frame's last fragment it and all before it can go.
    pub(super) fn payload(&mut self, codec: VideoCodec, fragment: &Fragment) -> Result<Vec<u8>, WriteError> {
        let Some(data) = self.0.get(&fragment.frame) else {
            debug_assert!(false, "frame {} left before it came", fragment.frame);
            return Ok(Vec::new());
        };
        let payload = write(codec, data, fragment);
        if fragment.index + 1 == fragment.count {
            self.0 = self.0.split_off(&(fragment.frame + 1));
        }
        payload
    }
}

fn write(codec: VideoCodec, data: &[u8], fragment: &Fragment) -> Result<Vec<u8>, WriteError> {
    let mut payload = Vec::with_capacity(fragment.length as usize + 8);
    match codec {
        VideoCodec::Vp8 => {
            let descriptor = Descriptor {
                partition_start: fragment.index == 0,
                picture_id: Some(PictureId::Long(fragment.frame as u16 & 0x7fff)),
                ..Descriptor::default()
            };
            descriptor.write(&mut payload)?;
        }
        VideoCodec::H264 | VideoCodec::Vp9 => {}
    }
    let (from, length) = (fragment.offset as usize, fragment.length as usize);
    let end = payload.len() + length;
    payload.extend_from_slice(data.get(from..data.len().min(from + length)).unwrap_or_default());
    // An encoder model says how large a frame is and makes no bytes.
    payload.resize(end, 0);
    Ok(payload)
}
