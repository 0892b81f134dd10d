//! Requests of the engine to its caller, as C has them.

use thalweg_control::Payload;
use thalweg_sender::{Content, Output, Packet, Wake};
use thalweg_types::{Basis, Buffers, EncodePlan, Fragment, LongTerm, Target};

use crate::clock::Clock;
use crate::controller::{THALWEG_AUDIO, THALWEG_MEDIA, THALWEG_PADDING, THALWEG_REPAIR};
use crate::sized::Structure;

/// `thalweg_output.tag`: encode a picture, and answer with thalweg_engine_on_encoded.
pub const THALWEG_ENCODE: i32 = 1;
/// `thalweg_output.tag`: of the candidates just given, this one becomes a frame, or none.
pub const THALWEG_COMMIT: i32 = 2;
/// `thalweg_output.tag`: no later frame refers to the state after this one: the encoder may drop it.
pub const THALWEG_FORGET: i32 = 3;
/// `thalweg_output.tag`: send a packet now.
pub const THALWEG_TRANSMIT: i32 = 4;
/// `thalweg_output.tag`: nothing to do until a time, unless something happens first.
pub const THALWEG_WAIT: i32 = 5;

/// `thalweg_target.kind`: a rate for the encoder's own rate control to keep, bit/s.
pub const THALWEG_TARGET_RATE: i32 = 0;
/// `thalweg_target.kind`: at most this many bytes.
pub const THALWEG_TARGET_SIZE: i32 = 1;
/// `thalweg_target.kind`: this quantiser, in the codec's own scale.
pub const THALWEG_TARGET_QUANTIZER: i32 = 2;
/// `thalweg_target.kind`: about this many bytes, by a quantiser that is guessed and not corrected.
pub const THALWEG_TARGET_GUESS: i32 = 3;

/// `thalweg_encode.flags`: the frame must be a keyframe.
pub const THALWEG_ENCODE_KEYFRAME: u32 = 1;
/// `thalweg_encode.flags`: the encoder's own rate control may drop the picture.
pub const THALWEG_ENCODE_MAY_DROP: u32 = 2;
/// `thalweg_encode.flags`: with THALWEG_BASIS_BUFFERS, it may refer to the last frame.
pub const THALWEG_ENCODE_FROM_LAST: u32 = 4;
/// `thalweg_encode.flags`: with THALWEG_BASIS_BUFFERS, it becomes the last frame.
pub const THALWEG_ENCODE_BECOMES_LAST: u32 = 8;
/// `thalweg_encode.flags`: with THALWEG_BASIS_BUFFERS, what it refers to was sent; else it is encoded only to learn its
/// size.
pub const THALWEG_ENCODE_SENDABLE: u32 = 16;

/// `thalweg_encode.basis`: the frame may refer to the last frame sent, as the codec chooses.
pub const THALWEG_BASIS_LATEST: i32 = 0;
/// `thalweg_encode.basis`: it refers to the state after frame `basis_frame`.
pub const THALWEG_BASIS_AFTER: i32 = 1;
/// `thalweg_encode.basis`: it refers to named buffers of a decoder, and changes nothing else in it.
pub const THALWEG_BASIS_BUFFERS: i32 = 2;

/// A long-term buffer: none.
pub const THALWEG_BUFFER_NONE: u8 = 0;
/// A long-term buffer, by its number in the codec plus 1: VP8's golden frame.
pub const THALWEG_BUFFER_GOLDEN: u8 = 1;
/// A long-term buffer: VP8's alternative reference.
pub const THALWEG_BUFFER_ALTREF: u8 = 2;

/// `thalweg_transmit.kind`: a fragment of a frame; `number` is its place in the media stream, without gaps.
pub const THALWEG_KIND_MEDIA: i32 = 0;
/// `thalweg_transmit.kind`: a retransmission of the media packet `number`.
pub const THALWEG_KIND_RETRANSMISSION: i32 = 1;
/// `thalweg_transmit.kind`: the XOR of the media packets that `protects_...` name.
pub const THALWEG_KIND_FEC: i32 = 2;
/// `thalweg_transmit.kind`: the audio packet `number` of thalweg_engine_on_audio.
pub const THALWEG_KIND_AUDIO: i32 = 3;
/// `thalweg_transmit.kind`: padding.
pub const THALWEG_KIND_PADDING: i32 = 4;

