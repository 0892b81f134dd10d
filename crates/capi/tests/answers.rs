//! Results of calls, and the ownership of objects afterwards.

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use thalweg_capi::controller::*;
use thalweg_capi::engine::*;
use thalweg_capi::error::*;
use thalweg_capi::limits::Limits;
use thalweg_units::{Ecn, Span, Time};
use thalweg_wire::rtcp::{self, Nack, NtpShort, Packet, Pli, ccfb};

const MS: u64 = 1_000_000;
const SSRC: u32 = 0x7468_616c;

fn message() -> String {
    // SAFETY: the text lasts until the next failure.
    unsafe { CStr::from_ptr(thalweg_last_error()) }.to_str().expect("UTF-8").into()
}

fn controller_config(scheme: &CStr) -> ControllerConfig {
    ControllerConfig {
        size: size_of::<ControllerConfig>() as u32,
        mode: THALWEG_SEEN,
        scheme: scheme.as_ptr(),
        toml: null(),
        start: 0,
        min: 0,
        max: 0,
        overhead: 0,
        raises_target: 0,
    }
}

fn engine_config(scheme: *const std::ffi::c_char) -> EngineConfig {
    EngineConfig {
        size: size_of::<EngineConfig>() as u32,
        flags: 0,
        scheme,
        toml: null(),
        controller: null_mut(),
        width: 1280,
        height: 720,
        max_payload: 0,
        interval: 33 * MS as i64,
        start: 0,
        min: 0,
        max: 0,
        overhead: 0,
        reserved: 0,
    }
}

#[test]
fn what_is_wrong_is_named_with_its_value_and_the_fix() {
    let mut controller = null_mut();
    let new = |config: &ControllerConfig, out: *mut *mut Controller| {
        // SAFETY: all that is passed lasts.
        (unsafe { thalweg_controller_new(config, 0, out) }, message())
    };
    let right = controller_config(c"gcc");
    assert_eq!(new(&right, null_mut()), (THALWEG_E_NULL, "out is NULL".into()));
    let (code, why) = new(&ControllerConfig { size: 8, ..right }, &raw mut controller);
    assert_eq!((code, &*why), (THALWEG_E_NULL, "scheme is NULL"), "a shorter structure has no scheme");
    let (code, why) = new(&ControllerConfig { size: 7, ..right }, &raw mut controller);
    assert!(code == THALWEG_E_SIZE && why.contains("must be sizeof(thalweg_controller_config), 56"), "{why}");
    let (code, why) = new(&ControllerConfig { mode: 2, ..right }, &raw mut controller);
    assert_eq!((code, &*why), (THALWEG_E_CONFIG, "mode is 2, must be THALWEG_SEEN or THALWEG_JOINED"));
    let (code, why) = new(&ControllerConfig { min: 9, max: 5, ..right }, &raw mut controller);
    assert!(code == THALWEG_E_CONFIG && why.contains("must be 0 < min <= start <= max"), "{why}");
    let (code, why) = new(&controller_config(c"camel"), &raw mut controller);
    assert!(code == THALWEG_E_CONFIG && why.contains("it measures the path by bursts"), "{why}");
    let (code, why) = new(&ControllerConfig { toml: c"x = [".as_ptr(), ..right }, &raw mut controller);
    assert!(code == THALWEG_E_PARSE && why.starts_with("toml: "), "{why}");
    assert!(controller.is_null());
    let mut engine = null_mut();
    // SAFETY: all that is passed lasts.
    let code = unsafe { thalweg_engine_new(&engine_config(c"salsify".as_ptr()), 0, &raw mut engine) };
    assert!(code == THALWEG_E_UNSUPPORTED && message().contains("its receiver keeps states"), "{}", message());
}

