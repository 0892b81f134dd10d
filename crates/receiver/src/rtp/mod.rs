//! RTP reception: decrypted packets in; complete frames, ordered audio and RTCP replies out.
//!
//! [`Reception`] is to a sender what an unmodified browser is, without decoder, clock or socket: it identifies streams
//! by SSRC or payload type, handles retransmissions (RFC 4588) and FEC (flexfec-03, ULPFEC in RED), frames of VP8,
//! H.264, VP9 and AV1 and Opus packets, and sends the negotiated feedback: transport-wide feedback at its interval or on
//! request, RFC 8888, extended reports, receiver reports, NACK, PLI. When both peers are ours it also keeps decoder
//! states for functional video ([`Video::stateful`]), and measures the path as Rebera does ([`Config::measures`]).
//!
//! Input is untrusted. No packet causes a panic, and memory is bounded: four streams; 2048 packets and 800 frames of
//! video in 8 MiB, 200 packets of audio; 436 packets and 48 of FEC of 2 kB; 1000 missing packets; arrivals of 32768
//! packets, and 1024 packets and 2048 frames for path measurement. A packet costs at most one pass over one of these,
//! and triggers at most one keyframe request in 200 ms.
//!
//! ```
//! use thalweg_receiver::rtp::{Codec, Config, Output, Reception, Video};
//! use thalweg_units::{Ecn, Time};
//! use thalweg_wire::rtp::{Header, Packet};
//!
//! let config = Config { video: Some(Video::new(Codec::Vp8, 96)), ..Config::default() };
//! let mut reception = Reception::new(config)?;
//! // A keyframe in one packet: the descriptor of its start, then its bytes, the first of which is even.
//! let header = Header { marker: true, payload_type: 96, sequence: 7, timestamp: 3000, ssrc: 5 };
//! let mut packet = Vec::new();
//! Packet::new(header, &[0x10, 0x50, 1, 2]).write(&mut packet)?;
//! reception.on_rtp(Time::from_millis(1), Ecn::NotCapable, &packet);
//! let Output::Frame(frame) = reception.poll() else { panic!("the frame is whole") };
//! assert_eq!((frame.data, frame.keyframe), (vec![0x50, 1, 2], true));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod audio;
mod buffer;
mod clock;
mod config;
mod fec;
mod feedback;
mod frames;
mod functional;
mod measuring;
mod media_packet;
mod output;
mod payload;
mod reception;
mod red;
mod references;
mod source;
mod statistics;
mod streams;
mod video;

pub use config::{Audio, Codec, Config, ExtensionIds, Feedback, Redundancy, Ssrcs, Video};
pub use output::{AudioPacket, Origin, Output, VideoFrame};
pub use reception::Reception;
pub(crate) use source::Source;
pub use statistics::{AudioCounts, Statistics, StreamCounts, VideoCounts};

#[cfg(test)]
mod tests;
