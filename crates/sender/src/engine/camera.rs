//! From the camera to the queue: which pictures are encoded, and which candidates are sent.

use thalweg_control::{FrameQueued, Signal};
use thalweg_types::Fragment;
use thalweg_units::{Rate, Span, Time};

use super::{Engine, Output};
use crate::event::{Event, Why};
use crate::frames::{Basis, Buffers, EncodePlan, EncodedFrame, Occasion, Target, View};

/// A picture that waits to be encoded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub(super) picture: u64,
    pub(super) read: Time,
    pub(super) captured: Time,
}

/// A picture in the encoder.
#[derive(Debug, Clone, Copy)]
pub(super) struct Encoding {
    picture: u64,
    read: Time,
    captured: Time,
    /// The basis of its frame.
    basis: Basis,
    /// The queue was flushed in the meantime, so its reference is gone (unless it is a keyframe).
    pub(super) orphaned: bool,
    /// The scheme has changed in the meantime, and the new one did not ask for this frame.
    pub(super) abandoned: bool,
}

impl Engine {
    pub(super) fn read_camera(&mut self, picture: u64, captured: Time) {
        self.last_read = self.now;
        self.silent = false;
        self.emit(Event::PictureRead { picture });
        self.discard_slot(Why::PictureSuperseded);
        self.slot = Some(Slot { picture, read: self.now, captured });
        self.changed.queue = true;
        self.changed.picture = Some(Occasion::CameraRead);
    }

    pub(super) fn discard_slot(&mut self, why: Why) {
        if let Some(slot) = self.slot.take() {
            self.emit(Event::PictureSkipped { picture: slot.picture, why });
        }
    }

    pub(super) fn start_encoding(&mut self, slot: Slot, mut plan: EncodePlan) {
        plan.keyframe |= self.keyframe.is_some();
        let target = match plan.targets.first() {
            Some(Target::Rate(rate)) => *rate,
            _ => Rate::ZERO,
        };
        if self.last_size != plan.size {
            self.emit(Event::SizeChanged { from: self.last_size, to: plan.size });
            self.last_size = plan.size;
        }
        self.emit(Event::EncodeStarted {
            picture: slot.picture,
            target,
            size: plan.size,
            candidates: plan.targets.len().min(255) as u8,
        });
        self.encoding = Some(Encoding {
            picture: slot.picture,
            read: slot.read,
            captured: slot.captured,
            basis: plan.basis,
            orphaned: false,
            abandoned: false,
        });
        self.outputs.push_back(Output::Encode { picture: slot.picture, plan });
    }

    /// Queues the frame that the policy chooses, if any; returns the event of it.
    pub(super) fn take_candidates(&mut self, candidates: &[EncodedFrame]) -> Option<Event> {
        let Some(encoding) = self.encoding.take() else {
            debug_assert!(false, "candidates for no picture");
            return None;
        };
        let view = self.seen(Occasion::EncoderFree, self.now - encoding.read);
        let choice = if encoding.abandoned { None } else { self.parts.policy.choose(&view, candidates) };
        let choice = choice.filter(|choice| *choice < candidates.len());
        let is_lost = encoding.orphaned || matches!(encoding.basis, Basis::Buffers(Buffers { sendable: false, .. }));
        let sendable = choice.filter(|choice| !is_lost || candidates[*choice].keyframe);
        match sendable {
            Some(index) => Some(self.queue_frame(encoding, index, &candidates[index])),
            None => {
                let why = match (candidates.is_empty(), choice) {
                    _ if encoding.abandoned => Why::SchemeChanged,
                    (true, _) => Why::EncoderDropped,
                    (false, None) => Why::NoCandidateFits,
                    (false, Some(_)) if encoding.orphaned => Why::QueueFlushed,
                    (false, Some(_)) => Why::NoCandidateFits,
                };
                self.emit(Event::PictureSkipped { picture: encoding.picture, why });
                if !candidates.is_empty() {
                    self.outputs.push_back(Output::Commit { choice: None });
                }
                None
            }
        }
    }

    /// The encoder is free for the next picture; `queued` is the event of the frame it made, if one was queued.
    pub(super) fn free_encoder(&mut self, queued: Option<Event>) {
        if let Some(queued) = queued {
            self.emit(queued);
            self.changed.queue = true;
        }
        self.changed.picture = Some(Occasion::EncoderFree);
    }

    fn queue_frame(&mut self, encoding: Encoding, index: usize, encoded: &EncodedFrame) -> Event {
        let frame = self.next_frame;
        self.next_frame += 1;
        self.outputs.push_back(Output::Commit { choice: Some((index, frame)) });
        if encoded.keyframe {
            self.keyframe = None;
        }
        let template = Fragment {
            frame,
            picture: encoding.picture,
            captured: encoding.captured,
            index: 0,
            count: 0,
            offset: 0,
            length: 0,
            keyframe: encoded.keyframe,
            layer: encoded.layer,
            depends_on: if encoded.keyframe { None } else { self.needed(encoding.basis) },
            transition: encoded.transition,
        };
        if encoded.keyframe || becomes_last(encoding.basis) {
            self.last_frame = Some(frame);
        }
        let queue = self.queue_view();
        let packets = self.parts.queue.push(self.now, encoded.size, self.limits.burst, template);
        let size = self.parts.queue.wire_bytes() - queue.bytes;
        let queued = FrameQueued::new(size, self.camera.interval, queue.bytes, queue.age(self.now));
        self.signal(Signal::FrameQueued(queued));
        if let Some(bucket) = &mut self.parts.bucket {
            bucket.on_frame(self.limits.pacing, self.camera.interval);
        }
        self.parts.policy.on_queued(self.now, frame, encoded, packets);
        self.changed.policy = true;
        Event::FrameQueued {
            frame,
            picture: encoding.picture,
            size: encoded.size,
            packets,
            keyframe: encoded.keyframe,
            quantizer: encoded.quantizer.unwrap_or(255),
        }
    }

    /// The frame that must be decoded before a frame on this basis.
    fn needed(&self, basis: Basis) -> Option<u64> {
        match basis {
            Basis::Latest | Basis::Buffers(Buffers { last: true, .. }) => self.last_frame,
            Basis::After(frame) => Some(frame),
            Basis::Buffers(Buffers { long_term, .. }) => long_term.map(|(_, frame)| frame),
        }
    }

    pub(super) fn seen(&self, occasion: Occasion, picture_age: Span) -> View {
        View {
            now: self.now,
            occasion,
            limits: self.limits,
            pacing: self.parts.pacer.rate(),
            srtt: self.srtt(),
            in_flight: self.history.in_flight(),
            queue: self.queue_view(),
            picture_age,
            interval: self.camera.interval,
            source: self.camera.size,
            next_frame: self.next_frame,
            payload_share: if self.sent_wire > 0.0 { self.sent_payload / self.sent_wire } else { 1.0 },
            repair_share: if self.sent_wire > 0.0 { self.sent_repair / self.sent_wire } else { 0.0 },
            keyframe_due: self.keyframe.is_some(),
        }
    }
}

/// Returns true if a frame on this basis becomes the last frame that later ones refer to.
fn becomes_last(basis: Basis) -> bool {
    match basis {
        Basis::Latest | Basis::After(_) => true,
        Basis::Buffers(Buffers { becomes_last, .. }) => becomes_last,
    }
}
