// Package pion plays a call between two connections of Pion, unmodified, over its virtual network: an encoder that follows
// the estimator under test, a bottleneck that changes, and what arrives when. In a bubble of testing/synctest all of that
// happens in virtual time.
package pion

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/logging"
	"github.com/pion/rtp"
	"github.com/pion/transport/v5/vnet"
	"github.com/pion/webrtc/v4"
)

// Phase is how much the bottleneck carries for a while, bit/s.
type Phase struct {
	Rate     int
	Duration time.Duration
}

// Path is what lies between the two.
type Path struct {
	Phases []Phase
	// OneWay is the time that a packet takes without a queue, in either direction.
	OneWay time.Duration
	// Queue is the bytes that wait at most, Burst those that pass at once after a pause.
	Queue, Burst int
}

// Result is what a call was like.
type Result struct {
	// Rate is the video that arrived, bit/s of RTP payload, each packet once.
	Rate float64
	// Queued is the 95th percentile of what packets wait in the network beyond OneWay, Late that of the time from a frame's
	// capture to its last packet's arrival, Longest the longest wait in the network.
	Queued, Late, Longest time.Duration
	// Lost is the share of packets that the network dropped.
	Lost float64
	// Targets are the estimator's, each second.
	Targets []int
	// Stats are the estimator's at the end.
	Stats map[string]any
}

const (
	framesPerSecond = 30
	// noise is the deviation of a frame's size as a share of its mean.
	noise   = 0.15
	payload = 1100
	vp8     = 96
)

// packetOf names a packet on the wire.
type packetOf struct {
	ssrc     uint32
	sequence uint16
}

// watch notes when packets leave and arrive.
type watch struct {
	mu       sync.Mutex
	path     Path
	left     map[packetOf]time.Time
	waits    []time.Duration
	arrived  int
	media    map[uint16]bool
	bytes    int
	captured map[uint16]time.Time
	lates    map[time.Time]time.Duration
}

// onWire sees what the sender's side gives to the network.
func (w *watch) onWire(chunk vnet.Chunk) bool {
	data := chunk.UserData()
	// RTP, by RFC 7983 and RFC 5761; the header is not encrypted.
	if len(data) < 12 || data[0]>>6 != 2 || data[1] >= 192 && data[1] <= 223 {
		return true
	}
	var header rtp.Header
	if _, err := header.Unmarshal(data); err != nil {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left[packetOf{header.SSRC, header.SequenceNumber}] = time.Now()
	return true
}

// NewInterceptor makes it part of the receiver's chain, where it sees what arrives.
func (w *watch) NewInterceptor(string) (interceptor.Interceptor, error) {
	return &tap{watch: w}, nil
}

type tap struct {
	interceptor.NoOp
	watch *watch
}

func (t *tap) BindRemoteStream(info *interceptor.StreamInfo, reader interceptor.RTPReader) interceptor.RTPReader {
	return interceptor.RTPReaderFunc(func(b []byte, a interceptor.Attributes) (int, interceptor.Attributes, error) {
		n, attributes, err := reader.Read(b, a)
		var header rtp.Header
		if err == nil {
			if _, wrong := header.Unmarshal(b[:n]); wrong == nil {
				t.watch.arrive(&header)
			}
		}
		return n, attributes, err
	})
}

func (w *watch) arrive(header *rtp.Header) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if left, ok := w.left[packetOf{header.SSRC, header.SequenceNumber}]; ok {
		w.waits = append(w.waits, time.Since(left)-w.path.OneWay)
		w.arrived++
	}
}

// decode takes a packet of the video, possibly from a retransmission.
func (w *watch) decode(packet *rtp.Packet) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.media[packet.SequenceNumber] {
		return
	}
	w.media[packet.SequenceNumber] = true
	w.bytes += len(packet.Payload)
	captured := w.captured[packet.SequenceNumber]
	w.lates[captured] = max(w.lates[captured], time.Since(captured))
	// Numbers come again; half their range is old.
	delete(w.media, packet.SequenceNumber-1<<15)
}

