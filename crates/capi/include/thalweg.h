/*
 * Thalweg for C: a congestion controller around the packets of another program, or the whole sender of real-time video.
 * docs/c.md has the calling order. The rules of every function:
 *
 * - Handles are made by ..._new(..., &handle) and ended by ..._free(handle). The library keeps no memory of the caller's after
 *   a call and hands out none to be freed. Texts out are UTF-8; they last as long as the program where it is said, else until
 *   the next call.
 * - Every structure begins with its size: set `.size = sizeof(...)` and leave what is not known zero. A shorter structure of an
 *   older program has default values; a longer one of a newer program is understood if all that is unknown is zero. Elements
 *   of an array all have the size of the first. Structures to be written need their size too.
 * - Times are ns of any monotonic clock of the caller's, one for each handle, and never go back; spans are ns, -1 unknown. Rates
 *   are bit/s. Sizes are bytes from the IP header up, unless said otherwise.
 * - A handle may move between threads, but its calls must not overlap: the second is answered by THALWEG_E_BUSY. It must not be
 *   freed while another thread may use it. Different handles are independent. Callbacks run in the calling thread during the
 *   call, and must not call the same handle, throw or jump out.
 * - Functions answer THALWEG_OK or more, or an error below zero; thalweg_last_error() has the value, the range and the fix. After
 *   an error nothing has changed, but that time may have passed; after THALWEG_E_PANIC the handle can only be freed.
 */


#ifndef THALWEG_H
#define THALWEG_H

/* Made from crates/capi by cbindgen: change it there. */

#include <stddef.h>
#include <stdint.h>

// Version of this interface: raised when a program that was compiled with an older header no longer works.
#define THALWEG_ABI 1

// A time that never comes, or is not known.
#define THALWEG_NEVER UINT64_MAX

// thalweg_controller_on_rtcp: the receiver also requested a keyframe.
#define THALWEG_RTCP_KEYFRAME 1

// thalweg_controller_on_rtcp: the receiver also requested packets again.
#define THALWEG_RTCP_MISSING 2

// `thalweg_report.flags`: it is declared lost.
#define THALWEG_REPORT_LOST 1

// `thalweg_report.flags`: a queue on the path marked it (ECN CE).
#define THALWEG_REPORT_CE 2

// `thalweg_report.flags`: it had been declared lost, and was only late.
#define THALWEG_REPORT_WAS_LOST 4

// `thalweg_controller_config.mode`: each departure is shown as it happens (thalweg_controller_on_sent).
#define THALWEG_SEEN 0

// `thalweg_controller_config.mode`: departures become known together with their fate (thalweg_controller_join).
#define THALWEG_JOINED 1

// `payload`: part of a frame, sent for the first time.
#define THALWEG_MEDIA 0

// `payload`: nothing that the receiver needs; it keeps the path full or measures it.
#define THALWEG_PADDING 1

// `payload`: a retransmission or redundancy.
#define THALWEG_REPAIR 2

// `payload`: audio.
#define THALWEG_AUDIO 3

// `thalweg_sent.flags`: the first packet of its frame.
#define THALWEG_SENT_FIRST 1

// `thalweg_sent.flags`: the last packet of its frame.
#define THALWEG_SENT_LAST 2

// `thalweg_sent.flags`: its frame refers to no other.
#define THALWEG_SENT_KEYFRAME 4

// `thalweg_sent.flags`: the application, not the window, limits sending right after it.
#define THALWEG_SENT_APP_LIMITED 8

// `thalweg_sent.flags`: `ssrc` and `sequence` hold.
#define THALWEG_SENT_STREAM 16

// `thalweg_joined.flags`: it is lost, by a verdict that is final (QUIC's).
#define THALWEG_JOINED_LOST 1

// `thalweg_joined.flags`: a queue on the path marked it (ECN CE).
#define THALWEG_JOINED_CE 2

// `thalweg_engine_config.flags`: events are kept for thalweg_engine_drain_events, which must be called often.
#define THALWEG_KEEP_EVENTS 1

// `thalweg_encoded.flags`: it refers to no other frame.
#define THALWEG_ENCODED_KEYFRAME 1

// `thalweg_output.tag`: encode a picture, and answer with thalweg_engine_on_encoded.
#define THALWEG_ENCODE 1

// `thalweg_output.tag`: of the candidates just given, this one becomes a frame, or none.
#define THALWEG_COMMIT 2

// `thalweg_output.tag`: no later frame refers to the state after this one: the encoder may drop it.
#define THALWEG_FORGET 3

// `thalweg_output.tag`: send a packet now.
#define THALWEG_TRANSMIT 4

// `thalweg_output.tag`: nothing to do until a time, unless something happens first.
#define THALWEG_WAIT 5

// `thalweg_target.kind`: a rate for the encoder's own rate control to keep, bit/s.
#define THALWEG_TARGET_RATE 0

