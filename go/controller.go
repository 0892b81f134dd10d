package thalweg

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

//go:embed thalweg.wasm
var binaryModule []byte

const (
	// memoryPages of 64 KiB are the most that one controller may have: 64 MiB. It has about 2 MiB after an hour, and takes 16 MiB
	// for 32,768 packets in flight; one that grows beyond is stopped by an error instead of taking the program's memory.
	memoryPages = 1024
	// none is how the module says that there is none of something (crates/wasm/src/state.rs).
	none = math.MaxUint64
	// inputSize is the room for a name or a datagram, textSize the room for an answer (crates/wasm/src/memory.rs).
	inputSize, textSize = 1 << 16, 1 << 12
)

// Places in the module's state, in the order of crates/wasm/src/state.rs.
const (
	fieldTarget = iota
	fieldPacing
	fieldCapacity
	fieldWindow
	fieldInFlight
	fieldNextTimeout
	fieldSrtt
	fieldPathRtt
	fieldLoss
	fieldKeepFrames
	fieldBurst
	fieldProbeCluster
	fieldProbeRate
	fieldProbeBytes
	fieldProbePackets
	fieldProbeSpacing
	fieldUnknown
	fieldClockSteps
	fieldPanic
	fields // how many are read
)

// stateSize is how many numbers the module's state has, known or not.
const stateSize = 32

// payload says what a packet is for, as the module has it.
type payload uint32

const (
	media payload = iota
	padding
	repair
	audio
)

// noProbe is the number of no probe.
const noProbe = math.MaxUint32

type compiled struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

var load = sync.OnceValues(compile)

func compile() (compiled, error) {
	ctx := context.Background()
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(memoryPages).WithDebugInfoEnabled(false)
	runtime := wazero.NewRuntimeWithConfig(ctx, config)
	module, err := runtime.CompileModule(ctx, binaryModule)
	if err != nil {
		return compiled{}, fmt.Errorf("thalweg: the module does not compile: %w", err)
	}
	return compiled{runtime, module}, nil
}

// Load compiles the WebAssembly module, which the first estimator does otherwise. A program whose first connection should
// not wait for that calls it when it starts.
func Load() error {
	_, err := load()
	return err
}

// controller is one instance of the module. Its calls must not overlap.
type controller struct {
	module                                            api.Module
	create, sent, rtcp, timeout, demand, decide, list api.Function
	input, text, stateAt                              uint32
	// state is what the controller said after the last call.
	state [fields]uint64
	// failure is why it can be called no more.
	failure error
	stack   [8]uint64
}

func newInstance() (*controller, error) {
	loaded, err := load()
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	module, err := loaded.runtime.InstantiateModule(ctx, loaded.module, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return nil, fmt.Errorf("thalweg: the module does not start: %w", err)
	}
	c := &controller{module: module}
	for name, function := range map[string]*api.Function{
		"thalweg_create": &c.create, "thalweg_sent": &c.sent, "thalweg_rtcp": &c.rtcp, "thalweg_timeout": &c.timeout,
		"thalweg_demand": &c.demand, "thalweg_decision": &c.decide, "thalweg_schemes": &c.list,
	} {
		*function = module.ExportedFunction(name)
	}
	for name, place := range map[string]*uint32{
		"thalweg_input": &c.input, "thalweg_text": &c.text, "thalweg_state": &c.stateAt,
	} {
		results, err := module.ExportedFunction(name).Call(ctx)
		if err != nil {
			return nil, fmt.Errorf("thalweg: %s: %w", name, err)
		}
		*place = uint32(results[0])
	}
	return c, nil
}

// newController makes the controller of a scheme. The config is complete.
func newController(scheme string, config Config) (*controller, error) {
	c, err := newInstance()
	if err != nil {
		return nil, err
	}
	length, err := c.write([]byte(scheme))
	if err == nil {
		err = c.call(c.create, length, uint64(config.Start), uint64(config.Min), uint64(config.Max), uint64(config.Overhead))
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// Schemes returns the names of the controllers that New takes.
func Schemes() ([]string, error) {
	c, err := newInstance()
	if err != nil {
		return nil, err
	}
	defer c.close()
	names, err := c.ask(c.list)
	return strings.Split(names, "\n"), err
}

func (c *controller) onSent(now time.Duration, key uint64, size int, kind payload, probe, ssrc uint32, sequence uint16, appLimited bool) error {
	limited := uint64(0)
	if appLimited {
		limited = 1
	}
	return c.call(c.sent, uint64(now), key, uint64(size), uint64(kind), uint64(probe), uint64(ssrc), uint64(sequence), limited)
}

func (c *controller) onRTCP(now time.Duration, datagram []byte) error {
	length, err := c.write(datagram)
	if err != nil {
		return err
	}
	return c.call(c.rtcp, uint64(now), length)
}

func (c *controller) onTimeout(now time.Duration) error {
	return c.call(c.timeout, uint64(now))
}

func (c *controller) onDemand(now time.Duration, min, max int) error {
	return c.call(c.demand, uint64(now), uint64(min), uint64(max))
}

// nextDecision returns the next decision that nobody has read, if there is one.
func (c *controller) nextDecision() (string, error) {
	return c.ask(c.decide)
}

// write puts bytes where the module reads them.
func (c *controller) write(bytes []byte) (uint64, error) {
	if len(bytes) > inputSize {
		return 0, fmt.Errorf("thalweg: %d bytes are more than a datagram of at most %d", len(bytes), inputSize)
	}
	if !c.module.Memory().Write(c.input, bytes) {
		return 0, errors.New("thalweg: the module has no room for its input")
	}
	return uint64(len(bytes)), nil
}

// call calls a function for an event and reads the state. A refusal changes nothing; a trap is the instance's end.
func (c *controller) call(function api.Function, arguments ...uint64) error {
	refused, err := c.run(function, arguments...)
	if err != nil {
		return err
	}
	c.read()
	if refused != "" {
		return errors.New("thalweg: " + refused)
	}
	return nil
}

// ask calls a function that answers in words.
func (c *controller) ask(function api.Function) (string, error) {
	return c.run(function)
}

func (c *controller) run(function api.Function, arguments ...uint64) (string, error) {
	if c.failure != nil {
		return "", c.failure
	}
	copy(c.stack[:], arguments)
	if err := function.CallWithStack(context.Background(), c.stack[:]); err != nil {
		c.read()
		reason := c.words(c.state[fieldPanic])
		if reason == "" {
			reason = "without a word, as when its memory is used up"
		}
		c.failure = fmt.Errorf("thalweg: the controller stopped: %s: %w", reason, err)
		return "", c.failure
	}
	return c.words(uint64(uint32(c.stack[0]))), nil
}

// read copies the state.
func (c *controller) read() {
	if bytes, ok := c.module.Memory().Read(c.stateAt, stateSize*8); ok {
		for field := range c.state {
			c.state[field] = binary.LittleEndian.Uint64(bytes[8*field:])
		}
	}
}

func (c *controller) words(length uint64) string {
	if length == 0 {
		return ""
	}
	bytes, _ := c.module.Memory().Read(c.text, uint32(min(length, textSize)))
	return string(bytes)
}

func (c *controller) close() {
	// An instance without imports has nothing that could fail to close.
	_ = c.module.Close(context.Background())
}
