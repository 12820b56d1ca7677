#!/bin/sh
# Builds the client and the server of gRPC's interoperability tests, as grpc-go has them, into the
# cache and prints their folder; does nothing if they exist.
# The tests of test/runtime/interop run against them (test/runtime/interop/support/grpc-go.ts).
set -eu

version=1.85.0
cache="${XDG_CACHE_HOME:-$HOME/.cache}/svc-access/grpc-interop-$version"
if [ -x "$cache/client" ] && [ -x "$cache/server" ]; then
  echo "$cache"
  exit 0
fi

mkdir -p "$cache"
work="$(mktemp -d "$cache/build.XXXXXX")"
trap 'rm -rf "$work"' EXIT HUP INT TERM

# A module of its own with the exact version: `go install …@version` fails where
# the list of versions is not available.
cat > "$work/go.mod" <<MODULE
module svc-access-grpc-interop

go 1.26.0

tool (
	google.golang.org/grpc/interop/client
	google.golang.org/grpc/interop/server
)

require google.golang.org/grpc v$version
MODULE

cd "$work"
for program in client server; do
  GOFLAGS=-mod=mod nice go build -p 1 -o "$work/$program" "google.golang.org/grpc/interop/$program" >&2
done
# By rename, so that a build cut short leaves nothing that looks like a binary.
mv "$work/client" "$work/server" "$cache"
echo "$cache"
