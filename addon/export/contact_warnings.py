# SPDX-License-Identifier: GPL-3.0-or-later
"""Warnings about contact, computed when a bake begins."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from ...solver.runtime.errors import SinewError
from ...solver.scene.settings.simulation_settings import PREVIEW
from ..blender_data import collider_force_curves
from ..objects import collision_filter, roles, tet_estimate
from ..objects.simulated_scale import simulated_scale
from ..properties.role_definitions import BODY, COLLIDER
from . import input_digest

# Simulated Sizes are the same part of true sizes up to here
MAX_SCALE_RATIO = 1.1


def contact_warnings(scene: bpy.types.Scene) -> Iterator[SinewError]:
    """Yields what bodies that touch others make of that."""
    yield from _scale_warnings(scene)
    for obj in roles.bodies(scene):
        others = collision_filter.collision_partners(scene, obj)
        if obj.sinew.self_collision or any(other.sinew.role == BODY for other in others):
            yield from _thin_warnings(obj, scene)
    for obj in [*roles.bodies(scene), *roles.colliders(scene)]:
        yield from _filter_warnings(obj, scene)
    yield from _driver_warnings(scene)


def _scale_warnings(scene: bpy.types.Scene) -> Iterator[SinewError]:
    """Of two bodies that touch, as one thing in one world, Simulated Size makes two worlds.

    A body that moves as if it were s times as large has gravity g / s and stiffness E / s², and its own mass.
    """
    pairs = [
        (simulated_scale(other) / simulated_scale(obj), obj, other)
        for obj in roles.bodies(scene)
        for other in collision_filter.collision_partners(scene, obj)
        if other.sinew.role == BODY and simulated_scale(obj) > 0.0
    ]
    # of all pairs the one that differs most
    ratio, smaller, larger = max(pairs, key=lambda pair: pair[0], default=(1.0, None, None))
    if ratio > MAX_SCALE_RATIO and smaller is not None and larger is not None:
        yield SinewError("scales-differ", name=smaller.name, other=larger.name, times=f"{ratio:.2g}")


def _thin_warnings(obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[SinewError]:
    """Less than a tet through a body; its thickness is that of a plate of the same volume and surface."""
    if obj.sinew.method == "GIVEN" or roles.is_rigid(obj) or roles.is_sheet(obj):
        return
    unit = scene.unit_settings.scale_length
    measures = tet_estimate.measure_object(obj, unit)
    if not (measures.longest > 0.0 and measures.volume > 0.0):
        return
    size = tet_estimate.meshing(obj, unit, scene.sinew.bake_detail == PREVIEW).tet_size or 0.0
    thickness = 2.0 * measures.volume / measures.area
    if thickness < size:
        yield SinewError(
            "thin-for-tets",
            name=obj.name,
            tet_size=f"{size:.2g}",
            thickness=f"{thickness:.2g}",
            wanted=f"{thickness / 2.0:.2g}",
        )


def _filter_warnings(obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[SinewError]:
    """A filter that leaves nothing, which is hardly meant."""
    chosen = obj.sinew.collision_collection
    if chosen is None or collision_filter.collision_partners(scene, obj):
        return
    other = collision_filter.excluded_by(scene, obj)
    if other is None:
        yield SinewError("filter-empty", name=obj.name, collection=chosen.name)
    else:
        its = other.sinew.collision_collection.name
        yield SinewError("filter-one-sided", name=obj.name, other=other.name, collection=its)


def _driver_warnings(scene: bpy.types.Scene) -> Iterator[SinewError]:
    """What a bake reads and what the forces drive that it gives: every bake is of the forces of the one before."""
    for item in sorted(input_digest.bake_dependencies(scene), key=lambda item: item.name_full):
        found = sorted({target.id.name for target in _driver_targets(item) if _is_force(target)})
        if found:
            yield SinewError("driven-by-force", name=item.name, collider=found[0])


def _driver_targets(item: bpy.types.ID) -> Iterator[bpy.types.DriverTarget]:
    """Yields what the drivers of an object read, and of its shape."""
    data = getattr(item, "data", None)
    for part in (item, data, getattr(data, "shape_keys", None)):
        animation = getattr(part, "animation_data", None)
        for curve in animation.drivers if animation is not None else ():
            for variable in curve.driver.variables:
                yield from variable.targets


def _is_force(target: bpy.types.DriverTarget) -> bool:
    """Whether a driver reads what a collider bears in the bake."""
    names = any(
        f'["{name}"]' in target.data_path
        for name in (collider_force_curves.FORCE_PROPERTY, collider_force_curves.TORQUE_PROPERTY)
    )
    return names and isinstance(target.id, bpy.types.Object) and roles.has_role(target.id, COLLIDER)
