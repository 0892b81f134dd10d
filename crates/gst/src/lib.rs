//! Thalweg's congestion controllers in GStreamer: the element `thalwegbwe`.
//!
//! It stands where gst-plugins-rs's `rtpgccbwe` does, before an `rtpsession` in the sender, with that element's properties:
//! a pacer with a queue, and an estimate that encoders follow. With the environment variable `THALWEG_AS_RTPGCCBWE` it also
//! takes that element's name, so that an unmodified `webrtcsink` uses it. [`docs/gstreamer.md`] has both.
//!
//! [`docs/gstreamer.md`]: https://github.com/thalweg-video/thalweg/blob/main/docs/gstreamer.md

mod element;
mod flow;
mod queue;
mod report;
mod rtp;
mod settings;
mod streams;

pub use element::{RtpGccBwe, ThalwegBwe};

pub use plugin::plugin_register_static;

#[allow(missing_docs, reason = "what the macro makes")]
mod plugin {
    use gst::glib;

    fn plugin_init(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
        crate::element::register(plugin)
    }

    // Of the licences that GStreamer has names for; Apache-2.0 is the other.
    gst::plugin_define!(
        thalweg,
        env!("CARGO_PKG_DESCRIPTION"),
        plugin_init,
        env!("CARGO_PKG_VERSION"),
        "MIT/X11",
        env!("CARGO_PKG_NAME"),
        env!("CARGO_PKG_NAME"),
        env!("CARGO_PKG_REPOSITORY")
    );
}