#[test]
fn a_joined_controller_knows_what_became_of_packets_and_says_what_it_cannot_see() {
    let config = ControllerConfig { mode: THALWEG_JOINED, ..controller_config(c"gcc") };
    let mut controller = null_mut();
    // SAFETY: all that is passed lasts; it is freed at the end.
    unsafe {
        assert_eq!(thalweg_controller_new(&raw const config, 0, &raw mut controller), 0);
        assert_eq!(thalweg_controller_on_lost(controller, 0, &7, 1), THALWEG_E_UNSUPPORTED);
        let size = size_of::<JoinedPacket>() as u32;
        for report in 0..100 {
            let packet = |number: u64| JoinedPacket {
                size,
                flags: 0,
                key: number,
                departed: 10 * MS * number,
                bytes: 1200,
                arrival: 10 * MS * number + 30 * MS,
            };
            let packets: Vec<_> = (10 * report..10 * report + 10).map(packet).collect();
            let now = (100 * report + 150) * MS;
            assert_eq!(thalweg_controller_join(controller, now, packets.as_ptr(), packets.len()), 0, "{}", message());
            assert_eq!(thalweg_controller_join(controller, now - 1, packets.as_ptr(), 1), THALWEG_E_TIME);
        }
        assert!(thalweg_controller_target(controller) > 600_000, "{}", thalweg_controller_target(controller));
        let mut stats: ControllerStats = std::mem::zeroed();
        stats.size = size_of::<ControllerStats>() as u32;
        assert_eq!(thalweg_controller_stats(controller, &raw mut stats), 0);
        assert_eq!((stats.blind, stats.unknown, stats.loss), (1, 0, 0.0));
        assert_eq!(thalweg_controller_set_sending(controller, 11_000 * MS, 1), 0);
        assert_eq!(thalweg_controller_stats(controller, &raw mut stats), 0);
        assert_eq!(stats.blind, 0);
        assert_eq!(thalweg_controller_free(controller), 0);
    }
}

unsafe extern "C" fn ignore(_: *mut c_void, _: *const ReportedFeedback) {}
unsafe extern "C" fn a_megabit(_: *mut c_void, limits: *mut Limits) {
    // SAFETY: they are the library's.
    unsafe { (*limits).capacity = 1_000_000 };
}
unsafe extern "C" fn count(drops: *mut c_void) {
    // SAFETY: a number, below.
    unsafe { *drops.cast::<u32>() += 1 };
}

#[test]
fn a_controller_in_c_is_the_callers_until_an_engine_has_it_and_is_dropped_once() {
    let (mut drops, mut own, mut engine) = (0u32, null_mut(), null_mut());
    let callbacks = Callbacks {
        size: size_of::<Callbacks>() as u32,
        report_size: size_of::<PacketReport>() as u32,
        on_feedback: Some(ignore),
        limits: Some(a_megabit),
        on_sent: None,
        on_demand: None,
        on_frame_queued: None,
        on_timeout: None,
        next_timeout: None,
    };
    // SAFETY: all that is passed lasts; everything is freed once.
    unsafe {
        let user = (&raw mut drops).cast();
        assert_eq!(thalweg_controller_from_callbacks(&raw const callbacks, user, Some(count), &raw mut own), 0);
        assert_eq!(thalweg_controller_on_timeout(own, 0), THALWEG_E_UNSUPPORTED);
        let mut config = EngineConfig { controller: own, ..engine_config(null()) };
        let narrow = EngineConfig { width: 1, ..config };
        assert_eq!(thalweg_engine_new(&raw const narrow, 0, &raw mut engine), THALWEG_E_CONFIG);
        assert_eq!(message(), "width x height is 1x720, must be 2 to 16382 each, such as 1280x720");
        assert_eq!(thalweg_engine_new(&raw const config, 0, &raw mut engine), 0, "{}", message());
        let mut limits: Limits = std::mem::zeroed();
        limits.size = size_of::<Limits>() as u32;
        assert_eq!(thalweg_engine_limits(engine, &raw mut limits), 0);
        assert_eq!((limits.capacity, limits.pacing, drops), (1_000_000, 1_000_000, 0));
        // Another scheme has a controller of its own.
        assert_eq!(thalweg_engine_change_scheme(engine, 0, c"gc".as_ptr(), null()), THALWEG_E_CONFIG);
        assert_eq!((thalweg_engine_change_scheme(engine, 0, c"gcc".as_ptr(), null()), drops), (0, 1));
        assert_eq!((thalweg_engine_free(engine), drops), (0, 1));
        // That of a scheme stays the caller's.
        let mut driven = null_mut();
        assert_eq!(thalweg_controller_new(&controller_config(c"gcc"), 0, &raw mut driven), 0);
        config.controller = driven;
        assert_eq!(thalweg_engine_new(&raw const config, 0, &raw mut engine), THALWEG_E_UNSUPPORTED);
        assert_eq!(thalweg_controller_free(driven), 0);
    }
}

