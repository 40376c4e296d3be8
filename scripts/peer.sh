#!/bin/sh
# Tests of the Python package that need other packages: build/peer-env has them (python/peer/requirements.txt).
#
#   scripts/peer.sh            MuJoCo's own tests, Gymnasium's tasks, tests of python/peer, memory
set -eu
cd "$(dirname "$0")/.."
scripts/python.sh build >/dev/null
ENV=build/peer-env
PYTHON=$PWD/$ENV/bin/python
want=$(cat python/peer/requirements.txt | cksum)
if [ ! -x "$PYTHON" ] || [ "$(cat $ENV/requirements 2>/dev/null)" != "$want" ]; then
  rm -rf $ENV
  build/python-env/bin/python -m venv $ENV
  "$PYTHON" -m pip install -q --disable-pip-version-check -r python/peer/requirements.txt
  echo "$want" >$ENV/requirements
fi
# The package as it was built for the other environment.
from=$(build/python-env/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
to=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
rm -rf "$to/tribo"
cp -r "$from/tribo" "$to/tribo"

status=0
"$PYTHON" python/peer/mujoco_tests.py || status=1
"$PYTHON" python/peer/gymnasium_tasks.py || status=1
"$PYTHON" -m pytest -q python/peer || status=1
"$PYTHON" bench/python/leaks.py 20000 || status=1
exit $status
