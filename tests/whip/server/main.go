// A WHIP server (RFC 9725) of Pion's, to send to in tests: it takes what comes, counts it, and tells at /stats.
package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
	"github.com/pion/webrtc/v4"
)

// track counts packets as the interceptors leave them: retransmissions stand in for what they retransmission.
type track struct {
	Kind      string `json:"kind"`
	Codec     string `json:"codec"`
	SSRC      uint32 `json:"ssrc"`
	Packets   int    `json:"packets"`   // each once
	Bytes     int    `json:"bytes"`     // of payload, of these
	Frames    int    `json:"frames"`    // packets with the marker
	Keyframes int    `json:"keyframes"` // their first packets
	Retransmissions   int    `json:"retransmissions"`   // packets that came on the RTX stream and carried one
	Repaired  int    `json:"repaired"`  // of these, the ones that had not come before
	Again     int    `json:"again"`     // packets that had come before
	Lost      int    `json:"lost"`      // between the first and the newest, as of now
	key       uint32 // the newest keyframe's timestamp
	first     int64
	newest    int64
	seen      [1 << 16]int64
}

type session struct {
	State    string            `json:"state"`
	Restarts int               `json:"restarts"` // of ICE
	Tracks   map[string]*track `json:"tracks"`
	peer     *webrtc.PeerConnection
	offer    string
}

var (
	mutex    sync.Mutex
	sessions = map[string]*session{}
)

func (t *track) count(packet *rtp.Packet, retransmitted bool) {
	number := t.newest + int64(int16(packet.SequenceNumber-uint16(t.newest)))
	if t.Packets == 0 {
		number = 1<<16 + int64(packet.SequenceNumber)
		t.first, t.newest = number, number
	}
	if retransmitted {
		t.Retransmissions++
	}
	if t.seen[packet.SequenceNumber] == number {
		t.Again++
		return
	}
	if retransmitted {
		t.Repaired++
	}
	t.seen[packet.SequenceNumber] = number
	t.first, t.newest = min(t.first, number), max(t.newest, number)
	t.Packets++
	t.Bytes += len(packet.Payload)
	t.Lost = int(t.newest-t.first) + 1 - t.Packets
	if packet.Marker {
		t.Frames++
	}
	if beginsKeyframe(t.Codec, packet.Payload) && (t.Keyframes == 0 || t.key != packet.Timestamp) {
		t.Keyframes++
		t.key = packet.Timestamp
	}
}

func beginsKeyframe(codec string, payload []byte) bool {
	switch codec {
	case webrtc.MimeTypeVP8:
		var vp8 codecs.VP8Packet
		frame, err := vp8.Unmarshal(payload)
		return err == nil && vp8.S == 1 && vp8.PID == 0 && len(frame) > 0 && frame[0]&1 == 0
	case webrtc.MimeTypeVP9:
		var vp9 codecs.VP9Packet
		_, err := vp9.Unmarshal(payload)
		return err == nil && vp9.B && !vp9.P
	case webrtc.MimeTypeH264:
		return len(payload) > 1 && hasIDR(payload)
	}
	return false
}

// hasIDR looks into single units, aggregates (STAP-A, 24) and the first of a unit's fragments (FU-A, 28): RFC 6184 section 5.2.
func hasIDR(payload []byte) bool {
	switch payload[0] & 0x1f {
	case 5:
		return true
	case 24:
		for rest := payload[1:]; len(rest) > 2; {
			size := int(rest[0])<<8 | int(rest[1])
			if rest[2]&0x1f == 5 {
				return true
			}
			rest = rest[min(2+size, len(rest)):]
		}
	case 28:
		return payload[1]&0x9f == 0x85
	}
	return false
}

