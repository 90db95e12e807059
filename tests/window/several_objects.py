# SPDX-License-Identifier: GPL-3.0-or-later
"""Three cubes at once, with the mouse: the pie menu, edits with Alt, Copy to Selected, the counts, and the Outliner."""

from __future__ import annotations

import bpy
from bl_ext.user_default.sinew.addon.baking import scene_counts
from bl_ext.user_default.sinew.addon.panels import pie_menu_key
from desktop import Steps, mouse, picture, result
from ui_driver import (
    command_under_the_mouse,
    find,
    open_alone,
    scroll,
    show_sidebar,
    status,
    switch,
    under_the_mouse,
    view,
    wait_for,
)

FRAMES = 6
SPACING = 3.0
FEW_TETS = 500
# slots of the pie menu [pixels from the mouse, to the right and down]
SIMULATE, SHOW_TETS, COPY_SETTINGS, MAKE_BODY = (120, 0), (0, 90), (0, -90), (-90, -60)
DELETE_BAKE, NEW_TAKE = (-90, 60), (90, 60)
SCROLLS = 30  # of the mouse wheel, from the top of the sidebar to its end
ALT_DRAG = 40  # [pixels]
MENU_STEP = 70  # from the button to the third entry of its menu [pixels]
STIFFNESS = 1.0e5
ROW = 90  # of the active cube in the Outliner, from its top [pixels]
PACKAGE = "bl_ext.user_default.sinew"


def several_objects() -> Steps:
    yield from _make_cubes()
    cubes = _cubes()
    yield from _open_pie()
    yield from picture("60-pie-menu-of-new-meshes")
    yield from _choose(MAKE_BODY)
    assert [cube.sinew.role for cube in cubes] == ["BODY"] * 3, "Make Body of the pie menu"
    for cube in cubes:
        cube.sinew.tet_count = FEW_TETS
    yield from _alt_edits(cubes)
    yield from _counts()
    yield from _bake_by_pie(cubes)
    yield from _outliner()
    yield from _preferences()


def _make_cubes() -> Steps:
    """Makes three cubes, all selected."""
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    scene, cube = bpy.context.scene, bpy.data.objects["Cube"]
    scene.frame_end = FRAMES
    for number in (-1, 1):
        other = cube.copy()
        other.data = cube.data.copy()
        other.location.x = number * SPACING
        scene.collection.objects.link(other)
    for obj in scene.objects:
        obj.select_set(obj.type == "MESH")
    bpy.context.view_layer.objects.active = cube
    yield 0.5


def _cubes() -> list[bpy.types.Object]:
    return sorted((o for o in bpy.context.scene.objects if o.type == "MESH"), key=lambda o: o.name)


def _open_pie() -> Steps:
    """Presses the key of the pie menu in the middle of the free view."""
    window, area, region = view()
    x, y = area.x + (area.width - region.width) // 2, area.y + area.height // 2
    mouse("mousemove", x, window.height - y)
    yield 0.3
    mouse("mousemove_relative", 1, 1)
    yield 0.3
    mouse("key", pie_menu_key.KEY.lower())
    yield 0.8


def _choose(slot: tuple[int, int]) -> Steps:
    """Moves to a slot of the open pie menu and clicks."""
    mouse("mousemove_relative", "--", *slot)
    yield 0.3
    mouse("click", 1)
    yield 0.8


