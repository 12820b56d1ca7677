#!/usr/bin/env bash
# Builds the images of the Dockerfile without a registry, and prints the command that runs buildah on them.
# Where a registry is to be had, `docker build` does the same with the images that the Dockerfile names.
#
# The base of the build is Debian by debootstrap with the Node.js of this checkout, that of the services only
# that program, the libraries that it loads, and the certificates. Both are kept outside the checkout.
set -euo pipefail
cd "$(dirname "$0")/.."

cache="${XDG_CACHE_HOME:-$HOME/.cache}/svc-access"
store="$cache/containers"
release=bookworm
node=$(node -p process.execPath)
# The last number: of what is put into the bases below.
base="svc-access-base:$release-$(node -p process.versions.node)-2"
mkdir -p "$store"
buildah() { command buildah --storage-driver vfs --root "$store/root" --runroot "$store/run" "$@"; }

# One at a time: two would make the same images.
exec 9>"$store/lock"
flock 9

if ! buildah inspect --type image "localhost/$base-build" >/dev/null 2>&1; then
  debian="$store/$release"
  if [ ! -e "$debian/.complete" ]; then
    rm -rf "$debian"
    debootstrap --variant=minbase --include=ca-certificates "$release" "$debian" >&2
    rm -rf "$debian"/var/cache/apt/* "$debian"/var/lib/apt/lists/*
    touch "$debian/.complete"
  fi
  # npm is a program for Node.js, so that of this machine is as good as any.
  build=$(buildah from scratch)
  buildah copy --quiet "$build" "$debian" / >/dev/null
  buildah copy --quiet "$build" "$node" /usr/local/bin/node >/dev/null
  buildah copy --quiet "$build" "$(dirname "$(readlink -f "$(command -v npm)")")/.." /usr/local/lib/node_modules/npm >/dev/null
  buildah run --isolation chroot "$build" -- ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
  buildah commit --quiet --rm "$build" "localhost/$base-build" >/dev/null

  runtime=$(buildah from scratch)
  buildah copy --quiet "$runtime" "$node" /nodejs/bin/node >/dev/null
  ldd "$node" | grep -oE '/[^ ]+' | while read -r library; do
    buildah copy --quiet "$runtime" "$debian$(readlink -f "$debian$library" | sed "s|^$debian||")" "$library" >/dev/null
  done
  buildah copy --quiet "$runtime" "$debian/etc/ssl/certs/ca-certificates.crt" /etc/ssl/certs/ca-certificates.crt >/dev/null
  # Everybody may write there, as in the image that the Dockerfile names.
  mkdir -p "$store/folders/tmp"
  chmod 1777 "$store/folders/tmp"
  buildah copy --quiet "$runtime" "$store/folders" / >/dev/null
  buildah config --user 65532:65532 "$runtime"
  buildah commit --quiet --rm "$runtime" "localhost/$base-runtime" >/dev/null
fi

# The certificates of this machine, which a proxy on the way to the registry of npm may need.
certificates=${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}
mkdir -p "$store/npm"
build() {
  local target=$1
  shift
  buildah bud --quiet --isolation chroot --format docker --target "$target" --tag "localhost/svc-access-$target" \
    --build-arg "RUNTIME_IMAGE=localhost/$base-runtime" --build-arg "NODE_EXTRA_CA_CERTS=$certificates" "$@" . >&2
}
build bundles --build-arg "BUILD_IMAGE=localhost/$base-build" \
  --volume "$certificates:$certificates:ro" --volume "$store/npm:/root/.npm"
for target in $(sed -n 's/^FROM service AS //p' Dockerfile); do
  # Made once for all of them.
  build "$target" --build-context bundles=container-image://localhost/svc-access-bundles
done
# Those of earlier builds have no name any more.
buildah rmi --prune >/dev/null 2>&1 || true
echo "buildah --storage-driver vfs --root $store/root --runroot $store/run"
