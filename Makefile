# Two commands do everything, set-up included: `make demo` and `make test`.

CARGO ?= cargo
# libvpx is the VP8 of every browser; no crate builds it from bundled source, so Debian's package is installed.
PACKAGES = libvpx-dev pkg-config

.PHONY: demo test setup check fuzz bench agree clean

demo: setup
	$(CARGO) build --release -p thalweg-cli
	./target/release/thalweg compare --scheme gcc,copa,vidaptive,vidaptive:rocc --trace lte-driving --size 720p --out out
	@echo "open out/report.html in a browser"

test: setup
	$(CARGO) test --workspace --features thalweg-vp8/libvpx

# What CI adds: formatting, lints, documentation.
check: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --features thalweg-vp8/libvpx -- -D warnings
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
	@pkg-config --exists vpx || { \
	  echo "installing $(PACKAGES) (Debian's libvpx: the real VP8 encoder)"; \
	  if [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq $(PACKAGES); \
	  else sudo apt-get update -qq && sudo apt-get install -y -qq $(PACKAGES); fi; }

clean:
	$(CARGO) clean
	rm -rf out