/// A caller of an engine that writes each packet as RTP, with sequence numbers from 1000.
struct Caller {
    engine: *mut Engine,
    sequence: u16,
    sent: Vec<Transmit>,
    encoded: Vec<Encode>,
}

impl Caller {
    fn new() -> Caller {
        let mut engine = null_mut();
        let config = EngineConfig { start: 2_000_000, ..engine_config(c"gcc".as_ptr()) };
        // SAFETY: all that is passed lasts.
        assert_eq!(unsafe { thalweg_engine_new(&raw const config, 0, &raw mut engine) }, 0);
        Caller { engine, sequence: 1000, sent: Vec::new(), encoded: Vec::new() }
    }

    /// Polls until there is nothing to do before a later time.
    fn drain(&mut self, now: u64) {
        // SAFETY: the engine exists.
        unsafe {
            let mut output: EngineOutput = std::mem::zeroed();
            output.size = size_of::<EngineOutput>() as u32;
            loop {
                assert_eq!(thalweg_engine_poll(self.engine, &raw mut output), 0);
                match output.tag {
                    THALWEG_WAIT => return,
                    THALWEG_ENCODE => self.encode(now, output.of.encode),
                    THALWEG_TRANSMIT => self.write(output.of.transmit),
                    _ => {}
                }
            }
        }
    }

    fn encode(&mut self, now: u64, plan: Encode) {
        let Encode { width, height, layer, flags, .. } = plan;
        let size = size_of::<Encoded>() as u32;
        let flags = if flags & THALWEG_ENCODE_KEYFRAME != 0 { THALWEG_ENCODED_KEYFRAME } else { 0 };
        let frame = Encoded { size, flags, bytes: 2000, width, height, quantizer: -1, layer, reserved: [0; 9] };
        // SAFETY: the engine exists.
        assert_eq!(unsafe { thalweg_engine_on_encoded(self.engine, now, &raw const frame, 1) }, 0, "{}", message());
        self.encoded.push(plan);
    }

    fn write(&mut self, packet: Transmit) {
        // Retransmissions have a stream of their own.
        let media = packet.kind == THALWEG_KIND_MEDIA;
        let (ssrc, sequence) = if media { (SSRC, self.sequence) } else { (SSRC + 1, packet.id as u16) };
        // SAFETY: the engine exists.
        let answer = unsafe { thalweg_engine_on_written(self.engine, packet.id, ssrc, sequence) };
        assert_eq!(answer, 0, "{}", message());
        self.sequence += u16::from(media);
        self.sent.push(packet);
    }

    fn hear(&mut self, now: u64, packet: Packet) {
        let mut datagram = Vec::new();
        rtcp::write(&[packet], &mut datagram).expect("it fits");
        // SAFETY: the engine exists.
        let heard = unsafe { thalweg_engine_on_rtcp(self.engine, now, datagram.as_ptr(), datagram.len()) };
        assert_eq!(heard, 0, "{}", message());
        self.drain(now);
    }