// `thalweg_target.kind`: at most this many bytes.
#define THALWEG_TARGET_SIZE 1

// `thalweg_target.kind`: this quantiser, in the codec's own scale.
#define THALWEG_TARGET_QUANTIZER 2

// `thalweg_target.kind`: about this many bytes, by a quantiser that is guessed and not corrected.
#define THALWEG_TARGET_GUESS 3

// `thalweg_encode.flags`: the frame must be a keyframe.
#define THALWEG_ENCODE_KEYFRAME 1

// `thalweg_encode.flags`: the encoder's own rate control may drop the picture.
#define THALWEG_ENCODE_MAY_DROP 2

// `thalweg_encode.flags`: with THALWEG_BASIS_BUFFERS, it may refer to the last frame.
#define THALWEG_ENCODE_FROM_LAST 4

// `thalweg_encode.flags`: with THALWEG_BASIS_BUFFERS, it becomes the last frame.
#define THALWEG_ENCODE_BECOMES_LAST 8

// `thalweg_encode.flags`: with THALWEG_BASIS_BUFFERS, what it refers to was sent; else it is encoded only to learn its
// size.
#define THALWEG_ENCODE_SENDABLE 16

// `thalweg_encode.basis`: the frame may refer to the last frame sent, as the codec chooses.
#define THALWEG_BASIS_LATEST 0

// `thalweg_encode.basis`: it refers to the state after frame `basis_frame`.
#define THALWEG_BASIS_AFTER 1

// `thalweg_encode.basis`: it refers to named buffers of a decoder, and changes nothing else in it.
#define THALWEG_BASIS_BUFFERS 2

// A long-term buffer: none.
#define THALWEG_BUFFER_NONE 0

// A long-term buffer, by its number in the codec plus 1: VP8's golden frame.
#define THALWEG_BUFFER_GOLDEN 1

// A long-term buffer: VP8's alternative reference.
#define THALWEG_BUFFER_ALTREF 2

// `thalweg_transmit.kind`: a fragment of a frame; `number` is its place in the media stream, without gaps.
#define THALWEG_KIND_MEDIA 0

// `thalweg_transmit.kind`: a retransmission of the media packet `number`.
#define THALWEG_KIND_RETRANSMISSION 1

// `thalweg_transmit.kind`: the XOR of the media packets that `protects_...` name.
#define THALWEG_KIND_FEC 2

// `thalweg_transmit.kind`: the audio packet `number` of thalweg_engine_on_audio.
#define THALWEG_KIND_AUDIO 3

// `thalweg_transmit.kind`: padding.
#define THALWEG_KIND_PADDING 4

// `thalweg_transmit.flags`: the receiver is asked to report at once, if it reports on request.
#define THALWEG_TRANSMIT_ASKS 1

// `thalweg_transmit.flags`: its report may wait for those of later packets.
#define THALWEG_TRANSMIT_MAY_WAIT 2

// `thalweg_transmit.flags`: its frame refers to no other.
#define THALWEG_TRANSMIT_KEYFRAME 4

// `thalweg_transmit.flags`: it is the last of its frame (RTP's marker).
#define THALWEG_TRANSMIT_LAST 8

// Max candidates that one THALWEG_ENCODE asks for.
#define THALWEG_TARGETS 8

// The call did what it says.
#define THALWEG_OK 0

// A pointer is NULL that must not be, or not aligned.
#define THALWEG_E_NULL -1

// A structure's size is none, or it has fields that this version does not know and that are not zero.
#define THALWEG_E_SIZE -2

// A value is out of range: the message has the value, the range and the fix.
#define THALWEG_E_CONFIG -3

// The time lies before that of an earlier call, or too far after the first. Nothing has changed.
#define THALWEG_E_TIME -4

// A call or a number out of order: a key used twice, a frame nobody asked for. Nothing has changed.
#define THALWEG_E_ORDER -5

// Bytes or text that cannot be read. Nothing of them counts.
#define THALWEG_E_PARSE -6

// Another call on this handle has not returned: it runs in another thread, or has called this one back.
#define THALWEG_E_BUSY -7

// The library failed inside, now or earlier: the handle can only be freed. Please report it with the message.
#define THALWEG_E_PANIC -8

// This handle, scheme or mode has no such thing.
#define THALWEG_E_UNSUPPORTED -9

// There is not enough memory for what was passed.
#define THALWEG_E_MEMORY -10

// `thalweg_limits.window` holds.
#define THALWEG_HAS_WINDOW 1

// `thalweg_limits.burst` holds.
#define THALWEG_HAS_BURST 2

// `thalweg_limits.frame` holds.
#define THALWEG_HAS_FRAME 4

// `thalweg_limits.fec_interval` holds.
#define THALWEG_HAS_FEC_INTERVAL 8

// `thalweg_limits.period` holds.
#define THALWEG_HAS_PERIOD 16

