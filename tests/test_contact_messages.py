# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about the contacts of a bake: the line at its end, the count in the panel, the note on Substeps."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import fresh
from fixtures.collision_objects import body
from sinew.addon.baking import bake_status, bake_summary
from sinew.addon.baking.bake_status import Status
from sinew.addon.baking.state_machine import Job
from sinew.solver.bake.cache.convergence_summary import ConvergenceSummary
from test_addon import drawn


def test_the_summary_has_the_busiest_frame() -> None:
    summary = ConvergenceSummary.from_report(
        [{"frame": 1, "contacts": 3}, {"frame": 2, "contacts": 9, "unsettled": 2}, {"frame": 3}]
    )
    assert (summary.contacts, summary.busiest_frame, summary.unsettled) == (9, 2, 2)
    assert summary.as_event()["contacts"] == 9
    level, line = bake_summary.ending_message(Job("done", 1, 3, frame=3, convergence=summary))
    assert (level, line) == ("INFO", "Baked frames 1 to 3, up to 9 contacts at once")
    notes = bake_summary.step_notes(summary)
    assert "Most contacts at once: 9, in frame 2" in notes
    assert "Steps with contacts that did not settle: 2" in notes
    note = bake_summary.unsettled_note(summary)
    assert (
        "tremble" in note.line and "Substeps" in note.line and note.measured.startswith("In 2 steps the contact solve")
    )


def test_a_running_bake_counts_its_contacts(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    jelly = body()
    for contacts, words in (
        (None, "900 tets"),
        (0, "900 tets"),
        (1, "900 tets, 1 contact"),
        (12, "900 tets, 12 contacts"),
    ):
        state = Status("baking", tets=900, contacts=contacts)
        monkeypatch.setattr(bake_status, "status", lambda _, state=state: state)
        assert words in drawn(jelly).lines


def test_many_unsettled_steps_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = fresh()
    jelly = body()
    for count, frame, is_noted in ((0, 25, False), (4, 25, False), (6, 25, True), (6, 250, False), (1, 1, True)):
        state = Status("baked", frame=frame, convergence=ConvergenceSummary(unsettled=count))
        monkeypatch.setattr(bake_status, "status", lambda _, state=state: state)
        assert scene.sinew.substeps == 4
        assert any("Substeps" in line for line in drawn(jelly).lines) == is_noted, (count, frame)