func publish(w http.ResponseWriter, r *http.Request) {
	offer, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
	if err != nil || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/sdp") {
		http.Error(w, "an offer as application/sdp of at most 64 kB is needed", http.StatusUnsupportedMediaType)
		return
	}
	settings := webrtc.SettingEngine{}
	settings.SetIncludeLoopbackCandidate(true)
	peer, err := webrtc.NewAPI(webrtc.WithSettingEngine(settings)).NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s := &session{State: "new", Tracks: map[string]*track{}, peer: peer, offer: string(offer)}
	peer.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		mutex.Lock()
		defer mutex.Unlock()
		s.State = state.String()
	})
	peer.OnTrack(func(remote *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		t := &track{Kind: remote.Kind().String(), Codec: remote.Codec().MimeType, SSRC: uint32(remote.SSRC())}
		mutex.Lock()
		s.Tracks[t.Kind] = t
		mutex.Unlock()
		for {
			packet, attributes, err := remote.ReadRTP()
			if err != nil {
				return
			}
			mutex.Lock()
			t.count(packet, attributes.Get(webrtc.AttributeRtxSsrc) != nil)
			mutex.Unlock()
		}
	})
	answer, err := s.answer()
	if err != nil {
		_ = peer.Close()
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	name := make([]byte, 8)
	_, _ = rand.Read(name)
	id := hex.EncodeToString(name)
	mutex.Lock()
	sessions[id] = s
	mutex.Unlock()
	w.Header().Set("Content-Type", "application/sdp")
	w.Header().Set("Location", "/whip/"+id)
	w.Header().Set("ETag", `"`+id+`"`)
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, answer)
}

// answer answers the newest offer, with all candidates.
func (s *session) answer() (string, error) {
	gathered := webrtc.GatheringCompletePromise(s.peer)
	if err := s.peer.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: s.offer}); err != nil {
		return "", err
	}
	answer, err := s.peer.CreateAnswer(nil)
	if err != nil {
		return "", err
	}
	if err := s.peer.SetLocalDescription(answer); err != nil {
		return "", err
	}
	<-gathered
	return s.peer.LocalDescription().SDP, nil
}

// restart restarts ICE (RFC 9725 section 4.3.3): to Pion, the same offer with the fragment's credentials.
func restart(w http.ResponseWriter, r *http.Request) {
	fragment, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
	mutex.Lock()
	s := sessions[r.PathValue("id")]
	mutex.Unlock()
	if s == nil {
		http.NotFound(w, r)
		return
	}
	credential := regexp.MustCompile(`a=ice-(ufrag|pwd):[^\r\n]*`)
	found := credential.FindAllString(string(fragment), 2)
	if err != nil || len(found) != 2 {
		http.Error(w, "a fragment with ice-ufrag and ice-pwd is needed", http.StatusBadRequest)
		return
	}
	s.offer = credential.ReplaceAllStringFunc(s.offer, func(old string) string {
		for _, line := range found {
			if strings.HasPrefix(line, old[:len("a=ice-pwd")]) {
				return line
			}
		}
		return old
	})
	answer, err := s.answer()
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	mutex.Lock()
	s.Restarts++
	mutex.Unlock()
	// All there is to say is in the first section; the others are bundled with it.
	media := strings.SplitN(answer, "\r\nm=", 3)[1]
	kept := regexp.MustCompile(`(?m)^a=(ice-ufrag|ice-pwd|mid|candidate|end-of-candidates)[^\r\n]*`)
	heading, _, _ := strings.Cut(media, "\r\n")
	lines := append([]string{"m=" + heading}, kept.FindAllString(media, -1)...)
	w.Header().Set("Content-Type", "application/trickle-ice-sdpfrag")
	w.Header().Set("ETag", fmt.Sprintf(`"%s-%d"`, r.PathValue("id"), s.Restarts))
	_, _ = io.WriteString(w, strings.Join(lines, "\r\n")+"\r\n")
}

func end(w http.ResponseWriter, r *http.Request) {
	mutex.Lock()
	s := sessions[r.PathValue("id")]
	delete(sessions, r.PathValue("id"))
	mutex.Unlock()
	if s == nil {
		http.NotFound(w, r)
	} else if err := s.peer.Close(); err != nil {
		log.Print(err)
	}
}

func stats(w http.ResponseWriter, _ *http.Request) {
	mutex.Lock()
	defer mutex.Unlock()
	_ = json.NewEncoder(w).Encode(map[string]any{"sessions": sessions})
}

func main() {
	address := flag.String("addr", "127.0.0.1:0", "where to listen")
	token := flag.String("token", "", "what publishers must show; nothing: anything goes")
	flag.Parse()
	guard := func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if *token != "" && r.Header.Get("Authorization") != "Bearer "+*token {
				http.Error(w, "the token is wrong", http.StatusUnauthorized)
				return
			}
			next(w, r)
		}
	}
	http.HandleFunc("POST /whip", guard(publish))
	http.HandleFunc("PATCH /whip/{id}", guard(restart))
	http.HandleFunc("DELETE /whip/{id}", guard(end))
	http.HandleFunc("GET /stats", stats)
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("http://%s/whip", listener.Addr())
	log.Fatal(http.Serve(listener, nil))
}
