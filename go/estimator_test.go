package thalweg

import (
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
)

const (
	ssrc      = 7
	rtxSSRC   = 8
	extension = 5
)

func info() *interceptor.StreamInfo {
	return &interceptor.StreamInfo{
		SSRC: ssrc, SSRCRetransmission: rtxSSRC, PayloadType: 96, PayloadTypeRetransmission: 97, MimeType: "video/VP8",
		RTPHeaderExtensions: []interceptor.RTPHeaderExtension{{URI: transportCC, ID: extension}},
	}
}

// link is a path of so many bit/s with a queue and 25 ms each way, and its receiver, which reports each 50 ms.
type link struct {
	mu       sync.Mutex
	rate     float64
	free     time.Time
	recorder *twcc.Recorder
	begun    time.Time
	numbers  []uint16
	bytes    int
}

const oneWay = 25 * time.Millisecond

func (l *link) Write(header *rtp.Header, body []byte, _ interceptor.Attributes) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var number rtp.TransportCCExtension
	if err := number.Unmarshal(header.GetExtension(extension)); err != nil {
		return 0, err
	}
	size := header.MarshalSize() + len(body)
	l.numbers = append(l.numbers, number.TransportSequence)
	now := time.Now()
	if l.free.Before(now) {
		l.free = now
	}
	if l.free.Sub(now) > time.Second {
		return size, nil
	}
	l.free = l.free.Add(time.Duration(float64(size+38) * 8 / l.rate * 1e9))
	arrival := l.free.Add(oneWay)
	time.AfterFunc(arrival.Sub(now), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.recorder.Record(header.SSRC, number.TransportSequence, time.Since(l.begun).Microseconds())
		l.bytes += size
	})
	return size, nil
}

func (l *link) reports() []rtcp.Packet {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.recorder.BuildFeedbackPacket()
}

// call sends what the target allows over a link for so long, in the virtual time of a bubble.
func call(t *testing.T, e *Estimator, l *link, duration time.Duration) {
	t.Helper()
	writer := e.AddStream(info(), l)
	frame, report := time.NewTicker(time.Second/30), time.NewTicker(50*time.Millisecond)
	defer frame.Stop()
	defer report.Stop()
	sequence := uint16(65_000)
	for end := time.After(duration); ; {
		select {
		case <-end:
			return
		case <-frame.C:
			for left := e.GetTargetBitrate() / 30 / 8; left > 0; left -= 1000 {
				header := &rtp.Header{Version: 2, SSRC: ssrc, SequenceNumber: sequence, PayloadType: 96}
				if _, err := writer.Write(header, make([]byte, min(left, 1000)), nil); err != nil {
					t.Fatal(err)
				}
				sequence++
			}
		case <-report.C:
			feedback := l.reports()
			time.AfterFunc(oneWay, func() {
				if err := e.WriteRTCP(feedback, nil); err != nil && !errors.Is(err, ErrClosed) {
					t.Error(err)
				}
			})
		}
	}
}

func newLink(rate float64) *link {
	return &link{rate: rate, recorder: twcc.NewRecorder(ssrc), begun: time.Now()}
}

func TestFrom300KbpsItFindsA2MbpsLinkAndFollowsItDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := New("gcc", Config{Max: 5_000_000})
		if err != nil {
			t.Fatal(err)
		}
		l := newLink(2_000_000)
		var announced []int
		e.OnTargetBitrateChange(func(bitrate int) { announced = append(announced, bitrate) })
		call(t, e, l, 30*time.Second)
		if target := e.GetTargetBitrate(); target < 1_500_000 || target > 2_200_000 {
			t.Errorf("%d bit/s of 2 Mbps", target)
		}
		l.mu.Lock()
		l.rate = 500_000
		l.mu.Unlock()
		call(t, e, l, 10*time.Second)
		if target := e.GetTargetBitrate(); target < 250_000 || target > 550_000 {
			t.Errorf("%d bit/s of 500 kbps", target)
		}
		stats := e.GetStats()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if len(announced) < 10 {
			t.Fatalf("announced %v", announced)
		}
		last, target := announced[len(announced)-1], stats["targetBitrate"].(int)
		if math.Abs(float64(last-target)) > announceShare*float64(last) {
			t.Errorf("announced %d last, then %v", last, stats)
		}
		for place, number := range l.numbers {
			if number != uint16(place) {
				t.Fatalf("packet %d has the transport-wide number %d", place, number)
			}
		}
		if stats["refusedReports"] != 0 || stats["failedWrites"] != int64(0) {
			t.Errorf("%v", stats)
		}
		if decision, ok := e.PollDecision(); ok {
			t.Errorf("a closed estimator decides: %v", decision)
		}
	})
}

