#!/bin/sh
# Builds promtool of Prometheus into the cache and prints its path; does nothing if it exists.
# The tests of deploy/monitoring check the alert rules and the dashboard with it.
set -eu

version=0.316.0
cache="${XDG_CACHE_HOME:-$HOME/.cache}/svc-access/promtool-$version"
binary="$cache/promtool"
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
module svc-access-promtool

go 1.26.7

tool github.com/prometheus/prometheus/cmd/promtool

require github.com/prometheus/prometheus v$version
MODULE

cd "$work"
# Without the clients of cloud providers: rules need no discovery of services.
GOFLAGS=-mod=mod nice go build -p 1 -tags remove_all_sd -o "$work/promtool" \
  github.com/prometheus/prometheus/cmd/promtool >&2
# By rename, so that a build cut short leaves nothing that looks like a binary.
mv "$work/promtool" "$binary"
echo "$binary"
