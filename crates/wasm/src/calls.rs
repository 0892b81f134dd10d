//! The functions that a host calls.

use core::cell::RefCell;
use core::fmt::Display;
use core::sync::atomic::{AtomicU8, AtomicU64};
use std::string::String;

use thalweg_control::Payload;
use thalweg_driver::{Config, Departure, Driver, RtcpFeedback, playable};
use thalweg_units::{Bytes, Rate, Time, check};

use crate::memory::{BYTES_IN, INPUT, STATE_OUT, TEXT_OUT, input, say};
use crate::state::{panicked, show};

/// The largest datagram.
const LARGEST: u32 = 65_535;
/// The latest time: sums of times do not overflow.
const LATEST: u64 = 1 << 62;

thread_local! {
    static DRIVER: RefCell<Option<Driver>> = const { RefCell::new(None) };
}

/// Calls the driver and shows what it says then; answers the length of a refusal.
fn call<E: Display>(action: impl FnOnce(&mut Driver) -> Result<(), E>) -> u32 {
    DRIVER.with_borrow_mut(|driver| {
        let Some(driver) = driver else { return say(format_args!("no controller: call thalweg_create first")) };
        let refused = action(driver).map_or_else(|refused| say(format_args!("{refused}")), |()| 0);
        show(driver);
        refused
    })
}

/// A call that is refused with the value, the range and the fix.
fn timed(at: u64, action: impl FnOnce(&mut Driver, Time) -> Result<(), String>) -> u32 {
    call(|driver| {
        check("time", at).within(0..=LATEST, "1000000000 ns").map_err(|error| error.to_string())?;
        action(driver, Time::from_nanos(at))
    })
}

/// Where the host writes names and datagrams: 65,536 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn thalweg_input() -> *const AtomicU8 {
    BYTES_IN.as_ptr()
}

/// Where texts stand: 4,096 bytes of UTF-8.
#[unsafe(no_mangle)]
pub extern "C" fn thalweg_text() -> *const AtomicU8 {
    TEXT_OUT.as_ptr()
}

/// Where the state stands: 32 numbers of 64 bits ([`crate::state::Field`]).
#[unsafe(no_mangle)]
pub extern "C" fn thalweg_state() -> *const AtomicU64 {
    STATE_OUT.as_ptr()
}

/// Makes the controller of the scheme whose name stands in the input, or another in its place.
#[unsafe(no_mangle)]
pub extern "C" fn thalweg_create(name: u32, start: u64, min: u64, max: u64, overhead: u32) -> u32 {
    std::panic::set_hook(Box::new(|panic| panicked(say(format_args!("{panic}")))));
    let bytes = input(name);
    let [start, min, max] = [start, min, max].map(Rate::from_bps);
    let config = Config::new(start, min, max).with_overhead(Bytes::new(overhead.into()));
    match Driver::named(&String::from_utf8_lossy(&bytes), config) {
        Ok(driver) => {
            show(&driver);
            DRIVER.set(Some(driver));
            0
        }
        Err(refused) => say(format_args!("{refused}")),
    }
}

/// A packet leaves. `payload` is 0 for media, 1 for padding, 2 for repair, 3 for audio; `probe` the number of its probe,
/// 0xffffffff for none; its RTP stream is always known.
#[unsafe(no_mangle)]
pub extern "C" fn thalweg_sent(
    at: u64,
    key: u64,
    size: u32,
    payload: u32,
    probe: u32,
    ssrc: u32,
    sequence: u32,
    app_limited: u32,
) -> u32 {
    timed(at, |driver, at| {
        check("size", size).within(1..=LARGEST, "1200").map_err(|error| error.to_string())?;
        check("payload", payload).within(0..=3, "0 for media").map_err(|error| error.to_string())?;
        let mut departure = Departure::new(key, Bytes::new(size.into()));
        departure.payload = [Payload::Media, Payload::Padding, Payload::Repair, Payload::Audio][payload as usize];
        departure.probe = (probe != u32::MAX).then_some(probe);
        departure.stream = Some((ssrc, sequence as u16));
        departure.app_limited = app_limited != 0;
        driver.on_sent(at, departure).map(drop).map_err(|error| error.to_string())
    })
}

/// The receiver's RTCP, of which so many bytes stand in the input.
#[unsafe(no_mangle)]
pub extern "C" fn thalweg_rtcp(at: u64, length: u32) -> u32 {
    timed(at, |driver, at| {
        check("length", length).within(0..=INPUT as u32, "60").map_err(|error| error.to_string())?;
        // Requests for packets and keyframes are answered by the host.
        driver.on_rtcp(at, &input(length)).map(drop::<Vec<RtcpFeedback>>).map_err(|error| error.to_string())
    })
}

/// To be called at the state's next timeout.
#[unsafe(no_mangle)]
pub extern "C" fn thalweg_timeout(at: u64) -> u32 {
    timed(at, |driver, at| {
        driver.on_timeout(at);
        Ok(())
    })
}

/// The application can use targets between `min` and `max` from now on.
#[unsafe(no_mangle)]
pub extern "C" fn thalweg_demand(at: u64, min: u64, max: u64) -> u32 {
    timed(at, |driver, at| {
        driver.on_demand(at, Rate::from_bps(min), Rate::from_bps(max)).map_err(|error| error.to_string())
    })
}

/// The next decision not yet polled, as `TIME FROM TO WHAT: WHY`, in ns and bit/s; no text if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn thalweg_decision() -> u32 {
    let decision = DRIVER.with_borrow_mut(|driver| driver.as_mut().and_then(Driver::poll_decision));
    decision.map_or(0, |decided| {
        let (at, from, to) = (decided.at.as_nanos(), decided.from.as_bps(), decided.to.as_bps());
        say(format_args!("{at} {from} {to} {}: {}", decided.what, decided.why))
    })
}

/// The names that [`thalweg_create`] knows, one a line.
#[unsafe(no_mangle)]
pub extern "C" fn thalweg_schemes() -> u32 {
    say(format_args!("{}", playable().collect::<Vec<_>>().join("\n")))
}

/// Panics, so that a host's test sees what becomes of it.
#[unsafe(no_mangle)]
pub extern "C" fn thalweg_panic() -> u32 {
    panic!("called to panic")
}
