# SPDX-License-Identifier: GPL-3.0-or-later
"""What Numba remembers of calls is what it would find anew: compiled functions are the same to the last instruction."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace

import numba
import numpy as np
import pytest
from numba.core.types.functions import BaseFunction

from sinew.solver.jit import kernel
from sinew.solver.known_calls import FLAGS, TYPES, remember_calls, remembering

# kernels whose flags differ call the same functions: lowering has to take what was meant under the flags of each
COMPILED = """
import sys
from numba.core.types.functions import BaseFunction
find = BaseFunction.get_call_type
from sinew.solver.jit import kernel
if sys.argv[1] == "anew":
    BaseFunction.get_call_type = find
import numpy as np
import numba

def total(a, b):
    best, c = 0.0, np.zeros(3)
    for i in range(len(a)):
        c[i % 3] += a[i] * b[i] + max(a[i], 2.0)
        best = max(best, np.sqrt(abs(c[i % 3])) + 3 // (i + 1))
    return best + c.sum()

a = np.arange(5.0)
for flags in ({}, {"fastmath": {"contract"}}, {}, {"error_model": "numpy"}, {"fastmath": True}):
    made = numba.njit(**flags)(total)
    made(a, a)
    print(made.inspect_asm(made.signatures[0]))
"""


def test_compiled_functions_are_the_same() -> None:
    told = {}
    for how in ("anew", "remembered"):
        ended = subprocess.run([sys.executable, "-c", COMPILED, how], capture_output=True, text=True, check=True)
        # compiled functions are numbered, and the number is in their names
        told[how] = re.sub(r"B\d+v\d+|_\d+\b|0x[0-9a-f]+|\b\d{6,}\b", "", ended.stdout)
    assert len(told["anew"]) > 10_000
    assert told["remembered"] == told["anew"]


def test_what_was_found_is_not_sought_again() -> None:
    asked = []

    def find(self: BaseFunction, context: object, args: tuple, kws: dict) -> numba.core.typing.Signature | None:
        asked.append(args)
        signature = numba.float64(*args) if numba.float64 in args else None
        if signature is not None:
            self._impl_keys[signature.args] = len(asked)
        return signature

    class Function:
        _impl_keys: dict = {}

    function, get = Function(), remembering(find, lambda: None)
    real, whole = (numba.float64,), (numba.int64,)
    assert get(function, None, real, {}) == get(function, None, real, {}) == numba.float64(numba.float64)
    assert asked == [real] and function._impl_keys == {real: 1}
    assert get(function, None, whole, {}) is None and get(function, None, whole, {}) is None
    assert asked == [real, whole, whole]
    function._impl_keys[real] = 7  # as found since then under other flags
    get(function, None, real, {})
    assert function._impl_keys[real] == 1


def _numba(change: Callable[[SimpleNamespace, SimpleNamespace], None]) -> tuple[object, bool]:
    """Returns what is asked for types by a Numba that was built otherwise, and whether that was let remember."""

    class Function:
        def get_impl_key(self, signature: object) -> object:
            return self._impl_keys[signature]

        def get_call_type(self, context: object, args: object, kws: object) -> None: ...

    before = Function.get_call_type
    built = SimpleNamespace(BaseFunction=Function), SimpleNamespace(ConfigStack=SimpleNamespace(top_or_none=int))
    change(*built)
    done = remember_calls(dict(zip((TYPES, FLAGS), built, strict=True)).__getitem__)
    return getattr(getattr(built[0], "BaseFunction", None), "get_call_type", None) is not before, done


def _other_arguments(types: SimpleNamespace, _: SimpleNamespace) -> None:
    types.BaseFunction.get_call_type = lambda self, args: None


def _other_keys(types: SimpleNamespace, _: SimpleNamespace) -> None:
    types.BaseFunction.get_impl_key = lambda self, signature: signature


@pytest.mark.parametrize(
    "change",
    [
        lambda types, flags: delattr(types, "BaseFunction"),
        lambda types, flags: delattr(flags.ConfigStack, "top_or_none"),
        lambda types, flags: delattr(types.BaseFunction, "get_call_type"),
        _other_arguments,
        _other_keys,
    ],
)
def test_a_numba_that_is_built_otherwise_is_left_as_it_is(change: Callable) -> None:
    assert _numba(lambda types, flags: None) == (True, True)
    assert not _numba(change)[1]


def test_a_numba_without_such_files_is_left_as_it_is() -> None:
    def load(name: str) -> ModuleType:
        raise ImportError(name)

    assert not remember_calls(load)


@kernel()
def grow(count):
    """Returns 0, 2, 4, … as a list, whose type is known only when it is filled."""
    values = []
    for i in range(count):
        values.append(2 * i)
    return values


def test_types_that_are_not_known_yet_are_asked_anew() -> None:
    assert grow(4) == [0, 2, 4, 6]
    assert np.all(np.array(grow(2)) == [0, 2])
