# SPDX-License-Identifier: GPL-3.0-or-later
"""Fibres in the viewport: lines that deform with the tets, their colours, and what is shown before and after a bake."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.fake_layout import FakeLayout
from fixtures.tiny_bakes import box_of_tets
from sinew.addon.baking import fibre_preview
from sinew.addon.baking.addon_session import session
from sinew.addon.baking.fibre_search import FibrePreview
from sinew.addon.blender_data.object_keys import body_key
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.overlays import fibre_overlay
from sinew.addon.overlays.fibre_geometry import (
    LONG_COLOUR,
    MAX_LINES,
    TENDON_COLOUR,
    activation_colours,
    fibre_geometry,
    fibre_lines,
    stretch_colours,
)
from sinew.addon.panels import fibres_layout
from sinew.solver.mesh.boundary_faces import boundary_faces
from test_addon import context_of
from test_export_muscle import muscle_box

ALONG = np.array([0.6, 0.8, 0.0])


def arrays_of(count: int = 3) -> dict[str, np.ndarray]:
    """Returns the model of a box of tets whose fibres run obliquely, half of it tendon, in two units."""
    nodes, tets, _ = box_of_tets(count)
    middle = nodes[tets].mean(axis=1)
    is_upper = middle[:, 2] > nodes[:, 2].mean()
    return {
        "nodes": nodes,
        "tets": tets,
        "fibre_direction": np.tile(ALONG, (len(tets), 1)).astype(np.float32),
        "fibre_tendon": is_upper.astype(np.float32),
        "fibre_unit": (middle[:, 0] > nodes[:, 0].mean()).astype(np.int32),
        "is_origin": nodes[:, 2] <= nodes[:, 2].min() + 1e-9,
        "is_insertion": nodes[:, 2] >= nodes[:, 2].max() - 1e-9,
    }


def test_a_line_moves_and_stretches_with_its_tet() -> None:
    found = fibre_geometry(arrays_of())
    F = np.array([[1.5, 0.2, 0.0], [0.0, 0.7, 0.1], [0.3, 0.0, 1.1]])
    lines, stretch = fibre_lines(found, found.rest @ F.T + [1.0, 2.0, 3.0])
    assert stretch == pytest.approx(np.linalg.norm(F @ ALONG), rel=1e-6)
    start, end = lines[::2], lines[1::2]
    assert end - start == pytest.approx(found.length[:, None] * (F @ ALONG), rel=1e-6)
    middle = found.rest[found.tets].mean(axis=1) @ F.T + [1.0, 2.0, 3.0]
    assert 0.5 * (start + end) == pytest.approx(middle)


def test_ends_are_the_faces_between_their_nodes_and_tendon_has_those_around_it() -> None:
    arrays = arrays_of()
    found = fibre_geometry(arrays)
    for faces, name in ((found.origin, "is_origin"), (found.insertion, "is_insertion")):
        assert len(faces) and arrays[name][faces].all()
    tendon, surface = arrays["tets"][arrays["fibre_tendon"] > 0.5], found.tendon_surface
    assert np.isin(surface, tendon).all() and len(surface) + len(found.insertion) == len(boundary_faces(tendon))
    assert not (arrays["is_insertion"][surface].all(axis=1)).any(), "which has its own colour"
    assert fibre_geometry({"nodes": arrays["nodes"], "tets": arrays["tets"]}) is None


def test_colours_say_activation_by_unit_tendon_and_stretch() -> None:
    found = fibre_geometry(arrays_of())
    colours = activation_colours(found, [0.0, 1.0])
    is_muscle = found.tendon == 0.0
    assert colours[~is_muscle, :3] == pytest.approx(np.tile(TENDON_COLOUR, ((~is_muscle).sum(), 1)))
    red = [colours[is_muscle & (found.unit == unit), 0].mean() for unit in (0, 1)]
    assert red[0] < red[1] == pytest.approx(1.0)
    assert activation_colours(found, 0.5)[is_muscle] == pytest.approx(activation_colours(found, [0.5, 0.5])[is_muscle])
    shorter, longer = (stretch_colours(found, np.full(len(found.tets), value)) for value in (0.5, 1.9))
    assert shorter[0, 2] == 1.0 and longer[0, :3] == pytest.approx(LONG_COLOUR)


def test_a_fine_muscle_gets_fewer_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sinew.addon.overlays.fibre_geometry.MAX_LINES", 10)
    assert MAX_LINES > 1000 and len(fibre_geometry(arrays_of()).tets) == 10


def test_what_is_built_is_shown_at_the_rest_frame_until_something_changes() -> None:
    scene, obj = muscle_box()
    own = obj.sinew
    assert fibre_overlay.shown_fibres(scene, obj) is None
    preview = FibrePreview(settings_digest(scene), arrays_of())
    session.fibre_previews[(scene.session_uid, body_key(obj))] = preview
    own.show_fibres = True
    assert fibre_overlay.is_shown(obj) and fibre_preview.is_current(scene, preview)
    geometry, x, _ = fibre_overlay.shown_fibres(scene, obj)
    assert np.array_equal(x, geometry.rest)
    scene.frame_set(4)
    assert fibre_overlay.shown_fibres(scene, obj) is None
    layout = FakeLayout()
    fibres_layout.draw_fibres(layout, context_of(obj))
    assert "Shown at frame 1 until it is baked" in layout.lines
    assert "sinew.build_fibres" in [name for name, _ in layout.buttons]
    own.activation = 0.75
    assert fibre_overlay.shown_activations(scene, obj, False) == (0.75,)
    own.use_muscle = False
    assert not fibre_overlay.is_shown(obj)
    session.clear()
    assert not session.fibre_previews


def test_only_a_muscle_has_fibres_to_build() -> None:
    scene, obj = muscle_box()
    obj.sinew.use_muscle = False
    assert not bpy.ops.sinew.build_fibres.poll()
    assert not fibre_preview.is_searching(scene)


@pytest.mark.slow
def test_fibres_are_built_before_a_bake_and_stay_after_it(tmp_path: Path) -> None:
    scene, obj = muscle_box()
    own = obj.sinew
    own.divisions, own.sizing = 6, "DIVISIONS"
    own.pin_group = "Origin"
    for frame, value in ((1, 0.0), (3, 0.5)):
        own.activation = value
        own.keyframe_insert("activation", frame=frame)
    scene.frame_end = 3
    scene.frame_set(1)
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.sinew.build_fibres() == {"FINISHED"} and own.show_fibres
    before = fibre_overlay.shown_fibres(scene, obj)
    assert before is not None and before[2][0] == "preview"
    assert session.fibre_search is None
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "muscle.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    scene.frame_set(3)
    after = fibre_overlay.shown_fibres(scene, obj)
    assert after is not None and after[2][0] == "bake"
    assert np.array_equal(after[0].tets, before[0].tets) and after[0].slopes == pytest.approx(before[0].slopes)
    assert fibre_overlay.shown_activations(scene, obj, True) == pytest.approx((0.5,))
    own.fibre_source = "LATTICE"
    with pytest.raises(RuntimeError, match="lattice"):
        bpy.ops.sinew.build_fibres()