func percentile(spans []time.Duration, share float64) time.Duration {
	if len(spans) == 0 {
		return 0
	}
	slices.Sort(spans)
	return spans[int(share*float64(len(spans)-1))]
}

// Play plays a call. The seed decides the sizes of frames.
func Play(path Path, factory cc.BandwidthEstimatorFactory, seed uint64) (result Result, err error) {
	var problems []error
	check := func(err error) {
		if err != nil {
			problems = append(problems, err)
		}
	}
	loggers := logging.NewDefaultLoggerFactory()
	loggers.DefaultLogLevel = logging.LogLevelDisabled
	router, err := vnet.NewRouter(&vnet.RouterConfig{CIDR: "10.0.0.0/24", LoggerFactory: loggers})
	if err != nil {
		return result, err
	}
	w := &watch{
		path: path, left: map[packetOf]time.Time{}, media: map[uint16]bool{}, captured: map[uint16]time.Time{},
		lates: map[time.Time]time.Duration{},
	}
	router.AddChunkFilter(w.onWire)

	// To the receiver there is a bottleneck, back only time.
	const senderAddress, receiverAddress = "10.0.0.1", "10.0.0.2"
	receiverNet, err := vnet.NewNet(&vnet.NetConfig{StaticIPs: []string{receiverAddress}})
	if err != nil {
		return result, err
	}
	senderNet, err := vnet.NewNet(&vnet.NetConfig{StaticIPs: []string{senderAddress}})
	if err != nil {
		return result, err
	}
	there, err := vnet.NewDelayFilter(receiverNet, vnet.WithDelay(path.OneWay))
	if err != nil {
		return result, err
	}
	bucket := vnet.NewTBFQueue(path.Phases[0].Rate, path.Burst, int64(path.Queue))
	bottleneck, err := vnet.NewQueue(there, bucket)
	if err != nil {
		return result, err
	}
	back, err := vnet.NewDelayFilter(senderNet, vnet.WithDelay(path.OneWay))
	if err != nil {
		return result, err
	}
	check(router.AddNet(bottleneck))
	check(router.AddNet(back))
	check(router.Start())
	defer func() {
		check(router.Stop())
		// Its goroutine may hold packets for the filters, and would wait for ever for those that are closed.
		time.Sleep(100 * time.Millisecond)
		check(bottleneck.Close())
		check(there.Close())
		check(back.Close())
		err = errors.Join(append(problems, err)...)
	}()

	var estimator cc.BandwidthEstimator
	sender, err := connection(senderNet, loggers, func(engine *webrtc.MediaEngine, registry *interceptor.Registry) error {
		congestion, err := cc.NewInterceptor(factory)
		if err != nil {
			return err
		}
		congestion.OnNewPeerConnection(func(_ string, made cc.BandwidthEstimator) { estimator = made })
		registry.Add(congestion)
		return webrtc.ConfigureTWCCHeaderExtensionSender(engine, registry)
	})
	if err != nil {
		return result, err
	}
	defer func() { check(sender.Close()) }()
	receiver, err := connection(receiverNet, loggers, func(_ *webrtc.MediaEngine, registry *interceptor.Registry) error {
		registry.Add(w)
		return nil
	})
	if err != nil {
		return result, err
	}
	defer func() { check(receiver.Close()) }()

	track, err := webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90000}, "video", "call")
	if err != nil {
		return result, err
	}
	sends, err := sender.AddTrack(track)
	if err != nil {
		return result, err
	}
	go func() {
		for buffer := make([]byte, 1500); ; {
			if _, _, err := sends.Read(buffer); err != nil {
				return
			}
		}
	}()
	receiver.OnTrack(func(remote *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		for {
			packet, _, err := remote.ReadRTP()
			if err != nil {
				return
			}
			w.decode(packet)
		}
	})
	connected := make(chan struct{})
	sender.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		if state == webrtc.PeerConnectionStateConnected {
			close(connected)
		}
	})
	if err := negotiate(sender, receiver); err != nil {
		return result, err
	}
	select {
	case <-connected:
	case <-time.After(30 * time.Second):
		return result, errors.New("the two did not connect in 30 s")
	}
	result.Targets = w.send(track, estimator, bucket, seed)
	// What is under way arrives.
	time.Sleep(time.Second)
	result.Stats = estimator.GetStats()

	w.mu.Lock()
	defer w.mu.Unlock()
	var duration time.Duration
	for _, phase := range path.Phases {
		duration += phase.Duration
	}
	lates := make([]time.Duration, 0, len(w.lates))
	for _, late := range w.lates {
		lates = append(lates, late)
	}
	result.Rate = float64(w.bytes) * 8 / duration.Seconds()
	result.Queued, result.Longest = percentile(w.waits, 0.95), percentile(w.waits, 1)
	result.Late = percentile(lates, 0.95)
	result.Lost = 1 - float64(w.arrived)/float64(max(len(w.left), 1))
	return result, nil
}

