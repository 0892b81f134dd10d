#!/usr/bin/env bash
# Builds the plugins that ab.py compares into target/gst/plugins: webrtcsink and rtpgccbwe from the registry, libgstthalweg.so from
# crates/gst. Of Debian's libgstreamer-plugins-bad1.0-dev only the description of gstreamer-webrtc is needed; to install the package
# would bring all of OpenCV's headers, so it is unpacked.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=$(cd "$here/../.." && realpath -m "${CARGO_TARGET_DIR:-target}")
out=$target/gst headers=$target/gst/headers
if ! pkg-config --exists gstreamer-webrtc-1.0; then
  if ! [ -d "$headers/usr" ]; then
    mkdir -p "$headers"
    (cd "$headers" && apt-get download -qq libgstreamer-plugins-bad1.0-dev && dpkg -x libgstreamer-plugins-bad1.0-dev_*.deb .)
  fi
  libraries=$(dirname "$(find "$headers/usr/lib" -name pkgconfig)")
  # The package's links lead to the libraries beside it, which are installed.
  ln -sf "/usr/lib/$(basename "$libraries")/libgstwebrtc-1.0.so.0" "$libraries/libgstwebrtc-1.0.so"
  export PKG_CONFIG_PATH=$libraries/pkgconfig RUSTFLAGS="${RUSTFLAGS:-} -L native=$libraries"
fi
cargo build --release --locked --manifest-path "$here/Cargo.toml" --target-dir "$out"
unset RUSTFLAGS
cargo build --release --locked --manifest-path "$here/../../crates/gst/Cargo.toml" --target-dir "$out"
for plugin in rswebrtc rsrtp; do
  mkdir -p "$out/plugins/$plugin"
  # As dependencies they have a hash in their names, and GStreamer takes the plugin's name from that of the file. The newest counts.
  # shellcheck disable=SC2012
  cp "$(ls -t "$out/release/deps/libgst$plugin"-*.so | head -1)" "$out/plugins/$plugin/libgst$plugin.so"
done
mkdir -p "$out/plugins/thalweg"
cp "$out/release/libgstthalweg.so" "$out/plugins/thalweg"
echo "$out/plugins"
