#!/bin/sh
# Public headers are self-contained and compile as C and as C++. So do the headers of the kinds that
# tables list, which device code shares; as CUDA too, where nvcc is installed.
cd "$(dirname "$0")/.." || exit 1
bad=0
as_c() { ${CC:-cc} -std=c17 -Wall -Wextra -Werror "$@" -fsyntax-only -x c -; }
as_cpp() { c++ -std=c++17 -Wall -Wextra -Werror "$@" -fsyntax-only -x c++ -; }
command -v c++ >/dev/null || as_cpp() { cat >/dev/null; }

for header in include/tribo/*.h; do
  line="#include \"${header#include/}\""
  echo "$line" | as_c -Iinclude || bad=1
  echo "$line" | as_cpp -Iinclude || bad=1
done

for header in src/model/*_kinds.h src/model/joint_space.h src/dynamics/joints/*.h \
  src/dynamics/transmission/length.h src/dynamics/equality/residual.h src/forces/actuator_force.h \
  src/sensors/values.h; do
  line="#include \"${header#src/}\""
  echo "$line" | as_c -Iinclude -Isrc || bad=1
  echo "$line" | as_cpp -Iinclude -Isrc || bad=1
  # An inline function without the qualifier of TB_ANY_INLINE is none of the device.
  case $header in *_kinds.h) continue ;; esac
  if grep -n '^static inline' "$header"; then
    echo "$header: functions shared with devices are TB_ANY_INLINE or TB_INLINE (base/kernel.h)"
    bad=1
  fi
done
if command -v nvcc >/dev/null; then
  nvcc -std=c++17 -fmad=false -Iinclude -Isrc -dc -o /dev/null test/device/kinds.cu || bad=1
else
  as_cpp -D__global__= -Iinclude -Isrc <test/device/kinds.cu || bad=1
fi
[ $bad = 0 ] && echo "headers: ok"
exit $bad
