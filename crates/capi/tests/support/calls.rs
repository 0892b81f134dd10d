//! Plays calls in any order with anything passed: for tests/calls.rs, and for libFuzzer (fuzz/src/capi.rs).

use std::ffi::{CStr, CString, c_char, c_void};
use std::marker::PhantomData;
use std::ptr::{null, null_mut};

use thalweg_capi::controller::*;
use thalweg_capi::engine::*;
use thalweg_capi::error::*;
use thalweg_capi::limits::Limits;
use thalweg_capi::schemes::thalweg_schemes;

/// A call, and numbers for what it is passed.
#[derive(Debug, Clone)]
pub struct Step {
    pub call: u8,
    pub numbers: [u64; 4],
    /// How much later than the one before, ns.
    pub later: u64,
    /// 0 a NULL; 1 a size that is wrong; else all right. From 14 and from 28 on, other RTCP; from 31 on nothing is
    /// polled.
    pub wrong: u8,
    /// A datagram.
    pub bytes: Vec<u8>,
}

impl Step {
    fn size<T>(&self) -> u32 {
        match self.wrong {
            1 => self.numbers[3] as u32,
            _ => size_of::<T>() as u32,
        }
    }

    /// Structures one after the other, with room behind them for whatever size they say.
    fn laid<T: Copy>(&self, all: &[T]) -> Laid<T> {
        const MOST: usize = 4096 * 64;
        let room = if self.wrong == 1 { MOST } else { size_of_val(all) };
        let mut memory = vec![0u64; room.div_ceil(size_of::<u64>())];
        // SAFETY: there is room for them, and both are aligned.
        unsafe { all.as_ptr().copy_to_nonoverlapping(memory.as_mut_ptr().cast(), all.len()) };
        Laid { memory, null: self.wrong == 0, of: PhantomData }
    }

    /// An arrival, or none for one packet in seven.
    fn arrival(&self, key: u64) -> u64 {
        if key.is_multiple_of(7) { u64::MAX } else { self.numbers[1].wrapping_add(key.wrapping_mul(1000)) }
    }

    /// Fewer than fifty keys.
    fn keys(&self) -> std::ops::Range<u64> {
        self.numbers[0]..self.numbers[0].saturating_add(self.numbers[2] % 50)
    }

    fn acks(&self) -> Vec<Ack> {
        let (size, ce) = (self.size::<Ack>(), (self.numbers[3] % 2) as u32);
        self.keys().map(|key| Ack { size, ce, key, arrival: self.arrival(key) }).collect()
    }
}

/// Data laid out by [`Step::laid`].
struct Laid<T> {
    memory: Vec<u64>,
    null: bool,
    of: PhantomData<T>,
}

impl<T> Laid<T> {
    fn pointer(&self) -> *const T {
        if self.null { null() } else { self.memory.as_ptr().cast() }
    }
}

fn check(call: &str, answer: i32) {
    // SAFETY: the message lasts until the next call.
    let why = || unsafe { CStr::from_ptr(thalweg_last_error()) }.to_string_lossy().into_owned();
    let known = (THALWEG_E_MEMORY..=3).contains(&answer) && answer != THALWEG_E_PANIC;
    assert!(known && (answer >= 0 || !why().is_empty()), "{call}: {answer} {}", why());
}

unsafe extern "C" fn ignore(_: *mut c_void, _: *const c_char, _: f64) {}
unsafe extern "C" fn ignore_event(_: *mut c_void, json: *const c_char) {
    // SAFETY: it is a text.
    let json = unsafe { CStr::from_ptr(json) }.to_str().expect("UTF-8");
    assert!(json.starts_with("{\"time_ns\":") && json.ends_with('}'), "{json}");
}

/// The names of the schemes for which `takes` is set: THALWEG_FOR_CONTROLLER or THALWEG_FOR_ENGINE.
pub fn names(takes: u32) -> Vec<CString> {
    unsafe extern "C" fn each(user: *mut c_void, name: *const c_char, _: *const c_char, takes: u32) {
        // SAFETY: `user` is what is passed below, and the name a text.
        unsafe { (*user.cast::<Vec<(CString, u32)>>()).push((CStr::from_ptr(name).to_owned(), takes)) };
    }
    let mut all: Vec<(CString, u32)> = Vec::new();
    // SAFETY: `each` takes what is passed.
    assert_eq!(unsafe { thalweg_schemes(Some(each), (&raw mut all).cast()) }, 0);
    all.into_iter().filter(|(_, all)| all & takes != 0).map(|(name, _)| name).collect()
}

