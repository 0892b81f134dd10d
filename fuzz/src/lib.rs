//! The functions of the fuzz targets; see `Cargo.toml` for how to run them.

mod capi;
mod ccfb;
mod contestant;
mod dependency_descriptor;
mod engine_feedback;
mod flexfec;
mod functional;
mod hub;
mod incoming;
mod media;
mod payloads;
mod red;
mod rtcp;
mod rtp;
mod scenario;
mod sdp;
mod servers;
mod steps;
mod stun;
mod sweep;
mod trace;
mod transport;
mod twcc;
mod ulpfec;
mod vp8_decode;
mod vp8_payload;
mod vp8_state;
mod xr;
mod y4m;

pub use capi::{capi_controller, capi_engine};
pub use ccfb::ccfb;
pub use contestant::contestant;
pub use dependency_descriptor::dependency_descriptor;
pub use engine_feedback::engine_feedback;
pub use flexfec::flexfec;
pub use functional::functional;
pub use hub::hub;
pub use incoming::incoming;
pub use media::{access_units, media_ivf, ogg_opus};
pub use payloads::{av1_payload, h264_payload, opus_packet, vp9_payload};
pub use red::red;
pub use rtcp::rtcp;
pub use rtp::rtp;
pub use scenario::scenario;
pub use sdp::sdp;
pub use servers::{link_header, published};
pub use stun::stun;
pub use sweep::sweep_grid;
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
pub const TARGETS: [Target; 39] = [
    ("rtp", rtp),
    ("rtcp", rtcp),
    ("twcc", twcc),
    ("ccfb", ccfb),
    ("contestant", contestant),
    ("engine_feedback", engine_feedback),
    ("functional", functional),
    ("incoming", incoming),
    ("vp8_payload", vp8_payload),
    ("vp9_payload", vp9_payload),
    ("h264_payload", h264_payload),
    ("av1_payload", av1_payload),
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
    ("sweep_grid", sweep_grid),
    ("transport_begin", transport_begin),
    ("transport_handshake", transport_handshake),
    ("transport_connected", transport_connected),
    ("stun", stun),
    ("media_ivf", media_ivf),
    ("access_units", access_units),
    ("ogg_opus", ogg_opus),
    ("link_header", link_header),
    ("published", published),
    ("scenario", scenario),
    ("hub", hub),
    ("capi_controller", capi_controller),
    ("capi_engine", capi_engine),
];