func TestEveryControllerCarriesACall(t *testing.T) {
	names, err := Schemes()
	if err != nil {
		t.Fatal(err)
	}
	for _, scheme := range names {
		t.Run(scheme, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, err := New(scheme, Config{Max: 5_000_000})
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				l := newLink(1_500_000)
				call(t, e, l, 20*time.Second)
				if rate := float64(l.bytes) * 8 / 20; rate < 250_000 || rate > 1_500_000 {
					t.Errorf("%.0f bit/s of 1.5 Mbps; %v", rate, e.GetStats())
				}
			})
		})
	}
}

func TestADecisionHasItsReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := New("gcc", Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		call(t, e, newLink(500_000), 10*time.Second)
		decision, ok := e.PollDecision()
		if !ok || decision.At <= 0 || decision.To <= 0 || decision.What == "" || decision.Why == "" {
			t.Errorf("%+v", decision)
		}
	})
}

func TestWhatIsWrongIsRefusedWithTheValueAndTheFix(t *testing.T) {
	for _, wrong := range []struct {
		scheme string
		config Config
		says   []string
	}{
		{"gc", Config{}, []string{"'gc'", "gcc"}},
		{"vidaptive", Config{}, []string{"'vidaptive' needs more than packets and reports", "gcc"}},
		{"gcc", Config{Start: 100, Min: 200}, []string{"min 200", "0 < min <= start <= max"}},
		{"gcc", Config{Overhead: 2000}, []string{"overhead", "1kB"}},
		{"gcc", Config{Max: -1}, []string{"-1", "0 to"}},
		{strings.Repeat("x", inputSize+1), Config{}, []string{"65537 bytes"}},
	} {
		_, err := New(wrong.scheme, wrong.config)
		if err == nil {
			t.Errorf("%.20s %+v: accepted", wrong.scheme, wrong.config)
			continue
		}
		for _, words := range wrong.says {
			if !strings.Contains(err.Error(), words) {
				t.Errorf("%q does not say %q", err, words)
			}
		}
	}
}

// counter counts what leaves.
type counter struct{ packets atomic.Int64 }

func (c *counter) Write(header *rtp.Header, body []byte, _ interceptor.Attributes) (int, error) {
	c.packets.Add(1)
	return header.MarshalSize() + len(body), nil
}

func TestAPanicInTheModuleIsAnErrorAndPacketsLeaveAtTheLeastRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := New("gcc", Config{Min: 80_000})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		e.mu.Lock()
		_, err = e.controller.run(e.controller.module.ExportedFunction("thalweg_panic"))
		e.mu.Unlock()
		if err == nil || !strings.Contains(err.Error(), "called to panic") || !strings.Contains(err.Error(), "calls.rs") {
			t.Fatalf("%v", err)
		}
		if again := e.WriteRTCP(nil, nil); again == nil || again.Error() != err.Error() || e.Err() == nil {
			t.Errorf("%v, then %v", err, again)
		}
		if e.GetTargetBitrate() != 80_000 {
			t.Errorf("the target is %d", e.GetTargetBitrate())
		}
		out := new(counter)
		writer := e.AddStream(info(), out)
		for number := range 100 {
			header := &rtp.Header{Version: 2, SSRC: ssrc, SequenceNumber: uint16(number)}
			if _, err := writer.Write(header, make([]byte, 980), nil); err != nil {
				t.Fatal(err)
			}
		}
		// 120 kbps are 15 packets a second; the queue of 100 is to be empty after 2 s, which is 50 a second.
		time.Sleep(time.Second)
		if sent := out.packets.Load(); sent < 30 || sent > 70 {
			t.Errorf("%d packets in a second", sent)
		}
		if _, ok := e.GetStats()["error"]; !ok {
			t.Errorf("%v", e.GetStats())
		}
		other, err := New("gcc", Config{})
		if err != nil {
			t.Fatalf("another instance is not another: %v", err)
		}
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAModuleWhoseMemoryIsUsedUpIsAnErrorAndGrowsNoFurther(t *testing.T) {
	c := open(t, "gcc")
	var err error
	sent := 0
	// No report and no time: each of these packets is remembered.
	for ; err == nil && sent < 2_000_000; sent++ {
		err = c.onSent(0, uint64(sent), 1200, media, noProbe, ssrc, uint16(sent), false)
	}
	if err == nil || !strings.Contains(err.Error(), "the controller stopped") {
		t.Fatalf("%d packets: %v", sent, err)
	}
	if size := c.module.Memory().Size(); size > memoryPages<<16 {
		t.Errorf("%d bytes", size)
	}
	t.Logf("after %d packets in flight: %v", sent, err)
}

