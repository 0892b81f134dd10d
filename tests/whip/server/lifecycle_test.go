package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Silence of 5 s ends a session (transport's Config::silence), the first wait is at most 1 s and the second 2 s (live's Backoff), and a
// connection takes a moment: with room for a busy machine.
const comesBack = 14 * time.Second

func small(more ...string) []string {
	return append([]string{"--size", "320x180", "--frame-rate", "15"}, more...)
}

func TestAServerThatIsKilledIsSentToAgainWhenItIsBack(t *testing.T) {
	s := start(t, freeAddress(t))
	p := publishTo(t, s.url(), small()...)
	until(t, 8*time.Second, "video arrives", func() bool { return s.track(t, "video").Packets > 10 })
	s.kill()
	s = start(t, s.address)
	until(t, comesBack, "video arrives after the restart", func() bool {
		return s.track(t, "video").Packets > 10 && s.track(t, "audio").Packets > 10
	})
	if video := s.track(t, "video"); video.Keyframes < 1 {
		t.Error("the new session does not begin with a keyframe")
	}
	if connected := p.metrics(t)["connected"]; connected != 1 {
		t.Errorf("%v sessions are connected", connected)
	}
}

func TestAServerThatEndsTheSessionIsOfferedAnother(t *testing.T) {
	s := start(t, "127.0.0.1:0")
	publishTo(t, s.url(), small()...)
	until(t, 8*time.Second, "video arrives", func() bool { return s.track(t, "video").Packets > 10 })
	before, _ := s.only(t)
	request, err := http.NewRequest(http.MethodDelete, s.url()+"/"+before, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := http.DefaultClient.Do(request); err != nil {
		t.Fatal(err)
	}
	// It is notified, by DTLS, and need not wait for a timeout: the first wait is at most 1 s.
	until(t, 4*time.Second, "video arrives in another session", func() bool { return s.track(t, "video").Packets > 10 })
	if after, _ := s.only(t); after == before {
		t.Error("the session goes on")
	}
}

func TestAServerThatComesBackLateIsTriedUntilThen(t *testing.T) {
	address := freeAddress(t)
	p := publishTo(t, "http://"+address+"/whip", small()...)
	until(t, 6*time.Second, "a third attempt", func() bool { return strings.Count(p.log(), "trying again") >= 2 })
	s := start(t, address)
	// Waits double: the third is at most 4 s.
	until(t, 9*time.Second, "video arrives", func() bool { return s.track(t, "video").Packets > 10 })
}

func TestAServerThatWasAsleepRestartsICEInTheSameSession(t *testing.T) {
	s := start(t, "127.0.0.1:0")
	p := publishTo(t, s.url(), small()...)
	until(t, 8*time.Second, "video arrives", func() bool { return s.track(t, "video").Packets > 10 })
	before, _ := s.only(t)
	_ = s.command.Process.Signal(syscall.SIGSTOP)
	time.Sleep(7 * time.Second)
	_ = s.command.Process.Signal(syscall.SIGCONT)
	until(t, 10*time.Second, "ICE is restarted", func() bool {
		for _, only := range s.sessions(t) {
			if only.Restarts > 0 && only.State == "connected" {
				return true
			}
		}
		return false
	})
	frames := s.track(t, "video").Frames
	until(t, 8*time.Second, "video goes on", func() bool { return s.track(t, "video").Frames > frames+10 })
	if after, _ := s.only(t); after != before {
		t.Error("another session was begun")
	}
	if log := p.log(); !strings.Contains(log, "disconnected: nothing is received from it") || !strings.Contains(log, "reconnected") {
		t.Error("the log does not say so")
	}
}

func TestStoppingEndsTheSessionOnTheServer(t *testing.T) {
	s := start(t, "127.0.0.1:0")
	p := publishTo(t, s.url(), small()...)
	until(t, 8*time.Second, "video arrives", func() bool { return s.track(t, "video").Packets > 0 })
	if took, code := p.stop(t); took > time.Second || code != 0 {
		t.Errorf("it took %v, exit code %d", took, code)
	}
	if left := s.sessions(t); len(left) != 0 {
		t.Errorf("%d sessions are left on the server", len(left))
	}
}

func TestAWrongTokenEndsItWithAnError(t *testing.T) {
	s := start(t, "127.0.0.1:0", "-token", "right")
	p := publishTo(t, s.url(), small("--whip-token", "wrong")...)
	if _, code := p.wait(t, 5*time.Second, time.Now()); code != 1 {
		t.Errorf("exit code %d", code)
	}
	log := p.log()
	if !strings.Contains(log, "the server answers 401: the token is wrong") {
		t.Errorf("the error does not say why: %s", log)
	}
	if strings.Contains(log, "Bearer") || strings.Contains(log, `"wrong"`) {
		t.Errorf("the token shows: %s", log)
	}
}

func TestTheRightTokenIsTaken(t *testing.T) {
	s := start(t, "127.0.0.1:0", "-token", "right")
	p := publishTo(t, s.url(), small("--whip-token", "right")...)
	until(t, 8*time.Second, "video arrives", func() bool { return s.track(t, "video").Packets > 0 })
	if _, code := p.stop(t); code != 0 || len(s.sessions(t)) != 0 {
		t.Errorf("exit code %d, %d sessions left: the token goes with DELETE too", code, len(s.sessions(t)))
	}
}

func TestAServerThatIsBusyIsAskedAgain(t *testing.T) {
	s := start(t, "127.0.0.1:0")
	var asked atomic.Int32
	var begin time.Time
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch asked.Add(1) {
		case 1:
			begin = time.Now()
			http.Error(w, "busy", http.StatusServiceUnavailable)
		case 2:
			if waited := time.Since(begin); waited < 450*time.Millisecond || waited > 3*time.Second {
				t.Errorf("asked again after %v instead of 0.5 to 1 s", waited)
			}
			begin = time.Now()
			w.Header().Set("Retry-After", "3")
			http.Error(w, "busy", http.StatusServiceUnavailable)
		default:
			if waited := time.Since(begin); waited < 2900*time.Millisecond {
				t.Errorf("asked again after %v in spite of Retry-After: 3", waited)
			}
			http.Redirect(w, r, s.url(), http.StatusTemporaryRedirect)
		}
	}))
	defer busy.Close()
	publishTo(t, busy.URL, small()...)
	until(t, 12*time.Second, "video arrives", func() bool { return s.track(t, "video").Packets > 0 })
}

