//! Statistics of senders for Prometheus.

use thalweg_units::Time;

use super::network::Network;
use super::observed::SenderReport;
use crate::observe::prometheus::{Text, escaped, one};

type Of<T> = fn(&SenderReport) -> T;

/// Counters of each sender.
const COUNTERS: [(&str, &str, Of<u64>); 12] = [
    ("thalweg_frames_received_total", "Frames received whole.", |s| s.received.frames_whole),
    ("thalweg_keyframes_received_total", "Keyframes among the received frames.", |s| s.received.keyframes),
    ("thalweg_frames_decoded_total", "Frames decoded.", |s| s.received.frames_decoded),
    ("thalweg_frames_undecodable_total", "Frames that the decoder rejected.", |s| s.received.frames_undecodable),
    ("thalweg_frames_abandoned_total", "Frames partly received and given up.", |s| s.received.frames_abandoned),
    ("thalweg_freezes_total", "Gaps over 200 ms between pictures.", |s| s.received.freezes),
    ("thalweg_received_packets_total", "Packets of the video stream.", |s| s.received.packets_received),
    ("thalweg_retransmitted_packets_total", "Missing packets that were retransmitted.", |s| {
        s.received.packets_retransmitted
    }),
    ("thalweg_recovered_packets_total", "Missing packets that FEC recovered.", |s| s.received.packets_recovered),
    ("thalweg_retransmissions_requested_total", "Requests for retransmissions.", |s| {
        s.received.retransmissions_requested
    }),
    ("thalweg_keyframes_requested_total", "Requests for a keyframe.", |s| s.received.keyframes_requested),
    ("thalweg_audio_received_packets_total", "Audio packets.", |s| s.received.audio_packets),
];

/// Present values of each sender.
const GAUGES: [(&str, &str, Of<Option<f64>>); 10] = [
    ("thalweg_wire_bytes_per_second", "Received over the last second, from the IP header upwards.", |s| {
        Some(s.wire_bps / 8.0)
    }),
    ("thalweg_link_bytes_per_second", "Capacity of the emulated link.", |s| Some(s.capacity_bps? / 8.0)),
    ("thalweg_utilization_ratio", "Received over what the emulated link could carry, since it connected.", |s| {
        s.utilization
    }),
    ("thalweg_shown_frames_per_second", "Pictures shown over the last second.", |s| Some(s.shown_fps)),
    ("thalweg_loss_ratio", "Packets that did not arrive at first, of all that were sent.", |s| {
        Some(s.received.packet_loss_ratio)
    }),
    ("thalweg_stall_ratio", "Time in gaps over 200 ms, over playing time.", |s| Some(s.received.stall_ratio)),
    ("thalweg_longest_freeze_seconds", "The longest gap between pictures.", |s| {
        Some(s.received.longest_freeze_ms / 1e3)
    }),
    ("thalweg_latency_p50_seconds", "Median latency from capture to display.", |s| {
        Some(s.received.latency_p50_ms? / 1e3)
    }),
    ("thalweg_latency_p95_seconds", "95th percentile of that.", |s| Some(s.received.latency_p95_ms? / 1e3)),
    ("thalweg_jitter_seconds", "Interarrival jitter of the video.", |s| Some(s.received.jitter_ms / 1e3)),
];

impl Network {
    /// All metrics.
    pub(super) fn metrics(&self, now: Time) -> String {
        let mut text = Text::default();
        let version = format!("{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
        text.gauge("thalweg_build_info", "Which program this is; always 1.", [(version, 1.0)]);
        let help = "Senders, connected or about to be.";
        text.gauge("thalweg_senders", help, [one(self.senders.len() as u64)]);
        text.counter(
            "thalweg_unknown_source_datagrams_total",
            "Datagrams that belong to no sender.",
            [one(self.from_unknown_sources)],
        );
        let counts = self.socket.counts();
        let lost = [("receive_buffer", counts.missed), ("send_buffer", counts.overflowed), ("refused", counts.failed)];
        text.counter(
            "thalweg_udp_lost_datagrams_total",
            "Datagrams this machine had no room for, or did not send.",
            lost.map(|(why, count)| (format!("{{why=\"{why}\"}}"), count as f64)),
        );
        let senders: Vec<(String, SenderReport)> = self
            .senders
            .values()
            .map(|sender| (format!("{{sender=\"{}\"}}", escaped(&sender.name)), sender.report(now)))
            .collect();
        let each = |of: &dyn Fn(&SenderReport) -> f64| -> Vec<(String, f64)> {
            senders.iter().map(|(labels, report)| (labels.clone(), of(report))).collect()
        };
        text.gauge("thalweg_connected", "1 while media flows.", each(&|s| f64::from(u8::from(s.state == "connected"))));
        let by_ecn = senders.iter().flat_map(|(_, report)| {
            let (name, labelled) = (escaped(&report.name), report.received.packets_by_ecn.labelled());
            labelled.map(|(ecn, count)| (format!("{{sender=\"{name}\",ecn=\"{ecn}\"}}"), count as f64))
        });
        let help = "RTP packets of every stream, by the ECN field they came with.";
        text.counter("thalweg_received_ecn_total", help, by_ecn);
        for (name, help, of) in COUNTERS {
            text.counter(name, help, each(&|report| of(report) as f64));
        }
        for (name, help, of) in GAUGES {
            text.gauge(name, help, each(&|report| of(report).unwrap_or(f64::NAN)));
        }
        text.finish()
    }
}