// `thalweg_limits.probe_...` hold.
#define THALWEG_HAS_PROBE 32

// `thalweg_limits.padding` is wanted beside media, which otherwise counts.
#define THALWEG_PADDING_BESIDE 64

// `thalweg_controller_new` takes this scheme: its controller works alone.
#define THALWEG_FOR_CONTROLLER 1

// `thalweg_engine_new` takes this scheme: it works with any receiver of today.
#define THALWEG_FOR_ENGINE 2

// A congestion controller.
typedef struct thalweg_controller thalweg_controller;

// A sender of one video, and of audio along with it.
typedef struct thalweg_engine thalweg_engine;

// Which controller, and between which rates.
typedef struct thalweg_controller_config {
  // sizeof(thalweg_controller_config).
  uint32_t size;
  // THALWEG_SEEN or THALWEG_JOINED.
  int32_t mode;
  // A name of thalweg_schemes, such as "gcc".
  const char *scheme;
  // Parameters that replace the scheme's own, as TOML, such as "controller.gcc.min = '50kbps'"; or NULL.
  const char *toml;
  // The target before the first report, bit/s; 0 for 300000, or what of `min` and `max` is nearer.
  uint64_t start;
  // The min target, bit/s; 0 for 30000.
  uint64_t min;
  // The max target, bit/s; 0 for 12000000.
  uint64_t max;
  // Bytes that the wire adds to each packet's size as the program counts it, 0 to 1000: 0 if it counts from the IP
  // header up, 28 from UDP's payload over IPv4, 38 from the RTP header on under SRTP.
  uint32_t overhead;
  // 1 to probe the path by raising the target, in the joined mode; else 0.
  uint32_t raises_target;
} thalweg_controller_config;

// A packet whose fate became known.
typedef struct thalweg_report {
  // sizeof(thalweg_report).
  uint32_t size;
  // THALWEG_REPORT_...
  uint32_t flags;
  // Its number in the order of sending, from 0.
  uint64_t id;
  // When it left, ns.
  uint64_t departed;
  // Its size from the IP header up.
  uint64_t bytes;
  // When it arrived by the receiver's clock, ns; THALWEG_NEVER if it is lost.
  uint64_t arrival;
  // The probe that it belonged to, or -1.
  int64_t probe;
} thalweg_report;

// Feedback on sent packets.
typedef struct thalweg_feedback {
  // sizeof(thalweg_feedback).
  uint32_t size;
  // 1 if nothing was heard for so long that all in flight is declared lost; 0 for a report.
  uint32_t timed_out;
  // When it came, ns.
  uint64_t now;
  // The packets whose fate became known, in order of sending, each as large as `report_size` says; valid during the
  // call.
  const struct thalweg_report *reports;
  // How many they are; 0 when a report held nothing new.
  uint64_t count;
  // Round trip of the newest packet that arrived, ns; -1 if none did.
  int64_t rtt;
  // The same without the time for which the receiver held its report, ns; -1 if none did.
  int64_t path_rtt;
  // Smoothed round trip, ns; -1 before the first.
  int64_t srtt;
  // The least round trip, ns; -1 before the first.
  int64_t min_rtt;
  // Bytes sent and neither acknowledged nor declared lost.
  uint64_t in_flight;
  // Bytes acknowledged so far.
  uint64_t delivered;
} thalweg_feedback;

// Limits set by a controller. Sizes are from the IP header up. Rates are as the program counts: of a controller with
// `overhead`, without it.
typedef struct thalweg_limits {
  // sizeof(thalweg_limits).
  uint32_t size;
  // Which of the fields below hold: THALWEG_HAS_...
  uint32_t has;
  // Max bytes in flight.
  uint64_t window;
  // The rate to pace at, bit/s.
  uint64_t pacing;
  // The estimated capacity of the path, bit/s: the base of an encoder's target.
  uint64_t capacity;
  // The rate to send at for a program that can follow only one number, bit/s: the capacity, or what fills the window
  // if that is less, times `keep_frames`; before the first report the start. Of an engine the capacity: its frames
  // have targets of their own.
  uint64_t target;
  // How many bytes of a frame may leave back to back; without it, none may.
  uint64_t burst;
  // The rate of padding that is wanted while there is no media, bit/s. Media counts, so that both together do not exceed
  // it, unless `has` says `THALWEG_PADDING_BESIDE`.
  uint64_t padding;
  // Payload bytes that may be sent in addition to those already sent.
  uint64_t frame;
  // Bytes for the whole of the period that began last.
  uint64_t period;
  // The share of frames to keep, 0 to 1: the rest is dropped before it is encoded.
  double keep_frames;
  // One FEC packet after this many media packets, as the controller's probe.
  uint32_t fec_interval;
  // The number of the next probe, to be copied into `thalweg_sent.probe`; it has begun once a packet with it was
  // sent.
  uint32_t probe_cluster;
  // Min packets of the probe.
  uint32_t probe_packets;
  // Zero.
  uint32_t reserved;
  // The rate of the probe, bit/s.
  uint64_t probe_rate;
  // Min bytes of the probe.
  uint64_t probe_bytes;
  // The min time between two bursts of the probe, ns.
  int64_t probe_spacing;
} thalweg_limits;

