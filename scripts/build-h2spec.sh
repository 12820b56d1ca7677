#!/bin/sh
# Builds h2spec, which tests servers for the rules of HTTP/2, into the cache and prints its path; does
# nothing if it exists. The tests run it against both ports (test/runtime/http2/h2spec.test.ts).
set -eu

# The last version that is available as a module.
version=2.2.1
cache="${XDG_CACHE_HOME:-$HOME/.cache}/svc-access/h2spec-$version"
binary="$cache/h2spec"
if [ -x "$binary" ]; then
  echo "$binary"
  exit 0
fi

mkdir -p "$cache"
work="$(mktemp -d "$cache/build.XXXXXX")"
trap 'rm -rf "$work"' EXIT HUP INT TERM

# A module of its own with exact versions: `go install …@version` fails where the list of versions is
# not available, and h2spec is from before modules, so that it names none of what it needs.
cat > "$work/go.mod" <<MODULE
module svc-access-h2spec

go 1.26.0

tool github.com/summerwind/h2spec/cmd/h2spec

require (
	github.com/fatih/color v1.19.0
	github.com/spf13/cobra v1.10.2
	github.com/summerwind/h2spec v$version+incompatible
	golang.org/x/net v0.62.0
)
MODULE

cd "$work"
GOFLAGS=-mod=mod nice go build -p 1 -o "$work/h2spec" github.com/summerwind/h2spec/cmd/h2spec >&2
# By rename, so that a build cut short leaves nothing that looks like the binary.
mv "$work/h2spec" "$binary"
echo "$binary"
