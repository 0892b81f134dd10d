# Two commands do everything, set-up included: `make demo` and `make test`. CONTRIBUTING.md says what the others are for and how long they take.

CARGO ?= cargo
# libvpx is the VP8 of every browser; no crate builds it from bundled source, so Debian's package is installed.
PACKAGES = libvpx-dev pkg-config
# libsrtp is what our SRTP is compared with, iproute2 what `thalweg shell` and its tests run, ffmpeg what encodes audio and decodes files;
# libdav1d comes with it.
TEST_PACKAGES = $(PACKAGES) libsrtp2-dev iproute2 ffmpeg shellcheck
# A C and a C++ compiler with their sanitizers, and what programs in C are run under.
CAPI_PACKAGES = gcc g++ binutils pkg-config valgrind
# What packs, and what makes a bare Debian 12 to install into.
DIST_PACKAGES = $(PACKAGES) debhelper buildah curl debootstrap iproute2 lintian openssl podman procps runc unzip gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user
# What the tests in a browser and against a WHIP server need beside them: Node.js and Go are the machine's own.
LIVE_PACKAGES = chromium janus
# GStreamer's headers, what runs a plugin, and the plugins that webrtcsink is made of.
GST_PACKAGES = libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev gstreamer1.0-tools gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-nice python3-gst-1.0 openssl pkg-config
CLIENT_PACKAGES = chromium firefox-esr gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-nice python3-gst-1.0 gir1.2-gst-plugins-bad-1.0 openssl
# What lints and tests are built with; the nightly adds policies from ONNX files.
export FEATURES ?= $(shell .ci/test-features)
# Property tests try the same cases each time, so that what fails is the change's doing; PROPTEST_RNG_SEED=2 tries others.
export PROPTEST_RNG_SEED ?= 1
TARGET = $(abspath $(or $(CARGO_TARGET_DIR),target))

.PHONY: demo dist release capi go man wheel book pictures check test test-python test-capi test-contestants test-webrtc-rs test-quic test-go test-str0m reproduce test-live test-page test-browser test-contests test-l4s test-whip test-clients test-senders test-attacks test-scale nightly package programs soak soak-attacks fuzz bench agree setup setup-test setup-capi setup-go setup-live setup-clients gst test-gst setup-gst test-dist setup-dist clean

# Without the commands on real sockets, H.264 and Parquet, and what is large is not optimised (Cargo.toml, profile demo): a third of what
# `cargo install` builds.
demo: setup
	$(CARGO) build $(BUILD_FLAGS) --profile demo -p thalweg-cli --no-default-features --features libvpx
	@echo; echo "A cellular link, 60 s, with a model of an encoder, means over ten seeds with their 95 % intervals:"
	$(TARGET)/demo/thalweg compare --encoder model --runs 10 --out out/model
	@echo; echo "The same with libvpx at 720p, frame by frame:"
	$(TARGET)/demo/thalweg compare --size 720p --out out
	@echo "open out/report.html in a browser; $(TARGET)/demo/thalweg is the program, without live commands and explain (README, Install)"

# What is handed out, into target/artefacts: tarball, Debian packages, wheel, container image, SHA256SUMS (docs/install.md). By root, for
# the image; DIST_PROFILE=release is built faster, for trials.
dist: setup-dist
	.ci/dist

# Everything of a release but the upload, such as `make release VERSION=0.1.0`: version, changelog, crates, and what `make dist` makes, for
# ARM64 too (docs/release.md). By root, for the image.
release: setup-dist
	.ci/release $(VERSION)

# The C library, its header and thalweg.pc under PREFIX (/usr/local): docs/c.md.
capi:
	.ci/capi $(or $(PREFIX),/usr/local)

# The WebAssembly module of the Go package, go/thalweg.wasm: docs/go.md.
go:
	.ci/wasm

# Python's package into target/wheels, with libvpx inside; with WHEEL_FEATURES=live it has `thalweg.publish`.
wheel: setup
	.ci/wheel

# A manual page of each command into target/man: `man target/man/thalweg-compare.1` reads one.
man: setup
	$(CARGO) run --release -q -p thalweg-cli -- man $(TARGET)/man

# Formatting, lints, documentation, dependencies: what an editor should have said.
check: setup-test
	.ci/import-graph
	.ci/scripts
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --features $(FEATURES) -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --features $(FEATURES)
	.ci/supply-chain
	.ci/book

# The book of docs/ into target/book, its links checked.
book:
	.ci/book

# The pictures of docs/ again, in Chromium: the report, a duel, gcc beside Chromium. Two minutes.
pictures: setup-test setup-live
	$(CARGO) build --release -p thalweg-cli
	.ci/pictures

# The tests of every day, and the ten slowest of them; `NEXTEST_PROFILE=nightly make test` has all (CONTRIBUTING.md, Tiers).
test: setup-test setup-capi
	tests/all

