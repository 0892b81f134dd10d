//! Signs that this machine does not keep up, for viewers and the log.

use thalweg_units::Time;

use crate::publish::messages::Key;
use crate::publish::overload::{LATE_PACKET, SECONDS};
use crate::publish::sources::pictures::Pictures;
use crate::publish::viewers::schedule::Viewers;
use crate::publish::viewers::viewer::Viewer;

/// Signs that this machine is too slow, in sentences for a viewer.
pub(crate) fn too_slow(now: Time, pictures: &Pictures, viewer: &Viewer) -> Vec<String> {
    let interval = pictures.format.interval().as_millis_f64();
    let camera = pictures
        .camera
        .verdict(now)
        .map(|verdict| format!("the camera missed {} of {} frames in {SECONDS} s", verdict.late, verdict.all));
    let encoder = viewer.encode_times.verdict(now).map(|verdict| {
        format!(
            "the encoder took longer than a frame lasts ({interval:.0} ms) for {:.0} % of frames",
            verdict.per_cent()
        )
    });
    let pacer = viewer.pacer.verdict(now).map(|verdict| {
        format!("{:.0} % of packets left more than {} ms late", verdict.per_cent(), LATE_PACKET.as_millis())
    });
    camera.into_iter().chain(encoder).chain(pacer).collect()
}

/// Logs when this machine begins or ceases to be too slow for something.
pub(crate) fn judge(now: Time, pictures: &Pictures, viewers: &mut Viewers) {
    let keys: Vec<Key> = viewers.keys().collect();
    for key in keys {
        let Some(viewer) = viewers.get(key) else { continue };
        let sentences = too_slow(now, pictures, viewer);
        match (viewer.too_slow, sentences.is_empty()) {
            (false, false) => tracing::warn!(viewer = key, "this machine is too slow: {}", sentences.join("; ")),
            (true, true) => tracing::info!(viewer = key, "this machine keeps up again"),
            (_, _) => {}
        }
        let too_slow = !sentences.is_empty();
        if too_slow != viewer.too_slow
            && let Some(viewer) = viewers.get_mut(key)
        {
            viewer.too_slow = too_slow;
        }
    }
}
