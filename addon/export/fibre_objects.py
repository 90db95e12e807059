# SPDX-License-Identifier: GPL-3.0-or-later
"""What gives the fibres of a muscle in Blender, a Lattice, curves, a mesh of tendon, as part of a scene."""

from __future__ import annotations

from collections.abc import Iterable

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats, Indices, floats
from ...solver.runtime.errors import BadInput
from ...solver.scene.fibres import FibreCurves, FibreLattice, Fibres, TendonMesh
from ...solver.scene.settings.fibre_settings import (
    FIBRE_CURVES,
    FIBRE_LATTICE,
    FIBRE_OBJECTS,
    TENDON_MESH,
)
from ...solver.scene.settings.setting import Setting
from ..blender_data.rna_serialisation import Parts, animated_paths, animation_parts, rna_parts
from ..evaluation.evaluated_mesh import evaluated_mesh, positions, triangles
from ..evaluation.matrix_units import scale_to_metres, transform_points
from ..evaluation.scene_copy import SceneCopy
from ..properties.fibre_object_types import OBJECT_TYPES
from .settings_to_scene import read_fields
from .weight_reader import WeightReader

INTERPOLATIONS = {
    "KEY_LINEAR": "linear",
    "KEY_CARDINAL": "cardinal",
    "KEY_CATMULL_ROM": "catmull-rom",
    "KEY_BSPLINE": "b-spline",
}


def fibre_objects(obj: bpy.types.Object) -> dict[Setting, bpy.types.Object]:
    """Returns the objects that the fibres of a body are read of, by the settings that count and name one."""
    own = obj.sinew
    found = {each: getattr(own, each.name) for each in FIBRE_OBJECTS if each.counts(lambda name: getattr(own, name))}
    return {setting: other for setting, other in found.items() if other is not None}


