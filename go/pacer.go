package thalweg

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtp"
)

const (
	// transportCC is the header extension with the transport-wide sequence number.
	transportCC = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
	// drainWithin: the pacing rate is raised so that the queue drains in this time (libwebrtc's queue_time_limit).
	drainWithin = 2 * time.Second
	// dropAfter: a packet that waited so long is dropped, for what the application encodes meanwhile is newer. Only a window
	// that stays full holds packets so long.
	dropAfter = 2 * drainWithin
	// backlogAfter is three frames at 30 a second: what waits longer is not the last frame on its way out.
	backlogAfter = 100 * time.Millisecond
	// tenth of a second.
	tenth = 100 * time.Millisecond
	// catchUp is how much a timer that was late is made up for.
	catchUp = 5 * time.Millisecond
	// minPacing, bit/s: a controller that stops all for a while must not make a packet's time infinite.
	minPacing = 1000
	// idle is when to look again where nothing is to be done.
	idle = time.Hour
)

// stream is one that is sent, with its streams of retransmissions and FEC.
type stream struct {
	writer interceptor.RTPWriter
	ssrc   uint32
	// extension is the number of the header extension, 0 if it was not negotiated.
	extension uint8
	// measured is whether reports name its packets.
	measured bool
	kind     payload
	newest   uint16
	begun    bool
}

// queued is a packet that waits or leaves.
type queued struct {
	stream     *stream
	header     rtp.Header
	payload    []byte
	buffer     *[]byte
	attributes interceptor.Attributes
	at         time.Duration
}

func (q *queued) size() int {
	return q.header.MarshalSize() + len(q.payload) + int(q.header.PaddingSize)
}

// entrance is where a stream's packets come in.
type entrance struct {
	estimator *Estimator
	stream    *stream
}

// Write queues a copy of a packet.
func (w *entrance) Write(header *rtp.Header, body []byte, attributes interceptor.Attributes) (int, error) {
	e := w.estimator
	packet := take(header, body, attributes)
	packet.stream = w.stream
	size := packet.size()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return 0, ErrClosed
	}
	e.pacer.push(e.now(), packet)
	e.rouse()
	return size, nil
}

var bodies = sync.Pool{New: func() any { return new([]byte) }}

func take(header *rtp.Header, body []byte, attributes interceptor.Attributes) *queued {
	buffer := bodies.Get().(*[]byte)
	*buffer = append((*buffer)[:0], body...)
	return &queued{header: header.Clone(), payload: *buffer, buffer: buffer, attributes: maps.Clone(attributes)}
}

// give lets the payload's memory be used again. Headers are not: a writer may keep one, as with Pion's pacer.
func give(packet *queued) {
	bodies.Put(packet.buffer)
}

// queue is first in, first out.
type queue struct {
	packets []*queued
	first   int
}

func (q *queue) empty() bool    { return q.first == len(q.packets) }
func (q *queue) head() *queued  { return q.packets[q.first] }
func (q *queue) push(p *queued) { q.packets = append(q.packets, p) }

func (q *queue) pop() *queued {
	packet := q.packets[q.first]
	q.packets[q.first] = nil
	q.first++
	if q.first > len(q.packets)/2 {
		q.packets = q.packets[:copy(q.packets, q.packets[q.first:])]
		q.first = 0
	}
	return packet
}

// pacer decides which packet leaves when. All but write is called under the estimator's lock.
type pacer struct {
	overhead int
	streams  []*stream
	// audio leaves at once, before all else; the rest is paced, what repairs before what is new.
	audio, repair, media queue
	// bytes wait in repair and media; entered is the sum of the times at which those of media came.
	bytes   int
	entered time.Duration
	// due is when the next packet may leave.
	due time.Duration
	// key numbers packets in the order in which they leave. Its low 16 bits are the transport-wide sequence number.
	key          uint64
	dropped      int
	failedWrites *atomic.Int64
	// repaired are the bytes of retransmissions and FEC in each tenth of the last second, by the tenth's number.
	repaired [10]struct {
		tenth int64
		bytes int
	}
}

