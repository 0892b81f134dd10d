// What a page measured, in figures.

// The value that `share` of the values are at most.
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] : null;
}

// Of one viewer (an entry of window.thalweg.viewers): what was sent, decoded and seen, and how late. Times are of the page's clock.
export function summary({ frames, unread, figures, statistics, freezes }) {
  const late = frames.map(frame => frame.latencyMs).filter(latency => latency !== null);
  const last = statistics.at(-1) ?? {}, video = last.video ?? {}, audio = last.audio ?? {}, reported = figures.at(-1) ?? {};
  const beganMs = frames.length ? frames[0].shownAtMs - 1e3 * frames[0].at : 0;
  // What was sent a second before the browser counted has had the time to come.
  const due = figures.findLast(({ at }) => 1e3 * at + beganMs <= last.atMs - 1000)?.frames_sent;
  const rates = figures.map(f => f.wire_bps).filter(rate => rate !== null);
  return {
    scheme: reported.scheme,
    sent: reported.frames_sent,
    skipped: reported.frames_skipped,
    decoded: video.framesDecoded,
    shown: frames.length,
    unread,
    decoded_share: due ? video.framesDecoded / due : null,
    latency_ms: { p5: percentile(late, 0.05), p50: percentile(late, 0.5), p95: percentile(late, 0.95), p99: percentile(late, 0.99) },
    freezes: freezes.map(({ fromMs, toMs }) => ({ fromMs, lengthMs: toMs - fromMs })),
    wire_mbps: rates.length ? rates.reduce((sum, rate) => sum + rate, 0) / rates.length / 1e6 : null,
    packets_received: video.packetsReceived,
    packets_lost: video.packetsLost,
    nacks: video.nackCount,
    plis: video.pliCount,
    retransmitted_packets: video.retransmittedPacketsReceived,
    fec_packets: video.fecPacketsReceived,
    jitter_buffer_ms: video.jitterBufferEmittedCount ? 1e3 * video.jitterBufferDelay / video.jitterBufferEmittedCount : null,
    audio_packets: audio.packetsReceived,
    audio_concealed: audio.concealedSamples,
    feedback: reported.feedback_kind,
    pacing_lateness_us: { p50: reported.pacing_lateness_us_p50, p99: reported.pacing_lateness_us_p99 },
  };
}

// Prometheus' text as { name{labels}: value }.
export function metrics(text) {
  const lines = text.split('\n').filter(line => line && !line.startsWith('#'));
  return Object.fromEntries(lines.map(line => {
    const at = line.lastIndexOf(' ');
    return [line.slice(0, at), Number(line.slice(at + 1))];
  }));
}
