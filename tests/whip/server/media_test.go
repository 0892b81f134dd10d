package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// flows checks that video of a codec comes, with audio, all of it and nothing twice; and that the sender is notified of it.
func flows(t *testing.T, s *server, p *publisher, codec string, span time.Duration) {
	t.Helper()
	until(t, 8*time.Second, "video and audio arrive", func() bool {
		return s.track(t, "video").Packets > 0 && s.track(t, "audio").Packets > 0
	})
	time.Sleep(span)
	if _, only := s.only(t); only.State != "connected" {
		t.Errorf("the server's connection is %s", only.State)
	}
	before := p.metrics(t)
	// What has left is there within this, on loopback.
	time.Sleep(100 * time.Millisecond)
	video, audio := s.track(t, "video"), s.track(t, "audio")
	after := p.metrics(t)
	t.Logf("video %d packets, %d frames of %v to %v, %d keyframes; audio %d packets; padding %v packets; arrived %v, lost %v; round trip %v s",
		video.Packets, video.Frames, before["frames_sent_total"], after["frames_sent_total"], video.Keyframes, audio.Packets,
		after["sent_packets_total/padding"], after["packets_arrived_total"], after["packets_lost_total"], after["round_trip_seconds"])
	if !strings.EqualFold(video.Codec, "video/"+codec) || !strings.EqualFold(audio.Codec, "audio/opus") {
		t.Errorf("codecs %s and %s", video.Codec, audio.Codec)
	}
	if frames := float64(video.Frames); frames < before["frames_sent_total"] || frames > after["frames_sent_total"] {
		t.Errorf("%v frames came, of %v to %v that were sent", frames, before["frames_sent_total"], after["frames_sent_total"])
	}
	packets := float64(video.Packets)
	if packets < before["sent_packets_total/media"] || packets > after["sent_packets_total/media"] {
		t.Errorf("%v packets came, of %v to %v that were sent", packets, before["sent_packets_total/media"], after["sent_packets_total/media"])
	}
	if video.Keyframes < 1 || float64(video.Keyframes) > after["keyframes_total"] {
		t.Errorf("%d keyframes came, of %v", video.Keyframes, after["keyframes_total"])
	}
	if video.Lost != 0 || audio.Lost != 0 || after["packets_lost_total"] != 0 {
		t.Errorf("lost on loopback: %d of video, %d of audio, %v by the reports", video.Lost, audio.Lost, after["packets_lost_total"])
	}
	// Audio is a packet every 20 ms: all but what one moment more or less makes.
	if least := span.Milliseconds()/20 - 25; int64(audio.Packets) < least {
		t.Errorf("%d audio packets in %v, at least %d expected", audio.Packets, span, least)
	}
	sent := 0.0
	for _, kind := range []string{"media", "padding", "repair"} {
		sent += before["sent_packets_total/"+kind]
	}
	if arrived := after["packets_arrived_total"]; arrived < sent*0.8 || after["reports_total"] < 10 || after["round_trip_seconds"] <= 0 {
		t.Errorf("of %v packets %v are known to have arrived, by %v reports; round trip %v s",
			sent, arrived, after["reports_total"], after["round_trip_seconds"])
	}
}

func TestEverySchemeSendsVideoAndAudioWithoutLoss(t *testing.T) {
	for _, scheme := range []string{"gcc", "vidaptive", "camel"} {
		t.Run(scheme, func(t *testing.T) {
			s := start(t, "127.0.0.1:0")
			// More than an encoder can use of such pictures, which is the default: the rest is what Vidaptive pads.
			p := publishTo(t, s.url(), "--scheme", scheme, "--size", "640x360", "--max-rate", "12Mbps")
			flows(t, s, p, "VP8", 4*time.Second)
			padding := p.metrics(t)["sent_packets_total/padding"]
			if scheme == "vidaptive" && padding == 0 {
				t.Error("vidaptive sends no padding")
			}
		})
	}
}

func TestFullPicturesOfHalfAMillionSamples(t *testing.T) {
	s := start(t, "127.0.0.1:0")
	p := publishTo(t, s.url(), "--scheme", "vidaptive", "--size", "1280x720")
	flows(t, s, p, "VP8", 3*time.Second)
}

func TestH264(t *testing.T) {
	s := start(t, "127.0.0.1:0")
	p := publishTo(t, s.url(), "--encoder", "h264", "--size", "640x360")
	flows(t, s, p, "H264", 3*time.Second)
}

func TestVideoThatIsEncodedAlready(t *testing.T) {
	ffmpeg, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Skip("no ffmpeg to make encoded video with")
	}
	// Not thirty frames per second, which is what there would be by default: IVF says so itself.
	for _, made := range []struct{ codec, file, encoder string }{
		{"VP8", "vp8.ivf", "libvpx"},
		{"VP9", "vp9.ivf", "libvpx-vp9"},
		{"H264", "h264.264", "libx264"},
	} {
		t.Run(made.codec, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), made.file)
			arguments := []string{"-v", "error", "-f", "lavfi", "-i", "testsrc=size=320x180:rate=25", "-t", "2", "-pix_fmt", "yuv420p",
				"-g", "25", "-bf", "0", "-b:v", "300k", "-c:v", made.encoder}
			if made.encoder == "libx264" {
				arguments = append(arguments, "-profile:v", "baseline", "-preset", "ultrafast")
			} else {
				arguments = append(arguments, "-deadline", "realtime", "-cpu-used", "8", "-auto-alt-ref", "0")
			}
			if out, err := exec.Command(ffmpeg, append(arguments, file)...).CombinedOutput(); err != nil {
				t.Skipf("ffmpeg makes no %s: %v %s", made.encoder, err, out)
			}
			s := start(t, "127.0.0.1:0")
			published := []string{file, "--encoded"}
			if made.codec == "H264" {
				published = append(published, "--frame-rate", "25")
			}
			p := publishTo(t, s.url(), published...)
			flows(t, s, p, made.codec, 3*time.Second)
			if frames := s.track(t, "video").Frames; frames < 60 {
				t.Errorf("%d frames in 3 s of 25 a second", frames)
			}
			// Of 300 kbps: no more than twice that and 500 kbps beside it, in packets of 1.2 kB for some 5 s.
			if padding := p.metrics(t)["sent_packets_total/padding"]; padding > 800 {
				t.Errorf("%v packets of padding beside some 100 of media", padding)
			}
		})
	}
}
