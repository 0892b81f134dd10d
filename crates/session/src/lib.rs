//! One end of a conversation: the engine's packets as protected RTP, the receiver's frames out of it; no clock, no sockets.
#![forbid(unsafe_code)]
