// A WHIP server (RFC 9725) of Pion's, to send to in tests: it takes what comes, counts it, and tells at /stats.
package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
	"github.com/pion/webrtc/v4"
)

// track counts packets as the interceptors leave them: repeats stand in for what they repeat.
type track struct {
	Kind      string `json:"kind"`
	Codec     string `json:"codec"`
	SSRC      uint32 `json:"ssrc"`
	Packets   int    `json:"packets"`   // each once
	Bytes     int    `json:"bytes"`     // of payload, of these
	Frames    int    `json:"frames"`    // packets with the marker
	Keyframes int    `json:"keyframes"` // of VP8
	Repeats   int    `json:"repeats"`   // packets that came on the RTX stream and carried one
	Again     int    `json:"again"`     // packets that had come before
	Lost      int    `json:"lost"`      // between the first and the newest, as of now
	first     int64
	newest    int64
	seen      [1 << 16]int64
}

type session struct {
	State  string            `json:"state"`
	Tracks map[string]*track `json:"tracks"`
	peer   *webrtc.PeerConnection
}

var (
	mutex    sync.Mutex
	sessions = map[string]*session{}
)

func (t *track) count(packet *rtp.Packet, repeated bool) {
	number := t.newest + int64(int16(packet.SequenceNumber-uint16(t.newest)))
	if t.Packets == 0 {
		number = 1<<16 + int64(packet.SequenceNumber)
		t.first, t.newest = number, number
	}
	if repeated {
		t.Repeats++
	}
	if t.seen[packet.SequenceNumber] == number {
		t.Again++
		return
	}
	t.seen[packet.SequenceNumber] = number
	t.first, t.newest = min(t.first, number), max(t.newest, number)
	t.Packets++
	t.Bytes += len(packet.Payload)
	t.Lost = int(t.newest-t.first) + 1 - t.Packets
	if packet.Marker {
		t.Frames++
	}
	var vp8 codecs.VP8Packet
	if t.Codec == webrtc.MimeTypeVP8 {
		payload, err := vp8.Unmarshal(packet.Payload)
		if err == nil && vp8.S == 1 && vp8.PID == 0 && len(payload) > 0 && payload[0]&1 == 0 {
			t.Keyframes++
		}
	}
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
	s := &session{State: "new", Tracks: map[string]*track{}, peer: peer}
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
	gathered := webrtc.GatheringCompletePromise(peer)
	err = peer.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: string(offer)})
	var answer webrtc.SessionDescription
	if err == nil {
		answer, err = peer.CreateAnswer(nil)
	}
	if err == nil {
		err = peer.SetLocalDescription(answer)
	}
	if err != nil {
		_ = peer.Close()
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	<-gathered
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
	_, _ = io.WriteString(w, peer.LocalDescription().SDP)
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
	http.HandleFunc("DELETE /whip/{id}", guard(end))
	http.HandleFunc("GET /stats", stats)
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("http://%s/whip", listener.Addr())
	log.Fatal(http.Serve(listener, nil))
}
