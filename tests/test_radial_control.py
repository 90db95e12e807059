# SPDX-License-Identifier: GPL-3.0-or-later
"""F and Shift F of the tools for live runs, and the pressure of a pen, without a window."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from mathutils import Matrix, Vector

from fixtures.blender_scenes import add_box, fresh
from fixtures.live_in_blender import ended as ended  # a fixture
from fixtures.live_in_blender import jelly, run_key, run_steps, shown, started, until
from sinew.addon.live import brushes, grabs, pen_pressure
from sinew.addon.operators import brush, grab, radial_control, tool_cursor
from sinew.solver.live.recording import read_inputs
from test_live_brush_tools import commands_of

WIDTH, HEIGHT = 800, 600


def context(settings: object) -> SimpleNamespace:
    """Returns a context in a view from above in which 100 pixels are a Blender unit."""
    window = Matrix.Diagonal((200.0 / WIDTH, 200.0 / HEIGHT, -0.01, 1.0))
    view = SimpleNamespace(
        perspective_matrix=window,
        view_matrix=Matrix.Identity(4),
        view_location=Vector((0.0, 0.0, 0.0)),
        is_perspective=False,
        view_perspective="ORTHO",
    )
    area = SimpleNamespace(type="VIEW_3D", tag_redraw=lambda: None)
    region = SimpleNamespace(width=WIDTH, height=HEIGHT)
    manager = SimpleNamespace(modal_handler_add=lambda operator: None)
    scene = SimpleNamespace(sinew=settings)
    return SimpleNamespace(area=area, region=region, region_data=view, window_manager=manager, scene=scene)


def event(kind: str, x: int, y: int = 300, value: str = "PRESS", **others: object) -> SimpleNamespace:
    return SimpleNamespace(type=kind, value=value, mouse_region_x=x, mouse_region_y=y, **others)


def dial(setting: str) -> SimpleNamespace:
    """Returns what stands for an operator: its functions, without Blender's part."""
    cls = radial_control.SINEW_OT_radial_control
    own = SimpleNamespace(setting=setting, _before=0.0, _centre=(0.0, 0.0), _per_pixel=1.0, _handle=None)
    for name in ("invoke", "modal", "_end", "_draw"):
        setattr(own, name, getattr(cls, name).__get__(own))
    return own


@pytest.mark.parametrize(
    ("setting", "first", "pixels", "unit"), [("heat_gun_radius", 0.5, 50.0, 0.01), ("grab_strength", 1.0, 100.0, 0.01)]
)
def test_the_mouse_begins_on_the_circle_and_its_distance_is_the_value(setting, first, pixels, unit) -> None:
    settings = fresh().sinew
    setattr(settings, setting, first)
    own, where = dial(setting), context(settings)
    assert own.invoke(where, event("F", 400)) == {"RUNNING_MODAL"} and own._handle is not None
    assert own._centre == pytest.approx((400.0 - pixels, 300.0), rel=1e-5)
    own.modal(where, event("MOUSEMOVE", 400))
    assert getattr(settings, setting) == pytest.approx(first, rel=1e-5)
    own.modal(where, event("MOUSEMOVE", 430, 340))
    wanted = unit * np.hypot(pixels + 30.0, 40.0)
    assert getattr(settings, setting) == pytest.approx(wanted, rel=1e-5)
    assert own.modal(where, event("LEFTMOUSE", 430, 340)) == {"FINISHED"} and own._handle is None
    assert getattr(settings, setting) == pytest.approx(wanted, rel=1e-5), "it stays"


@pytest.mark.parametrize("key", ["ESC", "RIGHTMOUSE"])
def test_a_dial_that_is_given_up_leaves_all_as_it_was(key: str) -> None:
    settings = fresh().sinew
    own, where = dial("heat_gun_radius"), context(settings)
    own.invoke(where, event("F", 400))
    assert 400.0 - own._centre[0] == pytest.approx(radial_control.DEFAULT_PIXELS, rel=1e-4), "where no body is there"
    own.modal(where, event("MOUSEMOVE", 500))
    assert settings.heat_gun_radius > 0.0
    assert own.modal(where, event(key, 500)) == {"CANCELLED"} and own._handle is None
    assert settings.heat_gun_radius == 0.0


def test_the_tools_have_the_keys_and_the_settings_exist() -> None:
    settings = fresh().sinew
    for tool in (*grab.TOOLS, *brush.TOOLS):
        keys = [item for item in tool.bl_keymap if item[0] == "sinew.radial_control"]
        assert [(key["type"], bool(key.get("shift"))) for _, key, _ in keys] == [("F", False), ("F", True)]
        for _, _, properties in keys:
            assert hasattr(settings, dict(properties["properties"])["setting"])
    assert {name for name, *_ in radial_control.CONTROLLED} <= set(settings.bl_rna.properties.keys())


