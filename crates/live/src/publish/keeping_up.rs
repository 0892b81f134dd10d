//! Whether this machine keeps up, for viewers and the log.

use thalweg_units::Time;

use super::messages::Key;
use super::network::Network;
use super::overload::{LATE_PACKET, SECONDS};
use super::viewer::Viewer;

impl Network {
    /// What this machine is too slow for, in sentences for a viewer.
    pub(super) fn too_slow(&self, now: Time, viewer: &Viewer) -> Vec<String> {
        let interval = self.format.interval().as_millis_f64();
        let camera = self
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
    pub(super) fn judge(&mut self, now: Time) {
        let keys: Vec<Key> = self.viewers.keys().collect();
        for key in keys {
            let Some(viewer) = self.viewers.get(key) else { continue };
            let sentences = self.too_slow(now, viewer);
            match (viewer.too_slow, sentences.is_empty()) {
                (false, false) => tracing::warn!(viewer = key, "this machine is too slow: {}", sentences.join("; ")),
                (true, true) => tracing::info!(viewer = key, "this machine keeps up again"),
                (_, _) => {}
            }
            let too_slow = !sentences.is_empty();
            if too_slow != viewer.too_slow
                && let Some(viewer) = self.viewers.get_mut(key)
            {
                viewer.too_slow = too_slow;
            }
        }
    }
}
