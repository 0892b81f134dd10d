#!/bin/sh
# `thalweg publish --whip` against servers no one here wrote: Pion's (built here, of Go), and Janus where it is installed.
# THALWEG names another program than the one of the last release build.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v go > /dev/null; then
  echo "skipped: there is no go to build Pion's server with (https://go.dev/dl)"
  exit 0
fi
THALWEG=${THALWEG:-$(cd "$here/../.." && realpath "${CARGO_TARGET_DIR:-target}")/release/thalweg}
if ! [ -x "$THALWEG" ]; then
  echo "$THALWEG is not there: cargo build --release -p thalweg-cli" >&2
  exit 1
fi
export THALWEG
cd "$here/server"
exec go test -count=1 -v "$@" .