/// A controller "in C" whose limits are whatever the case says.
struct Fickle {
    numbers: Vec<u64>,
    next: usize,
    freed: bool,
}

impl Fickle {
    unsafe extern "C" fn on_feedback(_: *mut c_void, feedback: *const ReportedFeedback) {
        // SAFETY: valid during the call.
        let feedback = unsafe { &*feedback };
        // SAFETY: there are as many.
        let reports = unsafe { std::slice::from_raw_parts(feedback.reports, feedback.count as usize) };
        assert!(reports.iter().all(|report| report.bytes > 0));
    }

    unsafe extern "C" fn limits(user: *mut c_void, limits: *mut Limits) {
        // SAFETY: `user` is a `Fickle`, and the limits are the library's.
        let (fickle, limits) = unsafe { (&mut *user.cast::<Fickle>(), &mut *limits) };
        let mut number = || {
            fickle.next += 1;
            fickle.numbers[fickle.next % fickle.numbers.len()]
        };
        (limits.has, limits.window, limits.pacing, limits.capacity) = (number() as u32, number(), number(), number());
        (limits.burst, limits.padding, limits.frame, limits.period) =
            (number(), number() % 100_000, number(), number());
        (limits.fec_interval, limits.probe_cluster, limits.probe_packets) = (number() as u32, 3, number() as u32 % 20);
        (limits.probe_rate, limits.probe_bytes, limits.probe_spacing) = (number(), number() % 20_000, number() as i64);
    }

    unsafe extern "C" fn dropped(user: *mut c_void) {
        // SAFETY: `user` is a `Fickle`.
        unsafe { (*user.cast::<Fickle>()).freed = true };
    }
}

/// # Safety
/// `controller` exists.
unsafe fn on_controller(controller: *mut Controller, now: &mut u64, step: &Step) {
    let (last, [a, b, c, d]) = (now, step.numbers);
    let now = last.wrapping_add(step.later);
    // SAFETY: there is as much memory as the largest size that is not refused.
    unsafe {
        let answer = match step.call % 15 {
            0..=3 => {
                let (probe, frame) = ((c % 9) as i64 - 1, (d % 9) as i64 - 1);
                let flags = (a % 64) as u32;
                let sent = Sent {
                    size: step.size::<Sent>(),
                    payload: (b % 5) as i32,
                    at: now,
                    bytes: 1 + c % 1500,
                    key: a,
                    probe,
                    frame,
                    flags,
                    reserved: 0,
                    offset: d,
                    captured: b,
                    ssrc: 7,
                    sequence: a as u32 % 70_000,
                };
                thalweg_controller_on_sent(controller, step.laid(&[sent]).pointer(), null_mut())
            }
            4..=6 => {
                let acks = step.acks();
                thalweg_controller_on_acks(controller, now, step.laid(&acks).pointer(), acks.len(), d as i64)
            }
            7 => thalweg_controller_on_lost(controller, now, step.numbers.as_ptr(), 4),
            8 => {
                let joined = |key: u64| JoinedPacket {
                    size: step.size::<JoinedPacket>(),
                    flags: (d % 4) as u32,
                    key,
                    departed: b.wrapping_add(key),
                    bytes: 1 + c % 1500,
                    arrival: step.arrival(key),
                };
                let all: Vec<JoinedPacket> = step.keys().map(joined).collect();
                thalweg_controller_join(controller, now, step.laid(&all).pointer(), all.len())
            }
            9 => {
                let mut rtcp =
                    vec![0x8f, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0, (a % 64) as u8, 0, 4, 0, 0, 0, 1, 0xa2, 0, 0, 0];
                rtcp[20..].copy_from_slice(&b.to_be_bytes()[4..]);
                let datagram = if step.wrong < 20 { &rtcp } else { &step.bytes };
                thalweg_controller_on_rtcp(controller, now, datagram.as_ptr(), datagram.len())
            }
            10 => thalweg_controller_on_demand(controller, now, a, b),
            11 => {
                let queued = Queued {
                    size: step.size::<Queued>(),
                    reserved: 0,
                    bytes: a,
                    interval: b as i64,
                    ahead: c,
                    age: d as i64,
                };
                thalweg_controller_on_frame_queued(controller, now, step.laid(&[queued]).pointer())
            }
            12 => thalweg_controller_set_sending(controller, now, (a % 2) as i32),
            13 => thalweg_controller_on_timeout(controller, now),
            _ => thalweg_controller_inspect(controller, (step.wrong > 0).then_some(ignore), null_mut()),
        };
        check(&format!("{step:?}"), answer);
        if answer >= 0 {
            *last = now;
        }
        let mut limits: Limits = std::mem::zeroed();
        limits.size = size_of::<Limits>() as u32;
        check("limits", thalweg_controller_limits(controller, &raw mut limits));
        assert!(limits.target >= 1 && limits.target <= 1_000_000_000_000, "{:?}", limits);
        assert!(thalweg_controller_next_timeout(controller) > 0);
        let mut stats: ControllerStats = std::mem::zeroed();
        stats.size = size_of::<ControllerStats>() as u32;
        check("stats", thalweg_controller_stats(controller, &raw mut stats));
        let mut decision: ReportedDecision = std::mem::zeroed();
        decision.size = size_of::<ReportedDecision>() as u32;
        while thalweg_controller_poll_decision(controller, &raw mut decision) == 1 {}
    }
}

