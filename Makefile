# Two commands do everything, set-up included: `make demo` and `make test`.

CARGO ?= cargo
# libvpx is the VP8 of every browser; no crate builds it from bundled source, so Debian's package is installed. libsrtp is what our SRTP is
# compared with, iproute2 what `thalweg shell` and its tests run.
PACKAGES = libvpx-dev pkg-config libsrtp2-dev iproute2
# What the tests in a browser and against a WHIP server need beside them: Node.js and Go are the machine's own.
LIVE_PACKAGES = chromium ffmpeg janus
# Comparisons with libraries of the system, in tests only.
FEATURES = thalweg-vp8/libvpx,thalweg-transport/libsrtp
# Property tests try the same cases each time, so that what fails is the change's doing; PROPTEST_RNG_SEED=2 tries others.
export PROPTEST_RNG_SEED ?= 1
PROGRAMS = $(abspath $(or $(CARGO_TARGET_DIR),target))/debug

.PHONY: demo test test-browser test-whip programs soak setup setup-live check fuzz bench agree clean

demo: setup
	$(CARGO) build --release -p thalweg-cli
	./target/release/thalweg compare --scheme gcc,copa,vidaptive,vidaptive:rocc --trace lte-driving --size 720p --out out
	@echo "open out/report.html in a browser"

test: setup
	$(CARGO) test --workspace --features $(FEATURES)

# `thalweg publish` in Debian's Chromium over an emulated link: pictures, freezes, latency from barcodes, repair; screenshots in
# tests/browser/out.
test-browser: setup setup-live programs
	cd tests/browser && npm ci --no-audit --no-fund --silent && THALWEG=$(PROGRAMS)/thalweg npm test

# `thalweg publish --whip` against a server nobody here wrote: Pion's.
test-whip: setup setup-live programs
	THALWEG=$(PROGRAMS)/thalweg tests/whip/run.sh

# What both start: with its assertions on, which a release build has not.
programs:
	$(CARGO) build --workspace --bins --examples --features $(FEATURES)

# Four viewers who come and go, for SOAK_MINUTES (30): memory, frames, sound against picture, lateness of packets.
soak: setup
	$(CARGO) test --release -p thalweg-live --test load -- --ignored --nocapture

# What CI adds: formatting, lints, documentation.
check: setup
	.ci/import-graph
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --features $(FEATURES) -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps

# Every parser of bytes from outside against its corpora and seeded mutations, on the stable compiler; fuzz/Cargo.toml says how to
# let libFuzzer loose on the same targets.
fuzz: setup
	$(CARGO) test --manifest-path fuzz/Cargo.toml --no-default-features --target-dir target

# What a packet, a report, a frame and a whole run cost.
bench: setup
	$(CARGO) bench --workspace
	$(CARGO) run --release -q -p thalweg-cli -- bench

# The same scenarios by the clock on real sockets and in virtual time: how far the two are apart (docs/live.md). Ten minutes.
agree: setup
	$(CARGO) build --release -p thalweg-cli
	tests/agree/agree.sh

setup:
	@{ pkg-config --exists vpx libsrtp2 && command -v ip; } >/dev/null || $(call install,$(PACKAGES))

setup-live:
	@{ command -v chromium && command -v ffmpeg && command -v janus; } >/dev/null || $(call install,$(LIVE_PACKAGES))

# As root, or by sudo.
install = { echo "installing $(1)"; \
	  root=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	  $$root apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$root apt-get install -y -qq --no-install-recommends $(1); }

clean:
	$(CARGO) clean
	rm -rf out