// A packet that leaves.
typedef struct thalweg_sent {
  // sizeof(thalweg_sent).
  uint32_t size;
  // Purpose of its payload: THALWEG_MEDIA, ...
  int32_t payload;
  // When it leaves: the present, ns.
  uint64_t at;
  // Its size as the program counts (`thalweg_controller_config.overhead`), 1 to 65535.
  uint64_t bytes;
  // The program's name of it, one for each packet; holes are fine. Where reports are transport-wide feedback, its
  // low 16 bits are the transport-wide sequence number.
  uint64_t key;
  // The number of the probe that it belongs to, or -1.
  int64_t probe;
  // The number of the frame that it is part of, from 0, or -1: then what is said of a frame does not count.
  int64_t frame;
  // THALWEG_SENT_...
  uint32_t flags;
  // Zero.
  uint32_t reserved;
  // Bytes of the frame that were sent before it.
  uint64_t offset;
  // When the frame's picture was captured, ns.
  uint64_t captured;
  // The RTP stream, by which RFC 8888 and receiver reports name it.
  uint32_t ssrc;
  // Its RTP sequence number, 0 to 65535.
  uint32_t sequence;
} thalweg_sent;

// A frame as it joins the program's queue, for controllers that set the encoder's target by how well it empties
// (SCReAM, NADA).
typedef struct thalweg_frame_queued {
  // sizeof(thalweg_frame_queued).
  uint32_t size;
  // Zero.
  uint32_t reserved;
  // Its size from the IP header up, in all its packets.
  uint64_t bytes;
  // The time between two frames, ns.
  int64_t interval;
  // Bytes queued ahead of it.
  uint64_t ahead;
  // How long the oldest of these has waited, ns; 0 for an empty queue.
  int64_t age;
} thalweg_frame_queued;

// The functions of a controller written in C. Each is called with the `user` of thalweg_controller_from_callbacks, by
// the thread that calls the engine and while it does: none may call the engine, throw or jump out. Those that are NULL
// are not called; the first two must be there. What they are passed has the library's size, and may lack fields of a
// newer header.
typedef struct thalweg_controller_callbacks {
  // sizeof(thalweg_controller_callbacks).
  uint32_t size;
  // sizeof(thalweg_report): how far apart reports are laid.
  uint32_t report_size;
  // Feedback came.
  void (*on_feedback)(void *user, const struct thalweg_feedback *feedback);
  // Writes the present limits into `limits`, which is empty: `capacity` at least; `pacing` is the capacity where it
  // stays
  // 0. Limits out of range are not taken: the last ones hold.
  void (*limits)(void *user, struct thalweg_limits *limits);
  // A packet left; its `key` is its number in the order of sending.
  void (*on_sent)(void *user, const struct thalweg_sent *sent);
  // The rates that the encoder can use, bit/s.
  void (*on_demand)(void *user, uint64_t now, uint64_t min, uint64_t max);
  // A frame joins the queue.
  void (*on_frame_queued)(void *user, uint64_t now, const struct thalweg_frame_queued *queued);
  // The time that `next_timeout` said has come.
  void (*on_timeout)(void *user, uint64_t now);
  // When `on_timeout` is to be called next, ns; THALWEG_NEVER if not at all. After a call at that time it must be
  // later.
  uint64_t (*next_timeout)(void *user);
} thalweg_controller_callbacks;

// Report on a packet.
typedef struct thalweg_ack {
  // sizeof(thalweg_ack).
  uint32_t size;
  // 1 if a queue on the path marked it (ECN CE), else 0.
  uint32_t ce;
  // Which packet.
  uint64_t key;
  // When it arrived by the receiver's clock, ns; THALWEG_NEVER if it had not arrived by the time of the report. That
  // is no verdict: it is lost once a packet sent three places later has arrived.
  uint64_t arrival;
} thalweg_ack;

// A packet whose departure becomes known together with its fate.
typedef struct thalweg_joined {
  // sizeof(thalweg_joined).
  uint32_t size;
  // THALWEG_JOINED_...
  uint32_t flags;
  // The program's name of it. One that was missing may come again under its key when it arrives late.
  uint64_t key;
  // When it left, ns.
  uint64_t departed;
  // Its size as the program counts, 1 to 65535.
  uint64_t bytes;
  // When it arrived by the receiver's clock, ns; THALWEG_NEVER if it had not arrived by the time of the report.
  uint64_t arrival;
} thalweg_joined;