/// # Safety
/// `engine` exists.
unsafe fn on_engine(engine: *mut Engine, now: &mut u64, step: &Step, names: &[CString]) {
    let (last, [a, b, c, d]) = (now, step.numbers);
    let now = last.wrapping_add(step.later);
    // SAFETY: as above.
    unsafe {
        let answer = match step.call % 16 {
            0..=3 => thalweg_engine_on_picture(engine, now, now / 1000),
            4 => {
                let encoded = Encoded {
                    size: step.size::<Encoded>(),
                    flags: (a % 2) as u32,
                    bytes: b,
                    width: 640,
                    height: c as u16,
                    quantizer: d as i16,
                    layer: a as u8,
                    reserved: [0; 9],
                };
                thalweg_engine_on_encoded(engine, now, step.laid(&[encoded]).pointer(), (a % 2) as usize)
            }
            5 => thalweg_engine_on_audio(engine, now, a, b as u32),
            6 | 7 => {
                let acks = step.acks();
                thalweg_engine_on_acks(engine, now, step.laid(&acks).pointer(), acks.len(), d as i64)
            }
            8 => thalweg_engine_on_missing(engine, now, step.numbers.as_ptr(), 4),
            9 => thalweg_engine_on_keyframe_request(engine, now),
            10 => thalweg_engine_on_timeout(engine, now),
            11 => thalweg_engine_on_written(engine, a, (b % 10) as u32, c as u16),
            12 => thalweg_engine_change_scheme(engine, now, names[a as usize % names.len()].as_ptr(), null()),
            13 => thalweg_engine_set_ceiling(engine, now, a.wrapping_mul(10_000)),
            14 => {
                let pli = [0x81, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, (b % 10) as u8];
                let nack = [0x81, 205, 0, 3, 0, 0, 0, 1, 0, 0, 0, (b % 10) as u8, 0, c as u8, d as u8, 7];
                let datagram: &[u8] = if step.wrong < 14 {
                    &pli
                } else if step.wrong < 28 {
                    &nack
                } else {
                    &step.bytes
                };
                thalweg_engine_on_rtcp(engine, now, datagram.as_ptr(), datagram.len())
            }
            _ => thalweg_engine_drain_events(engine, (step.wrong > 0).then_some(ignore_event), null_mut()),
        };
        check(&format!("{step:?}"), answer);
        if answer >= 0 {
            *last = now;
        }
        if step.wrong > 30 {
            // A caller that forgets to poll.
            return;
        }
        let mut output: EngineOutput = std::mem::zeroed();
        output.size = size_of::<EngineOutput>() as u32;
        let mut polls = 0;
        loop {
            check("poll", thalweg_engine_poll(engine, &raw mut output));
            match output.tag {
                THALWEG_WAIT => break,
                THALWEG_ENCODE if step.wrong > 3 => {
                    let plan = output.of.encode;
                    assert!(plan.n_targets >= 1 && usize::from(plan.n_targets) <= THALWEG_TARGETS);
                    let flags = plan.flags & THALWEG_ENCODE_KEYFRAME;
                    let encoded = Encoded {
                        size: size_of::<Encoded>() as u32,
                        flags,
                        bytes: 1 + b % 60_000,
                        width: plan.width,
                        height: plan.height,
                        quantizer: -1,
                        layer: plan.layer,
                        reserved: [0; 9],
                    };
                    let answer = thalweg_engine_on_encoded(engine, *last, &raw const encoded, 1);
                    check("encoded", answer);
                }
                THALWEG_TRANSMIT => {
                    let packet = output.of.transmit;
                    check(
                        "written",
                        thalweg_engine_on_written(engine, packet.id, packet.kind as u32, packet.id as u16),
                    );
                }
                _ => {}
            }
            polls += 1;
            assert!(polls < 200_000, "it never waits: {:?}", step);
        }
        let mut limits: Limits = std::mem::zeroed();
        limits.size = size_of::<Limits>() as u32;
        check("limits", thalweg_engine_limits(engine, &raw mut limits));
        let mut stats: EngineStats = std::mem::zeroed();
        stats.size = size_of::<EngineStats>() as u32;
        check("stats", thalweg_engine_stats(engine, &raw mut stats));
    }
}

