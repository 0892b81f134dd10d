package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The sender under test, and this folder's server as a program that can be killed.
var thalweg, pion string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		thalweg = os.Getenv("THALWEG")
		if thalweg == "" {
			fmt.Println("skipped: THALWEG does not name the program to test; `make test-whip` does")
			return 0
		}
		folder, err := os.MkdirTemp("", "whip")
		if err != nil {
			fmt.Println(err)
			return 1
		}
		defer os.RemoveAll(folder)
		pion = filepath.Join(folder, "server")
		if out, err := exec.Command("go", "build", "-o", pion, ".").CombinedOutput(); err != nil {
			fmt.Printf("the server cannot be built: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// server is a server that runs in a process of its own.
type server struct {
	address string
	command *exec.Cmd
}

func (s *server) url() string { return "http://" + s.address + "/whip" }

func start(t *testing.T, address string, more ...string) *server {
	t.Helper()
	command := exec.Command(pion, append([]string{"-addr", address}, more...)...)
	said, err := command.StderrPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &server{command: command}
	t.Cleanup(s.kill)
	lines := bufio.NewScanner(said)
	for s.address == "" && lines.Scan() {
		if _, url, found := strings.Cut(lines.Text(), "http://"); found {
			s.address = strings.TrimSuffix(url, "/whip")
		}
	}
	if s.address == "" {
		t.Fatalf("the server does not say where it listens on %s", address)
	}
	go io.Copy(io.Discard, said)
	return s
}

func (s *server) kill() {
	_ = s.command.Process.Kill()
	_ = s.command.Wait()
}

func (s *server) sessions(t *testing.T) map[string]session {
	t.Helper()
	var reported struct{ Sessions map[string]session }
	if err := json.Unmarshal([]byte(get(t, "http://"+s.address+"/stats")), &reported); err != nil {
		t.Fatal(err)
	}
	return reported.Sessions
}

// only is the one session that the server has.
func (s *server) only(t *testing.T) (string, session) {
	t.Helper()
	sessions := s.sessions(t)
	if len(sessions) != 1 {
		t.Fatalf("%d sessions instead of one", len(sessions))
	}
	for id, only := range sessions {
		return id, only
	}
	panic("unreachable")
}

// track is that of a kind in the only session; nothing has come on one that is not there yet.
func (s *server) track(t *testing.T, kind string) track {
	t.Helper()
	for _, session := range s.sessions(t) {
		if found := session.Tracks[kind]; found != nil {
			return *found
		}
	}
	return track{}
}

// publisher is a `thalweg publish` that runs.
type publisher struct {
	page    string
	command *exec.Cmd
	ended   chan struct{}
	mutex   sync.Mutex
	said    bytes.Buffer
}

func (p *publisher) Write(bytes []byte) (int, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.said.Write(bytes)
}

func (p *publisher) log() string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.said.String()
}

func publishTo(t *testing.T, url string, arguments ...string) *publisher {
	t.Helper()
	arguments = append([]string{"publish", "--listen", "127.0.0.1:0", "--whip", url}, arguments...)
	p := &publisher{command: exec.Command(thalweg, arguments...), ended: make(chan struct{})}
	p.command.Stderr = p
	said, err := p.command.StdoutPipe()
	if err == nil {
		err = p.command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	first, _ := bufio.NewReader(said).ReadString('\n')
	p.page = strings.TrimSpace(strings.TrimPrefix(first, "watch at "))
	go func() {
		_ = p.command.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.command.Process.Kill()
		<-p.ended
		if t.Failed() {
			t.Logf("thalweg %s\n%s", strings.Join(arguments, " "), p.log())
		}
	})
	return p
}

// stop asks politely: how long it takes, and the exit code.
func (p *publisher) stop(t *testing.T) (time.Duration, int) {
	t.Helper()
	begin := time.Now()
	_ = p.command.Process.Signal(syscall.SIGTERM)
	return p.wait(t, 5*time.Second, begin)
}

func (p *publisher) wait(t *testing.T, limit time.Duration, begin time.Time) (time.Duration, int) {
	t.Helper()
	select {
	case <-p.ended:
		return time.Since(begin), p.command.ProcessState.ExitCode()
	case <-time.After(limit):
		t.Fatalf("it still runs after %v", limit)
		return 0, 0
	}
}

// metrics sums each family over viewers; a payload or quantile is part of the name.
func (p *publisher) metrics(t *testing.T) map[string]float64 {
	t.Helper()
	sums := map[string]float64{}
	for line := range strings.Lines(get(t, p.page+"metrics")) {
		name, value, found := strings.Cut(strings.TrimSpace(line), " ")
		number, err := strconv.ParseFloat(value, 64)
		if strings.HasPrefix(line, "#") || !found || err != nil {
			continue
		}
		family, labels, _ := strings.Cut(strings.TrimPrefix(name, "thalweg_"), "{")
		for _, label := range strings.Split(strings.TrimSuffix(labels, "}"), ",") {
			if key, value, _ := strings.Cut(label, "="); key == "payload" || key == "quantile" {
				family += "/" + strings.Trim(value, `"`)
			}
		}
		sums[family] += number
	}
	return sums
}

func get(t *testing.T, url string) string {
	t.Helper()
	body, err := func() (string, error) {
		response, err := http.Get(url)
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err == nil && response.StatusCode != http.StatusOK {
			err = errors.New(response.Status)
		}
		return string(body), err
	}()
	if err != nil {
		t.Fatalf("GET %s: %v", url, err)
	}
	return body
}

// until waits for something to become true.
func until(t *testing.T, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// freeAddress is one that nobody listens on now.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