func TestAnAnswerThatIsNoneIsSaidAndTriedAgain(t *testing.T) {
	var asked, ended atomic.Int32
	strange := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			ended.Add(1)
			return
		}
		asked.Add(1)
		w.Header().Set("Content-Type", "application/sdp")
		w.Header().Set("Location", "/it")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "v=0\r\n")
	}))
	defer strange.Close()
	p := publishTo(t, strange.URL, small()...)
	until(t, 6*time.Second, "another attempt", func() bool { return asked.Load() > 1 })
	if ended.Load() < 1 || !strings.Contains(p.log(), "its answer cannot be used") {
		t.Errorf("%d sessions ended; it says %s", ended.Load(), p.log())
	}
}

func TestASignalInTheMiddleOfAHandshakeStopsItWithinASecond(t *testing.T) {
	t.Run("with a server that never answers the offer", func(t *testing.T) {
		silent, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
		p := publishTo(t, "http://"+silent.Addr().String()+"/whip", small()...)
		if _, err := silent.Accept(); err != nil {
			t.Fatal(err)
		}
		stopsAtOnce(t, p)
	})
	t.Run("with an answer that leads nowhere", func(t *testing.T) {
		s := start(t, "127.0.0.1:0")
		// With another password than the server's, no check of ours is answered.
		between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			response, err := http.Post(s.url(), "application/sdp", r.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			defer response.Body.Close()
			answer, _ := io.ReadAll(response.Body)
			w.Header().Set("Content-Type", "application/sdp")
			w.Header().Set("Location", "http://"+s.address+response.Header.Get("Location"))
			w.WriteHeader(response.StatusCode)
			_, _ = w.Write(regexp.MustCompile("a=ice-pwd:.*").ReplaceAll(answer, []byte("a=ice-pwd:0123456789abcdefABCDEF\r")))
		}))
		defer between.Close()
		p := publishTo(t, between.URL, small()...)
		until(t, 5*time.Second, "an answer", func() bool { return strings.Contains(p.log(), "the server answers") })
		if connected := p.metrics(t)["connected"]; connected != 0 {
			t.Errorf("%v sessions are connected", connected)
		}
		stopsAtOnce(t, p)
		if left := len(s.sessions(t)); left != 0 {
			t.Errorf("%d sessions are left on the server", left)
		}
	})
	t.Run("between two attempts", func(t *testing.T) {
		p := publishTo(t, "http://"+freeAddress(t)+"/whip", small()...)
		until(t, 5*time.Second, "an attempt", func() bool { return strings.Contains(p.log(), "trying again") })
		stopsAtOnce(t, p)
	})
}

func stopsAtOnce(t *testing.T, p *publisher) {
	t.Helper()
	if took, code := p.stop(t); took > time.Second || code != 0 {
		t.Errorf("it took %v, exit code %d", took, code)
	}
}