// A decision, and why.
typedef struct thalweg_decision {
  // sizeof(thalweg_decision).
  uint32_t size;
  // Zero.
  uint32_t reserved;
  // When it was made, ns.
  uint64_t at;
  // The estimated capacity before, bit/s from the IP header up.
  uint64_t from;
  // The estimated capacity after, bit/s from the IP header up.
  uint64_t to;
  // The decision: a verb. Valid as long as the program runs.
  const char *what;
  // The reason, in the terms of the paper. Valid as long as the program runs.
  const char *why;
} thalweg_decision;

// Diagnostics of a controller: smoothed RTT, bytes in flight, loss.
typedef struct thalweg_stats {
  // sizeof(thalweg_stats).
  uint32_t size;
  // 1 if silence cannot be distinguished from idleness: in the joined mode without thalweg_controller_set_sending.
  // The target does not fall then while nothing is heard.
  uint32_t blind;
  // How many departures lay before an earlier one, or after their report.
  uint64_t clock_steps;
  // How many packets were reported whose keys are unknown: never sent, or forgotten.
  uint64_t unknown;
  // Bytes sent and neither acknowledged nor lost; in the joined mode with what was presumably sent since.
  uint64_t in_flight;
  // Smoothed time from sending a packet to feedback on it, ns; -1 before the first.
  int64_t srtt;
  // The last round trip without the wait for its report, ns; -1 before the first.
  int64_t path_rtt;
  // The share of packets lost of those whose fate became known in the last second, 0 to 1; -1 before the first.
  double loss;
} thalweg_stats;

// Which engine, for which camera.
typedef struct thalweg_engine_config {
  // sizeof(thalweg_engine_config).
  uint32_t size;
  // THALWEG_KEEP_EVENTS or 0.
  uint32_t flags;
  // A name of thalweg_schemes, such as "gcc". With `controller` also NULL: each picture at the controller's
  // capacity.
  const char *scheme;
  // Parameters that replace the scheme's own, as TOML, such as "packets.max_payload = '1000B'"; or NULL.
  const char *toml;
  // A controller of thalweg_controller_from_callbacks in place of the scheme's, or NULL. If the call succeeds, it is
  // the engine's and no longer the caller's.
  struct thalweg_controller *controller;
  // Pixels in a row of the camera's pictures.
  uint16_t width;
  // Rows of the camera's pictures.
  uint16_t height;
  // Max payload of a media packet, bytes; 0 for the scheme's own (1140).
  uint32_t max_payload;
  // The time between pictures, ns.
  int64_t interval;
  // The first target, bit/s; 0 for the scheme's own, or 300000 if `min` or `max` is given.
  uint64_t start;
  // The encoder's min rate, bit/s; 0 for the scheme's own, or 30000 if another is given.
  uint64_t min;
  // The encoder's max rate, bit/s; 0 for the scheme's own, or 12000000 if another is given.
  uint64_t max;
  // Bytes that a media packet has beside its payload, from the IP header up; 0 for the scheme's own (74).
  uint32_t overhead;
  // Zero.
  uint32_t reserved;
} thalweg_engine_config;

// A frame that the encoder made, as far as the engine needs it: its bytes stay with the caller.
typedef struct thalweg_encoded {
  // sizeof(thalweg_encoded).
  uint32_t size;
  // THALWEG_ENCODED_KEYFRAME or 0.
  uint32_t flags;
  // How many bytes it has, 1 to 16777216.
  uint64_t bytes;
  // Pixels in a row of its picture.
  uint16_t width;
  // Rows of its picture.
  uint16_t height;
  // Its quantiser in the codec's own scale, 0 to 255; -1 if unknown.
  int16_t quantizer;
  // Its temporal layer: that of THALWEG_ENCODE.
  uint8_t layer;
  // Zero.
  uint8_t reserved[9];
} thalweg_encoded;

// Diagnostics of an engine: smoothed RTT, bytes in flight, queue, loss.
typedef struct thalweg_sender_stats {
  // sizeof(thalweg_sender_stats).
  uint32_t size;
  // Zero.
  uint32_t reserved;
  // Smoothed round trip, ns; 100 ms before the first.
  int64_t srtt;
  // The newest round trip without the wait for its report, ns; 100 ms before the first.
  int64_t path_rtt;
  // Bytes sent and neither acknowledged nor lost.
  uint64_t in_flight;
  // Bytes that wait to be sent, from the IP header up.
  uint64_t queued;
  // Packets that wait to be sent.
  uint64_t queued_packets;
  // The oldest media packet that may still be retransmitted: its payload is needed as long. THALWEG_NEVER where
  // nothing is.
  uint64_t retransmits_from;
} thalweg_sender_stats;

// How large, or how good, a frame should be.
typedef struct thalweg_target {
  // THALWEG_TARGET_...
  int32_t kind;
  // Zero.
  uint32_t reserved;
  // The rate, size or quantiser.
  uint64_t value;
} thalweg_target;

