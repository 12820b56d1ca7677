#!/bin/sh
# Installs kubernetes-validate, which has the schemas of Kubernetes, into the cache and prints its path; does
# nothing if it exists. The tests of deploy/kubernetes run it.
set -eu

version=1.37.0
cache="${XDG_CACHE_HOME:-$HOME/.cache}/svc-access/kubernetes-validate-$version"
if [ ! -e "$cache/.complete" ]; then
  rm -rf "$cache"
  python3 -m pip install --quiet --disable-pip-version-check --target "$cache" "kubernetes-validate==$version" >&2
  touch "$cache/.complete"
fi
echo "$cache"