func TestMemoryStaysSmallForAnHour(t *testing.T) {
	c := open(t, "gcc")
	events := parse(t, native(t, "record", "60"))
	last := events[len(events)-1]
	for minute := range 60 {
		for _, one := range events {
			one.at += time.Duration(minute) * (last.at + time.Second)
			if one.datagram == nil {
				// Keys go on; that reports of later minutes then name unknown packets costs memory all the same.
				one.key += uint64(minute) << 16
			}
			if err := c.step(one); err != nil {
				t.Fatal(err)
			}
		}
	}
	if size := c.module.Memory().Size(); size > 4<<20 {
		t.Errorf("%d bytes", size)
	}
	t.Logf("%d KiB", c.module.Memory().Size()>>10)
}

func TestAReportThatCannotBeReadCountsAndEndsNothing(t *testing.T) {
	e, err := New("gcc", Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	wrong := &rtcp.TransportLayerCC{
		Header:       rtcp.Header{Count: rtcp.FormatTCC, Type: rtcp.TypeTransportSpecificFeedback, Length: 5},
		PacketChunks: []rtcp.PacketStatusChunk{&rtcp.RunLengthChunk{PacketStatusSymbol: rtcp.TypeTCCPacketReceivedSmallDelta, RunLength: 9}},
	}
	if err := e.WriteRTCP([]rtcp.Packet{wrong, &rtcp.PictureLossIndication{}}, nil); err != nil {
		t.Errorf("%v", err)
	}
	if stats := e.GetStats(); stats["refusedReports"] != 1 || stats["refusal"] == "" {
		t.Errorf("%v", stats)
	}
	if err := e.Err(); err != nil {
		t.Error(err)
	}
}

func TestAClosedEstimatorAnswersErrors(t *testing.T) {
	e, err := New("gcc", Config{})
	if err != nil {
		t.Fatal(err)
	}
	writer := e.AddStream(info(), new(counter))
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	_, writing := writer.Write(&rtp.Header{Version: 2, SSRC: ssrc}, nil, nil)
	for _, err := range []error{e.Close(), writing, e.WriteRTCP(nil, nil), e.SetBounds(1, 2)} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%v", err)
		}
	}
	if e.GetTargetBitrate() != 300_000 || e.GetStats()["scheme"] != "gcc" {
		t.Errorf("%d, %v", e.GetTargetBitrate(), e.GetStats())
	}
}

func TestBoundsHoldAndWrongOnesAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := New("gcc", Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if err := e.SetBounds(2, 1); err == nil || !strings.Contains(err.Error(), "min 2, max 1") {
			t.Errorf("%v", err)
		}
		if err := e.SetBounds(100_000, 400_000); err != nil {
			t.Fatal(err)
		}
		call(t, e, newLink(2_000_000), 5*time.Second)
		// Max is converted by the mean size of packets, which changes a little with each.
		if target := e.GetTargetBitrate(); target < 380_000 || target > 400_000 {
			t.Errorf("%d", target)
		}
	})
}

func TestWithoutReportsEachPacketLeavesUnmeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := New("gcc", Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		out := new(counter)
		writer := e.AddStream(&interceptor.StreamInfo{SSRC: ssrc, MimeType: "video/VP8"}, out)
		for number := range 10 {
			if _, err := writer.Write(&rtp.Header{Version: 2, SSRC: ssrc, SequenceNumber: uint16(number)}, make([]byte, 1000), nil); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		if stats := e.GetStats(); out.packets.Load() != 10 || stats["inFlight"] != uint64(0) || stats["queueMs"] != 0.0 {
			t.Errorf("%d packets, %v", out.packets.Load(), stats)
		}
	})
}

// headers keeps those of what leaves.
type headers []rtp.Header

func (h *headers) Write(header *rtp.Header, body []byte, _ interceptor.Attributes) (int, error) {
	*h = append(*h, header.Clone())
	return header.MarshalSize() + len(body), nil
}

