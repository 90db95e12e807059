# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark of contention, with a few steps of a small beam and of small blocks: bytes, and programs that end."""

import subprocess

import pytest

pytest.importorskip("matplotlib", reason="make bench draws with it")

from speed import contention

pytestmark = pytest.mark.slow


def test_a_few_steps_give_all_rows():
    found = contention.run(True)
    assert [row.reached for row in found.rows if "bytes" in row.quantity] == [True]
    assert len(found.rows) == 2 * 2 * len(contention.SPINNING_PROGRAMS) + 1
    assert sum("contact" in row.quantity for row in found.rows) == 2 * len(contention.SPINNING_PROGRAMS)
    assert all(value > 0.0 for value in found.values.values())


def test_programs_that_spin_are_ended(monkeypatch):
    started = []
    popen = subprocess.Popen
    monkeypatch.setattr(contention.subprocess, "Popen", lambda *given: started.append(popen(*given)) or started[-1])
    with pytest.raises(KeyError), contention.spinning_programs(2):
        assert [other.poll() for other in started] == [None, None]
        raise KeyError
    assert len(started) == 2 and None not in [other.poll() for other in started]
