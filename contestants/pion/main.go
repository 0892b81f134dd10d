// Pion's GCC as a contestant: docs/tutorials/estimator.md describes the lines.
//
// It reads the clock and has goroutines of its own. In a bubble of testing/synctest the clock is virtual: it advances
// while everything in the bubble waits, and reading a line is no such waiting. So each request begins by sleeping until
// its time, and is answered when Pion's goroutines are done.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/gcc"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtp"
)

const (
	ssrc      = 1
	extension = 1
	uri       = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
	// The RTP header with its extension. Pion counts RTP; it is given payloads with which that is the size on the wire,
	// in which targets are understood here.
	headers = 12 + 8
)

type packet struct {
	ID        uint64  `json:"id"`
	SizeBytes int     `json:"size_bytes"`
	ArrivedNs *uint64 `json:"arrived_ns"`
}

type request struct {
	Type     string   `json:"type"`
	NowNs    int64    `json:"now_ns"`
	StartBps int      `json:"start_bps"`
	MinBps   int      `json:"min_bps"`
	MaxBps   int      `json:"max_bps"`
	Packet   packet   `json:"packet"`
	Packets  []packet `json:"packets"`
}

type limits struct {
	TargetBps int `json:"target_bps"`
	// Pion's own pacer sends at 1.5 times the target (pkg/gcc/leaky_bucket_pacer.go).
	PacingBps int `json:"pacing_bps"`
}

type welcome struct {
	Protocol string `json:"protocol"`
	Version  int    `json:"version"`
	Name     string `json:"name"`
	Sent     bool   `json:"sent"`
	Limits   limits `json:"limits"`
}

var start = flag.Int("start", 0, "the estimate to start with, in bit/s, instead of the bench's")

func main() {
	// Pion does not say which of its goroutines is first; with one thread it is always the same.
	runtime.GOMAXPROCS(1)
	// A bubble needs a test, which a program may have too.
	bubble := func(t *testing.T) { synctest.Test(t, serve) }
	all := func(_, _ string) (bool, error) { return true, nil }
	testing.Main(all, []testing.InternalTest{{Name: "pion", F: bubble}}, nil, nil)
}

func serve(t *testing.T) {
	begun, lines, replies := time.Now(), bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	lines.Buffer(nil, 1<<24)
	var estimator *gcc.SendSideBWE
	var writer interceptor.RTPWriter
	recorder := twcc.NewRecorder(ssrc)
	check := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "pion:", err)
			os.Exit(1)
		}
	}
	for lines.Scan() {
		var request request
		check(json.Unmarshal(lines.Bytes(), &request))
		time.Sleep(time.Until(begun.Add(time.Duration(request.NowNs))))
		switch request.Type {
		case "hello":
			if *start == 0 {
				*start = request.StartBps
			}
			var err error
			estimator, err = gcc.NewSendSideBWE(gcc.SendSideBWEInitialBitrate(*start),
				gcc.SendSideBWEMinBitrate(request.MinBps), gcc.SendSideBWEMaxBitrate(request.MaxBps),
				gcc.SendSideBWEPacer(gcc.NewNoOpPacer()))
			check(err)
			stream := interceptor.StreamInfo{SSRC: ssrc,
				RTPHeaderExtensions: []interceptor.RTPHeaderExtension{{URI: uri, ID: extension}}}
			writer = estimator.AddStream(&stream, interceptor.RTPWriterFunc(
				func(_ *rtp.Header, payload []byte, _ interceptor.Attributes) (int, error) { return len(payload), nil }))
			defer estimator.Close()
		case "sent":
			header := rtp.Header{Version: 2, SSRC: ssrc, SequenceNumber: uint16(request.Packet.ID)}
			number, err := (&rtp.TransportCCExtension{TransportSequence: uint16(request.Packet.ID)}).Marshal()
			check(err)
			check(header.SetExtension(extension, number))
			_, err = writer.Write(&header, make([]byte, max(request.Packet.SizeBytes-headers, 0)), nil)
			check(err)
		case "reports":
			for _, packet := range request.Packets {
				if packet.ArrivedNs != nil {
					recorder.Record(ssrc, uint16(packet.ID), int64(*packet.ArrivedNs/1000))
				}
			}
			check(estimator.WriteRTCP(recorder.BuildFeedbackPacket(), nil))
		}
		synctest.Wait()
		target := estimator.GetTargetBitrate()
		now := limits{TargetBps: target, PacingBps: target * 3 / 2}
		if request.Type == "hello" {
			check(replies.Encode(welcome{"thalweg-estimator", 1, "Pion's GCC " + version(), true, now}))
		} else {
			check(replies.Encode(now))
		}
	}
	check(lines.Err())
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/pion/interceptor" {
			return module.Path + " " + module.Version
		}
	}
	return ""
}
