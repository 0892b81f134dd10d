#!/usr/bin/env bash
# webrtcsink with its own rtpgccbwe and with ours, over emulated links: `run.sh [OPTION ...]` of ab.py. By the clock, with release
# builds and nothing beside them; in a network of its own (../namespace). THALWEG and BARCODES name other programs than those of the last
# release build, TRACES the folder of Mahimahi's recorded links (`thalweg data fetch mahimahi`).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=$(cd "$here/../.." && realpath -m "${CARGO_TARGET_DIR:-target}")
export THALWEG=${THALWEG:-$target/release/thalweg} BARCODES=${BARCODES:-$target/release/barcodes}
export OUT=$target/gst PLUGINS=$target/gst/plugins
export TRACES=${TRACES:-${THALWEG_DATA:-${XDG_DATA_HOME:-$HOME/.local/share}/thalweg}/traces/mahimahi}
for program in "$THALWEG" "$BARCODES" "$PLUGINS/thalweg/libgstthalweg.so"; do
  if ! [ -e "$program" ]; then
    echo "$program is not there: make test-gst builds it" >&2
    exit 1
  fi
done
exec "$here/../namespace" /usr/bin/python3 "$here/ab.py" "$@"
