#!/bin/sh
# Install the newest MuJoCo that the tests compare with (npm package, WebAssembly) into a cache
# folder, once. Ends with 77 ("skipped") where node, npm or the network is missing.
#
#   sh setup.sh [FOLDER]      FOLDER: $TRIBO_ORACLE_DIR, else ~/.cache/tribo/oracle
version=3.14.0
folder=${1:-${TRIBO_ORACLE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/tribo/oracle}}
package=$folder/node_modules/@mujoco/mujoco/package.json
if [ -f "$package" ] && grep -q "\"version\": \"$version\"" "$package"; then
  echo "oracle: @mujoco/mujoco $version is in $folder"
  exit 0
fi
if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
  echo "skipped: node and npm are not installed (Debian: nodejs npm)"
  exit 77
fi
mkdir -p "$folder" || exit 77
if ! npm install --silent --no-fund --no-audit --prefix "$folder" "@mujoco/mujoco@$version"; then
  echo "skipped: npm could not install @mujoco/mujoco $version"
  exit 77
fi
echo "oracle: installed @mujoco/mujoco $version in $folder"