func newPacer(overhead int) pacer {
	return pacer{overhead: overhead, failedWrites: new(atomic.Int64)}
}

func (p *pacer) bind(info *interceptor.StreamInfo, writer interceptor.RTPWriter) *stream {
	s := &stream{
		writer: writer, ssrc: info.SSRC,
	}
	for _, extension := range info.RTPHeaderExtensions {
		if extension.URI == transportCC && extension.ID > 0 && extension.ID < 256 {
			s.extension, s.measured = uint8(extension.ID), true
		}
	}
	for _, feedback := range info.RTCPFeedback {
		if feedback.Type == "ack" && feedback.Parameter == "ccfb" {
			s.measured = true
		}
	}
	if strings.HasPrefix(strings.ToLower(info.MimeType), "audio/") {
		s.kind = audio
	}
	// A stream that is bound again takes the place of what it was.
	for index, other := range p.streams {
		if other.ssrc == s.ssrc {
			p.streams[index] = s
			return s
		}
	}
	p.streams = append(p.streams, s)
	return s
}

func (p *pacer) push(now time.Duration, packet *queued) {
	packet.at = now
	switch {
	case packet.stream.kind == audio:
		p.audio.push(packet)
	case packet.header.SSRC != packet.stream.ssrc:
		if p.waits(packet) {
			give(packet)
			return
		}
		p.repair.push(packet)
		p.bytes += packet.size()
	default:
		p.media.push(packet)
		p.bytes += packet.size()
		p.entered += now
	}
}

// waits says whether a packet's retransmission waits already: the receiver asks again meanwhile, and what keeps Pion's
// responder from answering again is internal to Pion. A retransmission begins with the number of the packet that it repeats
// (RFC 4588).
func (p *pacer) waits(packet *queued) bool {
	for _, other := range p.repair.packets[p.repair.first:] {
		if other.header.SSRC == packet.header.SSRC && len(other.payload) >= 2 && len(packet.payload) >= 2 &&
			other.payload[0] == packet.payload[0] && other.payload[1] == packet.payload[1] {
			return true
		}
	}
	return false
}

// head is the next packet that is paced.
func (p *pacer) head() *queued {
	if !p.repair.empty() {
		return p.repair.head()
	}
	return p.media.head()
}

func (p *pacer) pop() *queued {
	var packet *queued
	if !p.repair.empty() {
		packet = p.repair.pop()
	} else {
		packet = p.media.pop()
		p.entered -= packet.at
	}
	p.bytes -= packet.size()
	return packet
}

// wait is how long the oldest packet has waited.
func (p *pacer) wait(now time.Duration) time.Duration {
	if p.repair.empty() && p.media.empty() {
		return 0
	}
	return now - p.head().at
}

// clear drops what waits.
func (p *pacer) clear() {
	p.audio, p.repair, p.media, p.bytes, p.entered = queue{}, queue{}, queue{}, 0, 0
}

// next returns the packet that leaves now, or when to ask again.
func (p *pacer) next(now time.Duration, c *controller) (*queued, time.Duration) {
	if c.state[fieldNextTimeout] <= uint64(now) {
		// A controller that stopped says so to those who ask (Estimator.Err).
		_ = c.onTimeout(now)
	}
	if !p.audio.empty() {
		return p.depart(now, c, p.audio.pop(), audio), now
	}
	for p.wait(now) > dropAfter {
		give(p.pop())
		p.dropped++
	}
	if p.repair.empty() && p.media.empty() {
		return nil, timeout(c)
	}
	if p.due > now {
		return nil, min(p.due, timeout(c))
	}
	if !p.admits(c, p.head()) {
		// A report or a timeout frees the window.
		return nil, min(p.head().at+dropAfter+1, timeout(c))
	}
	packet := p.pop()
	size := packet.size()
	leaving := p.depart(now, c, packet, packet.kind())
	p.due = max(p.due, now-catchUp) + p.timeFor(now, c, size)
	return leaving, now
}

