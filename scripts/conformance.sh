#!/bin/sh
# Runs connectrpc's conformance suite against our server and our gRPC client, and prints its totals.
# Succeeds only where all cases pass, but for those of test/conformance/known-failing.txt, which must fail, or may.
# Options are the suite's, such as --run 'Basic/**' or --trace, for both.
set -eu
cd "$(dirname "$0")/.."
export PATH="$PWD/node_modules/.bin:$PATH"

suite="${CONFORMANCE:-$(scripts/build-conformance.sh)}"
here=test/conformance
if [ "$(grep -c '^[a-z]' "$here/known-failing.txt")" -gt 10 ] || grep -q '^[a-z].*\*' "$here/known-failing.txt"; then
  echo "$here/known-failing.txt has more than ten cases, or patterns: list ten at most, each by its name" >&2
  exit 1
fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT HUP INT TERM

echo "== the service of the suite, with our annotations" >&2
# The programs are users of the package: they run on the build.
node scripts/build.ts
sh "$here/generate.sh" "$suite/proto"
tsc -p "$here"

status=0
for mode in server client; do
  echo "== $mode" >&2
  sed -n "s/^$mode: //p" "$here/known-failing.txt" > "$work/$mode.txt"
  sed -n "s/^$mode sometimes: //p" "$here/known-failing.txt" > "$work/$mode-sometimes.txt"
  "$suite/connectconformance" --mode "$mode" --conf "$here/$mode.yaml" \
    --known-failing "@$work/$mode.txt" --known-flaky "@$work/$mode-sometimes.txt" "$@" -- node "$here/programs/$mode.ts" || status=1
done
exit "$status"