/// A controller from its beginning to its end; whether there was one.
pub fn play_controller(scheme: &CStr, toml: Option<&CStr>, mode: i32, start: u64, steps: &[Step]) -> bool {
    let size = size_of::<ControllerConfig>() as u32;
    let (scheme, toml) = (scheme.as_ptr(), toml.map_or(null(), CStr::as_ptr));
    let (min, max, overhead, raises_target) = (0, 0, 38, 1);
    let config = ControllerConfig { size, mode, scheme, toml, start, min, max, overhead, raises_target };
    let (mut controller, mut now) = (null_mut(), 1_000_000);
    // SAFETY: all that is passed lasts; the controller is freed once.
    unsafe {
        check("new", thalweg_controller_new(&raw const config, now, &raw mut controller));
        if controller.is_null() {
            return false;
        }
        for step in steps {
            on_controller(controller, &mut now, step);
        }
        assert_eq!(thalweg_controller_free(controller), 0);
    }
    true
}

/// An engine from its beginning to its end, with a controller "in C" that answers with these numbers, if there are any;
/// whether there was one.
pub fn play_engine(scheme: Option<&CStr>, toml: Option<&CStr>, own: Option<Vec<u64>>, steps: &[Step]) -> bool {
    let names = names(thalweg_capi::schemes::THALWEG_FOR_ENGINE);
    let mut config = EngineConfig {
        size: size_of::<EngineConfig>() as u32,
        flags: THALWEG_KEEP_EVENTS,
        scheme: scheme.map_or(null(), CStr::as_ptr),
        toml: toml.map_or(null(), CStr::as_ptr),
        controller: null_mut(),
        width: 640,
        height: 480,
        max_payload: 0,
        interval: 33_333_333,
        start: 0,
        min: 0,
        max: 0,
        overhead: 0,
        reserved: 0,
    };
    let has_own = own.is_some();
    let mut fickle = Fickle { numbers: own.unwrap_or_default(), next: 0, freed: false };
    let callbacks = Callbacks {
        size: size_of::<Callbacks>() as u32,
        report_size: size_of::<PacketReport>() as u32,
        on_feedback: Some(Fickle::on_feedback),
        limits: Some(Fickle::limits),
        on_sent: None,
        on_demand: None,
        on_frame_queued: None,
        on_timeout: None,
        next_timeout: None,
    };
    let (mut engine, mut now) = (null_mut(), 1_000_000);
    // SAFETY: all that is passed lasts; the engine, or the controller that it did not take, is freed once.
    unsafe {
        if has_own {
            let (user, out) = ((&raw mut fickle).cast(), &raw mut config.controller);
            let answer = thalweg_controller_from_callbacks(&raw const callbacks, user, Some(Fickle::dropped), out);
            check("callbacks", answer);
        }
        check("new", thalweg_engine_new(&raw const config, now, &raw mut engine));
        if engine.is_null() {
            assert_eq!(thalweg_controller_free(config.controller), 0);
        }
        for step in steps.iter().filter(|_| !engine.is_null()) {
            on_engine(engine, &mut now, step, &names);
        }
        assert_eq!(thalweg_engine_free(engine), 0);
    }
    assert_eq!(fickle.freed, has_own);
    !engine.is_null()
}