# The wheel as a user installs it: its tests, types, examples and notebooks, and what learns with it.
test-python: setup
	.ci/python all

# Programs in C and C++ over the C library: compiled, replayed, under valgrind and sanitizers, on a network, by pkg-config.
test-capi: setup-capi
	$(CARGO) test -p thalweg-capi

# Each of what `make dist` has made, installed and used in a bare Debian 12 of its own, and packed again to the same bytes.
test-dist: setup-dist
	tests/dist/run.sh

# Pion's GCC in Go, as docs/tutorials/estimator.md has it, and webrtc-rs's in a process: each plays, and the same twice.
test-contestants: setup-test programs
	THALWEG=$(TARGET)/debug/thalweg CONTESTANT=$(TARGET)/debug/thalweg-contestant contestants/check.sh

# Controllers in webrtc-rs's own connections: two in one process in virtual time, and in two processes through `thalweg emulate`, four
# minutes by the clock after the build.
test-webrtc-rs: setup
	$(CARGO) build --release -p thalweg-cli
	THALWEG=$(TARGET)/release/thalweg $(CARGO) test --manifest-path tests/webrtc-rs/Cargo.toml --target-dir $(TARGET)/webrtc-rs -- \
	  --include-ignored --nocapture --test-threads 1

# A bulk over quinn's and noq's own sockets through `thalweg emulate`, our controllers beside their Cubic (docs/quic.md). By the clock:
# three minutes on a quiet machine.
test-quic: setup
	$(CARGO) build --release -p thalweg-cli
	$(CARGO) run --release -p thalweg-quic-bench -- live --check --thalweg $(TARGET)/release/thalweg \
	  --controller cubic,newreno,bbr,ours:copa,ours:bbr,ours:rocc,ours:scream

# Controllers around the packets of str0m's own connections, two in one process in virtual time; docs/str0m.md.
test-str0m:
	$(CARGO) test --manifest-path tests/str0m/Cargo.toml --target-dir $(TARGET)/str0m -- --nocapture

# The Go package: the same bits in WebAssembly as natively, and calls over Pion's virtual network beside Pion's own controller, in virtual
# time. TEST_GO=-v prints the table of docs/go.md.
test-go: setup-go go
	tests/go/run.sh $(TEST_GO)
# The GStreamer plugin: target/release/libgstthalweg.so, for GST_PLUGIN_PATH (docs/gstreamer.md).
gst: setup-gst
	$(CARGO) build --release --locked --manifest-path crates/gst/Cargo.toml --target-dir $(TARGET)

# The element by itself, then an unmodified webrtcsink with it and with its own rtpgccbwe over a link that drops, once each; the whole
# comparison is tests/gst/run.sh. By the clock: two minutes after ten of building.
test-gst: setup-test setup-gst
	$(CARGO) test --locked --manifest-path crates/gst/Cargo.toml --target-dir $(TARGET)/gst
	$(CARGO) build --release -p thalweg-cli
	$(CARGO) build --release -p thalweg-peers --bin barcodes
	tests/gst/plugins.sh
	tests/gst/run.sh --links square --with copa --runs 1 --seconds 45 --check --rate 0.8 --latency 1.5

test-live: test-browser test-whip

# What a browser shows, with a hub that is not one, and one real call: the part of `test-browser` that every change must pass.
test-page: setup-test setup-live
	$(CARGO) build --workspace --bins --examples --features $(FEATURES)
	cd tests/browser && npm ci --no-audit --no-fund --silent && THALWEG=$(TARGET)/debug/thalweg npm run daily

# `thalweg publish` in Debian's Chromium over an emulated link: pictures, freezes, latency from barcodes, repair; screenshots in
# tests/browser/out.
test-browser: setup-test setup-live programs
	cd tests/browser && npm ci --no-audit --no-fund --silent && THALWEG=$(TARGET)/debug/thalweg npm test

# The flagship against others in Debian's Chromium: which has more video, and sooner. Four minutes on a quiet machine.
test-contests: setup-test setup-live
	$(CARGO) build --release -p thalweg-cli
	cd tests/browser && npm ci --no-audit --no-fund --silent && THALWEG=$(TARGET)/release/thalweg npm run contest

# All of Chromium's ways with L4S counted, and its SCReAM beside ours over the same link in one report and one table (docs/l4s.md). By
# the clock: twelve minutes on a quiet machine.
test-l4s: setup-test setup-live
	$(CARGO) build --release -p thalweg-cli
	$(CARGO) build --release -p thalweg-peers --bin barcodes
	cd tests/browser && npm ci --no-audit --no-fund --silent && export THALWEG=$(TARGET)/release/thalweg && ROWS=all npm run counts && npm run l4s

# `thalweg publish --whip` against a server no one here wrote: Pion's.
test-whip: setup-test setup-live programs
	THALWEG=$(TARGET)/debug/thalweg tests/whip/run.sh

