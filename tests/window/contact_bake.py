# SPDX-License-Identifier: GPL-3.0-or-later
"""Two bodies that fall onto each other in a sheet that sags: made with the mouse, baked, and their contacts shown."""

from __future__ import annotations

import bpy
import numpy as np
from bl_ext.user_default.sinew.addon.overlays import contact_overlay
from desktop import OUT, Steps, mouse, picture, result
from ui_driver import bake, choose_role, open_alone, show_sidebar, status, switch, view, wait_for

FRAMES = 36
SHEET, SIDES, SAG = 3.0, 24, 0.8
STIFFNESS = 2.0e5
# how far a vertex may be inside the other body or below the sheet [m]; bodies are 1 m large
DEEP = 0.02


def contact_bake() -> Steps:
    yield from _make()
    yield from bake()
    summary, scene = status().convergence, bpy.context.scene
    assert status().phase == "baked" and not summary.not_converged, status()
    result["most_contacts"], result["unsettled"] = summary.contacts, summary.unsettled
    assert summary.contacts > 0
    scene.frame_set(FRAMES)
    yield from picture("18-baked-without-contacts")
    yield from switch("show_contacts")
    assert scene.sinew.show_contacts, "the switch did nothing"
    found = contact_overlay.contacts(scene)
    result["contacts_at_the_end"], result["largest_force"] = len(found), round(found.largest, 3)
    assert len(found) > 0, "no contacts at the end"
    for frame in (FRAMES // 2, FRAMES):
        scene.frame_set(frame)
        yield from picture(f"19-contacts-{frame}")
    drawn = _differing("18-baked-without-contacts", f"19-contacts-{FRAMES}")
    result["pixels_of_contacts"] = drawn
    assert drawn > 300, "nothing was drawn"
    depth = max(_depth(frame) for frame in range(1, FRAMES + 1))
    result["deepest"] = round(depth, 4)
    assert depth < DEEP, f"something went {depth} m through"
    view()[1].spaces.active.shading.type = "WIREFRAME"
    yield from picture("20-contacts-in-wireframe")
    view()[1].spaces.active.shading.type = "SOLID"
    yield from _body_panel()


def _make() -> Steps:
    """Makes two bodies and a collider that deforms, each with the mouse."""
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=SIDES, y_subdivisions=SIDES, size=SHEET, location=(0, 0, 0))
    sheet = bpy.context.object
    sheet.name = "Sheet"
    sheet.shape_key_add(name="Basis")
    sag = sheet.shape_key_add(name="Sag")
    for point in sag.data:
        reach = max(0.0, 1.0 - (point.co.x**2 + point.co.y**2) / (SHEET / 2.0) ** 2)
        point.co.z -= SAG * reach
    for frame, value in ((1, 0.0), (FRAMES // 2, 1.0)):
        sag.value = value
        sag.keyframe_insert("value", frame=frame)
    yield from choose_role("c")
    assert sheet.sinew.role == "COLLIDER", "Make Collider did nothing"
    for name, height in (("Lower", 0.6), ("Upper", 1.7)):
        bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.5, location=(0.05, 0.1 * height, height))
        ball = bpy.context.object
        ball.name = name
        yield from choose_role("m")
        assert ball.sinew.role == "BODY", "Make Body did nothing"
        ball.sinew.preset, ball.sinew.youngs_modulus, ball.sinew.divisions = "JELLY", STIFFNESS, 8
    scene = bpy.context.scene
    scene.frame_end = FRAMES
    space = view()[1].spaces.active
    space.region_3d.view_distance = 7.0
    scene.frame_set(1)
    yield from picture("16-two-bodies-over-a-sheet")
    bpy.context.view_layer.objects.active = sheet
    yield from wait_for("the sheet's panel", lambda: bpy.context.object == sheet, 5)
    yield from picture("17-the-collider")


def _body_panel() -> Steps:
    """Shows the panel Collision of a body, opened, and closed the ones above it."""
    open_alone("Collision")
    bpy.context.view_layer.objects.active = bpy.data.objects["Upper"]
    yield 0.5
    yield from picture("21-the-collision-panel")
    bpy.data.objects["Upper"].sinew.friction_preset = "RUBBER_ON_WOOD"
    yield from wait_for("Out of Date", lambda: status().outdated, 10)
    yield from switch("friction_preset", 40)
    yield from picture("22-presets-of-friction")
    mouse("key", "Escape")
    bpy.data.objects["Upper"].sinew.motion = "POSE"
    yield 2.0  # panels slide to their new places
    yield from picture("23-the-panel-of-flesh")


def _differing(before: str, after: str) -> int:
    """Returns in how many pixels two pictures differ by much."""
    pixels = []
    for name in (before, after):
        image = bpy.data.images.load(str(OUT / f"{name}.png"))
        pixels.append(np.array(image.pixels[:], np.float32).reshape(-1, 4))
        bpy.data.images.remove(image)
    return int((np.abs(pixels[0] - pixels[1]).max(axis=1) > 0.2).sum())


def _depth(frame: int) -> float:
    """Returns how deep a vertex of one ball is in the other, or below the sheet, at a frame [m]."""
    bpy.context.scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    lower, upper, sheet = (bpy.data.objects[name].evaluated_get(graph) for name in ("Lower", "Upper", "Sheet"))
    deepest = 0.0
    for one, other in ((lower, upper), (upper, lower), (lower, sheet), (upper, sheet)):
        into = other.matrix_world.inverted() @ one.matrix_world
        for vertex in one.data.vertices:
            point = into @ vertex.co
            found, place, normal, _ = other.closest_point_on_mesh(point)
            if found:
                deepest = max(deepest, -(point - place).dot(normal))
    return deepest
