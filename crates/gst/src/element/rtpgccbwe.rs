//! `thalwegbwe` under another element's name.

use gst::glib;
use gst::prelude::*;
use gst::subclass::prelude::*;

use super::AS_RTPGCCBWE;

/// The scheme that the environment asks for; `None` if it asks for nothing.
pub(super) fn scheme() -> Option<String> {
    let value = std::env::var(AS_RTPGCCBWE).ok()?;
    match value.as_str() {
        "" | "0" => None,
        "1" => Some("gcc".to_owned()),
        scheme => Some(scheme.to_owned()),
    }
}

/// See the module.
#[derive(Default)]
pub struct RtpGccBwe;

#[glib::object_subclass]
impl ObjectSubclass for RtpGccBwe {
    const NAME: &'static str = "GstThalwegRtpGccBwe";
    type Type = super::RtpGccBwe;
    type ParentType = super::ThalwegBwe;
}

impl ObjectImpl for RtpGccBwe {
    fn constructed(&self) {
        self.parent_constructed();
        if let Some(scheme) = scheme() {
            self.obj().set_property("scheme", scheme);
        }
    }
}

impl GstObjectImpl for RtpGccBwe {}

impl ElementImpl for RtpGccBwe {}
