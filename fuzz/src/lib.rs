//! The functions of the fuzz targets; see `Cargo.toml` for how to run them.
#![forbid(unsafe_code)]

mod ccfb;
mod contestant;
mod dependency_descriptor;
mod flexfec;
mod functional;
mod incoming;
mod payloads;
mod red;
mod rtcp;
mod rtp;
mod sdp;
mod steps;
mod trace;
mod transport;
mod twcc;
mod ulpfec;
mod vp8_decode;
mod vp8_payload;
mod vp8_state;
mod xr;
mod y4m;

pub use ccfb::ccfb;
pub use contestant::contestant;
pub use dependency_descriptor::dependency_descriptor;
pub use flexfec::flexfec;
pub use functional::functional;
pub use incoming::incoming;
pub use payloads::{h264_payload, opus_packet, vp9_payload};
pub use red::red;
pub use rtcp::rtcp;
pub use rtp::rtp;
pub use sdp::sdp;
pub use trace::{capture, trace, trace_file};
pub use transport::{transport_begin, transport_connected, transport_handshake};
pub use twcc::twcc;
pub use ulpfec::ulpfec;
pub use vp8_decode::vp8_decode;
pub use vp8_payload::vp8_payload;
pub use vp8_state::vp8_state;
pub use xr::xr;
pub use y4m::y4m;

/// A target: its name, and its function for any bytes.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 26] = [
    ("rtp", rtp),
    ("rtcp", rtcp),
    ("twcc", twcc),
    ("ccfb", ccfb),
    ("contestant", contestant),
    ("functional", functional),
    ("incoming", incoming),
    ("vp8_payload", vp8_payload),
    ("vp9_payload", vp9_payload),
    ("h264_payload", h264_payload),
    ("opus_packet", opus_packet),
    ("dependency_descriptor", dependency_descriptor),
    ("xr", xr),
    ("flexfec", flexfec),
    ("ulpfec", ulpfec),
    ("red", red),
    ("vp8_decode", vp8_decode),
    ("vp8_state", vp8_state),
    ("trace", trace),
    ("trace_file", trace_file),
    ("capture", capture),
    ("y4m", y4m),
    ("sdp", sdp),
    ("transport_begin", transport_begin),
    ("transport_handshake", transport_handshake),
    ("transport_connected", transport_connected),
];
