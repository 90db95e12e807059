# SPDX-License-Identifier: GPL-3.0-or-later
"""The first screen of a new body: few fields, one menu, and nothing that jumps when a hint goes."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, fresh
from fixtures.fake_layout import FakeLayout
from sinew.addon.baking import bake_status
from sinew.addon.baking.addon_session import session
from sinew.addon.objects import roles
from sinew.addon.panels import hints, main_layout, panels, role_menus
from test_addon import context_of

MAX_FIELDS = 10


def first_screen(obj: bpy.types.Object) -> FakeLayout:
    """Returns what an artist sees who has opened and closed nothing."""
    context = context_of(obj)
    whole = FakeLayout(opens_folds=False)
    main_layout.draw_main(whole, context)
    shown = panels._shown_panels(context) | panels.SCENE_PANELS
    for name, _, draw, is_closed in panels.PANEL_TABLE:
        if name in shown and not is_closed:
            draw(whole, context)
    return whole


def fields(layout: FakeLayout) -> list[str]:
    return [name for _, name in layout.drawn if not name.startswith(("sinew.", "SINEW_"))]


@pytest.mark.parametrize("make", ["make_body", "make_flesh"])
def test_a_new_body_has_few_fields(make: str) -> None:
    fresh()
    obj = add_box(divisions=8)
    getattr(bpy.ops.sinew, make)()
    shown = fields(first_screen(obj))
    assert {"motion", "preset", "tet_count"} <= set(shown)
    assert len(shown) <= MAX_FIELDS, shown


def test_one_menu_has_everything_that_can_be_added() -> None:
    fresh()
    obj = add_box(divisions=8)
    drawn = [name for _, name in first_screen(obj).drawn]
    assert drawn == ["sinew.simulate_selected", "SINEW_MT_add"]
    bpy.ops.sinew.make_body()
    drawn = [name for _, name in first_screen(obj).drawn]
    assert drawn.index("sinew.remove") < drawn.index("SINEW_MT_add") < drawn.index("sinew.simulate")


def draw_menu(obj: bpy.types.Object | None) -> list[str]:
    layout = FakeLayout()
    role_menus.SINEW_MT_add.draw(type("Menu", (), {"layout": layout})(), context_of(obj))  # type: ignore[arg-type]
    return [name for _, name in layout.drawn]


def test_the_menu_offers_roles_only_where_there_is_none() -> None:
    fresh()
    always = ["draw_muscle", "make_wrap", "add_ground", "add_heat_source", "import_tets", "copy_settings", "attach"]
    always = [f"sinew.{name}" for name in always]
    assert draw_menu(None) == always
    obj = add_box()
    assert draw_menu(obj) == [*role_menus.MADE_ROLES, *always]
    bpy.ops.sinew.make_body()
    assert draw_menu(obj) == [*always, "sinew.live"]
    roles.make_flesh(obj)
    assert draw_menu(obj) == [*always, "sinew.live", "sinew.solve_frame"], "where the search looks for it"
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    assert draw_menu(rig)[0] == "sinew.make_ragdoll"


def main(obj: bpy.types.Object) -> FakeLayout:
    layout = FakeLayout()
    main_layout.draw_main(layout, context_of(obj))
    return layout


def rows(layout: FakeLayout) -> int:
    """Returns how many rows there are: every label, field and button has a line."""
    return len(layout.lines)


def test_nothing_moves_when_a_hint_goes() -> None:
    fresh()
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    bpy.ops.sinew.make_body()
    before = main(cube)
    names = [name for _, name in before.drawn]
    assert names.index("sinew.simulate") < names.index("sinew.subdivide") < names.index("sinew.add_ground")
    for fix in ("subdivide", "add_ground"):
        getattr(bpy.ops.sinew, fix)()
        after = main(cube)
        assert f"sinew.{fix}" not in [name for _, name in after.drawn]
        assert rows(after) == rows(before), "a box of the same size is in its place"
    place = before.lines.index(main_layout.GROUND_NOTE)
    assert after.lines[place] == hints.DONE_LABEL
    # the boxes go when nobody has the mouse there any more
    other = add_box("Other", divisions=8)
    main(other)
    assert hints.DONE_LABEL not in main(cube).lines


def test_a_hint_that_comes_back_is_a_hint_again() -> None:
    fresh()
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    bpy.ops.sinew.make_body()
    cube.sinew.preset = "JELLY"
    assert "sinew.stiffen" in [name for _, name in main(cube).drawn]
    cube.sinew.preset = "RUBBER"
    assert "sinew.stiffen" not in [name for _, name in main(cube).drawn] and hints.DONE_LABEL in main(cube).lines
    cube.sinew.preset = "JELLY"
    layout = main(cube)
    assert "sinew.stiffen" in [name for _, name in layout.drawn] and hints.DONE_LABEL not in layout.lines


def test_a_bake_clears_what_was_mended() -> None:
    fresh()
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    bpy.ops.sinew.make_body()
    main(cube)
    bpy.ops.sinew.subdivide()
    assert hints.DONE_LABEL in main(cube).lines
    session.forget_hints()
    assert hints.DONE_LABEL not in main(cube).lines


def test_hints_are_locked_with_a_bake(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = fresh()
    obj = add_box(divisions=8)
    bpy.ops.sinew.make_flesh()
    for state in (bake_status.Status(), bake_status.Status("baked", frame=8)):
        monkeypatch.setattr(bake_status, "status", lambda _, state=state: state)
        assert main(obj).enabled_of("sinew.add_bone") == (not state.is_locked)
    assert scene.sinew.protect is False


@pytest.mark.parametrize(("method", "refused"), [("SHEET", "core"), ("RIGID", "plasticity")])
def test_a_body_that_is_not_soft_has_no_panels_that_a_bake_refuses(method: str, refused: str) -> None:
    fresh()
    obj = add_box(divisions=2)
    roles.make_body(obj)
    obj.sinew.use_stretch_limit = True
    soft = panels._shown_panels(context_of(obj))
    obj.sinew.method = method
    hidden = soft - panels._shown_panels(context_of(obj))
    assert {"stretch_limit", "surface_detail", "heat", refused} <= hidden
    setattr(obj.sinew, f"use_{refused}", True)
    assert refused in panels._shown_panels(context_of(obj)), "it can be switched off"
