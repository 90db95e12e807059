# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes say what can be seen; the numbers are in a tooltip, and a button leads to the place."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, fresh
from fixtures.fake_layout import FakeLayout
from sinew.addon.baking import error_messages
from sinew.addon.baking.addon_session import Note, session
from sinew.addon.operators.note_details import SINEW_OT_explain_note
from sinew.addon.panels import bake_layout, formulation_layout, panels
from sinew.addon.panels.note_rows import draw_note
from sinew.addon.properties import preferences
from sinew.solver.runtime.error_messages import MEASUREMENTS, TEXTS
from sinew.solver.runtime.errors import SinewError
from sinew.solver.runtime.event_text import warnings_in
from test_addon import context_of

PLACES = ((1.0, 0.0, 0.0), (0.0, 2.0, 0.0))


def test_numbers_belong_to_sentences() -> None:
    assert set(MEASUREMENTS) <= set(TEXTS)
    warning = SinewError("part-lost", name="Dog", part="Piece 1", size="0.1", times="2", places=[[1.0, 2.0, 3.0]])
    assert warning.as_warning()["places"] == [[1.0, 2.0, 3.0]] and "measured" not in warning.as_warning()
    open_mesh = SinewError("mesh-open", name="Dog")
    assert "winding number" in open_mesh.measured and "winding" not in open_mesh.text
    event = {"event": "warning", **warning.as_warning(), "more": 1}
    assert warnings_in(event) == [warning.as_warning()]
    note = error_messages.note_of(warning.as_warning())
    assert note.places == ((1.0, 2.0, 3.0),) and note.measured == ""


def test_a_note_has_the_buttons_that_it_needs() -> None:
    fresh()
    obj = add_box()
    bpy.context.scene.unit_settings.scale_length = 0.01
    layout = FakeLayout()
    draw_note(layout, Note("Plain"), "INFO", context_of(obj))
    assert layout.lines == ["Plain"] and not layout.buttons
    draw_note(layout, Note("Somewhere", "0.5 of 1", PLACES), "INFO", context_of(obj))
    (show, shown), (explain, explained) = layout.buttons
    assert (show, explain) == ("sinew.show_place", "sinew.explain_note")
    assert shown.count == 2 and shown.places[:6] == pytest.approx([100.0, 0.0, 0.0, 0.0, 200.0, 0.0])
    assert SINEW_OT_explain_note.description(bpy.context, explained) == "0.5 of 1"


def test_show_goes_from_place_to_place() -> None:
    scene = fresh()
    add_box()
    places = [*PLACES[0], *PLACES[1], *[0.0] * 24]
    scene.cursor.location = (9.0, 9.0, 9.0)
    seen = []
    for _ in range(3):
        assert bpy.ops.sinew.show_place(places=places, count=2) == {"FINISHED"}
        seen.append(tuple(scene.cursor.location))
    assert seen == [PLACES[0], PLACES[1], PLACES[0]]


def test_the_panel_draws_notes_with_their_buttons() -> None:
    scene = fresh()
    obj = add_box(divisions=8)
    bpy.ops.sinew.make_body()
    session.messages(scene).notes = [Note("Something is thin", "0.01 m", PLACES)]
    layout = FakeLayout()
    bake_layout.draw_messages(layout, context_of(obj), {})
    assert "Notes (1)" in layout.lines
    assert {"sinew.show_place", "sinew.explain_note"} <= {name for name, _ in layout.buttons}


def test_what_nobody_has_to_act_on_is_folded_away() -> None:
    scene = fresh()
    obj = add_box(divisions=8)
    bpy.ops.sinew.make_body()
    holes = SinewError("mesh-open", name="Box").as_warning()
    assert holes["is_minor"] and warnings_in({"event": "warning", **holes}) == [holes]
    session.messages(scene).notes = [Note("Falls far"), error_messages.note_of(holes)]
    for opens_folds in (False, True):
        layout = FakeLayout(opens_folds=opens_folds)
        bake_layout.draw_messages(layout, context_of(obj), {})
        assert layout.lines[layout.lines.index("Notes (1)") + 1] == "Falls far"
        after = layout.lines[layout.lines.index("More Notes (1)") + 1 :]
        assert bool(after) == opens_folds and " ".join(after).startswith('"Box" has holes') == opens_folds


def test_formulations_of_papers_are_behind_a_preference(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    obj = add_box()
    bpy.ops.sinew.make_body()
    assert preferences.offers_research(), "where Sinew runs without being installed"
    monkeypatch.setattr(preferences, "offers_research", lambda: False)
    assert not formulation_layout.is_offered(obj) and "advanced" not in panels._shown_panels(context_of(obj))
    obj.sinew.formulation = "GREEN"
    assert "advanced" in panels._shown_panels(context_of(obj)), "what uses one shows it"
