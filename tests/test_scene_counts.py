# SPDX-License-Identifier: GPL-3.0-or-later
"""Sinew's counts: in the 3D view below Blender's statistics, in the status bar, and in the header of the Outliner."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, fresh
from fixtures.fake_layout import FakeLayout
from sinew.addon.baking import bake_status, scene_counts
from sinew.addon.objects import roles
from sinew.addon.overlays import statistics_overlay
from sinew.addon.panels import status_bar_counts

LINE = statistics_overlay.LINE_HEIGHT * 11.0  # of the default font


@pytest.fixture
def scene() -> bpy.types.Scene:
    """Returns a scene of two bodies, a collider that is a bone mesh too, and a lamp; only one body is selected."""
    made = fresh()
    boxes = [add_box(name) for name in ("A", "B", "C")]
    for obj in boxes[:2]:
        roles.make_body(obj)
        obj.sinew.sizing, obj.sinew.tet_count = "COUNT", 1000
    roles.make_collider(boxes[2])
    boxes[2].sinew.extra_roles = {"BONE"}
    made.collection.objects.link(bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT")))
    bpy.context.view_layer.objects.active = boxes[0]
    select(boxes[0])
    return made


def select(*objects: bpy.types.Object) -> None:
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.update()


def counts() -> scene_counts.SceneCounts:
    return scene_counts.scene_counts(bpy.context.scene, bpy.context.view_layer)


def values() -> dict[str, str]:
    return {row.label: counts().value_text(row) for row in counts().rows}


def count() -> dict[str, str]:
    """Returns the same, counted anew."""
    scene_counts._counts.clear()
    return values()


def test_every_role_is_counted_and_tets_are_estimated(scene: bpy.types.Scene) -> None:
    found = {row.label: (row.total, row.selected) for row in counts().rows}
    tets = found.pop("Tets (About)")
    assert found == {"Bodies": (2, 1), "Colliders": (1, 0), "Bone Meshes": (1, 0)}
    assert tets[1] == pytest.approx(1000, rel=0.5) and tets[0] == 2 * tets[1]
    assert counts().line.startswith("Bodies:1/2 | Colliders:0/1 | Bone Meshes:0/1 | Tets (About):")


def test_the_bake_says_how_many_tets_there_are(scene: bpy.types.Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    baked: dict[str, int | None] = {"A": 1234, "B": 1000}
    state = bake_status.Status(phase="baked", frame=8)
    monkeypatch.setattr(bake_status, "tet_count", lambda _scene, obj: baked[obj.name])
    monkeypatch.setattr(bake_status, "status", lambda _scene: state)
    assert count()["Tets"] == "1,234 / 2,234"
    baked["B"] = None  # a body that was made after the bake
    assert "Tets" not in count() and count()["Tets (About)"].startswith("1,234 / ")
    baked["B"], state = 1000, bake_status.Status(phase="baked", frame=8, outdated=True)
    assert "Tets" not in count() and not count()["Tets (About)"].startswith("1,234")


def test_totals_stand_alone_while_nothing_of_it_is_selected(scene: bpy.types.Scene) -> None:
    select(bpy.data.objects["Lamp"])
    assert values()["Bodies"] == "2"
    for obj in bpy.data.objects:
        roles.clear_role(obj)
    assert counts().rows == () and counts().line == ""


def test_edits_are_seen_at_once_and_a_redraw_counts_nothing(
    scene: bpy.types.Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    count = scene_counts.count_scene
    monkeypatch.setattr(scene_counts, "count_scene", lambda *inputs: calls.append(1) or count(*inputs))
    scene_counts._counts.clear()
    clock = SimpleNamespace(monotonic=lambda: 5.0)  # its time is never over
    monkeypatch.setattr("sinew.addon.runtime.memo.clock", clock)
    for _ in range(3):
        assert values()["Bodies"] == "1 / 2"
    assert len(calls) == 1
    bpy.data.objects["A"].location.x = 1.0  # as each step of a drag
    bpy.context.view_layer.update()
    assert values()["Bodies"] == "1 / 2" and len(calls) == 1
    select(bpy.data.objects["A"], bpy.data.objects["B"])
    assert values()["Bodies"] == "2 / 2" and len(calls) == 2
    few = counts().rows[-1].total
    bpy.data.objects["A"].sinew.tet_count = 5000  # of the active object, which Blender does not report
    assert counts().rows[-1].total > few and len(calls) == 3
    bpy.data.objects.remove(bpy.data.objects["B"])
    bpy.context.view_layer.update()
    assert values()["Bodies"] == "1 / 1"


def drawn(draw: Any, **context: Any) -> FakeLayout:
    layout = FakeLayout()
    whole = {"scene": bpy.context.scene, "view_layer": bpy.context.view_layer, **context}
    draw(SimpleNamespace(layout=layout), SimpleNamespace(**whole))
    return layout


@pytest.mark.parametrize("is_on", [True, False])
def test_the_status_bar_has_them_beside_blenders_statistics(scene: bpy.types.Scene, is_on: bool) -> None:
    preferences = SimpleNamespace(view=SimpleNamespace(show_statusbar_stats=is_on))
    layout = drawn(status_bar_counts.draw_status_bar, preferences=preferences)
    assert layout.lines == ([counts().line] if is_on else [])


def test_the_outliner_counts_roles_and_a_click_selects_them(scene: bpy.types.Scene) -> None:
    layout = drawn(status_bar_counts.draw_outliner_header, space_data=SimpleNamespace(display_mode="VIEW_LAYER"))
    assert layout.lines == ["2", "1", "1"]
    assert [button.role for _, button in layout.buttons] == ["BODY", "COLLIDER", "BONE"]
    for mode in ("DATA_API", "LIBRARIES"):
        assert not drawn(status_bar_counts.draw_outliner_header, space_data=SimpleNamespace(display_mode=mode)).lines
    assert bpy.ops.sinew.select_role(role="BONE") == {"FINISHED"}
    assert [o.name for o in bpy.context.selected_objects] == ["C"] == [bpy.context.object.name]
    assert bpy.ops.sinew.select_role(role="BODY", extend=True) == {"FINISHED"}
    assert len(bpy.context.selected_objects) == 3
    with pytest.raises(RuntimeError, match="has the role Heat Source"):
        bpy.ops.sinew.select_role(role="HEAT")
    bpy.data.objects["A"].hide_set(True)
    bpy.ops.sinew.select_role(role="BODY")
    assert [o.name for o in bpy.context.selected_objects] == ["B"], "what is hidden stays unselected"


def view_context(**overlay: bool) -> SimpleNamespace:
    """Returns a view of 800 × 600 pixels with a toolbar and two headers over it, as Blender opens one."""
    shown = dict.fromkeys(
        ("show_overlays", "show_stats", "show_text", "show_floor", "show_axis_x", "show_axis_y", "show_axis_z"), True
    )
    window = SimpleNamespace(alignment="NONE", x=100, y=50, width=800, height=600)
    toolbar = SimpleNamespace(alignment="LEFT", x=100, y=50, width=55, height=548)
    headers = [SimpleNamespace(alignment="TOP", x=100, y=y, width=800, height=26) for y in (624, 598)]
    closed = SimpleNamespace(alignment="RIGHT", x=899, y=50, width=1, height=548)
    space = SimpleNamespace(overlay=SimpleNamespace(**{**shown, **overlay}), shading=SimpleNamespace(type="SOLID"))
    view = SimpleNamespace(show_view_name=True, show_playback_fps=True, show_object_info=True)
    theme = SimpleNamespace(view_3d=SimpleNamespace(space=SimpleNamespace(text_hi=(1.0, 1.0, 1.0))))
    style = SimpleNamespace(widget=SimpleNamespace(points=11.0))
    return SimpleNamespace(
        scene=bpy.context.scene,
        view_layer=bpy.context.view_layer,
        space_data=space,
        region=window,
        region_data=SimpleNamespace(is_orthographic_side_view=False),
        area=SimpleNamespace(regions=[*headers, toolbar, closed, window]),
        screen=SimpleNamespace(is_animation_playing=False),
        preferences=SimpleNamespace(view=view, system=SimpleNamespace(ui_scale=1.0), ui_styles=[style], themes=[theme]),
    )


class FakeFont(ModuleType):
    """Stands for Blender's module blf, which is not there without a window."""

    SHADOW = 4

    def __init__(self) -> None:
        super().__init__("blf")
        self.words: list[tuple[float, float, str]] = []
        self.place = (0.0, 0.0)
        self.size = self.color = self.enable = self.disable = self.shadow = self.shadow_offset = lambda *_: None

    def position(self, _font: int, x: float, y: float, _z: float) -> None:
        self.place = (x, y)

    def dimensions(self, _font: int, words: str) -> tuple[float, float]:
        return (7.0 * len(words), 11.0)

    def draw(self, _font: int, words: str) -> None:
        self.words.append((*self.place, words))


