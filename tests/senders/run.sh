#!/usr/bin/env bash
# Senders no one here wrote, and our own, sending to one `thalweg receive` over a link that drops: senders.py says what may be named.
# What is not Debian's is installed into target/senders, where results go too (out/report.html, senders.json). By the clock, so with a
# release build and nothing beside it; on Linux (../namespace). THALWEG and BARCODES name other programs than those of the last release build.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=$(cd "$here/../.." && realpath -m "${CARGO_TARGET_DIR:-target}")
export THALWEG=${THALWEG:-$target/release/thalweg} BARCODES=${BARCODES:-$target/release/barcodes} SENDERS=$target/senders
for program in "$THALWEG" "$BARCODES"; do
  if ! [ -x "$program" ]; then
    echo "$program is not there: make test-senders builds it" >&2
    exit 1
  fi
done
env=$SENDERS/python
"$here/../environment" "$env" "$here/requirements.txt"
(cd "$here/pion" && go build -o "$SENDERS/pion" .)
for modules in "$here/../browser" "$here/../clients/node"; do
  (cd "$modules" && npm ci --no-audit --no-fund --silent)
done
exec "$here/../namespace" "$env/bin/python" "$here/senders.py" "$@"
