// Package thalweg puts Thalweg's congestion controllers into Pion: GCC as Chromium has it, SCReAM, NADA, Copa, BBR and others behind
// cc.BandwidthEstimator, with a pacer.
//
// The controllers are the project's own Rust, as a WebAssembly module that is part of this package and run by wazero: no
// cgo, and the same bits as natively. docs/go.md in the repository has the lines to begin with, what is lost, and figures.
package thalweg

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/rtcp"
)

// ErrClosed is what a closed estimator answers.
var ErrClosed = errors.New("thalweg: the estimator is closed")

// Config has rates in bit/s, as Pion counts them: RTP headers and payload. What is zero takes the value given here.
type Config struct {
	// Start is the target before the first report: 300,000.
	Start int
	// Min is the least target: 30,000.
	Min int
	// Max is the highest target: 12,000,000.
	Max int
	// Overhead is what the wire adds to each packet, 0 to 1000 bytes: 38 for IPv4, UDP and SRTP's usual tag. -1 is none.
	Overhead int
}

func (c Config) complete() (Config, error) {
	for _, field := range []struct {
		value *int
		usual int
	}{{&c.Start, 300_000}, {&c.Min, 30_000}, {&c.Max, 12_000_000}, {&c.Overhead, 38}} {
		if *field.value == 0 {
			*field.value = field.usual
		}
	}
	if c.Overhead == -1 {
		c.Overhead = 0
	}
	for _, value := range []int{c.Start, c.Min, c.Max, c.Overhead} {
		if value < 0 || int64(value) > math.MaxUint32 {
			return c, fmt.Errorf("thalweg: %d in %+v must be 0 to %d", value, c, int64(math.MaxUint32))
		}
	}
	return c, nil
}

// Estimator is a cc.BandwidthEstimator led by a controller of Thalweg. Its methods may be called from any goroutine.
type Estimator struct {
	scheme string
	config Config
	begun  time.Time
	target atomic.Int64
	wake   chan struct{}

	mu         sync.Mutex
	controller *controller
	pacer      pacer
	closed     bool
	// heard is whether a report came since the target was announced.
	heard     bool
	announced int
	changed   func(int)
	refused   int
	refusal   error
}

var _ cc.BandwidthEstimator = (*Estimator)(nil)

// Factory returns what cc.NewInterceptor takes: each connection gets an estimator of its own.
func Factory(scheme string, config Config) cc.BandwidthEstimatorFactory {
	return func() (cc.BandwidthEstimator, error) { return New(scheme, config) }
}

// New makes an estimator with the controller of this name (Schemes has them) and its published parameters. It is refused
// for an unknown name, for a scheme that needs more than packets and reports, and for rates out of order. Close ends it.
func New(scheme string, config Config) (*Estimator, error) {
	config, err := config.complete()
	if err != nil {
		return nil, err
	}
	controller, err := newController(scheme, config)
	if err != nil {
		return nil, err
	}
	e := &Estimator{
		scheme: scheme, config: config, begun: time.Now(), wake: make(chan struct{}, 1),
		controller: controller, pacer: newPacer(config.Overhead), announced: config.Start,
	}
	e.target.Store(int64(controller.state[fieldTarget]))
	go e.run()
	return e, nil
}

// AddStream binds a stream that is sent. Its packets are queued, and written by the estimator's own goroutine.
func (e *Estimator) AddStream(info *interceptor.StreamInfo, writer interceptor.RTPWriter) interceptor.RTPWriter {
	e.mu.Lock()
	defer e.mu.Unlock()
	return &entrance{e, e.pacer.bind(info, writer)}
}

// WriteRTCP reads the reports among what the receiver sent. One that the controller cannot read counts in the statistics;
// an error is returned when the estimator is closed or its controller has stopped.
func (e *Estimator) WriteRTCP(packets []rtcp.Packet, _ interceptor.Attributes) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return ErrClosed
	}
	for _, packet := range packets {
		switch packet.(type) {
		case *rtcp.TransportLayerCC, *rtcp.CCFeedbackReport, *rtcp.ReceiverReport, *rtcp.SenderReport, *rtcp.ExtendedReport:
		default:
			continue
		}
		bytes, err := packet.Marshal()
		if err == nil {
			err = e.controller.onRTCP(e.now(), bytes)
		}
		if err != nil {
			e.refused, e.refusal = e.refused+1, err
		}
		e.heard = true
	}
	e.settle()
	e.rouse()
	return e.controller.failure
}

// GetTargetBitrate returns the rate to encode at, bit/s. When the controller has stopped it is Config.Min.
func (e *Estimator) GetTargetBitrate() int {
	return int(e.target.Load())
}

// OnTargetBitrateChange sets the function that is called with a new target, in order, by the estimator's own goroutine:
// packets wait until it returns. It may call the estimator.
func (e *Estimator) OnTargetBitrateChange(f func(bitrate int)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changed = f
}

