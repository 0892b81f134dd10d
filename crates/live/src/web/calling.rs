//! The page of a call: it sends a camera to one relay and shows what the other relays.

use super::site::JAVASCRIPT;

/// The files of the page: path, media type, contents.
pub(super) const FILES: [(&str, &str, &str); 6] = [
    ("/", "text/html; charset=utf-8", include_str!("page/call.html")),
    ("/style.css", "text/css; charset=utf-8", include_str!("page/style.css")),
    ("/call.js", JAVASCRIPT, include_str!("page/call.js")),
    ("/camera.js", JAVASCRIPT, include_str!("page/camera.js")),
    ("/whip.js", JAVASCRIPT, include_str!("page/whip.js")),
    ("/whep.js", JAVASCRIPT, include_str!("page/whep.js")),
];
