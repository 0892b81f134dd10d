//! Figures that published algorithms do not reach, with the figures they do reach. The reasons are in docs/papers.

use super::bars::Exception;

const GCC: &[&str] = &["gcc", "gcc-2023"];
const BBR: &[&str] = &["bbr", "bbr-camel", "bbr-media"];

const EIGHT_PERCENT: &str = "docs/papers/gcc.md: 8 % a second, and less where reports are batched";
const ADDITIVE: &str = "docs/papers/gcc.md: near a remembered capacity half a packet a response time is added";
const BAYESIAN: &str =
    "docs/papers/gcc.md: the Bayesian acknowledged rate is low after a jump and where packets are few";
const GRADIENT: &str = "docs/papers/gcc.md: a queue that no longer grows is no overuse, and empties slowly";
const SEGMENTS: &str = "docs/papers/scream.md: a segment and 2 % a round trip";
const RAMP: &str = "docs/papers/nada.md: a ramp-up of 50 ms / (rtt + 220 ms) of what arrives";
const A_TENTH_OF_A_SECOND: &str =
    "docs/papers/salsify.md: 100 ms of packets under way, over a round trip and the wait for reports";
const PACER: &str = "docs/papers/salsify.md: the pacer leaves half a millisecond between packets";

/// All exceptions; the first that matches a case applies.
pub const KNOWN: &[Exception] = &[
    Exception::of(&["copa"], "30000 kbps, 500 ms", "docs/papers/copa.md: the swing at twice window / RTT")
        .used(0.7, 0.9),
    Exception::of(&["rocc"], "200000 kbps, 500 ms", "docs/papers/rocc.md: 2.95 round trips to double")
        .back(11.0, 17.0)
        .used(0.3, 0.6),
    // GCC
    Exception::of(&["gcc"], "200000 kbps, 5 ms", ADDITIVE).used(0.65, 0.9),
    Exception::of(&["gcc-2023"], "200000 kbps, 5 ms", BAYESIAN).never_back().used(0.03, 0.7),
    Exception::of(&["gcc-2023"], "200000 kbps, 50 ms", BAYESIAN).never_back().used(0.03, 0.7),
    Exception::of(&["gcc-2023"], "200000 kbps, 200 ms", BAYESIAN).never_back().used(0.03, 0.7),
    Exception::of(&["gcc-2023"], "30000 kbps, 200 ms", BAYESIAN).back(15.0, 24.0).used(0.65, 0.85),
    Exception::of(&["gcc-2023"], "100 kbps, *", BAYESIAN).used(0.6, 1.0),
    Exception::of(&["gcc"], "a quarter, PerPacket", EIGHT_PERCENT).back(12.0, 17.0).used(0.7, 0.85),
    Exception::of(&["gcc-2023"], "a quarter, PerPacket", EIGHT_PERCENT).back(12.0, 18.0).used(0.65, 0.85),
    Exception::of(GCC, "a quarter, *", EIGHT_PERCENT).never_back().used(0.45, 0.7),
    Exception::of(GCC, "four times, *", EIGHT_PERCENT).back(12.0, 27.0).used(0.7, 1.0),
    Exception::of(&["gcc-2023"], "silence, PerPacket", EIGHT_PERCENT).back(8.0, 13.0),
    Exception::of(&["gcc-2023"], "silence, Rfc8888", EIGHT_PERCENT).back(8.0, 13.0),
    Exception::of(&["gcc-2023"], "silence, 30000 kbps, 5 ms", EIGHT_PERCENT).back(12.0, 18.0),
    Exception::of(&["gcc-2023"], "outage, Rfc8888", EIGHT_PERCENT).back(8.0, 13.0),
    Exception::of(&["gcc-2023"], "outage, 100 kbps, 500 ms", BAYESIAN).back(12.0, 19.0),
    Exception::of(&["gcc-2023"], "to a quarter, Rfc8888", GRADIENT).queue(700.0, 1300.0),
    Exception::of(GCC, "to a quarter, PerPacket", GRADIENT).queue(200.0, 500.0),
    Exception::of(&["gcc"], "to a quarter, *", GRADIENT).queue(150.0, 350.0),
    // The other controllers that pace packets
    Exception::of(BBR, "200000 kbps, 500 ms", "docs/papers/bbr.md: STARTUP and DRAIN take twenty round trips")
        .queue(650.0, 945.0),
    Exception::of(&["scream"], "200000 kbps, 200 ms", SEGMENTS).never_back().used(0.03, 0.1),
    Exception::of(&["scream"], "200000 kbps, 500 ms", SEGMENTS).never_back().used(0.005, 0.03),
    Exception::of(&["scream"], "30000 kbps, 200 ms", SEGMENTS).back(14.0, 22.0).used(0.65, 0.95),
    Exception::of(&["scream"], "30000 kbps, 500 ms", SEGMENTS).never_back().used(0.04, 0.14),
    Exception::of(&["scream"], "6000 kbps, 500 ms", SEGMENTS).never_back().used(0.25, 0.5),
    Exception::of(&["scream"], "1000 kbps, 500 ms", SEGMENTS).used(0.65, 0.9),
    Exception::of(&["scream"], "2 % lost, Twcc", "docs/papers/scream.md: each loss is an answer")
        .never_back()
        .used(0.25, 0.5),
    Exception::of(&["scream"], "2 % lost, *", "docs/papers/scream.md: each loss is an answer")
        .back(8.0, 39.0)
        .used(0.25, 0.7),
    // The controllers that work per frame
    Exception::of(&["sqp"], "200000 kbps, *", "docs/papers/sqp.md: 6.2 Mbps a second at most")
        .never_back()
        .used(0.2, 0.45),
    Exception::of(&["pudica"], "200000 kbps, 500 ms", "docs/papers/pudica.md: fifteen frames before anything shows")
        .back(8.0, 13.0),
    Exception::of(&["pudica"], "1000 kbps, 500 ms", "docs/papers/pudica.md: fifteen frames before anything shows")
        .used(0.5, 0.8),
    Exception::of(&["nada"], "200000 kbps, 50 ms", RAMP).back(10.5, 14.0).used(0.6, 0.8),
    Exception::of(&["nada"], "200000 kbps, 200 ms", RAMP).never_back().used(0.015, 0.06),
    Exception::of(&["nada"], "200000 kbps, 500 ms", RAMP).never_back().used(0.004, 0.02),
    Exception::of(&["nada"], "30000 kbps, 200 ms", RAMP).back(15.0, 22.0).used(0.7, 0.95),
    Exception::of(&["nada"], "30000 kbps, 500 ms", RAMP).never_back().used(0.04, 0.12),
    Exception::of(&["nada"], "6000 kbps, 200 ms", RAMP).back(9.0, 14.0),
    Exception::of(&["nada"], "6000 kbps, 500 ms", RAMP).never_back().used(0.2, 0.5),
    Exception::of(&["nada"], "1000 kbps, 500 ms", RAMP).back(9.0, 13.0),
    Exception::of(&["nada"], "2 % lost, *", "docs/papers/nada.md: 2 % count as 40 ms, and delay is warped")
        .back(0.0, 14.0)
        .queue(5.0, 1000.0),
    Exception::of(&["salsify"], "200000 kbps, *", PACER).never_back().used(0.07, 0.13),
    Exception::of(&["salsify"], "outage, 100 kbps, 500 ms", A_TENTH_OF_A_SECOND).back(0.0, 3.0).used(0.15, 0.35),
    Exception::of(&["salsify"], "* kbps, 500 ms", A_TENTH_OF_A_SECOND).never_back().used(0.15, 0.35),
    Exception::of(&["salsify"], "100 kbps, 200 ms", A_TENTH_OF_A_SECOND).used(0.5, 0.75),
    Exception::of(&["salsify"], "* kbps, 200 ms", A_TENTH_OF_A_SECOND).never_back().used(0.4, 0.8),
    Exception::of(&["salsify"], "30000 kbps, *", PACER).never_back().used(0.6, 0.75),
    Exception::of(&["salsify"], "*, 30000 kbps, 5 ms", PACER).never_back().used(0.6, 0.75),
    Exception::of(&["salsify"], "to a quarter, Twcc", A_TENTH_OF_A_SECOND).used(0.7, 0.85),
    Exception::of(&["salsify"], "*, Twcc", A_TENTH_OF_A_SECOND).never_back().used(0.65, 0.799),
];
