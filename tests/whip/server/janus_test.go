package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// gateway is a Janus in a process of its own. It speaks no WHIP by itself: here its videoroom is asked over HTTP, as gateways in front of it do.
type gateway struct {
	api, admin      string
	session, handle uint64
}

type object = map[string]any

func startJanus(t *testing.T) *gateway {
	t.Helper()
	program, err := exec.LookPath("janus")
	if err != nil {
		t.Skip("no janus: apt-get install --no-install-recommends janus")
	}
	folder := t.TempDir()
	_, api, _ := net.SplitHostPort(freeAddress(t))
	_, admin, _ := net.SplitHostPort(freeAddress(t))
	for name, text := range map[string]string{
		"janus.jcfg":                  "general: { admin_secret = \"test\" }\nmedia: {}\n",
		"janus.plugin.videoroom.jcfg": "general: {}\nroom-1: { publishers = 2, bitrate = 0, videocodec = \"vp8\", audiocodec = \"opus\" }\n",
		"janus.transport.http.jcfg": fmt.Sprintf("general: { http = true, port = %s, ip = \"127.0.0.1\", https = false }\n"+
			"admin: { admin_http = true, admin_port = %s, admin_ip = \"127.0.0.1\", admin_https = false }\n", api, admin),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var said bytes.Buffer
	command := exec.Command(program, "-F", folder, "--disable-colors")
	command.Stdout, command.Stderr = &said, &said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("janus\n%s", said.String())
		}
	})
	g := &gateway{api: "http://127.0.0.1:" + api + "/janus", admin: "http://127.0.0.1:" + admin + "/admin"}
	until(t, 10*time.Second, "janus listens", func() bool {
		response, err := http.Get(g.api + "/info")
		if err == nil {
			response.Body.Close()
		}
		return err == nil
	})
	return g
}

// ask asks the gateway at an address.
func ask(url string, what object) (object, error) {
	what["transaction"] = "test"
	question, err := json.Marshal(what)
	if err != nil {
		return nil, err
	}
	response, err := http.Post(url, "application/json", bytes.NewReader(question))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer object
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, err
	}
	if answer["janus"] == "error" {
		return nil, fmt.Errorf("janus says %v to %v", answer["error"], what["janus"])
	}
	return answer, nil
}

func identity(answer object) uint64 {
	data, _ := answer["data"].(object)
	id, _ := data["id"].(float64)
	return uint64(id)
}

// publish has an offer answered by the room.
func (g *gateway) publish(offer string) (string, error) {
	answer, err := ask(g.api, object{"janus": "create"})
	if err != nil {
		return "", err
	}
	g.session = identity(answer)
	session := fmt.Sprintf("%s/%d", g.api, g.session)
	if answer, err = ask(session, object{"janus": "attach", "plugin": "janus.plugin.videoroom"}); err != nil {
		return "", err
	}
	g.handle = identity(answer)
	_, err = ask(fmt.Sprintf("%s/%d", session, g.handle), object{
		"janus": "message",
		"body":  object{"request": "joinandconfigure", "room": 1, "ptype": "publisher"},
		"jsep":  object{"type": "offer", "sdp": offer},
	})
	// The answer comes as an event, perhaps after others.
	for range 5 {
		if err != nil {
			return "", err
		}
		var response *http.Response
		if response, err = http.Get(session + "?maxev=1"); err != nil {
			return "", err
		}
		var event struct{ Jsep struct{ SDP string } }
		err = json.NewDecoder(response.Body).Decode(&event)
		response.Body.Close()
		if event.Jsep.SDP != "" {
			return event.Jsep.SDP, nil
		}
	}
	return "", fmt.Errorf("no answer from the room")
}

// came is what arrived of a kind of medium, as the administrator sees it.
func (g *gateway) came(t *testing.T, kind string) (packets, lost float64) {
	t.Helper()
	response, err := http.Post(fmt.Sprintf("%s/%d/%d", g.admin, g.session, g.handle), "application/json",
		strings.NewReader(`{"janus": "handle_info", "transaction": "test", "admin_secret": "test"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var reported struct {
		Info struct {
			WebRTC struct {
				Media map[string]struct {
					Type  string
					RTCP  struct{ Main struct{ Lost float64 } }
					Stats struct{ In struct{ Packets float64 } }
				}
			}
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&reported); err != nil {
		t.Fatal(err)
	}
	for _, medium := range reported.Info.WebRTC.Media {
		if medium.Type == kind {
			return medium.Stats.In.Packets, medium.RTCP.Main.Lost
		}
	}
	t.Fatalf("Janus has no %s: %v", kind, reported)
	return 0, 0
}

func TestJanusTakesIt(t *testing.T) {
	g := startJanus(t)
	failed := make(chan error, 1)
	whip := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			return
		}
		offer, _ := io.ReadAll(r.Body)
		answer, err := g.publish(string(offer))
		if err != nil {
			failed <- err
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/sdp")
		w.Header().Set("Location", "/session")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, answer)
	}))
	defer whip.Close()
	// It offers no loopback address.
	p := publishTo(t, whip.URL, "--udp", "0.0.0.0:0", "--size", "640x360")
	until(t, 10*time.Second, "a connection", func() bool {
		select {
		case err := <-failed:
			t.Fatal(err)
		default:
		}
		return p.metrics(t)["connected"] == 1
	})
	time.Sleep(4 * time.Second)
	metrics := p.metrics(t)
	time.Sleep(100 * time.Millisecond)
	video, lost := g.came(t, "video")
	audio, _ := g.came(t, "audio")
	t.Logf("video %v packets of %v, lost %v; audio %v; reports %v, arrived %v; round trip %v s", video, metrics["sent_packets_total/media"], lost, audio,
		metrics["reports_total"], metrics["packets_arrived_total"], metrics["round_trip_seconds"])
	if video < metrics["sent_packets_total/media"]*0.95 || audio < 150 || lost > 0 {
		t.Errorf("video %v packets of %v, %v lost, audio %v", video, metrics["sent_packets_total/media"], lost, audio)
	}
	if metrics["reports_total"] == 0 || metrics["packets_arrived_total"] == 0 {
		t.Errorf("%v reports, %v arrived", metrics["reports_total"], metrics["packets_arrived_total"])
	}
}