// Fields of THALWEG_ENCODE.
typedef struct thalweg_encode {
  // The number of the picture, by thalweg_engine_on_picture.
  uint64_t picture;
  // The time between pictures over which a rate is spread, ns.
  int64_t interval;
  // THALWEG_ENCODE_...
  uint32_t flags;
  // References that the frame may use: THALWEG_BASIS_...
  int32_t basis;
  // Frame referred to: with THALWEG_BASIS_AFTER the frame to follow; with THALWEG_BASIS_BUFFERS the frame in
  // `refers_to`; else -1.
  int64_t basis_frame;
  // Keep the state after this frame under this number until THALWEG_FORGET; -1 for not.
  int64_t keep;
  // Pixels in a row to encode at.
  uint16_t width;
  // Rows to encode at.
  uint16_t height;
  // Long-term buffer that the frame may refer to, with THALWEG_BASIS_BUFFERS: THALWEG_BUFFER_...
  uint8_t refers_to;
  // Long-term buffer that the frame is kept in, with THALWEG_BASIS_BUFFERS: THALWEG_BUFFER_...
  uint8_t kept_in;
  // The frame's temporal layer, from 0.
  uint8_t layer;
  // How many layers there are, at least 1.
  uint8_t layers;
  // How many candidates may be encoded at the same time, at least 1.
  uint8_t cores;
  // How many targets there are: one candidate for each, in this order. An encoder that makes one frame of a picture
  // meets the first.
  uint8_t n_targets;
  // Zero.
  uint8_t reserved[6];
  // The targets.
  struct thalweg_target targets[THALWEG_TARGETS];
} thalweg_encode;

// Fields of THALWEG_COMMIT.
typedef struct thalweg_commit {
  // The index of the candidate that becomes a frame; -1 for none.
  int64_t choice;
  // The frame's number, from 0; its bytes are needed until its packets have left, and until they are no longer
  // retransmitted (`thalweg_sender_stats.retransmits_from`).
  uint64_t frame;
} thalweg_commit;

// Fields of THALWEG_FORGET.
typedef struct thalweg_forget {
  // The frame.
  uint64_t frame;
} thalweg_forget;

// Fields of THALWEG_TRANSMIT.
typedef struct thalweg_transmit {
  // Its number in the order of sending, from 0; its low 16 bits are its transport-wide sequence number.
  uint64_t id;
  // When it leaves, ns: the time of the last call.
  uint64_t at;
  // Its size from the IP header up, as the engine counts.
  uint64_t bytes;
  // Bytes of all packets sent before it.
  uint64_t before;
  // The time since the packet before it, ns; 0 for the first.
  int64_t grace;
  // Purpose: THALWEG_MEDIA, THALWEG_PADDING, THALWEG_REPAIR or THALWEG_AUDIO.
  int32_t payload;
  // Content: THALWEG_KIND_...
  int32_t kind;
  // The number that `kind` names.
  uint64_t number;
  // The probe that it belongs to, or -1.
  int64_t probe;
  // THALWEG_TRANSMIT_...
  uint32_t flags;
  // Payload bytes of a fragment or of audio; else 0.
  uint32_t length;
  // The frame of which it carries a fragment, or -1; what follows holds only for a fragment.
  int64_t frame;
  // The picture that the frame shows.
  uint64_t picture;
  // When that picture was captured, ns.
  uint64_t captured;
  // The frame that must be decoded before this one, or -1.
  int64_t depends_on;
  // The place of the fragment's first byte in the frame.
  uint32_t offset;
  // The fragment's number in the frame, from 0.
  uint16_t index;
  // How many fragments the frame has.
  uint16_t count;
  // The frame's temporal layer.
  uint8_t layer;
  // Zero.
  uint8_t reserved[7];
  // Number of the first media packet that FEC protects.
  uint64_t protects_first;
  // Media packets that FEC protects: bit j % 64 of element j / 64 is packet `protects_first` + j, j below 109.
  uint64_t protects_mask[2];
} thalweg_transmit;

// Fields of THALWEG_WAIT.
typedef struct thalweg_wait {
  // Until when, ns; THALWEG_NEVER if there is nothing to wait for. Then call thalweg_engine_on_timeout.
  uint64_t until;
  // Reason to wait: 0 nothing, 1 the pacer, 2 a retransmission, 3 padding, 4 a probe, 5 the frame policy, 6 the
  // controller, 7 the probe timeout, 8 the feedback timeout.
  int32_t why;
  // Zero.
  uint32_t reserved;
} thalweg_wait;

// Content of an output, as `thalweg_output.tag` says.
typedef union thalweg_asked {
  // With THALWEG_ENCODE.
  struct thalweg_encode encode;
  // With THALWEG_COMMIT.
  struct thalweg_commit commit;
  // With THALWEG_FORGET.
  struct thalweg_forget forget;
  // With THALWEG_TRANSMIT.
  struct thalweg_transmit transmit;
  // With THALWEG_WAIT.
  struct thalweg_wait wait;
  // Room for what later versions say.
  uint64_t reserved[32];
} thalweg_asked;

