#!/bin/sh
# Builds a real SpiceDB into the cache and prints its path; does nothing if it exists.
# The tests of the SpiceDB adapter run against it (test/support/spicedb.ts).
set -eu

version=1.54.0
cache="${XDG_CACHE_HOME:-$HOME/.cache}/svc-access/spicedb-$version"
binary="$cache/spicedb"
if [ -x "$binary" ]; then
  echo "$binary"
  exit 0
fi

mkdir -p "$cache"
work="$(mktemp -d "$cache/build.XXXXXX")"
trap 'rm -rf "$work"' EXIT HUP INT TERM

# A module of its own with the exact version: `go install …@version` fails where
# the list of versions is not available.
cat > "$work/go.mod" <<MODULE
module svc-access-spicedb

go 1.26.0

tool github.com/authzed/spicedb/cmd/spicedb

require github.com/authzed/spicedb v$version
MODULE

cd "$work"
GOFLAGS=-mod=mod nice go build -p 1 -o "$work/spicedb" github.com/authzed/spicedb/cmd/spicedb >&2
# By rename, so that a build cut short leaves nothing that looks like a binary.
mv "$work/spicedb" "$binary"
echo "$binary"
