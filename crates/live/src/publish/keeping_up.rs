//! Signs that this machine does not keep up, for viewers and the log.

use thalweg_units::Time;

use super::messages::{Key, State};
use super::network::Network;
use super::overload::{LATE_PACKET, SECONDS};
use super::played::Played;
use super::viewer::Viewer;

impl Network {
    /// Signs that this machine is too slow, in sentences for a viewer.
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

    /// Gives those whose reports turn out to be too seldom for their scheme another one.
    pub(super) fn judge_reports(&mut self, now: Time) {
        let connected = self.viewers.values_mut_untouched().filter(|viewer| viewer.state == State::Connected);
        let seldom: Vec<Key> =
            connected.filter_map(|viewer| viewer.reports_are_seldom(now).then_some(viewer.key)).collect();
        for key in seldom {
            let Some(viewer) = self.viewers.get_mut(key) else { continue };
            let played = Played::choose(viewer.outgoing.scheme().clone(), viewer.reports, self.format.size);
            if played.asked.is_none() {
                continue;
            }
            if let Err(error) = viewer.switch(now, played) {
                tracing::warn!(viewer = key, error, "the viewer reports seldom, and its scheme stays");
            }
        }
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
