//! Frames that wait for what they refer to.

use std::collections::BTreeMap;

/// How many frames may wait: with more, whatever they wait for will not come (libwebrtc `kMaxFramesBuffered`).
pub(crate) const FRAMES: usize = 800;

/// Takes out frame `number` of those that wait, and all before it, which will never be shown.
pub(crate) fn take<F>(waiting: &mut BTreeMap<u64, F>, number: u64) -> Option<(F, BTreeMap<u64, F>)> {
    let later = waiting.split_off(&(number + 1));
    let mut before = std::mem::replace(waiting, later);
    let frame = before.remove(&number)?;
    Some((frame, before))
}