// Request of the engine to its caller.
typedef struct thalweg_output {
  // sizeof(thalweg_output).
  uint32_t size;
  // THALWEG_ENCODE, ...
  int32_t tag;
  // The content that the tag names.
  union thalweg_asked of;
} thalweg_output;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// THALWEG_ABI of the library, to compare with the header's.
uint32_t thalweg_abi(void);

// A controller of a scheme, for packets that the caller sends. `now` begins its clock: ns of any monotonic clock.
int32_t thalweg_controller_new(const struct thalweg_controller_config *config,
                               uint64_t now,
                               struct thalweg_controller **out);

// A controller written in C, for thalweg_engine_new. `drop` may be NULL; it is called once with `user`, after the last
// other call.
int32_t thalweg_controller_from_callbacks(const struct thalweg_controller_callbacks *callbacks,
                                          void *user,
                                          void (*drop)(void *user),
                                          struct thalweg_controller **out);

// Ends it. NULL is fine. THALWEG_E_BUSY while a call runs: then it goes on to exist.
int32_t thalweg_controller_free(struct thalweg_controller *controller);

// A packet leaves now. Writes its number in the order of sending to `id`, unless that is NULL.
int32_t thalweg_controller_on_sent(struct thalweg_controller *controller,
                                   const struct thalweg_sent *sent,
                                   uint64_t *id);

// A report on `count` packets. `hold` is how long the receiver held it after the newest of them arrived, ns; -1 if
// unknown. A packet that no report names is lost like one reported missing, unless reports came by RTCP before.
int32_t thalweg_controller_on_acks(struct thalweg_controller *controller,
                                   uint64_t now,
                                   const struct thalweg_ack *acks,
                                   size_t count,
                                   int64_t hold);

// These packets are lost, by a verdict that is final. Where a report only lacks a packet, pass it to
// thalweg_controller_on_acks instead: it may have been overtaken.
int32_t thalweg_controller_on_lost(struct thalweg_controller *controller,
                                   uint64_t now,
                                   const uint64_t *keys,
                                   size_t count);

// A report on `count` packets whose departures were not shown, in order of sending.
int32_t thalweg_controller_join(struct thalweg_controller *controller,
                                uint64_t now,
                                const struct thalweg_joined *joined,
                                size_t count);

// The receiver's RTCP, decrypted: transport-wide feedback, whose numbers are the low 16 bits of the keys; RFC 8888 and
// receiver reports, for packets with a stream (THALWEG_SENT_STREAM). Answers what else it says: 0 or THALWEG_RTCP_...
int32_t thalweg_controller_on_rtcp(struct thalweg_controller *controller,
                                   uint64_t now,
                                   const uint8_t *datagram,
                                   size_t length);

// The program can use targets between `min` and `max` from now on, bit/s.
int32_t thalweg_controller_on_demand(struct thalweg_controller *controller, uint64_t now, uint64_t min, uint64_t max);

// A frame joins the program's queue. Only some controllers use it.
int32_t thalweg_controller_on_frame_queued(struct thalweg_controller *controller,
                                           uint64_t now,
                                           const struct thalweg_frame_queued *queued);

// Says whether the program is sending, in the joined mode: 1 or 0. While it is and no report comes for the larger of 2
// s and four round trips, the target is halved, and again after as long.
int32_t thalweg_controller_set_sending(struct thalweg_controller *controller, uint64_t now, int32_t sending);

// To be called at thalweg_controller_next_timeout; at other times it does nothing.
int32_t thalweg_controller_on_timeout(struct thalweg_controller *controller, uint64_t now);

// When to call thalweg_controller_on_timeout next, ns; THALWEG_NEVER if not at all, or if this call fails.
uint64_t thalweg_controller_next_timeout(struct thalweg_controller *controller);

// The rate to send at for a program that can follow only one number, bit/s; 0 if this call fails.
uint64_t thalweg_controller_target(struct thalweg_controller *controller);

// Everything that the controller allows.
int32_t thalweg_controller_limits(struct thalweg_controller *controller, struct thalweg_limits *limits);

// The next decision not yet polled, oldest first. Answers 1 if there was one, 0 if not.
int32_t thalweg_controller_poll_decision(struct thalweg_controller *controller, struct thalweg_decision *decision);

// Passes the controller's variables worth charting to `see`. Names last as long as the program.
int32_t thalweg_controller_inspect(struct thalweg_controller *controller, void (*see)(void *user,
                                                                                      const char *name,
                                                                                      double value), void *user);

// Diagnostics: smoothed RTT, bytes in flight, loss.
int32_t thalweg_controller_stats(struct thalweg_controller *controller, struct thalweg_stats *stats);