// connection makes one of Pion's connections in a virtual network, with what `configure` adds before the defaults.
func connection(
	net *vnet.Net, loggers logging.LoggerFactory, configure func(*webrtc.MediaEngine, *interceptor.Registry) error,
) (*webrtc.PeerConnection, error) {
	engine, registry := new(webrtc.MediaEngine), new(interceptor.Registry)
	if err := engine.RegisterDefaultCodecs(); err != nil {
		return nil, err
	}
	if err := configure(engine, registry); err != nil {
		return nil, err
	}
	if err := webrtc.RegisterDefaultInterceptors(engine, registry); err != nil {
		return nil, err
	}
	settings := webrtc.SettingEngine{LoggerFactory: loggers}
	settings.SetNet(net)
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	settings.SetICETimeouts(30*time.Second, 60*time.Second, 2*time.Second)
	api := webrtc.NewAPI(
		webrtc.WithMediaEngine(engine), webrtc.WithInterceptorRegistry(registry), webrtc.WithSettingEngine(settings))
	return api.NewPeerConnection(webrtc.Configuration{})
}

func negotiate(sender, receiver *webrtc.PeerConnection) error {
	offer, err := sender.CreateOffer(nil)
	if err != nil {
		return err
	}
	gathered := webrtc.GatheringCompletePromise(sender)
	if err := sender.SetLocalDescription(offer); err != nil {
		return err
	}
	<-gathered
	if err := receiver.SetRemoteDescription(*sender.LocalDescription()); err != nil {
		return err
	}
	answer, err := receiver.CreateAnswer(nil)
	if err != nil {
		return err
	}
	gathered = webrtc.GatheringCompletePromise(receiver)
	if err := receiver.SetLocalDescription(answer); err != nil {
		return err
	}
	<-gathered
	return sender.SetRemoteDescription(*receiver.LocalDescription())
}

// send encodes as the target allows through all phases; returns the targets of each second.
func (w *watch) send(track *webrtc.TrackLocalStaticRTP, estimator cc.BandwidthEstimator, bucket *vnet.TBFQueue, seed uint64) []int {
	random := rand.New(rand.NewPCG(seed, 0))
	var targets []int
	var sequence uint16
	frame := time.NewTicker(time.Second / framesPerSecond)
	defer frame.Stop()
	count := 0
	for _, phase := range w.path.Phases {
		bucket.SetRate(phase.Rate)
		for range int(phase.Duration.Seconds() * framesPerSecond) {
			captured := <-frame.C
			target := estimator.GetTargetBitrate()
			if count%framesPerSecond == 0 {
				targets = append(targets, target)
			}
			mean := float64(target) / 8 / framesPerSecond
			size := int(math.Max(mean*(1+noise*random.NormFloat64()), 50))
			for left := size; left > 0; left -= payload {
				packet := &rtp.Packet{Header: rtp.Header{
					Version: 2, PayloadType: vp8, SequenceNumber: sequence, Timestamp: uint32(count * 90000 / framesPerSecond),
					Marker: left <= payload,
				}, Payload: make([]byte, min(left, payload))}
				w.mu.Lock()
				w.captured[sequence] = captured
				w.mu.Unlock()
				// A connection that is not there yet or no more takes nothing; that shows in what arrives.
				_ = track.WriteRTP(packet)
				sequence++
			}
			count++
		}
	}
	return targets
}
