# SPDX-License-Identifier: GPL-3.0-or-later
"""What is added to Blender: settings, menus, panels, and that all of it goes away again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path, PureWindowsPath
from types import SimpleNamespace

import pytest

bpy = pytest.importorskip("bpy")

import sinew
from fixtures.blender_scenes import add_box, fresh
from fixtures.fake_layout import FakeLayout
from sinew.addon.baking import bake_status, last_failure
from sinew.addon.baking.bake_status import Status
from sinew.addon.cache import cache_folder_status, cache_paths
from sinew.addon.objects import coarse_mesh_subdivision, roles
from sinew.addon.panels import bake_layout, main_layout, panels
from sinew.addon.runtime import quantity_text
from sinew.solver.scene.material_presets import MATERIAL_PRESETS

# by their names: of the main panel, and of all others
DRAW_FUNCTIONS = {
    draw.__name__: draw for draw in (main_layout.draw_main, *(draw for _, _, draw, _ in panels.PANEL_TABLE))
}


def context_of(obj: bpy.types.Object | None) -> SimpleNamespace:
    """Returns what panels read of a context, with a panel 300 pixels wide."""
    region = SimpleNamespace(width=300)
    preferences = SimpleNamespace(system=SimpleNamespace(ui_scale=1.0))  # it is 0 where there is no window
    return SimpleNamespace(object=obj, scene=bpy.context.scene, region=region, preferences=preferences)


def drawn(obj: bpy.types.Object | None, *draws: str) -> FakeLayout:
    """Returns what the panels, "draw_main" alone if none is named, draw; each into a layout of its own."""
    whole = FakeLayout()
    for name in draws or ("draw_main",):
        DRAW_FUNCTIONS[name](whole.row(), context_of(obj))
    return whole


def test_registering_twice_and_leaving_nothing() -> None:
    fresh()
    handlers = {name: len(getattr(bpy.app.handlers, name)) for name in ("load_post", "undo_post", "save_pre")}
    for _ in range(2):
        sinew.unregister()
        assert "sinew" not in bpy.types.Object.bl_rna.properties
        assert not [name for name in dir(bpy.types) if name.startswith("SINEW_")]
        sinew.register()
    assert {name: len(getattr(bpy.app.handlers, name)) for name in handlers} == handlers
    assert bpy.context.scene.sinew.substeps == 4


def test_python_ends_well_while_the_addon_is_on() -> None:
    code = "import bpy, sinew; sinew.register(); bpy.ops.mesh.primitive_cube_add(); bpy.ops.sinew.make_body()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_part_that_cannot_be_registered_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    sinew.unregister()
    monkeypatch.setattr(panels, "register", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        sinew.register()
    assert "sinew" not in bpy.types.Object.bl_rna.properties
    monkeypatch.undo()
    sinew.register()


# settings that have a track, and can be keyframed therefore
SAMPLED = {
    "activation",
    "animated",
    "pressure",
    "speed",
    "target_volume",
    "use_seams",
    "seam_max_force",
    *(
        f"weight_{kind}"
        for kind in (
            "all",
            "charge",
            "drag",
            "force",
            "gravity",
            "harmonic",
            "lennardjones",
            "magnetic",
            "texture",
            "turbulence",
            "vortex",
            "wind",
        )
    ),
    "density",
    "mass_damping",
    "muscle_strength",
    "poisson_ratio",
    "rest_scale",
    "stretch_limit",
    "stiffness_damping",
    "youngs_modulus",
    "use_collision",
    "pin_stiffness",
    "yield_strain",
    "flow",
    "maximum_strain",
    "breaking_stress",
    "goal_strength",
    "source_temperature",
    "source_exchange",
    "air_temperature",
}


def test_every_setting_says_what_it_is_and_only_sampled_ones_can_be_keyed() -> None:
    fresh()
    for owner in (bpy.types.Object, bpy.types.Scene):
        group = owner.bl_rna.properties["sinew"].fixed_type
        for prop in group.properties:
            if prop.identifier in {"rna_type", "name"} or prop.is_hidden:
                continue
            assert len(prop.description) > 10, prop.identifier
            assert prop.is_overridable, prop.identifier
            assert prop.is_animatable == (prop.identifier in SAMPLED), prop.identifier


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("youngs_modulus", "Young's modulus E [Pa]"),
        ("poisson_ratio", "Poisson's ratio ν"),
        ("density", "[kg/m³]"),
        ("mass_damping", "[1/s]"),
        ("stiffness_damping", "[s]"),
        ("tet_size", "[m]"),
        ("initial_velocity", "[m/s]"),
        ("pin_stiffness", "[1/s²]"),
        ("friction", "μ"),
        ("thickness", "[m]"),
    ],
)
def test_tooltips_name_the_quantity_and_its_unit(name: str, unit: str) -> None:
    fresh()
    assert unit in bpy.types.Object.bl_rna.properties["sinew"].fixed_type.properties[name].description


def test_presets_fill_in_and_an_edit_makes_them_custom() -> None:
    fresh()
    settings = add_box().sinew
    for key, preset in MATERIAL_PRESETS.items():
        settings.preset = key
        assert settings.preset == key
        assert settings.youngs_modulus == pytest.approx(preset.material.youngs_modulus)
        assert settings.density == pytest.approx(preset.material.density)
        assert settings.poisson_ratio == pytest.approx(preset.material.poisson_ratio)
    settings.density += 1.0
    assert settings.preset == "CUSTOM"


def test_volume_preservation_stops_where_linear_tets_lock() -> None:
    fresh()
    settings = add_box().sinew
    settings.poisson_ratio = 0.499
    assert settings.poisson_ratio == pytest.approx(0.45)


STATES = [
    (Status(), "Simulate"),
    (Status("exporting", fraction=0.5), "Reading 50 %   Cancel"),
    (Status("compiling"), "Compiling …   Cancel"),
    (Status("building", stage='Filling with Tets: "Cube"'), "Preparing …   Cancel"),
    (Status("baking", fraction=0.123), "Baking 12 %   Cancel"),
    (Status("baking", fraction=0.999), "Baking 99 %   Cancel"),
    (Status("baking", fraction=0.5, is_kept_run=True), "Keeping 50 %   Cancel"),
    (Status("cancelling"), "Stopping …"),
    (Status("partial", frame=41, resume_frame=41), "Resume from Frame 42"),
    (Status("partial", frame=41), "Simulate"),
    (Status("baked", frame=250), "Simulate Again"),
    (Status("baked", frame=250, is_protected=True), "Simulate Again"),
    (Status("baked", frame=250, outdated=True), "Out of Date: Simulate Again"),
    (Status("finishing", fraction=0.4), "Finishing 40 %   Cancel"),
    (Status("baked", frame=250, resume_frame=250, is_unfinished=True), "Cut the Broken Meshes"),
    (Status(busy_elsewhere=True), "Baking in Another Blender …"),
]


def test_the_button_says_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    obj = add_box()
    roles.make_body(obj)
    for state, label in STATES:
        monkeypatch.setattr(bake_status, "status", lambda _, state=state: state)
        layout = drawn(obj)
        assert state.label == label and label in layout.lines
        names = [name for _, name in layout.drawn]
        assert ("sinew.cancel" in names) == state.is_running
        assert ("sinew.delete_bake" in names) == (state.frame is not None and not state.is_running)
        assert (bake_layout.LOCKED_NOTE in " ".join(layout.lines)) == (state.is_locked and not state.is_running)


def test_settings_are_free_but_for_a_locked_bake(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    obj = add_box()
    roles.make_body(obj)
    everything = [name for name in DRAW_FUNCTIONS if name not in {"draw_collider", "draw_heat_source"}]
    for state, _ in STATES:
        monkeypatch.setattr(bake_status, "status", lambda _, state=state: state)
        layout = drawn(obj, *everything)
        for name in ("youngs_modulus", "method", "pin_group", "gravity_in_shape", "substeps"):
            assert layout.enabled_of(name) == (not state.is_locked), name
        assert layout.enabled_of("show_tets")
    assert not Status("baked", frame=8).is_locked and not Status("baking", is_protected=True).is_locked
    assert Status("baked", frame=8, is_protected=True).is_locked and Status("exporting").is_locked
    assert Status("baked", frame=8).baked_label == "Baked to Frame 8"
    assert not Status("baked", frame=8, outdated=True).baked_label


def test_while_baking_the_panel_tells_frame_time_and_tets(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    obj = add_box()
    roles.make_body(obj)
    state = Status("baking", frame=30, frame_start=1, frame_end=250, fraction=0.12, seconds_left=125.4, tets=12345)
    monkeypatch.setattr(bake_status, "status", lambda scene: state)
    lines = drawn(obj).lines
    assert "Frame 30 of 250, 2 min 05 s left" in lines
    assert "12,345 tets" in lines
    for state, words in (
        (Status("compiling"), "Compiling the solver, once per machine"),
        (Status("building", stage='Filling with Tets: "Cube"'), 'Filling with Tets: "Cube"'),
        (Status("exporting"), "Reading the scene"),
    ):
        monkeypatch.setattr(bake_status, "status", lambda _, state=state: state)
        assert words in drawn(obj).lines


def test_panels_for_nothing_a_lamp_a_mesh_and_a_collider() -> None:
    scene = fresh()
    assert "Select a mesh to make it a soft body" in drawn(None).lines
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    scene.collection.objects.link(lamp)
    assert "Lamp is not a mesh: select one" in drawn(lamp).lines
    assert "parent the empty to it" in " ".join(drawn(lamp).lines)
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    scene.collection.objects.link(rig)
    assert "Draw a muscle on it, or select a mesh" in drawn(rig).lines
    box = add_box()
    assert {"Simulate", "Add"} <= set(drawn(box).lines)
    roles.make_collider(box)
    assert {"Shape", "Friction", "Thickness"} <= set(drawn(box, "draw_collider").lines)


def test_both_places_have_the_same_panels() -> None:
    fresh()
    places = {"PROPERTIES": [], "VIEW_3D": []}
    for panel in panels.CLASSES:
        if issubclass(panel, bpy.types.Panel):
            places[panel.bl_space_type].append(panel.bl_label)
    assert places["PROPERTIES"] == places["VIEW_3D"] and len(places["VIEW_3D"]) == 1 + len(panels.PANEL_TABLE)


def test_a_mesh_with_too_few_vertices_gets_an_offer() -> None:
    fresh()
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    roles.make_body(cube)
    assert "Subdivide to Bend" in drawn(cube).lines
    cube.sinew.preset = "GLASS"
    assert "Subdivide to Bend" not in drawn(cube).lines, "what is brittle hardly bends"
    cube.sinew.preset = "RUBBER"
    coarse_mesh_subdivision.subdivide(cube)
    assert "Subdivide to Bend" not in drawn(cube).lines
    box = add_box(divisions=8)
    roles.make_body(box)
    assert "Subdivide to Bend" not in drawn(box).lines


def test_the_panel_estimates_tets_before_the_work() -> None:
    fresh()
    box = add_box(divisions=4)
    roles.make_body(box)
    counts = []
    for divisions in (8, 16, 32):
        box.sinew.divisions = divisions
        words = next(line for line in drawn(box, "draw_tets").lines if line.endswith("tets"))
        counts.append(int(words.removeprefix("About ").removesuffix(" tets").replace(",", "")))
    assert 5 < counts[1] / counts[0] < 9 and 5 < counts[2] / counts[1] < 9, counts
    box.sinew.sizing, box.sinew.tet_size = "SIZE", 50.0
    assert "Hardly a tet fits: choose smaller ones" in drawn(box, "draw_tets").lines


def test_tets_of_a_bake_that_is_out_of_date_are_estimated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    box = add_box(divisions=4)
    roles.make_body(box)
    monkeypatch.setattr(bake_status, "tet_count", lambda _scene, _obj: 4321)
    for state, is_known in ((Status("baked", frame=8), True), (Status("baked", frame=8, outdated=True), False)):
        monkeypatch.setattr(bake_status, "status", lambda _, state=state: state)
        assert ("4,321 tets" in drawn(box, "draw_tets").lines) == is_known


def test_all_selected_bodies_with_few_vertices_are_subdivided() -> None:
    fresh()
    for x in range(3):
        bpy.ops.mesh.primitive_cube_add(location=(3.0 * x, 0.0, 0.0))
    first, second, no_body = bpy.context.scene.objects
    for obj in (first, second):
        roles.make_body(obj)
    for obj in (first, second, no_body):
        obj.select_set(True)
    bpy.context.view_layer.objects.active = first
    bpy.ops.sinew.subdivide()
    assert [[m.type for m in o.modifiers] for o in (first, second, no_body)] == [["SUBSURF", "MESH_CACHE"]] * 2 + [[]]


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "0 s"), (59.6, "1 min 00 s"), (125.4, "2 min 05 s"), (7800.0, "2 h 10 min")]
)
def test_durations(seconds: float, words: str) -> None:
    assert quantity_text.duration_text(seconds) == words


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 B"), (999, "999 B"), (108e6, "108 MB"), (1.25e9, "1.2 GB"), (5.3e6, "5.3 MB")]
)
def test_sizes(count: float, words: str) -> None:
    assert quantity_text.size_text(count) == words


def test_names_of_cache_folders(tmp_path: Path) -> None:
    scene = fresh()
    blend = str(tmp_path / "shot.blend")
    assert cache_paths.default_folder(scene, blend) == tmp_path / "shot.sinew"
    scene.sinew.take = "stiffer?"
    assert cache_paths.default_folder(scene, blend) == tmp_path / "shot-stiffer_.sinew"
    scene.sinew.take = ""
    scene.sinew.cache_path = str(tmp_path / "elsewhere")
    assert cache_paths.own_folder(scene) == tmp_path / "elsewhere"


@pytest.mark.parametrize("path", ["//sub/a.sinew", "//sub\\a.sinew", "//./sub//a.sinew"])
def test_paths_of_other_systems_are_read(path: str) -> None:
    assert cache_paths.absolute_path(path, "/home/x/shot.blend") == Path("/home/x/sub/a.sinew").absolute()


def test_paths_are_written_relative_with_forward_slashes() -> None:
    assert cache_paths.portable_path(Path("/a/c/x.sinew"), "/a/b/shot.blend") == "//../c/x.sinew"
    assert cache_paths.portable_path(Path("/a/b/x.sinew"), "/a/b/shot.blend") == "//x.sinew"
    # an unsaved file on Windows
    assert cache_paths.portable_path(PureWindowsPath(r"C:\tmp\x.sinew"), "") == "C:/tmp/x.sinew"


def test_a_look_at_nothing_finds_nothing(tmp_path: Path) -> None:
    cache_folder_status.invalidate()
    seen = cache_folder_status.read_status(tmp_path / "none.sinew")
    assert seen.metadata is None and seen.last_frame is None and not (tmp_path / "none.sinew").exists()


def test_failures_are_kept_for_the_panel_until_the_next_success() -> None:
    scene = fresh()
    box = add_box()
    roles.make_body(box)
    last_failure.store_failure_text(scene, '"Box" has no faces. Give it at least one face')
    assert any('"Box" has no faces' in line for line in drawn(box).lines)
    last_failure.forget_failure(scene)
    assert not any('"Box"' in line and "faces" in line for line in drawn(box).lines)
