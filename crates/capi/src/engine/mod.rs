//! The whole sender: `thalweg_sender::Engine`, in C.

mod bounds;
mod config;
mod events;
mod frames;
mod numbers;
mod output;
mod state;
mod stats;

use std::ffi::{CString, c_char, c_void};

use thalweg_control::{Acknowledgement, PacketId};
use thalweg_units::{Ecn, Rate};

pub use config::{EngineConfig, THALWEG_KEEP_EVENTS};
pub use frames::{Encoded, THALWEG_ENCODED_KEYFRAME};
pub use output::{
    Asked, Commit, Encode, EngineOutput, Forget, FrameTarget, THALWEG_BASIS_AFTER, THALWEG_BASIS_BUFFERS,
    THALWEG_BASIS_LATEST, THALWEG_BUFFER_ALTREF, THALWEG_BUFFER_GOLDEN, THALWEG_BUFFER_NONE, THALWEG_COMMIT,
    THALWEG_ENCODE, THALWEG_ENCODE_BECOMES_LAST, THALWEG_ENCODE_FROM_LAST, THALWEG_ENCODE_KEYFRAME,
    THALWEG_ENCODE_MAY_DROP, THALWEG_ENCODE_SENDABLE, THALWEG_FORGET, THALWEG_KIND_AUDIO, THALWEG_KIND_FEC,
    THALWEG_KIND_MEDIA, THALWEG_KIND_PADDING, THALWEG_KIND_RETRANSMISSION, THALWEG_TARGET_GUESS,
    THALWEG_TARGET_QUANTIZER, THALWEG_TARGET_RATE, THALWEG_TARGET_SIZE, THALWEG_TARGETS, THALWEG_TRANSMIT,
    THALWEG_TRANSMIT_ASKS, THALWEG_TRANSMIT_KEYFRAME, THALWEG_TRANSMIT_LAST, THALWEG_TRANSMIT_MAY_WAIT, THALWEG_WAIT,
    Transmit, Wait,
};
use state::State;
pub use stats::EngineStats;

use crate::controller::{Ack, held};
use crate::error::Error;
use crate::handle::{Handle, Opaque, call, free, make};
use crate::limits::Limits;
use crate::schemes::checked;
use crate::sized::{read, read_all, slice, writable, write};
use crate::text::text;

/// Max payload of an audio packet.
const LARGEST_AUDIO: u32 = 65_000;

/// A sender of one video, and of audio along with it.
pub struct Engine(Handle<Box<State>>);

impl Opaque for Engine {
    type State = Box<State>;
    const NAME: &'static str = "engine";

    fn new(handle: Handle<Box<State>>) -> Engine {
        Engine(handle)
    }

    fn handle(&self) -> &Handle<Box<State>> {
        &self.0
    }

    fn into_handle(self) -> Handle<Box<State>> {
        self.0
    }
}

/// A sender for one camera, before its first picture. `now` begins its clock: ns of any monotonic clock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_engine_new(config: *const EngineConfig, now: u64, out: *mut *mut Engine) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe { make(out, || Ok(Box::new(read(config)?.state(now)?))) }
}

/// Ends it. NULL is fine. THALWEG_E_BUSY while a call runs: then it goes on to exist.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_engine_free(engine: *mut Engine) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe { free(engine) }
}

/// The camera delivered a picture; `number` is the caller's for it, higher each time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_engine_on_picture(engine: *mut Engine, now: u64, number: u64) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe { call(engine, |state| state.on_picture(now, number).map(|()| 0)) }
}

/// The candidates that the encoder made of the picture asked for (THALWEG_ENCODE), in the order of the targets; none
/// when its rate control dropped the picture.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_engine_on_encoded(
    engine: *mut Engine,
    now: u64,
    candidates: *const Encoded,
    count: usize,
) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(engine, |state| {
            let candidates = read_all(candidates, count)?;
            let candidates = candidates.iter().map(Encoded::frame).collect::<Result<Vec<_>, _>>()?;
            state.on_encoded(now, &candidates).map(|()| 0)
        })
    }
}

/// An audio packet of `bytes` payload bytes, at most 65000, is to leave next; `number` is the caller's for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_engine_on_audio(engine: *mut Engine, now: u64, number: u64, bytes: u32) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(engine, |state| {
            if bytes > LARGEST_AUDIO {
                return Err(Error::range("bytes", bytes, format_args!("at most {LARGEST_AUDIO}, such as 160")));
            }
            let now = state.advance(now)?;
            state.engine.on_audio(now, number, bytes);
            Ok(0)
        })
    }
}

/// The receiver's RTCP, decrypted: transport-wide feedback, whose numbers are the low 16 bits of `thalweg_transmit.id`;
/// RFC 8888, receiver reports, and requests for packets and keyframes, once packets were reported
/// (thalweg_engine_on_written).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_engine_on_rtcp(
    engine: *mut Engine,
    now: u64,
    datagram: *const u8,
    length: usize,
) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(engine, |state| {
            let datagram = slice(datagram, length, "datagram")?;
            state.on_rtcp(now, datagram).map(|()| 0)
        })
    }
}

