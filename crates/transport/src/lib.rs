//! A WebRTC connection: ICE, DTLS, SRTP and SDP, without clock or sockets.
#![forbid(unsafe_code)]