func TestARetransmissionLeavesFirstAndOnceAndWithoutANumberAndTakesItsPartOfTheTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := New("gcc", Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		out := new(headers)
		writer := e.AddStream(info(), out)
		write := func(ssrc uint32, number uint16) {
			header := rtp.Header{Version: 2, SSRC: ssrc, SequenceNumber: number}
			if err := header.SetExtension(extension, []byte{7, 7}); err != nil {
				t.Fatal(err)
			}
			body := make([]byte, 1000)
			body[0] = 3 // The number of the packet that a retransmission repeats is 768.
			if _, err := writer.Write(&header, body, nil); err != nil {
				t.Fatal(err)
			}
		}
		for number := range uint16(5) {
			write(ssrc, number)
		}
		write(rtxSSRC, 40)
		write(rtxSSRC, 41)
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		if len(*out) != 6 {
			t.Fatalf("%d packets", len(*out))
		}
		number := 0
		for place, header := range *out {
			if header.SSRC == rtxSSRC {
				if place > 1 || header.GetExtension(extension) != nil {
					t.Errorf("packet %d is %v", place, header)
				}
			} else {
				if found := header.GetExtension(extension); len(found) != 2 || int(found[1]) != number {
					t.Errorf("packet %d is %v", place, header)
				}
				number++
			}
		}
		// 1020 bytes of the last second.
		if target := e.GetTargetBitrate(); target < 300_000-8200 || target > 300_000-8000 {
			t.Errorf("%d", target)
		}
	})
}

func TestAudioOvertakesVideoThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := New("gcc", Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		video, audio := new(counter), new(counter)
		pictures := e.AddStream(info(), video)
		sound := e.AddStream(&interceptor.StreamInfo{SSRC: 9, MimeType: "audio/opus"}, audio)
		for number := range 50 {
			header := &rtp.Header{Version: 2, SSRC: ssrc, SequenceNumber: uint16(number)}
			if _, err := pictures.Write(header, make([]byte, 1000), nil); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(50 * time.Millisecond)
		if _, err := sound.Write(&rtp.Header{Version: 2, SSRC: 9}, make([]byte, 100), nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if audio.packets.Load() != 1 || video.packets.Load() > 25 {
			t.Errorf("%d of audio, %d of video", audio.packets.Load(), video.packets.Load())
		}
	})
}

func TestAFullWindowHoldsPacketsAndWhatWaitsTooLongIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := New("copa", Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		out := new(counter)
		writer := e.AddStream(info(), out)
		number := uint16(0)
		write := func(count int) {
			for range count {
				header := &rtp.Header{Version: 2, SSRC: ssrc, SequenceNumber: number}
				if _, err := writer.Write(header, make([]byte, 1000), nil); err != nil {
					t.Fatal(err)
				}
				number++
			}
		}
		write(200)
		time.Sleep(time.Second)
		window, ok := e.GetStats()["window"].(uint64)
		if held := out.packets.Load(); !ok || held < 1 || uint64(held)*1058 > window+1058 {
			t.Errorf("%d packets left, the window is %d", held, window)
		}
		// No report ever comes. What waits is dropped after 4 s, however often the window opens again by timeouts.
		time.Sleep(9 * time.Second)
		stats := e.GetStats()
		if stats["queueBytes"] != 0 || stats["dropped"].(int)+int(out.packets.Load()) != 200 || stats["dropped"] == 0 {
			t.Errorf("%d packets left, %v", out.packets.Load(), stats)
		}
	})
}

func TestItMayBeCalledFromAnyGoroutine(t *testing.T) {
	e, err := New("gcc", Config{})
	if err != nil {
		t.Fatal(err)
	}
	l := newLink(50_000_000)
	e.OnTargetBitrateChange(func(int) { e.GetStats() })
	var group sync.WaitGroup
	end := time.Now().Add(300 * time.Millisecond)
	often := func(action func(number int)) {
		group.Go(func() {
			for number := 0; time.Now().Before(end); number++ {
				action(number)
				time.Sleep(100 * time.Microsecond)
			}
		})
	}
	for stream := range uint32(3) {
		bound := info()
		bound.SSRC += 100 * stream
		writer := e.AddStream(bound, l)
		often(func(number int) {
			header := &rtp.Header{Version: 2, SSRC: bound.SSRC, SequenceNumber: uint16(number)}
			if _, err := writer.Write(header, make([]byte, 100), nil); err != nil {
				t.Error(err)
			}
		})
	}
	often(func(int) {
		if err := e.WriteRTCP(l.reports(), nil); err != nil {
			t.Error(err)
		}
	})
	often(func(int) { e.GetTargetBitrate(); e.GetStats(); e.PollDecision() })
	often(func(number int) {
		if err := e.SetBounds(30_000, 1_000_000+number); err != nil {
			t.Error(err)
		}
	})
	group.Wait()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.numbers) < 20 {
		t.Errorf("%d packets", len(l.numbers))
	}
	if loss, ok := e.GetStats()["loss"].(float64); ok && math.IsNaN(loss) {
		t.Error("NaN is no share")
	}
}