    /// A picture each 33 ms, and the pacer's time in between.
    fn play(&mut self, from: u64, until: u64) {
        for ms in from..until {
            // SAFETY: the engine exists.
            unsafe {
                assert_eq!(thalweg_engine_on_timeout(self.engine, ms * MS), 0);
                if ms.is_multiple_of(33) {
                    assert_eq!(thalweg_engine_on_picture(self.engine, ms * MS, ms / 33), 0, "{}", message());
                }
            }
            self.drain(ms * MS);
        }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        // SAFETY: it is freed once.
        unsafe { thalweg_engine_free(self.engine) };
    }
}

#[test]
fn a_receiver_that_names_rtp_numbers_is_understood_once_packets_were_told() {
    let mut caller = Caller::new();
    caller.play(0, 200);
    let media = |caller: &Caller| caller.sent.iter().filter(|packet| packet.kind == THALWEG_KIND_MEDIA).count();
    assert!(media(&caller) >= 4, "{}", media(&caller));
    // RFC 8888: all but the second have arrived.
    let statuses = (0..4u64).map(|place| match place {
        1 => ccfb::Status::Missing,
        _ => ccfb::Status::Arrived { ecn: Ecn::NotCapable, offset: ccfb::Offset::of(Span::from_millis(20)) },
    });
    let stream = ccfb::Stream { ssrc: SSRC, begin: 1000, statuses: statuses.collect() };
    let report =
        ccfb::Feedback { sender_ssrc: 1, streams: vec![stream], reported: NtpShort::at(Time::from_millis(200)) };
    let in_flight = |caller: &Caller| {
        // SAFETY: the engine exists.
        unsafe {
            let mut stats: EngineStats = std::mem::zeroed();
            stats.size = size_of::<EngineStats>() as u32;
            assert_eq!(thalweg_engine_stats(caller.engine, &raw mut stats), 0);
            stats.in_flight
        }
    };
    let before = in_flight(&caller);
    caller.hear(200 * MS, Packet::CongestionFeedback(report));
    assert!(in_flight(&caller) < before, "{before} {}", in_flight(&caller));
    // A request for the second media packet brings that one again.
    caller.hear(205 * MS, Packet::Nack(Nack::of(1, SSRC, [1001])));
    caller.play(206, 230);

    let again: Vec<&Transmit> =
        caller.sent.iter().filter(|packet| packet.kind == THALWEG_KIND_RETRANSMISSION).collect();
    assert_eq!(again.iter().map(|packet| packet.number).collect::<Vec<_>>(), [1]);
    let first = caller.sent.iter().find(|packet| packet.kind == THALWEG_KIND_MEDIA && packet.number == 1).unwrap();
    assert_eq!((again[0].frame, again[0].offset, again[0].length), (first.frame, first.offset, first.length));
    // A request for a keyframe brings one.
    assert!(caller.encoded.iter().skip(1).all(|plan| plan.flags & THALWEG_ENCODE_KEYFRAME == 0));
    caller.hear(230 * MS, Packet::Pli(Pli { sender_ssrc: 1, media_ssrc: SSRC }));
    caller.play(231, 240);
    assert!(caller.encoded.last().unwrap().flags & THALWEG_ENCODE_KEYFRAME != 0);
    // A packet is reported once, and in order.
    // SAFETY: the engine exists.
    unsafe {
        let last = caller.sent.last().unwrap().id;
        assert_eq!(thalweg_engine_on_written(caller.engine, last, SSRC, caller.sequence), THALWEG_E_ORDER);
        assert_eq!(thalweg_engine_on_written(caller.engine, last + 1, SSRC, caller.sequence), THALWEG_E_ORDER);
        assert_eq!(thalweg_engine_on_encoded(caller.engine, 270 * MS, null(), 0), THALWEG_E_ORDER);
        assert_eq!(thalweg_engine_on_picture(caller.engine, 270 * MS, 3), THALWEG_E_ORDER);
    }
    assert!(message().starts_with("picture is 3, must be higher than "), "{}", message());
}