/// `thalweg_transmit.flags`: the receiver is asked to report at once, if it reports on request.
pub const THALWEG_TRANSMIT_ASKS: u32 = 1;
/// `thalweg_transmit.flags`: its report may wait for those of later packets.
pub const THALWEG_TRANSMIT_MAY_WAIT: u32 = 2;
/// `thalweg_transmit.flags`: its frame refers to no other.
pub const THALWEG_TRANSMIT_KEYFRAME: u32 = 4;
/// `thalweg_transmit.flags`: it is the last of its frame (RTP's marker).
pub const THALWEG_TRANSMIT_LAST: u32 = 8;

/// Max candidates that one THALWEG_ENCODE asks for.
pub const THALWEG_TARGETS: usize = 8;

/// How large, or how good, a frame should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct FrameTarget {
    /// THALWEG_TARGET_...
    pub kind: i32,
    /// Zero.
    pub reserved: u32,
    /// The rate, size or quantiser.
    pub value: u64,
}

/// Fields of THALWEG_ENCODE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Encode {
    /// The number of the picture, by thalweg_engine_on_picture.
    pub picture: u64,
    /// The time between pictures over which a rate is spread, ns.
    pub interval: i64,
    /// THALWEG_ENCODE_...
    pub flags: u32,
    /// References that the frame may use: THALWEG_BASIS_...
    pub basis: i32,
    /// Frame referred to: with THALWEG_BASIS_AFTER the frame to follow; with THALWEG_BASIS_BUFFERS the frame in
    /// `refers_to`; else -1.
    pub basis_frame: i64,
    /// Keep the state after this frame under this number until THALWEG_FORGET; -1 for not.
    pub keep: i64,
    /// Pixels in a row to encode at.
    pub width: u16,
    /// Rows to encode at.
    pub height: u16,
    /// Long-term buffer that the frame may refer to, with THALWEG_BASIS_BUFFERS: THALWEG_BUFFER_...
    pub refers_to: u8,
    /// Long-term buffer that the frame is kept in, with THALWEG_BASIS_BUFFERS: THALWEG_BUFFER_...
    pub kept_in: u8,
    /// The frame's temporal layer, from 0.
    pub layer: u8,
    /// How many layers there are, at least 1.
    pub layers: u8,
    /// How many candidates may be encoded at the same time, at least 1.
    pub cores: u8,
    /// How many targets there are: one candidate for each, in this order. An encoder that makes one frame of a picture
    /// meets the first.
    pub n_targets: u8,
    /// Zero.
    pub reserved: [u8; 6],
    /// The targets.
    pub targets: [FrameTarget; THALWEG_TARGETS],
}

/// Fields of THALWEG_COMMIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Commit {
    /// The index of the candidate that becomes a frame; -1 for none.
    pub choice: i64,
    /// The frame's number, from 0; its bytes are needed until its packets have left, and until they are no longer
    /// retransmitted (`thalweg_sender_stats.retransmits_from`).
    pub frame: u64,
}

/// Fields of THALWEG_FORGET.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Forget {
    /// The frame.
    pub frame: u64,
}

/// Fields of THALWEG_TRANSMIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Transmit {
    /// Its number in the order of sending, from 0; its low 16 bits are its transport-wide sequence number.
    pub id: u64,
    /// When it leaves, ns: the time of the last call.
    pub at: u64,
    /// Its size from the IP header up, as the engine counts.
    pub bytes: u64,
    /// Bytes of all packets sent before it.
    pub before: u64,
    /// The time since the packet before it, ns; 0 for the first.
    pub grace: i64,
    /// Purpose: THALWEG_MEDIA, THALWEG_PADDING, THALWEG_REPAIR or THALWEG_AUDIO.
    pub payload: i32,
    /// Content: THALWEG_KIND_...
    pub kind: i32,
    /// The number that `kind` names.
    pub number: u64,
    /// The probe that it belongs to, or -1.
    pub probe: i64,
    /// THALWEG_TRANSMIT_...
    pub flags: u32,
    /// Payload bytes of a fragment or of audio; else 0.
    pub length: u32,
    /// The frame of which it carries a fragment, or -1; what follows holds only for a fragment.
    pub frame: i64,
    /// The picture that the frame shows.
    pub picture: u64,
    /// When that picture was captured, ns.
    pub captured: u64,
    /// The frame that must be decoded before this one, or -1.
    pub depends_on: i64,
    /// The place of the fragment's first byte in the frame.
    pub offset: u32,
    /// The fragment's number in the frame, from 0.
    pub index: u16,
    /// How many fragments the frame has.
    pub count: u16,
    /// The frame's temporal layer.
    pub layer: u8,
    /// Zero.
    pub reserved: [u8; 7],
    /// Number of the first media packet that FEC protects.
    pub protects_first: u64,
    /// Media packets that FEC protects: bit j % 64 of element j / 64 is packet `protects_first` + j, j below 109.
    pub protects_mask: [u64; 2],
}

