#!/usr/bin/env bash
# The Go package: its tests, its data races, and calls over Pion's virtual network beside Pion's own controller. Arguments go to the last
# `go test`, such as -v, which prints the table of docs/go.md.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH=$PATH:/usr/local/go/bin
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
cargo build --quiet -p thalweg-wasm --example replay
export THALWEG_REPLAY=$target/debug/examples/replay
cd go
[ -z "$(gofmt -l . ../tests/pion)" ] || { echo "gofmt -w what this lists:"; gofmt -l . ../tests/pion; exit 1; }
go vet ./...
CGO_ENABLED=0 go test ./...
# The detector of data races is the one thing that needs a C compiler.
CGO_ENABLED=1 go test -race -run 'Goroutine|Closed|Report|Panic|Link' ./...
for platform in linux/arm64 windows/amd64 darwin/arm64 linux/386; do
  CGO_ENABLED=0 GOOS=${platform%/*} GOARCH=${platform#*/} go build ./...
done
cd ../tests/pion
go vet ./...
CGO_ENABLED=0 go test "$@" ./...
