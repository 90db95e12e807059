# SPDX-License-Identifier: GPL-3.0-or-later
"""How Numba compares the flags of kernels, and that Python collects no garbage while it compiles."""

from __future__ import annotations

import gc

from numba.core.compiler import Flags

from sinew.solver.runtime.jit import _KernelFlags, collecting_no_garbage


def _flags(**values: object) -> _KernelFlags:
    flags = Flags()
    for name, value in values.items():
        setattr(flags, name, value)
    return _KernelFlags(flags)


def test_flags_are_equal_where_functions_inherit_the_same() -> None:
    same = [_flags(error_model="numpy"), _flags(error_model="numpy", no_cpython_wrapper=True)]
    others = [_flags(error_model="numpy", nrt=True), _flags(error_model="numpy", fastmath={"contract"}), _flags()]
    assert same[0] == same[1] == same[1].copy() and len({*same, same[1].copy()}) == 1
    assert same[1].copy().no_cpython_wrapper and not same[0].copy().no_cpython_wrapper
    assert len({same[0], *others}) == 4


def test_no_garbage_is_collected_inside_and_it_is_again_afterwards() -> None:
    assert gc.isenabled()
    with collecting_no_garbage():
        with collecting_no_garbage():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