/// Fields of THALWEG_WAIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Wait {
    /// Until when, ns; THALWEG_NEVER if there is nothing to wait for. Then call thalweg_engine_on_timeout.
    pub until: u64,
    /// Reason to wait: 0 nothing, 1 the pacer, 2 a retransmission, 3 padding, 4 a probe, 5 the frame policy, 6 the
    /// controller, 7 the probe timeout, 8 the feedback timeout.
    pub why: i32,
    /// Zero.
    pub reserved: u32,
}

/// Content of an output, as `thalweg_output.tag` says.
#[derive(Clone, Copy)]
#[repr(C)]
pub union Asked {
    /// With THALWEG_ENCODE.
    pub encode: Encode,
    /// With THALWEG_COMMIT.
    pub commit: Commit,
    /// With THALWEG_FORGET.
    pub forget: Forget,
    /// With THALWEG_TRANSMIT.
    pub transmit: Transmit,
    /// With THALWEG_WAIT.
    pub wait: Wait,
    /// Room for what later versions say.
    pub reserved: [u64; 32],
}

/// Request of the engine to its caller.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct EngineOutput {
    /// sizeof(thalweg_output).
    pub size: u32,
    /// THALWEG_ENCODE, ...
    pub tag: i32,
    /// The content that the tag names.
    pub of: Asked,
}

// SAFETY: numbers without gaps.
unsafe impl Structure for EngineOutput {
    const NAME: &'static str = "thalweg_output";
    const DEFAULT: EngineOutput =
        EngineOutput { size: size_of::<EngineOutput>() as u32, tag: 0, of: Asked { reserved: [0; 32] } };
}

/// A number that may be absent.
fn number(number: Option<u64>) -> i64 {
    number.and_then(|number| i64::try_from(number).ok()).unwrap_or(-1)
}

impl EngineOutput {
    pub(super) fn new(output: &Output, clock: &Clock) -> EngineOutput {
        let mut written = EngineOutput::DEFAULT;
        // Written into a union that is all zero, so that what is behind a smaller member stays zero.
        match output {
            Output::Encode { picture, plan } => {
                (written.tag, written.of.encode) = (THALWEG_ENCODE, encode(*picture, plan))
            }
            Output::Commit { choice } => {
                let (choice, frame) = choice.map_or((-1, 0), |(index, frame)| (index as i64, frame));
                (written.tag, written.of.commit) = (THALWEG_COMMIT, Commit { choice, frame });
            }
            Output::Forget { frame } => (written.tag, written.of.forget) = (THALWEG_FORGET, Forget { frame: *frame }),
            Output::Transmit(packet) => {
                (written.tag, written.of.transmit) = (THALWEG_TRANSMIT, transmit(packet, clock))
            }
            Output::Wait { until, why } => {
                let wait = Wait { until: clock.caller(*until), why: reason(*why), reserved: 0 };
                (written.tag, written.of.wait) = (THALWEG_WAIT, wait);
            }
            // Without a tag: a caller leaves it out.
            _ => {}
        }
        written
    }
}

fn reason(why: Wake) -> i32 {
    match why {
        Wake::Pacer => 1,
        Wake::Repair => 2,
        Wake::Padding => 3,
        Wake::Probe => 4,
        Wake::FramePolicy => 5,
        Wake::Controller => 6,
        Wake::ProbeTimeout => 7,
        Wake::FeedbackTimeout => 8,
        // Nothing, or a reason that this interface has no number for.
        _ => 0,
    }
}

