#!/usr/bin/env bash
# Estimators in processes of their own: they play, within bounds on both sides, and the same twice.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$PATH:/usr/local/go/bin
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd contestants/pion && go vet . && go build -o "$folder/pion" .)
play() {
  "$THALWEG" compare --encoder model --duration 30s --rate 2Mbps --scheme gcc --quiet --json --out "$folder/$1" \
    --contestant "pion=$folder/pion" --contestant "webrtc-rs=$CONTESTANT webrtc-rs" \
    --contestant "copa-rs=$CONTESTANT vidaptive-rs:copa" --contestant "rocc-rs=$CONTESTANT vidaptive-rs:rocc" \
    --fail-if 'video_bitrate_bps < 400000' --fail-if 'video_bitrate_bps > 2000000' --fail-if 'utilization < 0.25' \
    > "$folder/$1.json"
}
play first
play second
fingerprints() { grep -o '"events_fingerprint": *"[^"]*"' "$folder/$1.json"; }
[ "$(fingerprints first | wc -l)" = 5 ]
diff <(fingerprints first) <(fingerprints second)
"$CONTESTANT" published
