// Pion as a viewer, `pion PAGE SECONDS`: it decodes nothing, so a frame is what ends with a marker.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pion/webrtc/v4"
)

func main() {
	if err := watch(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func watch(page, seconds string) error {
	length, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		return err
	}
	peer, err := webrtc.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return err
	}
	defer peer.Close()
	for _, kind := range []webrtc.RTPCodecType{webrtc.RTPCodecTypeVideo, webrtc.RTPCodecTypeAudio} {
		_, err := peer.AddTransceiverFromKind(kind, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionRecvonly})
		if err != nil {
			return err
		}
	}
	var lock sync.Mutex
	frames := [][2]any{}
	peer.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		for {
			packet, _, err := track.ReadRTP()
			if err != nil {
				return
			}
			if track.Kind() == webrtc.RTPCodecTypeVideo && packet.Marker {
				lock.Lock()
				frames = append(frames, [2]any{float64(time.Now().UnixMicro()) / 1000, nil})
				lock.Unlock()
			}
		}
	})
	if err := join(peer, page); err != nil {
		return err
	}
	time.Sleep(time.Duration(length * float64(time.Second)))
	lock.Lock()
	defer lock.Unlock()
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"version": "Pion " + version(), "frames": frames})
}

// join posts an offer with all its candidates, and takes the answer.
func join(peer *webrtc.PeerConnection, page string) error {
	offer, err := peer.CreateOffer(nil)
	if err != nil {
		return err
	}
	gathered := webrtc.GatheringCompletePromise(peer)
	if err := peer.SetLocalDescription(offer); err != nil {
		return err
	}
	<-gathered
	request, err := http.NewRequest(http.MethodPost, page+"whep", strings.NewReader(peer.LocalDescription().SDP))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/sdp")
	request.Header.Set("Authorization", "Bearer "+os.Getenv("THALWEG_TOKEN"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusCreated {
		return fmt.Errorf("%s: %s", response.Status, answer)
	}
	return peer.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: string(answer)})
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/pion/webrtc/v4" {
				return strings.TrimPrefix(module.Version, "v")
			}
		}
	}
	return "of an unknown version"
}