fn encode(picture: u64, plan: &EncodePlan) -> Encode {
    let buffer = |buffer: Option<LongTerm>| {
        buffer.map_or(THALWEG_BUFFER_NONE, |buffer| buffer.0.saturating_add(THALWEG_BUFFER_GOLDEN))
    };
    let mut flags = 0;
    let mut flag = |set: bool, flag: u32| flags |= if set { flag } else { 0 };
    flag(plan.keyframe, THALWEG_ENCODE_KEYFRAME);
    flag(plan.may_drop, THALWEG_ENCODE_MAY_DROP);
    let (basis, basis_frame, refers_to, kept_in) = match plan.basis {
        Basis::Latest => (THALWEG_BASIS_LATEST, -1, None, None),
        Basis::After(frame) => (THALWEG_BASIS_AFTER, number(Some(frame)), None, None),
        Basis::Buffers(Buffers { last, long_term, kept_in, becomes_last, sendable }) => {
            flag(last, THALWEG_ENCODE_FROM_LAST);
            flag(becomes_last, THALWEG_ENCODE_BECOMES_LAST);
            flag(sendable, THALWEG_ENCODE_SENDABLE);
            let frame = long_term.map(|(_, frame)| frame);
            (THALWEG_BASIS_BUFFERS, number(frame), long_term.map(|(buffer, _)| buffer), kept_in)
        }
    };
    let mut targets = [FrameTarget { kind: 0, reserved: 0, value: 0 }; THALWEG_TARGETS];
    for (place, target) in targets.iter_mut().zip(&plan.targets) {
        (place.kind, place.value) = match target {
            Target::Rate(rate) => (THALWEG_TARGET_RATE, rate.as_bps()),
            Target::Size(size) => (THALWEG_TARGET_SIZE, size.get()),
            Target::Quantizer(quantizer) => (THALWEG_TARGET_QUANTIZER, u64::from(*quantizer)),
            Target::Guess(size) => (THALWEG_TARGET_GUESS, size.get()),
        };
    }
    Encode {
        picture,
        interval: plan.interval.as_nanos(),
        flags,
        basis,
        basis_frame,
        keep: number(plan.keep),
        width: plan.size.width,
        height: plan.size.height,
        refers_to: buffer(refers_to),
        kept_in: buffer(kept_in),
        layer: plan.layer.number,
        layers: plan.layer.count,
        cores: plan.cores,
        n_targets: plan.targets.len().min(THALWEG_TARGETS) as u8,
        reserved: [0; 6],
        targets,
    }
}

fn transmit(packet: &Packet, clock: &Clock) -> Transmit {
    let Packet { sent, grace, before, requests_feedback, report_may_wait, content } = packet;
    let mut flags = 0;
    let mut flag = |set: bool, flag: u32| flags |= if set { flag } else { 0 };
    flag(*requests_feedback, THALWEG_TRANSMIT_ASKS);
    flag(*report_may_wait, THALWEG_TRANSMIT_MAY_WAIT);
    let (mut protects_first, mut protects_mask) = (0, [0; 2]);
    let (kind, number_of, fragment, length) = match content {
        Content::Media { sequence, fragment } => (THALWEG_KIND_MEDIA, *sequence, Some(fragment), fragment.length),
        Content::Retransmission { of, fragment } => (THALWEG_KIND_RETRANSMISSION, *of, Some(fragment), fragment.length),
        Content::Fec { protects } => {
            protects_first = protects.first();
            for place in protects.iter().map(|sequence| sequence - protects_first) {
                protects_mask[(place / 64) as usize] |= 1 << (place % 64);
            }
            (THALWEG_KIND_FEC, 0, None, 0)
        }
        Content::Audio { number, length } => (THALWEG_KIND_AUDIO, *number, None, *length),
        Content::Padding => (THALWEG_KIND_PADDING, 0, None, 0),
    };
    if let Some(Fragment { keyframe, index, count, .. }) = fragment {
        flag(*keyframe, THALWEG_TRANSMIT_KEYFRAME);
        flag(index + 1 == *count, THALWEG_TRANSMIT_LAST);
    }
    Transmit {
        id: sent.id.0,
        at: clock.caller(sent.at),
        bytes: sent.size.get(),
        before: before.get(),
        grace: grace.as_nanos(),
        payload: match sent.payload {
            Payload::Media => THALWEG_MEDIA,
            Payload::Padding => THALWEG_PADDING,
            Payload::Repair => THALWEG_REPAIR,
            Payload::Audio => THALWEG_AUDIO,
        },
        kind,
        number: number_of,
        probe: sent.probe.map_or(-1, i64::from),
        flags,
        length,
        frame: number(fragment.map(|fragment| fragment.frame)),
        picture: fragment.map_or(0, |fragment| fragment.picture),
        captured: fragment.map_or(0, |fragment| clock.caller(fragment.captured)),
        depends_on: number(fragment.and_then(|fragment| fragment.depends_on)),
        offset: fragment.map_or(0, |fragment| fragment.offset),
        index: fragment.map_or(0, |fragment| fragment.index),
        count: fragment.map_or(0, |fragment| fragment.count),
        layer: fragment.map_or(0, |fragment| fragment.layer),
        reserved: [0; 7],
        protects_first,
        protects_mask,
    }
}