def overlay_words(context: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float, str]]:
    font = FakeFont()
    monkeypatch.setitem(sys.modules, "blf", font)
    monkeypatch.setattr(statistics_overlay, "bpy", SimpleNamespace(context=context))
    statistics_overlay.draw()
    return font.words


def test_the_view_shows_them_below_blenders_statistics(scene: bpy.types.Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    words = overlay_words(view_context(), monkeypatch)
    assert [line for *_, line in words[:4]] == ["Bodies", "1 / 2", "Colliders", "0 / 1"]
    columns = sorted({x for x, _, _ in words})
    assert columns[0] == 55 + 10, "right of the toolbar" and len(columns) == 2
    assert columns[1] > columns[0] + 7.0 * len("Tets (About)")
    heights = [y for _, y, _ in words[::2]]
    # below the headers: name of the view, of the object, five rows and two margins; then the first row
    assert heights[0] == pytest.approx(548 - 2.0 - (2 + 5 + 2 * 0.6 + 1) * LINE)
    assert [a - b for a, b in zip(heights, heights[1:], strict=False)] == pytest.approx([LINE] * (len(heights) - 1))


def test_the_view_shows_nothing_where_blender_shows_no_statistics(
    scene: bpy.types.Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    for overlay in ({"show_stats": False}, {"show_overlays": False}):
        assert not overlay_words(view_context(**overlay), monkeypatch)
    for obj in bpy.data.objects:
        roles.clear_role(obj)
    assert not overlay_words(view_context(), monkeypatch), "no zeros in files without Sinew"


def test_the_text_leaves_room_for_what_blender_may_write(scene: bpy.types.Scene) -> None:
    context = view_context()
    plain = statistics_overlay.rows_above(context)
    context.region_data.is_orthographic_side_view = True
    assert statistics_overlay.rows_above(context) == plain + 1, "the unit of the grid"
    context.space_data.shading.type = "RENDERED"
    assert statistics_overlay.rows_above(context) == plain + 3
    context.space_data.overlay.show_text = False
    assert statistics_overlay.rows_above(context) == plain - 2
