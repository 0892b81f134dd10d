// Pion plays a file of VP8, `pion ENDPOINT CLIP SECONDS`: as its example does, so nothing here answers what the receiver reports.
package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/pion/webrtc/v4"
	"github.com/pion/webrtc/v4/pkg/media"
	"github.com/pion/webrtc/v4/pkg/media/ivfreader"
)

func main() {
	fmt.Println("Pion " + version())
	if err := send(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func send(endpoint, clip, seconds string) error {
	length, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		return err
	}
	settings := webrtc.SettingEngine{}
	settings.SetIncludeLoopbackCandidate(true)
	engine := &webrtc.MediaEngine{}
	if err := engine.RegisterDefaultCodecs(); err != nil {
		return err
	}
	peer, err := webrtc.NewAPI(webrtc.WithSettingEngine(settings), webrtc.WithMediaEngine(engine)).NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return err
	}
	defer peer.Close()
	track, err := webrtc.NewTrackLocalStaticSample(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8}, "video", "pion")
	if err != nil {
		return err
	}
	sender, err := peer.AddTrack(track)
	if err != nil {
		return err
	}
	// Interceptors see what is read: retransmissions are theirs.
	go func() {
		for buffer := make([]byte, 1500); ; {
			if _, _, err := sender.Read(buffer); err != nil {
				return
			}
		}
	}()
	connected := make(chan struct{})
	peer.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		if state == webrtc.PeerConnectionStateConnected {
			close(connected)
		}
	})
	session, err := join(peer, endpoint)
	if err != nil {
		return err
	}
	select {
	case <-connected:
	case <-time.After(10 * time.Second):
		return errors.New("not connected within 10 s")
	}
	played := play(track, clip, time.Duration(length*float64(time.Second)))
	request, err := http.NewRequest(http.MethodDelete, session, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	response.Body.Close()
	return played
}

// join posts an offer with all its candidates and takes the answer; the session's address.
func join(peer *webrtc.PeerConnection, endpoint string) (string, error) {
	offer, err := peer.CreateOffer(nil)
	if err != nil {
		return "", err
	}
	gathered := webrtc.GatheringCompletePromise(peer)
	if err := peer.SetLocalDescription(offer); err != nil {
		return "", err
	}
	<-gathered
	response, err := http.Post(endpoint, "application/sdp", strings.NewReader(peer.LocalDescription().SDP))
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusCreated {
		return "", fmt.Errorf("%s: %s", response.Status, answer)
	}
	session, err := response.Request.URL.Parse(response.Header.Get("Location"))
	if err != nil {
		return "", err
	}
	return session.String(), peer.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: string(answer)})
}

// play sends an IVF file at its own rate for this long.
func play(track *webrtc.TrackLocalStaticSample, clip string, length time.Duration) error {
	file, err := os.Open(clip)
	if err != nil {
		return err
	}
	defer file.Close()
	reader, header, err := ivfreader.NewWith(file)
	if err != nil {
		return err
	}
	interval := time.Duration(float64(time.Second) * float64(header.TimebaseNumerator) / float64(header.TimebaseDenominator))
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for end := time.Now().Add(length); time.Now().Before(end); <-ticker.C {
		frame, _, err := reader.ParseNextFrame()
		if err != nil {
			return err
		}
		if err := track.WriteSample(media.Sample{Data: frame, Duration: interval}); err != nil {
			return err
		}
	}
	return nil
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
