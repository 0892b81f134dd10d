//! Frames waiting for their references.

use std::collections::BTreeMap;

/// Max number of waiting frames: with more, what they wait for will not arrive (libwebrtc `kMaxFramesBuffered`).
pub(crate) const FRAMES: usize = 800;

/// Removes frame `number` from the waiting frames, and all earlier ones, which will never be shown.
pub(crate) fn take<F>(waiting: &mut BTreeMap<u64, F>, number: u64) -> Option<(F, BTreeMap<u64, F>)> {
    let later = waiting.split_off(&(number + 1));
    let mut before = std::mem::replace(waiting, later);
    let frame = before.remove(&number)?;
    Some((frame, before))
}
