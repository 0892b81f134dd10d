//! Memory shared by host and module: bytes in, text out, the state. Atomics, because the host writes to them between
//! two calls; without threads they are plain memory.

use core::fmt;
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// Room for a name, or for a datagram.
pub const INPUT: usize = 1 << 16;
/// Room for an answer in words.
pub const TEXT: usize = 1 << 12;
/// Numbers of the state ([`crate::state::Field`]).
pub const STATE: usize = 32;

pub(crate) static BYTES_IN: [AtomicU8; INPUT] = [const { AtomicU8::new(0) }; INPUT];
pub(crate) static TEXT_OUT: [AtomicU8; TEXT] = [const { AtomicU8::new(0) }; TEXT];
pub(crate) static STATE_OUT: [AtomicU64; STATE] = [const { AtomicU64::new(0) }; STATE];

/// The first bytes that the host wrote, at most all that there are.
pub(crate) fn input(length: u32) -> Vec<u8> {
    BYTES_IN.iter().take(length as usize).map(|byte| byte.load(Relaxed)).collect()
}

/// Where the next byte of the text goes. Text that does not fit is cut off.
struct Writer(usize);

impl fmt::Write for Writer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            let Some(place) = TEXT_OUT.get(self.0) else { break };
            place.store(byte, Relaxed);
            self.0 += 1;
        }
        Ok(())
    }
}

/// Writes a text; returns its length.
pub(crate) fn say(text: fmt::Arguments<'_>) -> u32 {
    let mut writer = Writer(0);
    // Writing does not fail; what fails to show itself is cut off there.
    let _ = fmt::write(&mut writer, text);
    writer.0 as u32
}