func timeout(c *controller) time.Duration {
	return time.Duration(min(c.state[fieldNextTimeout], uint64(1<<62)))
}

// kind is what a packet of the queue is for. One that comes again under its number is a retransmission too.
func (q *queued) kind() payload {
	s := q.stream
	if q.header.SSRC != s.ssrc {
		return repair
	}
	if s.begun && int16(q.header.SequenceNumber-s.newest) <= 0 {
		return repair
	}
	s.newest, s.begun = q.header.SequenceNumber, true
	return s.kind
}

// taken is what of the target is not the encoder's, bit/s: retransmissions and FEC, as in libwebrtc, by the rate of the last
// second; and, once packets wait longer than backlogAfter, the rate that removes them in a second. A target may be above what a
// window lets through (thalweg_driver: otherwise the window would never be full), and the difference waits here.
func (p *pacer) taken(now time.Duration) int {
	sum := 0
	if p.wait(now) > backlogAfter {
		sum = p.bytes
	}
	for _, one := range p.repaired {
		if int64(now/tenth)-one.tenth < int64(len(p.repaired)) {
			sum += one.bytes
		}
	}
	return sum * 8
}

func (p *pacer) countRepair(now time.Duration, size int) {
	number := int64(now / tenth)
	one := &p.repaired[number%int64(len(p.repaired))]
	if one.tenth != number {
		one.tenth, one.bytes = number, 0
	}
	one.bytes += size
}

// admits says whether the window has room for a packet. One may always be in flight.
func (p *pacer) admits(c *controller, packet *queued) bool {
	window, inFlight := c.state[fieldWindow], c.state[fieldInFlight]
	return window == none || inFlight == 0 || !packet.stream.measured || packet.header.SSRC != packet.stream.ssrc || inFlight+uint64(packet.size()+p.overhead) <= window
}

// timeFor is how long a packet takes at the pacing rate, or at the rate that drains the queue in time.
func (p *pacer) timeFor(now time.Duration, c *controller, size int) time.Duration {
	rate := max(float64(c.state[fieldPacing]), minPacing)
	if count := len(p.media.packets) - p.media.first; count > 0 {
		mean := now - p.entered/time.Duration(count)
		left := max(drainWithin-mean, time.Millisecond)
		rate = max(rate, float64(p.bytes)*8/left.Seconds())
	}
	return time.Duration(float64(size) * 8 / rate * 1e9)
}

// depart numbers a packet and shows it to the controller, if reports on it can come back.
//
// Retransmissions and FEC on streams of their own are not numbered. A report names the stream of the last packet that it is
// about, and Pion gives RTCP to those who read that stream: nobody can read the one of retransmissions, so that every report
// which happened to end with one would be lost.
func (p *pacer) depart(now time.Duration, c *controller, packet *queued, kind payload) *queued {
	s := packet.stream
	if kind == repair {
		p.countRepair(now, packet.size())
	}
	measured := s.measured && packet.header.SSRC == s.ssrc
	if s.extension != 0 && measured {
		number := uint16(p.key)
		measured = packet.header.SetExtension(s.extension, []byte{byte(number >> 8), byte(number)}) == nil
	} else if s.extension != 0 && packet.header.GetExtension(s.extension) != nil {
		// Written by the interceptor that numbers before we do.
		_ = packet.header.DelExtension(s.extension)
	}
	if measured && c.failure == nil {
		limited := p.media.empty() && p.repair.empty() && p.audio.empty()
		// A refusal would be of a size beyond a datagram, which no network carries either.
		_ = c.onSent(now, p.key, packet.size(), kind, noProbe, packet.header.SSRC, packet.header.SequenceNumber, limited)
		p.key++
	}
	return packet
}

// write passes a packet on. It is called without the lock, by one goroutine.
func (p *pacer) write(packet *queued) {
	if _, err := packet.stream.writer.Write(&packet.header, packet.payload, packet.attributes); err != nil {
		p.failedWrites.Add(1)
	}
	give(packet)
}
