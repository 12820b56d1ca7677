#!/usr/bin/env bash
# The compiler runs on Node 20: it lints and generates examples/hub there, as it does on this Node.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-access/node-20
package=node-$(node -p 'process.platform + "-" + process.arch')
if [ ! -x "$cache/node_modules/$package/bin/node" ]; then
  mkdir -p "$cache"
  npm install --prefix "$cache" --no-save --no-audit --no-fund --silent "$package@20" >&2
fi
cd examples/hub
# Before the Node of the lock file, which is in .bin too.
export PATH="$cache/node_modules/$package/bin:$PWD/node_modules/.bin:$PATH"
node --version | grep '^v20\.'
buf lint
buf generate
svc-access lint .
git diff --exit-code --stat gen
