//! The elements, and their names.

use gst::glib;
use gst::prelude::*;

mod imp;
mod properties;
mod rtpgccbwe;

/// With this environment variable the plugin also has an element `rtpgccbwe`. Its value is the scheme of that element, or
/// `1` for `gcc`.
pub(crate) const AS_RTPGCCBWE: &str = "THALWEG_AS_RTPGCCBWE";

glib::wrapper! {
    /// The element `thalwegbwe`.
    pub struct ThalwegBwe(ObjectSubclass<imp::ThalwegBwe>) @extends gst::Element, gst::Object;
}

glib::wrapper! {
    /// The element `rtpgccbwe`, which is `thalwegbwe` under the name that webrtcsink asks for.
    pub struct RtpGccBwe(ObjectSubclass<rtpgccbwe::RtpGccBwe>) @extends ThalwegBwe, gst::Element, gst::Object;
}

#[allow(unsafe_code, reason = "glib-rs marks classes that may be derived from so; nothing in this one breaks by it")]
mod derived {
    use gst::subclass::prelude::{ElementImpl, IsSubclassable};

    use super::ThalwegBwe;

    // SAFETY: the class has no functions of its own that a subclass would have to set up.
    unsafe impl<T: ElementImpl> IsSubclassable<T> for ThalwegBwe {}
}

/// Registers the elements.
pub(crate) fn register(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
    // The registry's cache of what this plugin has is read anew when the variable changes.
    plugin.add_dependency_simple(Some(AS_RTPGCCBWE), None, None, gst::PluginDependencyFlags::empty());
    gst::Element::register(Some(plugin), "thalwegbwe", gst::Rank::NONE, ThalwegBwe::static_type())?;
    if rtpgccbwe::scheme().is_some() {
        gst::Element::register(Some(plugin), "rtpgccbwe", gst::Rank::PRIMARY, RtpGccBwe::static_type())?;
    }
    Ok(())
}