// A sender for one camera, before its first picture. `now` begins its clock: ns of any monotonic clock.
int32_t thalweg_engine_new(const struct thalweg_engine_config *config, uint64_t now, struct thalweg_engine **out);

// Ends it. NULL is fine. THALWEG_E_BUSY while a call runs: then it goes on to exist.
int32_t thalweg_engine_free(struct thalweg_engine *engine);

// The camera delivered a picture; `number` is the caller's for it, higher each time.
int32_t thalweg_engine_on_picture(struct thalweg_engine *engine, uint64_t now, uint64_t number);

// The candidates that the encoder made of the picture asked for (THALWEG_ENCODE), in the order of the targets; none
// when its rate control dropped the picture.
int32_t thalweg_engine_on_encoded(struct thalweg_engine *engine,
                                  uint64_t now,
                                  const struct thalweg_encoded *candidates,
                                  size_t count);

// An audio packet of `bytes` payload bytes, at most 65000, is to leave next; `number` is the caller's for it.
int32_t thalweg_engine_on_audio(struct thalweg_engine *engine, uint64_t now, uint64_t number, uint32_t bytes);

// The receiver's RTCP, decrypted: transport-wide feedback, whose numbers are the low 16 bits of `thalweg_transmit.id`;
// RFC 8888, receiver reports, and requests for packets and keyframes, once packets were reported
// (thalweg_engine_on_written).
int32_t thalweg_engine_on_rtcp(struct thalweg_engine *engine, uint64_t now, const uint8_t *datagram, size_t length);

// A report on `count` packets by their ids, where it is not RTCP. `hold` as in thalweg_controller_on_acks. A caller that
// hears of arrivals alone names the missing packets too, with THALWEG_NEVER: `gcc` takes a packet that no report names
// for one whose report was lost, as libwebrtc does, and not for lost.
int32_t thalweg_engine_on_acks(struct thalweg_engine *engine,
                               uint64_t now,
                               const struct thalweg_ack *acks,
                               size_t count,
                               int64_t hold);

// The receiver reported these media packets missing (`thalweg_transmit.number`), otherwise than by RTCP.
int32_t thalweg_engine_on_missing(struct thalweg_engine *engine, uint64_t now, const uint64_t *numbers, size_t count);

// The receiver requested a keyframe, otherwise than by RTCP.
int32_t thalweg_engine_on_keyframe_request(struct thalweg_engine *engine, uint64_t now);

// The time of the last THALWEG_WAIT has come. Early and late calls do no harm.
int32_t thalweg_engine_on_timeout(struct thalweg_engine *engine, uint64_t now);

// The caller wrote packet `id` of THALWEG_TRANSMIT as RTP packet `sequence` of stream `ssrc`. Needed only where
// reports or requests name RTP numbers: RFC 8888, receiver reports, NACK, PLI. In the order of sending.
int32_t thalweg_engine_on_written(struct thalweg_engine *engine, uint64_t id, uint32_t ssrc, uint16_t sequence);

// Changes to another scheme, with `toml` as in thalweg_engine_config or NULL, and its own controller. The queue is
// thrown away and the next frame is a keyframe. If the call fails, nothing has changed.
int32_t thalweg_engine_change_scheme(struct thalweg_engine *engine, uint64_t now, const char *scheme, const char *toml);

// Sets the most that may be sent by whatever scheme, bit/s from the IP header up; 0 for no limit.
int32_t thalweg_engine_set_ceiling(struct thalweg_engine *engine, uint64_t now, uint64_t rate);

// Everything that the controller allows; rates are from the IP header up.
int32_t thalweg_engine_limits(struct thalweg_engine *engine, struct thalweg_limits *limits);

// Diagnostics: smoothed RTT, bytes in flight, queue, loss.
int32_t thalweg_engine_stats(struct thalweg_engine *engine, struct thalweg_sender_stats *stats);

// Passes what happened since the last call to `each`, oldest first: a JSON object with the columns of
// docs/reference/events.md, valid during the call. None without THALWEG_KEEP_EVENTS.
int32_t thalweg_engine_drain_events(struct thalweg_engine *engine,
                                    void (*each)(void *user, const char *json),
                                    void *user);

// The next thing to do. After each call that changes something, to be called until it says THALWEG_WAIT.
int32_t thalweg_engine_poll(struct thalweg_engine *engine, struct thalweg_output *output);

// Why the last call of this thread failed that did: UTF-8, with the value, the range and the fix; empty if none has.
// Valid until the next call of this thread that fails.
const char *thalweg_last_error(void);

// Calls `each` for every scheme, with what it is in one line and what takes it (THALWEG_FOR_...). Both texts last as
// long as the program.
int32_t thalweg_schemes(void (*each)(void *user, const char *name, const char *about, uint32_t takes), void *user);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* THALWEG_H */