// SetBounds says between which targets the application can choose from now on, bit/s.
func (e *Estimator) SetBounds(min, max int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return ErrClosed
	}
	if min <= 0 || max < min {
		return fmt.Errorf("thalweg: min %d, max %d must be 0 < min <= max", min, max)
	}
	if err := e.controller.onDemand(e.now(), min, max); err != nil {
		return err
	}
	e.config.Min, e.config.Max = min, max
	e.settle()
	e.rouse()
	return nil
}

// Decision is one decision of the controller with its reason.
type Decision struct {
	// At is when it was made, since the estimator was.
	At time.Duration
	// From and To are the estimated capacity before and after, bit/s on the wire.
	From, To int
	// What is a verb, and Why the reason in the terms of the paper.
	What, Why string
}

// PollDecision returns the next decision that was not polled yet, oldest first, if there is one. Of those that nobody polls
// the module keeps a few.
func (e *Estimator) PollDecision() (Decision, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return Decision{}, false
	}
	text, err := e.controller.nextDecision()
	words := strings.SplitN(text, " ", 4)
	if err != nil || len(words) != 4 {
		return Decision{}, false
	}
	var decision Decision
	at, _ := strconv.ParseInt(words[0], 10, 64)
	decision.At = time.Duration(at)
	decision.From, _ = strconv.Atoi(words[1])
	decision.To, _ = strconv.Atoi(words[2])
	decision.What, decision.Why, _ = strings.Cut(words[3], ": ")
	return decision, true
}

// Err returns why the controller has stopped; nil as long as it works.
func (e *Estimator) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.controller.failure
}

// GetStats returns what is known beside the target. Sizes are bytes, rates bit/s; what is not known is absent.
func (e *Estimator) GetStats() map[string]any {
	e.mu.Lock()
	defer e.mu.Unlock()
	state := &e.controller.state
	stats := map[string]any{
		"scheme":         e.scheme,
		"targetBitrate":  int(e.target.Load()),
		"pacingBitrate":  state[fieldPacing],
		"capacity":       state[fieldCapacity],
		"inFlight":       state[fieldInFlight],
		"keepFrames":     math.Float64frombits(state[fieldKeepFrames]),
		"unknownPackets": state[fieldUnknown],
		"queueMs":        e.pacer.wait(e.now()).Seconds() * 1000,
		"queueBytes":     e.pacer.bytes,
		"dropped":        e.pacer.dropped,
		"failedWrites":   e.pacer.failedWrites.Load(),
		"refusedReports": e.refused,
	}
	for name, field := range map[string]int{"window": fieldWindow, "burst": fieldBurst} {
		if state[field] != none {
			stats[name] = state[field]
		}
	}
	for name, field := range map[string]int{"srttMs": fieldSrtt, "pathRttMs": fieldPathRtt} {
		if state[field] != none {
			stats[name] = float64(state[field]) / 1e6
		}
	}
	if loss := math.Float64frombits(state[fieldLoss]); !math.IsNaN(loss) {
		stats["loss"] = loss
	}
	if e.refusal != nil {
		stats["refusal"] = e.refusal.Error()
	}
	if e.controller.failure != nil {
		stats["error"] = e.controller.failure.Error()
	}
	return stats
}

// Close ends the estimator. Packets that still wait are dropped; one may be on its way to its writer.
func (e *Estimator) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return ErrClosed
	}
	e.closed = true
	e.pacer.clear()
	e.controller.close()
	e.rouse()
	return nil
}

// announceShare is by what share a target has to change to be announced between two reports: the mean size of packets, on
// which it depends, changes with each one.
const announceShare = 0.01

func (e *Estimator) now() time.Duration {
	return time.Since(e.begun)
}

// rouse lets the goroutine look again.
func (e *Estimator) rouse() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// settle takes over what the controller says. One that has stopped sends at the least rate, unmeasured.
func (e *Estimator) settle() {
	c := e.controller
	if c.failure != nil {
		c.state[fieldTarget] = uint64(e.config.Min)
		c.state[fieldPacing] = uint64(e.config.Min) * 3 / 2
		c.state[fieldWindow], c.state[fieldNextTimeout] = none, none
	}
	target, now := int64(c.state[fieldTarget]), e.now()
	e.target.Store(max(target-int64(e.pacer.taken(now)), min(target, int64(e.config.Min))))
}

// announcement is the function to call and the target to call it with, if that changed.
func (e *Estimator) announcement() (func(int), int) {
	target := int(e.target.Load())
	differs := math.Abs(float64(target - e.announced))
	if differs == 0 || !e.heard && differs <= announceShare*float64(e.announced) {
		return nil, 0
	}
	e.heard, e.announced = false, target
	return e.changed, target
}

// run lets packets leave, keeps the controller's timer and announces targets, until the estimator is closed.
func (e *Estimator) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		e.mu.Lock()
		if e.closed {
			e.mu.Unlock()
			return
		}
		leaving, next := e.pacer.next(e.now(), e.controller)
		e.settle()
		changed, target := e.announcement()
		e.mu.Unlock()
		if changed != nil {
			changed(target)
		}
		if leaving != nil {
			e.pacer.write(leaving)
			continue
		}
		timer.Reset(next - e.now())
		select {
		case <-e.wake:
		case <-timer.C:
		}
	}
}
