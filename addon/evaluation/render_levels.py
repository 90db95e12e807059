# SPDX-License-Identifier: GPL-3.0-or-later
"""Levels of detail that differ between viewport and render, and how to evaluate those of a render."""

from __future__ import annotations

from dataclasses import dataclass

import bpy

# modifiers with separate levels for viewport and render
LEVEL_MODIFIERS = {"SUBSURF", "MULTIRES"}


@dataclass(frozen=True)
class RenderLevels:
    """For each modifier of an object, whether a render shows it, and its render level (None: no level)."""

    shown: dict[str, bool]
    levels: dict[str, int | None]


def render_levels(evaluated: bpy.types.Object) -> RenderLevels:
    """Returns the render's values of an evaluated object, with animation and drivers applied."""
    stack = evaluated.modifiers
    return RenderLevels(
        {m.name: m.show_render for m in stack},
        {m.name: m.render_levels if m.type in LEVEL_MODIFIERS else None for m in stack},
    )


def may_differ(scene: bpy.types.Scene, evaluated: bpy.types.Object) -> bool:
    """Whether the evaluated object can have another number of vertices in a render."""
    stack = evaluated.modifiers
    return any(
        m.show_viewport != m.show_render
        or (m.type in LEVEL_MODIFIERS and m.levels != m.render_levels)
        or (m.type == "OCEAN" and m.geometry_mode == "GENERATE" and m.viewport_resolution != m.resolution)
        for m in stack
    ) or (_simplify_differs(scene) and any(m.type in LEVEL_MODIFIERS for m in stack))


def uses_is_viewport(modifier: bpy.types.Modifier) -> bool:
    """Whether the node tree of a Geometry Nodes modifier uses Is Viewport."""
    return modifier.type == "NODES" and _has_is_viewport(modifier.node_group, set())


def apply_render_levels(scene: bpy.types.Scene, copy: bpy.types.Object, levels: RenderLevels) -> None:
    """Sets the render's `levels` on `copy`, so that a viewport evaluation in `scene` equals a render."""
    scene.render.simplify_subdivision = scene.render.simplify_subdivision_render
    for modifier in copy.modifiers:
        _remove_drivers(copy, modifier, ("show_viewport", "levels", "viewport_resolution"))
        modifier.show_viewport = levels.shown[modifier.name]
        level = levels.levels[modifier.name]
        if level is not None:
            modifier.levels = level
        if modifier.type == "OCEAN":
            modifier.viewport_resolution = modifier.resolution


def _remove_drivers(copy: bpy.types.Object, modifier: bpy.types.Modifier, names: tuple[str, ...]) -> None:
    """Removes the drivers of the viewport's values, which would override the new ones."""
    for name in names if copy.animation_data else ():
        if hasattr(modifier, name):
            modifier.driver_remove(name)


def _simplify_differs(scene: bpy.types.Scene) -> bool:
    render = scene.render
    return render.use_simplify and render.simplify_subdivision != render.simplify_subdivision_render


def _has_is_viewport(tree: bpy.types.NodeTree | None, seen: set[str]) -> bool:
    if tree is None or tree.name_full in seen:
        return False
    seen.add(tree.name_full)
    return any(
        node.bl_idname == "GeometryNodeIsViewport" or _has_is_viewport(getattr(node, "node_tree", None), seen)
        for node in tree.nodes
    )
