#!/bin/sh
# Generates gen from proto and the annotation of this repository.
set -eu
cd "$(dirname "$0")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cp -R ../../../../proto/. "$work"
cp -R proto/. "$work"
buf build "$work" -o "$work/image.binpb"
buf generate "$work/image.binpb" --path unusual