def _alt_edits(cubes: list[bpy.types.Object]) -> Steps:
    """Changes Stiffness in kPa on all selected bodies, by a drag with Alt and by Copy to Selected."""
    open_alone("Material")
    yield 1.0
    yield from scroll(SCROLLS)
    active = bpy.context.object
    before = [cube.sinew.youngs_modulus for cube in cubes]
    yield from find(lambda: ".youngs_modulus_kpa" in _path_under_the_mouse(), "Stiffness in kPa")
    mouse("keydown", "alt")
    mouse("mousedown", 1)
    for _ in range(ALT_DRAG // 4):
        mouse("mousemove_relative", 4, 0)
        yield 0.03
    mouse("mouseup", 1)
    mouse("keyup", "alt")
    yield 0.5
    after = [cube.sinew.youngs_modulus for cube in cubes]
    result["stiffness_by_alt"] = [before, after]
    assert all(new > old for new, old in zip(after, before, strict=True)), (before, after)
    yield from picture("61-stiffness-of-all-by-alt")
    active.sinew.youngs_modulus_kpa = 77.0
    yield from find(lambda: ".youngs_modulus_kpa" in _path_under_the_mouse(), "Stiffness in kPa")
    window, area, region = view()
    with bpy.context.temp_override(window=window, area=area, region=region):
        assert bpy.ops.ui.copy_to_selected_button.poll(), "Copy to Selected is grey"
        assert bpy.ops.ui.copy_to_selected_button() == {"FINISHED"}
    copied = [cube.sinew.youngs_modulus for cube in cubes]
    result["stiffness_copied"] = copied
    assert all(abs(value - 77.0e3) < 1.0 for value in copied), copied
    active.sinew.poisson_ratio_percent = 40.0
    yield from find(lambda: ".poisson_ratio_percent" in _path_under_the_mouse(), "Volume Preservation")
    with bpy.context.temp_override(window=window, area=area, region=region):
        assert bpy.ops.ui.copy_to_selected_button() == {"FINISHED"}
    assert all(abs(cube.sinew.poisson_ratio - 0.2) < 1e-6 for cube in cubes)
    yield from switch("sinew.preset", keep=True)
    for _ in range(2):
        mouse("mousemove_relative", "--", 0, MENU_STEP // 2)
        yield 0.3
    yield from picture("61-menu-of-presets")
    mouse("keydown", "alt")
    yield 0.2
    mouse("mousedown", 1)
    yield 0.2
    mouse("mouseup", 1)
    yield 0.2
    mouse("keyup", "alt")
    yield 0.5
    chosen = {cube.sinew.preset for cube in cubes}
    result["preset_by_alt"] = sorted(chosen)
    assert len(chosen) == 1 and chosen != {"CUSTOM"}, chosen
    yield from scroll(-SCROLLS)
    for cube in cubes:
        cube.sinew.preset, cube.sinew.youngs_modulus = "JELLY", STIFFNESS


def _path_under_the_mouse() -> str:
    return under_the_mouse(bpy.ops.ui.copy_data_path_button, full_path=True)


def _counts() -> Steps:
    """Shows the counts before a bake."""
    view()[1].spaces.active.overlay.show_stats = True
    bpy.context.preferences.view.show_statusbar_stats = True
    yield 0.5
    found = scene_counts.scene_counts(bpy.context.scene, bpy.context.view_layer)
    result["counts"] = found.line
    assert found.line.startswith("Bodies:3/3 | Tets (About):"), found.line
    yield from picture("62-counts-before-a-bake")


def _bake_by_pie(cubes: list[bpy.types.Object]) -> Steps:
    yield from _open_pie()
    yield from _choose(SIMULATE)
    yield from wait_for("the end", lambda: status().phase == "baked", 300)
    yield 1.5
    found = scene_counts.scene_counts(bpy.context.scene, bpy.context.view_layer)
    result["counts_baked"] = found.line
    assert "| Tets:" in found.line, found.line
    yield from _open_pie()
    yield from picture("63-pie-menu-with-a-bake")
    yield from _choose(SHOW_TETS)
    assert all(cube.sinew.show_tets for cube in cubes), "Show Tets of the pie menu"
    yield from picture("64-tets-and-counts-of-the-bake")
    bpy.context.object.sinew.pin_group = "Held"
    yield from _open_pie()
    yield from _choose(COPY_SETTINGS)
    assert [cube.sinew.pin_group for cube in cubes] == ["Held"] * 3, "Copy Settings to Selected of the pie menu"
    for cube in cubes:
        cube.sinew.pin_group = ""
    yield from _open_pie()
    yield from _choose(NEW_TAKE)
    yield from wait_for("another take", lambda: bpy.context.scene.sinew.take != "", 10)


def _outliner() -> Steps:
    """Opens Sinew's menu in the context menu of a cube, then presses the number of bodies in the header."""
    window = bpy.context.window_manager.windows[0]
    area = next(a for a in window.screen.areas if a.type == "OUTLINER")
    mouse("mousemove", area.x + 70, window.height - (area.y + area.height - ROW))
    yield 0.3
    mouse("mousemove_relative", 1, 1)
    yield 0.3
    mouse("click", 3)
    yield 0.8
    mouse("key", "Up")  # the last entry
    mouse("key", "Right")
    yield 0.8
    yield from picture("65-sinew-in-the-context-menu-of-the-outliner")
    mouse("key", "Escape")
    mouse("key", "Escape")
    yield 0.5
    for obj in bpy.context.scene.objects:
        obj.select_set(False)
    wide = next(a for a in window.screen.areas if a.type == "DOPESHEET_EDITOR")
    before, wide.type = wide.ui_type, "OUTLINER"
    yield 1.0
    yield from _press_count(window, wide)
    assert len(bpy.context.selected_objects) == len(_cubes()), "the number of bodies selects them"
    yield from picture("66-counts-in-the-header-of-the-outliner")
    wide.ui_type = before


def _press_count(window: bpy.types.Window, area: bpy.types.Area) -> Steps:
    """Finds the number of bodies in the header of an Outliner from the right, and presses it."""
    header = next(r for r in area.regions if r.type == "HEADER")
    for x in range(header.x + header.width - 10, header.x, -10):
        mouse("mousemove", x, window.height - (header.y + header.height // 2))
        yield 0.1
        mouse("mousemove_relative", 1, 1)
        yield 0.1
        with bpy.context.temp_override(window=window, area=area, region=header):
            if "bpy.ops.sinew.select_role(" in command_under_the_mouse():
                mouse("click", 1)
                yield 0.8
                return
    raise AssertionError("no number of bodies in the header of the Outliner")


def _preferences() -> Steps:
    """Shows the key of the pie menu in the preferences of Sinew."""
    window = bpy.context.window_manager.windows[0]
    area = next(a for a in window.screen.areas if a.type == "PROPERTIES")
    area.type = "PREFERENCES"
    bpy.context.preferences.active_section = "ADDONS"
    bpy.context.window_manager.addon_search = "Sinew"
    bpy.ops.preferences.addon_expand(module=PACKAGE)
    with bpy.context.temp_override(window=window, area=area):
        bpy.ops.screen.screen_full_area()
    yield 1.0
    yield from picture("67-the-key-in-the-preferences")
    with bpy.context.temp_override(window=window, area=window.screen.areas[0]):
        bpy.ops.screen.back_to_previous()
    yield 0.5
    next(a for a in window.screen.areas if a.type == "PREFERENCES").type = "PROPERTIES"
