package main

import (
	"testing"
	"time"
)

func TestWhatALinkLosesIsRetransmitted(t *testing.T) {
	s := start(t, "127.0.0.1:0")
	p := publishTo(t, s.url(), "--size", "640x360", "--scheme", "gcc", "--rate", "3Mbps", "--loss", "0.02", "--delay", "25ms", "--seed", "7")
	until(t, 10*time.Second, "video arrives", func() bool { return s.track(t, "video").Packets > 0 })
	time.Sleep(10 * time.Second)
	video, metrics := s.track(t, "video"), p.metrics(t)
	t.Logf("%d packets, %d of them repaired by %d retransmissions, %d lost for good; %v NACKs, %v lost by the reports, round trip %v s", video.Packets,
		video.Repaired, video.Retransmissions, video.Lost, metrics["nacks_total"], metrics["packets_lost_total"], metrics["round_trip_seconds"])
	if trip := metrics["round_trip_seconds"]; trip < 0.05 {
		t.Errorf("a round trip of %v s: the packets go around the link", trip)
	}
	if video.Packets < 500 {
		t.Fatalf("%d packets in 10 s", video.Packets)
	}
	// 2 % of them, give or take four standard deviations.
	if repaired := float64(video.Repaired) / float64(video.Packets); repaired < 0.005 || repaired > 0.05 {
		t.Errorf("%d of %d packets were repaired", video.Repaired, video.Packets)
	}
	// Pion asks for each every 100 ms for as long as it remembers the gap, since what repairs it comes on another stream. Until the sender hears
	// that a retransmission has come it retransmits, once a round trip, and not after that. Probes are retransmissions too.
	if video.Retransmissions > 4*video.Repaired+60 {
		t.Errorf("%d retransmissions for %d losses", video.Retransmissions, video.Repaired)
	}
	if metrics["nacks_total"] == 0 || metrics["packets_lost_total"] == 0 {
		t.Errorf("%v NACKs, %v lost", metrics["nacks_total"], metrics["packets_lost_total"])
	}
	// What is on its way to be retransmitted: a round trip's worth.
	if video.Lost > 5 {
		t.Errorf("%d packets were not retransmitted", video.Lost)
	}
}
