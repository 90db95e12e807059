# SPDX-License-Identifier: GPL-3.0-or-later
"""Python collects no garbage while a kernel compiles."""

from __future__ import annotations

import gc

from sinew.solver.runtime.jit import collecting_no_garbage


def test_no_garbage_is_collected_inside_and_it_is_again_afterwards() -> None:
    assert gc.isenabled()
    with collecting_no_garbage():
        with collecting_no_garbage():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