def find_fibre_objects(bodies: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Returns the objects that fibres of bodies are read of, each once."""
    return list(dict.fromkeys(other for obj in bodies for other in fibre_objects(obj).values()))


def check_fibre_objects(obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Makes sure that the objects that give the fibres of a body can be read.

    Raises:
        BadInput: One is of another type, not in the scene, or being edited.
    """
    for setting, other in fibre_objects(obj).items():
        if other.type not in OBJECT_TYPES[setting.name] or other == obj:
            raise BadInput("fibre-object-type", name=obj.name, other=other.name, setting=setting.label)
        if scene.objects.get(other.name) != other:
            raise BadInput("fibre-object-elsewhere", name=obj.name, other=other.name, scene=scene.name)
        if other.mode == "EDIT":
            raise BadInput("in-edit-mode", name=other.name)


def read_fibres(scene_copy: SceneCopy, weights: WeightReader, unit: float) -> Fibres:
    """Returns what the fibres of a muscle are made from in the rest pose.

    Args:
        scene_copy: Evaluated there.
        weights: The vertex groups and attributes of the muscle.
        unit: Metres in a Blender unit.

    Raises:
        BadInput: A vertex group or attribute is not there, or 0 everywhere.
    """
    own, chosen = weights.owner, fibre_objects(weights.owner)
    fields = read_fields(Fibres, weights.evaluated.sinew, unit, weights)
    to_world = scale_to_metres(scene_copy.matrix(own), unit)[:3, :3]
    fields["direction"] = fields.get("direction", np.zeros((0, 3))) @ to_world.T
    if FIBRE_LATTICE in chosen:
        fields["lattice"] = _read_lattice(scene_copy, chosen[FIBRE_LATTICE], unit)
    if FIBRE_CURVES in chosen:
        fields["curves"] = _read_curves(scene_copy, chosen[FIBRE_CURVES], unit)
    if TENDON_MESH in chosen:
        fields["tendon_mesh"] = _read_tendon_mesh(scene_copy, chosen[TENDON_MESH], unit)
    return Fibres(**fields)


def fibre_object_parts(obj: bpy.types.Object) -> Parts:
    """Returns what the digest has of the shapes of lattices and curves of a body, beside what it has of any object."""
    parts: Parts = []
    for setting, other in fibre_objects(obj).items():
        if found := shape_parts(other.data):
            parts += [setting.name, *found]
    return parts


def shape_parts(data: bpy.types.ID | None) -> Parts:
    """Returns what the digest has of the shape of a lattice or of curves; nothing of other data."""
    if isinstance(data, bpy.types.Lattice):
        return rna_parts(data, {"active_index"}, animated_paths(data), "")
    if isinstance(data, bpy.types.Curves):
        points = np.empty(3 * len(data.points), np.float32)
        data.points.foreach_get("position", points)
        return [points, _strand_sizes(data)]
    if isinstance(data, bpy.types.Curve):
        return [*(part for spline in data.splines for part in _spline_parts(spline)), *_curve_key_parts(data)]
    return []


def _spline_parts(spline: bpy.types.Spline) -> Parts:
    parts = rna_parts(spline, (), (), "")
    if spline.type == "BEZIER":
        columns = [(spline.bezier_points, name) for name in ("co", "handle_left", "handle_right")]
    else:
        columns = [(spline.points, "co")]
    for points, name in columns:
        values = np.empty(len(points) * (4 if spline.type != "BEZIER" else 3), np.float32)
        points.foreach_get(name, values)
        parts.append(values)
    return parts


def _curve_key_parts(data: bpy.types.Curve) -> Parts:
    keys = data.shape_keys
    if keys is None:
        return []
    animated = animated_paths(keys)
    parts = animation_parts(keys, [])
    for block in keys.key_blocks:
        parts += rna_parts(block, (), animated, f'key_blocks["{block.name}"].')
        parts.append(repr([tuple(point.co) for point in block.data]))
    return parts


def _read_lattice(scene_copy: SceneCopy, obj: bpy.types.Object, unit: float) -> FibreLattice:
    lattice = scene_copy.evaluated(obj).data
    places = {}
    for name in ("co", "co_deform"):
        values = np.empty(3 * len(lattice.points), np.float32)
        lattice.points.foreach_get(name, values)
        places[name] = floats(values.reshape(-1, 3))
    return FibreLattice(
        rest=places["co"],
        deformed=places["co_deform"],
        matrix=scale_to_metres(scene_copy.matrix(obj), unit),
        counts=(lattice.points_u, lattice.points_v, lattice.points_w),
        interpolation=(
            INTERPOLATIONS[lattice.interpolation_type_u],
            INTERPOLATIONS[lattice.interpolation_type_v],
            INTERPOLATIONS[lattice.interpolation_type_w],
        ),
        name=obj.name,
    )


def _read_curves(scene_copy: SceneCopy, obj: bpy.types.Object, unit: float) -> FibreCurves:
    """Returns strands as polylines: of hair the points, of other curves those at the resolution of the preview."""
    evaluated = scene_copy.evaluated(obj)
    if isinstance(evaluated.data, bpy.types.Curves):
        values = np.empty(3 * len(evaluated.data.points), np.float32)
        evaluated.data.points.foreach_get("position", values)
        points, sizes = values.reshape(-1, 3).astype(np.float64), _strand_sizes(evaluated.data)
    else:
        with evaluated_mesh(evaluated) as mesh:
            points, sizes = _edge_chains(mesh)
    return FibreCurves(transform_points(scale_to_metres(scene_copy.matrix(obj), unit), points), sizes, obj.name)


def _strand_sizes(data: bpy.types.Curves) -> Indices:
    """Returns the number of points of every strand, (c,)."""
    sizes = np.empty(len(data.curves), np.int32)
    data.curves.foreach_get("points_length", sizes)
    return sizes


def _edge_chains(mesh: bpy.types.Mesh) -> tuple[Floats, Indices]:
    """Returns the points of polylines, one after the other, (p, 3), and their numbers, (c,).

    A polyline goes on as long as an edge begins where the one before it has ended.
    """
    edges = np.empty(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", edges)
    edges = edges.reshape(-1, 2)
    if not len(edges):
        return np.zeros((0, 3)), np.zeros(0, np.int32)
    first = np.flatnonzero(np.concatenate([[True], edges[1:, 0] != edges[:-1, 1]]))
    chains = [np.append(part[:, 0], part[-1, 1]) for part in np.split(edges, first[1:])]
    return positions(mesh)[np.concatenate(chains)], np.array([len(chain) for chain in chains], np.int32)


def _read_tendon_mesh(scene_copy: SceneCopy, obj: bpy.types.Object, unit: float) -> TendonMesh:
    with evaluated_mesh(scene_copy.evaluated(obj)) as mesh:
        points, faces = positions(mesh), triangles(mesh)
    return TendonMesh(transform_points(scale_to_metres(scene_copy.matrix(obj), unit), points), faces, obj.name)
