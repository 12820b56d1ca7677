#!/usr/bin/env bash
# The packed package as a user gets it: what it exports, its types, and how much an installation takes.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm pack --ignore-scripts --silent --pack-destination "$folder" >/dev/null
tarball=$(ls "$folder"/*.tgz)

echo "== exports"
npx publint run "$tarball" --strict
# The package is ESM; CommonJS cannot require its types, which is intended.
npx --yes @arethetypeswrong/cli@0.18.5 "$tarball" --profile esm-only

# measure MAXIMUM_MB EXCEPT: adds up the sizes of the packages of the project that are not in EXCEPT.
measure() {
  local maximum=$1 except=$2 kilobytes
  kilobytes=$(cd "$folder/project" && du -sk --exclude=typescript --exclude=@typescript ${except:+--exclude="$except"} node_modules | cut -f1)
  echo "$((kilobytes / 1024)) MB of $maximum"
  if [ "$kilobytes" -gt $((maximum * 1024)) ]; then
    (cd "$folder/project/node_modules" && du -sk -- * @*/* | sort -rn | head -20)
    return 1
  fi
}

# install MAXIMUM_MB EXCEPT PACKAGE…: installs into an empty folder, and measures it.
install() {
  local maximum=$1 except=$2
  shift 2
  rm -rf "$folder/project"
  mkdir "$folder/project"
  echo '{"private": true}' >"$folder/project/package.json"
  npm install --prefix "$folder/project" --ignore-scripts --no-audit --no-fund --silent "$@"
  measure "$maximum" "$except"
}
echo "== install size: svc-access alone, as in production"
install 30 "" "$tarball"
echo "== install size: lint and generate, beside TypeScript and buf"
install 45 "buf*" "$tarball" @bufbuild/buf @bufbuild/protoc-gen-es typescript @types/node
echo "== install size: a service in production, the notes of the examples"
rm -rf "$folder/project"
mkdir "$folder/project"
sed "s|\"file:../..\"|\"file:$tarball\"|" examples/notes/package.json >"$folder/project/package.json"
grep -q "$tarball" "$folder/project/package.json"
(
  cd "$folder/project"
  npm install --package-lock-only --ignore-scripts --no-audit --no-fund --silent
  npm ci --omit=dev --ignore-scripts --no-audit --no-fund --silent
)
measure 30 ""
