#!/usr/bin/env bash
# `thalweg publish` watched by clients no one here wrote: Chromium, Firefox, aiortc, GStreamer's webrtcbin, Pion, and npm's werift,
# @roamhq/wrtc, node-datachannel and whip-whep, each as it comes.
# `run.sh [--seconds S] [CLIENT[:SCHEME] ...]`. THALWEG names another program than the one of the last release build. What is not
# Debian's is installed into target/clients. Needs Linux (../namespace).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=$(cd "$here/../.." && realpath -m "${CARGO_TARGET_DIR:-target}")
export THALWEG=${THALWEG:-$target/release/thalweg}
if ! [ -x "$THALWEG" ]; then
  echo "$THALWEG is not there: cargo build --release -p thalweg-cli" >&2
  exit 1
fi
export CLIENTS=$target/clients
"$here/../environment" "$CLIENTS" "$here/requirements.txt"
(cd "$here/pion" && go build -o "$CLIENTS/pion" .)
for modules in "$here/../browser" "$here/node"; do
  (cd "$modules" && npm ci --no-audit --no-fund --silent)
done
exec "$here/../namespace" python3 "$here/clients.py" "$@"
