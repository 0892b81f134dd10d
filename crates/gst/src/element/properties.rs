//! The element's properties.

use std::sync::LazyLock;

use gst::glib;
use gst::prelude::*;

use crate::settings::Settings;

/// See the module.
pub(super) fn all() -> &'static [glib::ParamSpec] {
    static PROPERTIES: LazyLock<Vec<glib::ParamSpec>> = LazyLock::new(|| {
        let settings = Settings::default();
        let bitrate = |name: &'static str, nick, blurb, default| {
            glib::ParamSpecUInt::builder(name).nick(nick).blurb(blurb).minimum(1).default_value(default)
        };
        vec![
            bitrate(
                "estimated-bitrate",
                "Estimated bitrate",
                "Sum of the encoders' rates, in bit/s of RTP payload. Set before the element starts it is where the \
                 controller begins; set later, the controller begins anew there",
                settings.start,
            )
            .mutable_playing()
            .build(),
            bitrate("min-bitrate", "Minimal bitrate", "The estimate is never lower, in bit/s", settings.min)
                .mutable_playing()
                .build(),
            bitrate("max-bitrate", "Maximum bitrate", "The estimate is never higher, in bit/s", settings.max)
                .mutable_playing()
                .build(),
            glib::ParamSpecString::builder("estimator")
                .nick("Estimator")
                .blurb("Has no effect: accepted because rtpgccbwe has it")
                .default_value("kalman")
                .build(),
            glib::ParamSpecString::builder("scheme")
                .nick("Scheme")
                .blurb(
                    "Which congestion controller: gcc, scream, nada, copa, pudica, sqp, bbr, rocc, tfrc, vidaptive and their \
                     variants. Set while playing, it goes on from the present estimate",
                )
                .default_value(&*settings.scheme)
                .mutable_playing()
                .build(),
            glib::ParamSpecString::builder("pacing")
                .nick("Pacing")
                .blurb("scheme: packets leave when the scheme says; unpaced: as they come")
                .default_value("scheme")
                .mutable_playing()
                .build(),
            glib::ParamSpecUInt64::builder("max-queue-time")
                .nick("Maximum queueing time")
                .blurb(
                    "When a packet has waited longer, the queue is dropped and a keyframe asked for, in nanoseconds; 0 for \
                     never",
                )
                .default_value(settings.max_queue.map_or(0, |limit| limit.as_nanos().unsigned_abs()))
                .mutable_playing()
                .build(),
            glib::ParamSpecBoolean::builder("padding")
                .nick("Padding")
                .blurb(
                    "Fill the controller's probes, and with vidaptive the path, by repeating recent packets as \
                     retransmissions (RFC 4588), where those were negotiated",
                )
                .default_value(settings.padding)
                .mutable_playing()
                .build(),
            glib::ParamSpecBoolean::builder("hold")
                .nick("Hold")
                .blurb("True while the scheme wants no picture encoded (Vidaptive's pause): drop raw pictures")
                .read_only()
                .build(),
            glib::ParamSpecDouble::builder("keep-frames")
                .nick("Keep frames")
                .blurb("The share of pictures that the controller would have encoded; the estimate is lower by it already")
                .minimum(0.0)
                .maximum(1.0)
                .default_value(1.0)
                .read_only()
                .build(),
            glib::ParamSpecBoxed::builder::<gst::Structure>("stats")
                .nick("Statistics")
                .blurb("Diagnostics beside the estimate: target, capacity, window, srtt, lost, queue ...")
                .read_only()
                .build(),
        ]
    });
    &PROPERTIES
}
