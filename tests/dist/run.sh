#!/usr/bin/env bash
# What `make dist` has made, each of it installed and used in a bare Debian 12 of its own, as a user would (docs/install.md): the Debian
# packages, the service under a systemd, the tarball, the wheel, the image; and packed again, to the same bytes. `tests/dist/run.sh`, or some parts by name:
# `tests/dist/run.sh packages wheel`. By root; Debian's packages come from DEBIAN_MIRROR, NumPy from Python's index. After a failure the
# root it happened in stays in target/roots.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
out=$target/artefacts
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
roots=$target/roots
arch=$(dpkg --print-architecture)
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive

fail() { echo "FAILED: $*" >&2; exit 1; }
passed() { echo "ok: $*"; }

# A fresh root, with the artefacts in /artefacts: sets `root`.
fresh() {
  root=$roots/$1
  rm -rf "$root"
  mkdir -p "$root/artefacts"
  tar -C "$root" --numeric-owner -xf "$bare"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  # How this machine's apt reaches its mirrors, such as by a proxy, is how one in a root on it does.
  grep -ls Acquire /etc/apt/apt.conf.d/* | xargs -r cp -t "$root/etc/apt/apt.conf.d"
  cp "$out"/* "$root/artefacts"
}

# Runs a command in the root, with processes and mounts of its own that end with it, and the environment of a login.
inside() {
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --propagation private sh -c '
    mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && exec chroot "$@"' sh "$root" \
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
# The same without a network but its own loopback.
alone() {
  # shellcheck disable=SC2016
  unshare --net sh -c 'ip link set lo up && "$@"' sh "$@"
}
apt() { inside apt-get -qq -o Dpkg::Use-Pty=0 "$@" >"$roots/apt.log" 2>&1 || { cat "$roots/apt.log"; fail "apt-get $*"; }; }

# Both ways of a first run: with a model of an encoder, and with libvpx frame by frame.
first_runs() {
  local summaries
  "$@" compare --encoder model --duration 5s --scheme gcc,copa --quiet --out /tmp/model
  "$@" compare --size 180p --duration 2s --scheme gcc --quiet --out /tmp/pixels
  summaries=$(cat "$root"/tmp/{model/gcc,model/copa,pixels/gcc}/summary.json)
  [ "$(grep -c events_fingerprint <<<"$summaries")" = 3 ] || fail "no three runs: $summaries"
}

# Every file and folder, but what apt and dpkg keep for themselves.
files() {
  inside find / -xdev \( -path /proc -o -path /dev -o -path /run -o -path /tmp -o -path /artefacts -o -path /root -o -path /var/lib/apt \
    -o -path /var/lib/dpkg -o -path /var/cache -o -path /var/log \) -prune -o -print | sort
}

packages() {
  local before after static
  fresh packages
  apt update
  apt install --no-install-recommends systemd
  before=$(files)
  apt install --no-install-recommends "/artefacts/thalweg_$version-1_$arch.deb"
  first_runs inside thalweg
  [ "$(inside thalweg --version)" = "thalweg $version" ] || fail "$(inside thalweg --version)"
  [ "$(inside dpkg-query -W -f '${Depends}' thalweg | grep -o 'libvpx7\|libc6' | sort -u | tr '\n' ' ')" = "libc6 libvpx7 " ] ||
    fail "it depends on $(inside dpkg-query -W -f '${Depends}' thalweg)"
  for file in lib/systemd/system/thalweg-publish.service etc/thalweg/publish.toml usr/share/man/man1/thalweg-compare.1.gz \
    usr/share/bash-completion/completions/thalweg usr/share/doc/thalweg/copyright; do
    [ -f "$root/$file" ] || fail "/$file is not there"
  done
  # shellcheck disable=SC1090,SC2016
  inside bash -c '. /usr/share/bash-completion/completions/thalweg && complete -p thalweg' >/dev/null
  # Nobody's machine becomes a publisher by an installation.
  [ -z "$(find "$root/etc/systemd" -name 'thalweg*')" ] || fail "the unit is enabled"
  inside systemd-analyze verify --man=no thalweg-publish.service
  # As docs/operation.md says, one drop-in at a time.
  inside bash -ec 'for dropin in /usr/share/doc/thalweg/examples/thalweg-publish.service.d/*.conf; do
    install -D "$dropin" /etc/systemd/system/thalweg-publish.service.d/source.conf
    systemd-analyze verify --man=no thalweg-publish.service
  done; rm -r /etc/systemd/system/thalweg-publish.service.d'
  passed "thalweg is installed by apt and plays"

  apt install --no-install-recommends gcc libc6-dev pkg-config \
    "/artefacts/libthalweg0_$version-1_$arch.deb" "/artefacts/libthalweg-dev_$version-1_$arch.deb"
  [ "$(inside pkg-config --modversion thalweg)" = "$version" ] || fail "pkg-config"
  replays /usr/share/doc/libthalweg-dev/examples "" ""
  passed "a program in C is compiled with libthalweg-dev and runs, with the shared and the static library"

  apt purge thalweg libthalweg0 libthalweg-dev gcc libc6-dev pkg-config
  apt autoremove --purge
  after=$(files)
  # shellcheck disable=SC2001
  [ "$before" = "$after" ] || fail "left behind or gone: $(diff <(echo "$before") <(echo "$after"))"
  passed "removed again, nothing of it stays"
}

# Starts a systemd as the first process of the root: in namespaces and a control group of its own, with devices and a loopback of its
# own. Sets `init`, its process.
boot() {
  local groups=/sys/fs/cgroup
  [ -d "$groups/unified" ] && groups=$groups/unified
  mkdir -p "$groups/thalweg-dist"
  # shellcheck disable=SC2016
  sh -c 'echo $$ >"$2/thalweg-dist/cgroup.procs" && exec unshare --mount --pid --fork --kill-child --net --uts --ipc --cgroup --propagation private sh -ec "$0" sh "$1"' '
    ip link set lo up
    mount --bind "$1" "$1"
    cd "$1"
    mount -t proc proc proc
    mount -t sysfs sysfs sys
    mount -t cgroup2 cgroup2 sys/fs/cgroup
    mount -t tmpfs -o mode=755 tmpfs run
    mount -t tmpfs -o mode=1777 tmpfs tmp
    mount -t tmpfs -o mode=755 tmpfs dev
    mkdir dev/pts dev/shm
    mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
    mount -t tmpfs -o mode=1777 tmpfs dev/shm
    ln -s pts/ptmx dev/ptmx
    ln -s /proc/self/fd dev/fd
    for device in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0; do
      mknod -m 666 "dev/${device%%:*}" c $(echo "${device#*:}" | tr : " ")
    done
    pivot_root . mnt
    exec chroot . sh -c "umount -l /mnt && mount --make-rshared / && exec env -i container=unshare PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --unit=multi-user.target"
  ' "$root" "$groups" </dev/null >"$roots/boot.log" 2>&1 &
  booted=$!
  # With its first process all others end.
  trap 'kill -KILL "${init:-$booted}" 2>/dev/null || :' EXIT
  eventually has_begun
}

# Runs a command beside the systemd that was booted.
under() {
  nsenter --target "$init" --mount --pid --net --uts --ipc --cgroup --wd=/ \
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"
}
has_begun() { init=$(pgrep -P "$booted") && under systemctl is-system-running 2>/dev/null | grep -Eq 'running|degraded'; }

# Repeats a command until it succeeds.
eventually() {
  for _ in $(seq 150); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.2
  done
  fail "not in half a minute: $* ($(tail -5 "$roots/boot.log"))"
}

# The unit as docs/operation.md has it, under a systemd: with the built-in scene, with a file that everybody may read, with one below /home,
# and with a pipe; by https and with a token, whose key root alone may read.
service() {
  local token first dropins=/usr/share/doc/thalweg/examples/thalweg-publish.service.d
  fresh service
  apt update
  apt install --no-install-recommends systemd ffmpeg "/artefacts/thalweg_$version-1_$arch.deb"
  token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  (umask 077 && echo "THALWEG_TOKEN=$token" >"$root/etc/thalweg/environment")
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=thalweg -addext subjectAltName=IP:127.0.0.1 \
    -addext basicConstraints=critical,CA:FALSE -keyout "$root/etc/thalweg/key.pem" -out "$root/etc/thalweg/certificate.pem" 2>/dev/null
  # Two seconds with sound.
  mkdir -p "$root/home/ann"
  inside ffmpeg -nostdin -loglevel error -f lavfi -i testsrc2=size=320x180:rate=30 -f lavfi -i sine -t 2 -pix_fmt yuv420p -shortest /srv/clip.mp4
  install -m 644 "$root/srv/clip.mp4" "$root/home/ann/clip.mp4"
  boot

  under systemctl start thalweg-publish
  serves "built-in scene"
  first=$(under systemctl show --property MainPID --value thalweg-publish)
  confined "$first"
  under systemd-analyze security --no-pager --threshold=19 thalweg-publish >/dev/null || fail "it is more exposed than docs/operation.md says"
  passed "the service serves the built-in scene under systemd, confined"

  under systemctl kill --signal=KILL thalweg-publish
  eventually is_another "$first"
  serves "built-in scene"
  passed "the service is started again when it was killed"

  sed -i 's|^source = .*|source = "/srv/clip.mp4"|' "$root/etc/thalweg/publish.toml"
  under systemctl restart thalweg-publish
  serves clip.mp4
  under install -D -m 644 "$dropins/file.conf" /etc/systemd/system/thalweg-publish.service.d/source.conf
  rm "$root/srv/clip.mp4"
  sed -i 's|^source = .*|source = "/home/ann/clip.mp4"|' "$root/etc/thalweg/publish.toml"
  under systemctl daemon-reload
  under systemctl restart thalweg-publish
  serves clip.mp4
  passed "the service serves a file, and one below /home with its drop-in"

  under install -m 644 "$dropins/pipe.conf" /etc/systemd/system/thalweg-publish.service.d/source.conf
  under systemctl daemon-reload
  under systemctl restart thalweg-publish
  serves "standard input"
  passed "the service serves what ffmpeg pipes into it with the drop-in for that"

  under systemctl stop thalweg-publish
  [ "$(under systemctl show --property Result --value thalweg-publish)" = success ] || fail "$(under systemctl status thalweg-publish)"
  under journalctl --no-pager >"$roots/journal"
  grep -q 'watch at' "$roots/journal" || fail "the journal has no line of it: $(tail "$roots/journal")"
  ! grep -F "$token" "$roots/journal" || fail "the journal has the token"
  passed "the service ends well, and its journal has no token"
  kill -KILL "$init"
  wait "$booted" 2>/dev/null || :
}

is_another() {
  local now
  now=$(under systemctl show --property MainPID --value thalweg-publish)
  [ "$now" != 0 ] && [ "$now" != "$1" ]
}

# Whether a process has no privilege, nor a way to any, and is not root's.
confined() {
  local status
  status=$(under cat "/proc/$1/status")
  for line in 'NoNewPrivs:[[:space:]]1' 'CapEff:[[:space:]]0000000000000000' 'CapBnd:[[:space:]]0000000000000000' 'Seccomp:[[:space:]]2' \
    'Uid:[[:space:]][1-9]'; do
    grep -q "^$line" <<<"$status" || fail "the service's process has not $line: $status"
  done
}

# The service answers an offer of Chromium's with the token and none without, and its pictures come.
serves() {
  local offer=crates/transport/src/sdp/tests/data/chromium-recvonly.sdp answer=$roots/answer seen
  ask() {
    nsenter --target "$init" --net curl --silent --cacert "$root/etc/thalweg/certificate.pem" --output "$answer" --write-out '%{http_code}' "$@"
  }
  eventually ask https://127.0.0.1:8443/health
  [ "$(ask --header "Authorization: Bearer $token" https://127.0.0.1:8443/about)" = 200 ] && grep -qF "\"title\":\"$1\"" "$answer" ||
    fail "it shows $(cat "$answer"), not $1"
  offered() { ask --header 'Content-Type: application/sdp' --data-binary @"$offer" "$@" https://127.0.0.1:8443/whep; }
  [ "$(offered)" = 401 ] || fail "an offer without the token is answered"
  [ "$(offered --header "Authorization: Bearer $token")" = 201 ] && grep -q '^a=ice-ufrag' "$answer" || fail "no answer: $(cat "$answer")"
  seen=$(under env THALWEG_TOKEN="$token" thalweg watch https://127.0.0.1:8443 --certificate-authority /etc/thalweg/certificate.pem \
    --duration 4s --json | grep -o '"frames_decoded": *[0-9]*' | grep -o '[0-9]*$')
  [ "${seen:-0}" -gt 30 ] || fail "$1: ${seen:-no} pictures in four seconds"
}

# Compiles replay.c of a folder with each library and compares what it prints: `replays FOLDER PKG_CONFIG_PATH LD_LIBRARY_PATH`.
replays() {
  local shared static
  inside env PKG_CONFIG_PATH="$2" sh -ec "
    cc -Wall -Werror $1/replay.c -o /tmp/shared \$(pkg-config --cflags --libs thalweg)
    cc -Wall -Werror $1/replay.c -o /tmp/static \$(pkg-config --cflags thalweg) \
      \$(pkg-config --variable=libdir thalweg)/libthalweg.a \$(pkg-config --static --libs-only-l thalweg | sed 's/-lthalweg//')"
  shared=$(inside env LD_LIBRARY_PATH="$3" /tmp/shared gcc "$1/recording.txt")
  static=$(inside /tmp/static gcc "$1/recording.txt")
  [ "$(wc -l <<<"$shared")" -gt 20 ] && [ "$shared" = "$static" ] || fail "replay: $shared"
  [[ $(inside env LD_LIBRARY_PATH="$3" ldd /tmp/shared) == *libthalweg.so.0* ]] || fail "it was not linked with the shared library"
}

tarball() {
  local name
  name=thalweg-$version-$(uname -m)-linux
  fresh tarball
  inside tar -C /opt -xzf "/artefacts/$name.tar.gz"
  first_runs inside "/opt/$name/bin/thalweg"
  passed "the program of the tarball plays where nothing is installed"
  apt update
  apt install --no-install-recommends gcc libc6-dev pkg-config
  replays "/opt/$name/share/doc/libthalweg/examples" "/opt/$name/lib/pkgconfig" "/opt/$name/lib"
  passed "a program in C is compiled with the library of the tarball"
}

wheel() {
  local numpy=$target/numpy
  fresh wheel
  apt update
  apt install --no-install-recommends python3 python3-venv
  mkdir -p "$numpy"
  python3 -m pip download --quiet --no-deps --only-binary :all: --python-version 3.11 --dest "$numpy" numpy
  cp "$numpy"/*.whl "$root/artefacts"
  inside python3 -m venv /venv
  inside /venv/bin/pip install --quiet --no-index --find-links /artefacts thalweg
  inside /venv/bin/python -c '
import thalweg
run = thalweg.run("lte-driving", "gcc")
assert run.summary["events_fingerprint"] and len(run.frames.column("latency_ms")) > 1000, run.summary
pixels = thalweg.scenario("2Mbps", duration=2, codec="vp8")
pixels["video"]["size"] = "320x180"
assert thalweg.run(pixels, "gcc").summary["codec"], "no encoder"'
  passed "the wheel is installed into a virtual environment and plays, with its own libvpx"
}

# As its entry point is meant, by nobody and with a file system that cannot be written but for /tmp; and as a publisher that answers.
image() {
  local name=localhost/thalweg:$version state=$roots/podman answer
  # Without systemd, with either version of control groups, and with no higher limits than a machine may set.
  podman() { command podman --runtime runc --cgroup-manager cgroupfs --root "$state" --runroot "$state.run" "$@"; }
  podman load --quiet --input "$out/thalweg-$version-image.tar" >/dev/null
  in_image() { podman run --rm --network none --ulimit nofile=1024:1024 --ulimit nproc=4096:4096 --read-only --tmpfs /tmp "$@"; }
  in_image "$name" compare --encoder model --duration 5s --scheme gcc --quiet --out /tmp/out
  in_image "$name" compare --size 180p --duration 2s --scheme gcc --quiet --out /tmp/out
  [ "$(in_image --entrypoint id "$name" -un)" = nobody ] || fail "it is not run by nobody"
  passed "the image's entry point plays"
  answer=$(in_image --entrypoint bash "$name" -c '
    thalweg publish --listen 127.0.0.1:8080 --duration 10s >/dev/null 2>&1 &
    for try in $(seq 50); do
      exec 3<>/dev/tcp/127.0.0.1/8080 && break || sleep 0.1
    done 2>/dev/null
    printf "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n" >&3
    head -1 <&3') || true
  [[ $answer == *" 200 "* ]] || fail "its publisher answered '$answer'"
  passed "the image's publisher answers"
}

# Debian's own check of packages. One tag is not for us: it is about packages that are uploaded to Debian, which close a bug there.
lint() {
  lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs --allow-root \
    "$out"/{thalweg,libthalweg0,libthalweg-dev}_"$version"-1_*.deb
  passed "lintian has neither error nor warning"
  # Every crate that Cargo.lock has a checksum of, once.
  python3 - "$out"/*.cdx.json <<'PYTHON'
import json, sys
for path in sys.argv[1:]:
    parts = json.load(open(path))["components"]
    crates = [it["purl"] for it in parts if it["purl"].startswith("pkg:cargo/")]
    assert len(crates) > 8 and len(set(crates)) == len(crates), path
    assert all(len(it["hashes"][0]["content"]) == 64 for it in parts if "hashes" in it), path
    assert all("expression" in it["licenses"][0] for it in parts if it["purl"] in crates), path
PYTHON
  passed "the bills of materials name every crate with its checksum and licence"
}

# Packed once more, in another folder, at another hour of the day and by a user with other habits.
again() {
  local other=$roots/again file name
  rm -rf "$other"
  mkdir -p "$roots/tmp" "$other"
  (umask 077 && TMPDIR=$roots/tmp TZ=Asia/Kathmandu DIST_OUT=$other .ci/dist tarball debian wheel >"$roots/again.log" 2>&1) ||
    { cat "$roots/again.log"; fail "it cannot be packed again"; }
  for file in "$other"/*; do
    name=$(basename "$file")
    cmp "$file" "$out/$name" || fail "$name is not the same when it is packed again"
  done
  [ "$(find "$other" -name '*.tar.gz' -o -name '*.deb' -o -name '*.whl' | wc -l)" -ge 5 ] || fail "only $(ls "$other")"
  passed "packed again, the same bytes: $(cd "$other" && echo *)"
  for file in "$out"/*.tar.gz "$out"/*.deb "$out"/*.whl; do
    # Within the packages, uncompressed.
    case $file in
      *.deb) dpkg-deb --fsys-tarfile "$file" ;;
      *.whl) unzip -p "$file" ;;
      *) gzip -dc "$file" ;;
    esac | (! grep -aoFm1 -e "$PWD" -e "$target" -e "${CARGO_HOME:-$HOME/.cargo}") ||
      fail "$(basename "$file") names a folder of this machine"
  done
  passed "no folder of this machine is in what is handed out"
  (cd "$out" && sha256sum --quiet --check SHA256SUMS)
  passed "SHA256SUMS"
}

[ -f "$out/SHA256SUMS" ] || fail "there is nothing in $out: make dist"
[ "$(id -u)" = 0 ] || fail "only root can make roots"
mkdir -p "$roots"
bare=$(.ci/bookworm)
parts=("$@")
[ $# != 0 ] || parts=(lint again packages service tarball wheel image)
for part in "${parts[@]}"; do
  case $part in
    lint | again | packages | service | tarball | wheel | image) "$part" ;;
    *) fail "there is no part '$part': lint, again, packages, service, tarball, wheel, image" ;;
  esac
done
rm -rf "$roots"
