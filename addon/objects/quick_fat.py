# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the muscles and bone meshes inside of a character mesh, and makes the mesh the fat around them."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Vector

from ...solver.mesh.tetrahedralize.estimate import estimate_tets, tet_size_for_count
from ...solver.scene.scene import Meshing
from ..evaluation.evaluated_mesh import positions
from ..evaluation.matrix_units import transform_points
from ..properties.role_definitions import BODY, BONE, COLLIDER, WRAP
from . import flesh_supports, initial_settings, roles, tet_estimate

TETS_ACROSS = 2.0  # of thin fat
THIN_SHARE = 0.2  # of the skin that is over fat as thin as what is called thin here, or thinner
MAX_TETS = 100_000
THICKNESS_SAMPLES = 2000  # vertices of the skin, about, from which the thickness is measured


@dataclass(frozen=True)
class FatSizing:
    """How fat is filled with tets.

    Attributes:
        thickness: Of thin fat [m].
        tet_size: [m].
        count: About how many tets that makes.
        is_covered: Whether tets cover the fat, which is thinner than they are (method Robust).
    """

    thickness: float
    tet_size: float
    count: int
    is_covered: bool

    @property
    def text(self) -> str:
        """What an artist is told of it."""
        line = f"about {self.count:,} tets of {self.tet_size:.2g} m"
        if self.is_covered:
            return f"{line} that cover it (method Robust), since it is {self.thickness:.2g} m thick where it is thin"
        if self.tet_size > 1.01 * self.thickness / TETS_ACROSS:
            return f"{line}, since half of its thickness would make more than {MAX_TETS:,}"
        return f"{line}, half of its thickness"


def is_anatomy(obj: bpy.types.Object) -> bool:
    """Whether an object is a muscle or a bone mesh, or a Wrap around these."""
    is_muscle = roles.is_flesh(obj) and obj.sinew.use_muscle
    return obj.type == "MESH" and (is_muscle or roles.has_role(obj, BONE) or roles.has_role(obj, WRAP))


def anatomy_inside(scene: bpy.types.Scene, skin: bpy.types.Object) -> list[bpy.types.Object]:
    """Returns the muscles and bone meshes of a scene whose middles are in the box around a character mesh.

    Beside muscles, colliders whose whole is in the box count as bones, on which muscles slide.
    """
    corners = _box(skin)
    low, high = corners.min(axis=0), corners.max(axis=0)
    found = [o for o in scene.objects if is_anatomy(o) and not roles.has_role(o, WRAP) and o != skin]
    places = [(obj, _box(obj).mean(axis=0)) for obj in found]
    colliders = (o for o in scene.objects if o.type == "MESH" and roles.has_role(o, COLLIDER) and not is_anatomy(o))
    if muscles_of(found):
        places += [(obj, _box(obj)) for obj in colliders if obj != skin]
    return sorted((obj for obj, p in places if ((low <= p) & (p <= high)).all()), key=lambda o: o.name)


def make_fat_on_armature(skin: bpy.types.Object) -> None:
    """Makes a mesh flesh on its armature."""
    initial_settings.make_new_flesh(skin)
    skin.sinew.use_armature_bones = True


def make_fat(skin: bpy.types.Object, wrap: bpy.types.Object, muscles: list[bpy.types.Object], unit: float) -> FatSizing:
    """Makes a mesh flesh that ends at a Wrap, in a pass after some muscles, and returns the size of its tets.

    `unit`: metres per Blender unit.
    """
    initial_settings.make_new_flesh(skin)
    skin.sinew.wrap = wrap
    skin.sinew.self_contact = False  # fat around muscles hardly meets itself, and to look for it takes most of the time
    if muscles:
        skin.sinew.bake_pass = max(obj.sinew.bake_pass for obj in muscles) + 1
    sizing = fat_sizing(skin, wrap, unit)
    if sizing.is_covered:
        skin.sinew.method = "ROBUST"
    skin.sinew.sizing, skin.sinew.tet_size = "SIZE", sizing.tet_size / unit
    return sizing


def fat_sizing(skin: bpy.types.Object, wrap: bpy.types.Object, unit: float) -> FatSizing:
    """Returns of which size the tets between a skin and its Wrap should be.

    They are half as long as the fat is thick. Where these would be too many, they are as many as there may be; where
    not even one of those fits into the fat, they cover it instead (method Robust).

    Args:
        skin, wrap: The surfaces of the fat.
        unit: Metres per Blender unit.
    """
    outer, inner = (tet_estimate.measure_object(obj, unit) for obj in (skin, wrap))
    lengths, area = outer.lengths.tolist(), outer.area + inner.area
    volume = max(outer.volume - inner.volume, 0.0)
    thickness = fat_thickness(skin, wrap) * unit

    def chosen(meshing: Meshing) -> FatSizing:
        count = estimate_tets(lengths, area, volume, meshing)
        return FatSizing(thickness, meshing.tet_size or 0.0, count, meshing.method == "robust")

    def with_most(method: str) -> FatSizing:
        size = tet_size_for_count(lengths, area, volume, None, MAX_TETS, Meshing(method))
        return chosen(Meshing(method, size))

    if thickness > 0.0:
        fine = chosen(Meshing("smooth", thickness / TETS_ACROSS))
        if fine.count <= MAX_TETS:
            return fine
        coarse = with_most("smooth")
        if coarse.tet_size <= thickness:
            return coarse
    return with_most("robust")


def fat_thickness(skin: bpy.types.Object, wrap: bpy.types.Object) -> float:
    """Returns the thickness below which a fifth of the fat is [Blender units]; 0 where the skin is all in the Wrap.

    It is the distance of vertices of the skin that are outside of the Wrap from it.
    """
    inverse = wrap.matrix_world.inverted_safe()
    points = positions(skin.data)
    places = transform_points(
        np.array(inverse @ skin.matrix_world), points[:: max(len(points) // THICKNESS_SAMPLES, 1)]
    )
    offsets = []
    for place in map(Vector, places.tolist()):
        found, closest, normal, _ = wrap.closest_point_on_mesh(place)
        if found and (place - closest).dot(normal) > 0.0:
            offsets.append(place - closest)
    turn = wrap.matrix_world.to_3x3()
    return float(np.quantile([(turn @ offset).length for offset in offsets], THIN_SHARE)) if offsets else 0.0


def has_support(skin: bpy.types.Object) -> bool:
    """Whether an armature poses a mesh."""
    return bool(flesh_supports.armatures_of(skin))


def muscles_of(anatomy: list[bpy.types.Object]) -> list[bpy.types.Object]:
    """Returns the muscles among muscles and bone meshes."""
    return [obj for obj in anatomy if obj.sinew.role == BODY]


def _box(obj: bpy.types.Object) -> np.ndarray:
    """Returns the corners of the box around an object in the world [Blender units], (8, 3)."""
    return np.array([obj.matrix_world @ Vector(corner) for corner in obj.bound_box])