/// A report on `count` packets by their ids, where it is not RTCP. `hold` as in thalweg_controller_on_acks. A caller that
/// hears of arrivals alone names the missing packets too, with THALWEG_NEVER: `gcc` takes a packet that no report names
/// for one whose report was lost, as libwebrtc does, and not for lost.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_engine_on_acks(
    engine: *mut Engine,
    now: u64,
    acks: *const Ack,
    count: usize,
    hold: i64,
) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(engine, |state| {
            let acks = read_all(acks, count)?;
            let acknowledged = |ack: &Ack| {
                let (id, ecn) = (PacketId(ack.key), Ecn::of_mark(ack.ce != 0));
                Ok(Acknowledgement::new(id, ack.arrival()?).with_ecn(ecn))
            };
            let acks = acks.iter().map(acknowledged).collect::<Result<Vec<_>, Error>>()?;
            state.on_acks(now, acks, held(hold)?).map(|()| 0)
        })
    }
}

/// The receiver reported these media packets missing (`thalweg_transmit.number`), otherwise than by RTCP.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_engine_on_missing(
    engine: *mut Engine,
    now: u64,
    numbers: *const u64,
    count: usize,
) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(engine, |state| {
            let numbers = slice(numbers, count, "numbers")?;
            let now = state.advance(now)?;
            state.engine.on_missing(now, numbers);
            Ok(0)
        })
    }
}

/// The receiver requested a keyframe, otherwise than by RTCP.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_engine_on_keyframe_request(engine: *mut Engine, now: u64) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(engine, |state| {
            let now = state.advance(now)?;
            state.engine.on_keyframe_request(now);
            Ok(0)
        })
    }
}

/// The time of the last THALWEG_WAIT has come. Early and late calls do no harm.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_engine_on_timeout(engine: *mut Engine, now: u64) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(engine, |state| {
            let now = state.advance(now)?;
            state.engine.on_timeout(now);
            Ok(0)
        })
    }
}

/// The caller wrote packet `id` of THALWEG_TRANSMIT as RTP packet `sequence` of stream `ssrc`. Needed only where
/// reports or requests name RTP numbers: RFC 8888, receiver reports, NACK, PLI. In the order of sending.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_engine_on_written(engine: *mut Engine, id: u64, ssrc: u32, sequence: u16) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe { call(engine, |state| state.on_written(id, ssrc, sequence).map(|()| 0)) }
}

/// Changes to another scheme, with `toml` as in thalweg_engine_config or NULL, and its own controller. The queue is
/// thrown away and the next frame is a keyframe. If the call fails, nothing has changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_engine_change_scheme(
    engine: *mut Engine,
    now: u64,
    scheme: *const c_char,
    toml: *const c_char,
) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(engine, |state| {
            let (scheme, toml) = (text(scheme, "scheme")?, text(toml, "toml")?);
            let scheme = scheme.ok_or_else(|| Error::null("scheme"))?;
            state.change_scheme(now, scheme, toml).map(|()| 0)
        })
    }
}

/// Sets the most that may be sent by whatever scheme, bit/s from the IP header up; 0 for no limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_engine_set_ceiling(engine: *mut Engine, now: u64, rate: u64) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(engine, |state| {
            let rate = checked("rate", rate)?;
            let now = state.advance(now)?;
            state.engine.set_ceiling(now, (rate > Rate::ZERO).then_some(rate));
            Ok(0)
        })
    }
}

/// Everything that the controller allows; rates are from the IP header up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_engine_limits(engine: *mut Engine, limits: *mut Limits) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(engine, |state| {
            let allowed = state.engine.limits();
            write(limits, &Limits::new(allowed, allowed.capacity, |wire| wire))?;
            Ok(0)
        })
    }
}

/// Diagnostics: smoothed RTT, bytes in flight, queue, loss.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_engine_stats(engine: *mut Engine, stats: *mut EngineStats) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(engine, |state| {
            write(stats, &EngineStats::new(&state.engine))?;
            Ok(0)
        })
    }
}

/// Passes what happened since the last call to `each`, oldest first: a JSON object with the columns of
/// docs/reference/events.md, valid during the call. None without THALWEG_KEEP_EVENTS.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_engine_drain_events(
    engine: *mut Engine,
    each: Option<unsafe extern "C" fn(user: *mut c_void, json: *const c_char)>,
    user: *mut c_void,
) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(engine, |state| {
            let each = each.ok_or_else(|| Error::null("each"))?;
            while let Some(event) = state.next_event() {
                let json = CString::new(events::json(&event, &state.clock)).unwrap_or_default();
                each(user, json.as_ptr());
            }
            Ok(0)
        })
    }
}

/// The next thing to do. After each call that changes something, to be called until it says THALWEG_WAIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_engine_poll(engine: *mut Engine, output: *mut EngineOutput) -> i32 {
    // SAFETY: the caller's, by the rules of the header.
    unsafe {
        call(engine, |state| {
            writable(output)?;
            let next = state.poll();
            write(output, &EngineOutput::new(&next, &state.clock))?;
            Ok(0)
        })
    }
}