# `thalweg publish` watched by clients no one here wrote: Chromium, Firefox, aiortc, GStreamer, Pion, four of npm. By the clock, so with a release build.
test-clients: setup-test setup-clients
	$(CARGO) build --release -p thalweg-cli
	tests/clients/run.sh

# ffmpeg, GStreamer, Pion, aiortc, Chromium, whip-whep and our own send to `thalweg receive` over a link that drops: one report and one table
# (docs/receive.md). By the clock: six minutes on a quiet machine.
test-senders: setup-test setup-live setup-clients
	$(CARGO) build --release -p thalweg-cli
	$(CARGO) build --release -p thalweg-peers --bin barcodes
	tests/senders/run.sh

# Each attack of an audit on `thalweg publish`, a viewer in Chromium beside it (docs/attacks.md). By the clock: a quarter of an hour
# on a quiet machine.
test-attacks: setup-test setup-live
	$(CARGO) build --release -p thalweg-cli
	tests/attacks/run.sh

# How many viewers one core serves, and beside it Janus on the same core (docs/scale.md). By the clock: a quarter of an hour on a
# quiet machine of two cores.
test-scale: setup-test setup-live
	$(CARGO) build --release -p thalweg-cli
	$(CARGO) build --release -p thalweg-peers --bin audience
	tests/scale/run.sh

# What both start: with its assertions on, which a release build has not, and with policies from ONNX files.
programs:
	$(CARGO) build --workspace --bins --examples --features $(FEATURES),thalweg-cli/onnx
	cp Cargo.lock tests/external && $(CARGO) build --manifest-path tests/external/Cargo.toml --features live --target-dir $(TARGET)

# Every public crate as the registry would get it.
package:
	.ci/package

# What takes long or is not the same twice.
nightly: setup-test
	.ci/nightly

# Four viewers who come and go, for SOAK_MINUTES (30): memory, frames, audio against picture, lateness of packets.
soak: setup-test
	$(CARGO) test --release -p thalweg-live --test all load::soak -- --ignored --nocapture

# All attacks together, and a full disk, for SOAK_MINUTES (30), beside a viewer in Chromium (docs/attacks.md).
soak-attacks: setup-test setup-live
	$(CARGO) build --release -p thalweg-cli
	tests/attacks/run.sh soak

# Every parser of bytes from outside against its corpora and seeded mutations, on the stable compiler; fuzz/Cargo.toml says how to
# let libFuzzer loose on the same targets.
fuzz:
	$(CARGO) test -p thalweg-fuzz

# Every figure and table of the papers, into docs/papers/results: a page a paper and the index. Takes an hour; when
# stopped, it goes on where it was. FIGURES=camel, or names of figures, plays these alone.
reproduce: setup
	$(CARGO) run --release -q -p thalweg-cli -- reproduce $(or $(FIGURES),all) --pages docs/papers/results --out out/reproduce

# What a packet, a report, a frame and a whole run cost.
bench: setup
	$(CARGO) bench --workspace
	$(CARGO) run --release -q -p thalweg-bench
	$(CARGO) run --release -q -p thalweg-bench -- environments

# The same scenarios by the clock on real sockets and in virtual time: how far the two are apart (docs/live.md). Ten minutes.
agree: setup
	$(CARGO) build --release -p thalweg-cli
	tests/agree/agree.sh

setup:
	@pkg-config --exists vpx 2>/dev/null || $(call install,$(PACKAGES))

setup-test:
	@{ pkg-config --exists vpx libsrtp2 && command -v ip && command -v ffmpeg; } >/dev/null 2>&1 || $(call install,$(TEST_PACKAGES))

setup-capi:
	@{ command -v cc && command -v c++ && command -v readelf && command -v pkg-config && command -v valgrind; } >/dev/null || $(call install,$(CAPI_PACKAGES))

# Go is the machine's own; the detector of data races takes a C compiler. `.ci/wasm` installs Rust's target.
setup-go:
	@command -v cc >/dev/null || $(call install,gcc libc6-dev)
setup-dist:
	@dpkg -s $(DIST_PACKAGES) >/dev/null 2>&1 || $(call install,$(DIST_PACKAGES))

setup-live:
	@{ command -v chromium && command -v janus; } >/dev/null || $(call install,$(LIVE_PACKAGES))

setup-clients:
	@dpkg -s $(CLIENT_PACKAGES) >/dev/null 2>&1 || $(call install,$(CLIENT_PACKAGES))

setup-gst:
	@dpkg -s $(GST_PACKAGES) >/dev/null 2>&1 || $(call install,$(GST_PACKAGES))

# As root, or by sudo.
install = { echo "installing $(1)"; \
	  root=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	  $$root apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$root apt-get install -y -qq --no-install-recommends $(1); }

clean:
	$(CARGO) clean
	rm -rf out