@pytest.mark.parametrize(("is_tablet", "given", "wanted"), [(False, 0.3, 1.0), (True, 0.3, 0.3), (True, 0.0, 0.01)])
def test_only_a_pen_has_pressure(is_tablet: bool, given: float, wanted: float) -> None:
    assert pen_pressure.pressure(SimpleNamespace(is_tablet=is_tablet, pressure=given)) == wanted


@pytest.mark.slow
def test_a_pen_that_presses_less_pulls_less() -> None:
    box = jelly()
    bpy.context.scene.sinew.grab_strength = 0.5
    strength = grab._strength(bpy.context, SimpleNamespace(is_tablet=True, pressure=0.02))
    assert strength == pytest.approx(0.01)
    run = started()
    run_steps(run, 2)
    top = shown(box)[np.argmax(shown(box).sum(axis=1))]
    number = grabs.take(run, run_key(run), top, 0.0, strength)
    hand = top + [0.0, 0.0, 1.0]
    grabs.move(run, number, hand, strength)
    start = run.step
    run_steps(run, start + 60)
    weak = np.linalg.norm(grabs.grabbed_point(run, run.grabs[number]) - hand)
    grabs.move(run, number, hand, 1.0)
    until(lambda: np.linalg.norm(grabs.grabbed_point(run, run.grabs[number]) - hand) < 0.3 * weak)
    recorded = [c for step in sorted(read_inputs(run.folder).commands) for c in read_inputs(run.folder).commands[step]]
    assert [c.get("strength") for c in recorded] == [strength, None, 1.0] and not run.note


@pytest.mark.slow
def test_the_gun_blows_less_hot_and_less_cold_by_pressure() -> None:
    box = jelly()
    box.sinew.use_heat = True
    settings = bpy.context.scene.sinew
    settings.heat_gun_temperature, settings.cool_gun_temperature, settings.air_temperature = 220.0, -80.0, 20.0
    run = started()
    run_steps(run, 1)
    for kind in (brushes.HEAT, brushes.COOL):
        brushes.hold(run, kind, np.array([0.0, 0.0, 1.0]), 0.2, pressure=0.5)
    until(lambda: len(commands_of(run)) >= 2)
    assert [command["temperature"] for command in commands_of(run)] == [120.0, -30.0]


def missing(name: str, value: str) -> set[str]:
    """Presses or drags with a tool over nothing while the jelly runs; returns what its operator returns."""
    cls = grab.SINEW_OT_grab if name == "sinew.grab" else brush.SINEW_OT_brush
    where = context(bpy.context.scene.sinew)
    where.evaluated_depsgraph_get = bpy.context.evaluated_depsgraph_get
    scene = bpy.context.scene
    where.scene = SimpleNamespace(sinew=scene.sinew, ray_cast=scene.ray_cast, session_uid=scene.session_uid)
    beside = event("LEFTMOUSE", 790, 590, value=value, ctrl=False)
    return cls.invoke(SimpleNamespace(kind="HEAT", report=print), where, beside)


def test_a_drag_beside_the_bodies_moves_nothing_and_a_press_may_still_select() -> None:
    box = jelly()
    run = started()
    run_steps(run, 2)
    for tool in (*grab.TOOLS, *brush.TOOLS):
        buttons = [(name, key["value"]) for name, key, _ in tool.bl_keymap if key["type"] == "LEFTMOUSE"]
        assert [value for _, value in buttons] == ["PRESS", "CLICK_DRAG"]
        assert [missing(*each) for each in buttons] == [{"CANCELLED", "PASS_THROUGH"}, {"CANCELLED"}]
    assert not run.grabs and run.brush is None and shown(box).size


@pytest.mark.slow
def test_the_circle_at_the_mouse_is_the_radius_and_what_is_handled_becomes_active() -> None:
    box = jelly()
    own, where = bpy.context.scene.sinew, context(bpy.context.scene.sinew)
    where.scene = bpy.context.scene
    assert tool_cursor.circle_pixels(where, None, "heat_gun_radius", (400.0, 300.0)) is None, "nothing runs"
    other = add_box("Other")
    run = started()
    run_steps(run, 2)
    shares = {"heat_gun_radius": brushes.automatic_radius("heat_gun_radius", box), "grab_radius": None}
    for setting, share in shares.items():
        pixels = tool_cursor.circle_pixels(where, run, setting, (400.0, 300.0))
        assert pixels == (None if share is None else pytest.approx(100.0 * share, rel=1e-4))
        setattr(own, setting, 0.3)
        assert tool_cursor.circle_pixels(where, run, setting, (400.0, 300.0)) == pytest.approx(30.0, rel=1e-4)
    bpy.context.view_layer.objects.active = other
    selected = set(bpy.context.selected_objects)
    grab.make_active(SimpleNamespace(mode="POSE", view_layer=bpy.context.view_layer), run, run_key(run))
    assert bpy.context.view_layer.objects.active == other, "the mode stays"
    grab.make_active(bpy.context, run, run_key(run))
    assert bpy.context.view_layer.objects.active == box and set(bpy.context.selected_objects) == selected
    step = run.step
    run_steps(run, step + 2)
