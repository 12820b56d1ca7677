#!/bin/sh
# Builds the runner of connectrpc's conformance suite into the cache, beside the suite's proto
# files, and prints their folder; does nothing if they exist.
# scripts/conformance.sh runs it against our server and our gRPC client.
set -eu

version=1.0.5
cache="${XDG_CACHE_HOME:-$HOME/.cache}/svc-access/conformance-$version"
if [ -x "$cache/connectconformance" ] && [ -d "$cache/proto/connectrpc" ]; then
  echo "$cache"
  exit 0
fi

mkdir -p "$cache"
work="$(mktemp -d "$cache/build.XXXXXX")"
# The go command makes what it unpacks read-only.
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT HUP INT TERM

# A module of its own with the exact version: `go install …@version` fails where
# the list of versions is not available.
cat > "$work/go.mod" <<MODULE
module svc-access-conformance

go 1.26.0

tool connectrpc.com/conformance/cmd/connectconformance

require connectrpc.com/conformance v$version
MODULE

cd "$work"
GOFLAGS=-mod=mod nice -n 19 go build -p 1 -o "$work/connectconformance" connectrpc.com/conformance/cmd/connectconformance >&2
module="$(GOFLAGS=-mod=mod go list -m -f '{{.Dir}}' connectrpc.com/conformance)"
cp -R "$module/proto" "$work/proto"
chmod -R u+w "$work/proto"
# By rename, the runner last, so that a build cut short leaves nothing that looks like one.
rm -rf "$cache/proto"
mv "$work/proto" "$cache"
mv "$work/connectconformance" "$cache"
echo "$cache"
