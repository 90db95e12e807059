# SPDX-License-Identifier: GPL-3.0-or-later
"""Environment variables that make NumPy, SciPy and OpenBLAS compute the same bytes on different processors.

Both libraries choose between implementations by processor and number of cores, and these add up in different orders.
On every processor of level x86-64-v3 the variables choose those for AVX2, so that one machine resumes what another
one began. NumPy reads them when it is first imported. Neither NumPy nor Numba is loaded here.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import sysconfig
from collections.abc import MutableMapping

# What x86-64-v3 adds to AVX, as Linux spells it ("abm" is LZCNT), x86-64 psABI 1.0 table 3.1
X86_64_V3_FLAGS = frozenset({"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"})
WINDOWS_AVX2_FEATURE = 40  # PF_AVX2_INSTRUCTIONS_AVAILABLE of Windows' IsProcessorFeaturePresent
# NumPy's names for all that it knows beyond AVX2; it ignores those that it does not know
NUMPY_FEATURES_BEYOND_AVX2 = (
    "AVX512F AVX512CD AVX512_KNL AVX512_KNM AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V4"
)
ONE_BLAS_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
AVX2_LIBRARIES = {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": NUMPY_FEATURES_BEYOND_AVX2}
# NumPy refuses to be told both what to use and what not to use
CONFLICTING_VARIABLE = "NPY_ENABLE_CPU_FEATURES"


def fix_numeric_environment(environment: MutableMapping[str, str] = os.environ) -> None:
    """Sets the variables in an environment; this process has to do so before it imports NumPy."""
    environment.update(ONE_BLAS_THREAD)
    if has_x86_64_v3():
        environment.pop(CONFLICTING_VARIABLE, None)
        environment.update(AVX2_LIBRARIES)


@functools.cache
def has_x86_64_v3() -> bool:
    """Returns whether this processor has all instructions of x86-64-v3, AVX2 and FMA among them."""
    if sys.platform == "win32":
        kernel32 = ctypes.windll.kernel32
        return sysconfig.get_platform() == "win-amd64" and bool(
            kernel32.IsProcessorFeaturePresent(WINDOWS_AVX2_FEATURE)
        )
    return sys.platform == "linux" and os.uname().machine == "x86_64" and X86_64_V3_FLAGS <= _linux_processor_flags()


def _linux_processor_flags() -> set[str]:
    """Returns the flags of the first core, or none where the system does not tell them."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith("flags"):
                    return set(line.partition(":")[2].split())
    except OSError:
        pass
    return set()
