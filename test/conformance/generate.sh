#!/bin/sh
# Generates gen from the proto files of the conformance suite, which are not kept here, with our
# annotations added to its service. Its argument is their folder, of scripts/build-conformance.sh.
set -eu
suite="$1"
cd "$(dirname "$0")"
export PATH="$PWD/../../node_modules/.bin:$PATH"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT HUP INT TERM
cp -R ../../proto/. "$work"
cp -R "$suite/." "$work"
chmod -R u+w "$work"
node annotate-service.ts "$work/connectrpc/conformance/v1/service.proto"
buf build "$work" -o "$work/image.binpb"
buf generate "$work/image.binpb" --path connectrpc
