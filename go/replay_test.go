package thalweg

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// native is the program that replays natively (crates/wasm/examples/replay.rs); `make test-go` builds it.
func native(t testing.TB, arguments ...string) []byte {
	t.Helper()
	program := os.Getenv("THALWEG_REPLAY")
	if program == "" {
		t.Fatal("THALWEG_REPLAY is not set: run `make test-go`, which builds the native replay and says where it is")
	}
	command := exec.Command(program, arguments...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s %v: %v", program, arguments, err)
	}
	return out
}

// event is a line of a recording: a departure, or a report if it has a datagram.
type event struct {
	at       time.Duration
	key      uint64
	size     int
	datagram []byte
}

func parse(t testing.TB, recording []byte) []event {
	t.Helper()
	var events []event
	for line := range strings.Lines(string(recording)) {
		words := strings.Fields(line)
		at, err := strconv.ParseInt(words[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		one := event{at: time.Duration(at)}
		if words[0] == "sent" {
			one.key, _ = strconv.ParseUint(words[2], 10, 64)
			one.size, _ = strconv.Atoi(words[3])
		} else if one.datagram, err = hex.DecodeString(words[2]); err != nil {
			t.Fatal(err)
		}
		events = append(events, one)
	}
	return events
}

// step passes time up to an event, then the event.
func (c *controller) step(one event) error {
	for c.state[fieldNextTimeout] <= uint64(one.at) {
		if err := c.onTimeout(time.Duration(c.state[fieldNextTimeout])); err != nil {
			return err
		}
	}
	if one.datagram != nil {
		return c.onRTCP(one.at, one.datagram)
	}
	return c.onSent(one.at, one.key, one.size, media, noProbe, 1, uint16(one.key), false)
}

func open(t testing.TB, scheme string) *controller {
	t.Helper()
	config, err := Config{}.complete()
	if err != nil {
		t.Fatal(err)
	}
	c, err := newController(scheme, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return c
}

func replay(t testing.TB, scheme string, events []event) []byte {
	t.Helper()
	c := open(t, scheme)
	var out bytes.Buffer
	for _, one := range events {
		if err := c.step(one); err != nil {
			t.Fatalf("%s at %v: %v", scheme, one.at, err)
		}
		if one.datagram == nil {
			continue
		}
		fmt.Fprint(&out, int64(one.at))
		for field := range stateSize {
			number := uint64(0)
			if field < fields {
				number = c.state[field]
			}
			fmt.Fprintf(&out, " %x", number)
		}
		fmt.Fprintln(&out)
		for {
			decision, err := c.nextDecision()
			if err != nil {
				t.Fatal(err)
			}
			if decision == "" {
				break
			}
			fmt.Fprintln(&out, decision)
		}
	}
	return out.Bytes()
}

func TestEveryControllerSaysTheSameBitsInWebAssemblyAsNatively(t *testing.T) {
	recording := native(t, "record", "60")
	file := filepath.Join(t.TempDir(), "recording.txt")
	if err := os.WriteFile(file, recording, 0o600); err != nil {
		t.Fatal(err)
	}
	events := parse(t, recording)
	names, err := Schemes()
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 10 {
		t.Fatalf("too few controllers: %v", names)
	}
	for _, scheme := range names {
		t.Run(scheme, func(t *testing.T) {
			expected, found := native(t, "play", scheme, file), replay(t, scheme, events)
			if lines := bytes.Count(expected, []byte("\n")); lines < 1000 {
				t.Fatalf("%d lines are too few", lines)
			}
			if !bytes.Equal(expected, found) {
				t.Fatal(difference(expected, found))
			}
		})
	}
}

func difference(expected, found []byte) string {
	one, other := strings.Split(string(expected), "\n"), strings.Split(string(found), "\n")
	for line := range min(len(one), len(other)) {
		if one[line] != other[line] {
			return fmt.Sprintf("line %d:\nnative %s\nwasm   %s", line+1, one[line], other[line])
		}
	}
	return fmt.Sprintf("%d lines natively, %d in WebAssembly", len(one), len(other))
}

// BenchmarkEvent is what a line of the recording costs: a departure, or, once in about eight, a report on those since the
// last. `replay time SCHEME FILE` measures the same natively.
func BenchmarkEvent(b *testing.B) {
	events := parse(b, native(b, "record", "60"))
	for _, scheme := range []string{"gcc", "nada", "copa", "scream"} {
		b.Run(scheme, func(b *testing.B) {
			c := open(b, scheme)
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if n == len(events) {
					b.StopTimer()
					c, n = open(b, scheme), 0
					b.StartTimer()
				}
				if err := c.step(events[n]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCompile is what a program does once.
func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		one, err := compile()
		if err != nil {
			b.Fatal(err)
		}
		if err := one.runtime.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNew is what a connection costs to begin.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		c, err := newController("gcc", Config{Start: 300_000, Min: 30_000, Max: 1_000_000})
		if err != nil {
			b.Fatal(err)
		}
		c.close()
	}
}
