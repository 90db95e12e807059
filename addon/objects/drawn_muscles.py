# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscles that are drawn from bone to bone: makes them, and rebuilds their mesh when a setting of their shape changes.

The object stores the points, and where the bone meshes and muscles around it were, in its own space. So a pose of the
rig changes nothing about its shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import bpy
import numpy as np
from mathutils import Matrix

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput, SinewError
from ...solver.scene.settings.muscle_shape_settings import MOST_HEADS
from ..evaluation.evaluated_mesh import positions, triangles
from ..evaluation.matrix_units import transform_points
from .mirror_symmetry import MirrorSymmetry
from .muscle_obstacles import MIRRORED, mirror_obstacles, scale_obstacles, store_obstacles, stored_obstacles
from .muscle_setup import END_SHARE, TETS_ACROSS, MuscleEnd, MuscleShape, set_up_muscle, write_end_groups, write_group
from .muscle_via_points import PathFinding, lay_path
from .skeleton import SkeletonBone, skeleton_bones

if TYPE_CHECKING:
    from ...solver.mesh.muscle_shape.muscle_surface import DrawnMuscle, MuscleSurface
    from ...solver.mesh.muscle_shape.profile import MuscleProfile

NAME = "Muscle"
# of the distance between both ends: the width that a profile begins with
WIDTH_SHARES = {"BELLY": 0.22, "FAN": 0.5, "STRAP": 0.16}
THICKNESS_SHARES = {"BELLY": 0.85, "FAN": 0.25, "STRAP": 0.3}  # of the width
# of the distance: length of the tendons at origin and insertion
TENDON_SHARES = {"BELLY": (0.08, 0.08), "FAN": (0.0, 0.1), "STRAP": (0.05, 0.05)}
HEAD_GROUP, APONEUROSIS = "Head {number}", "Aponeurosis"
# of a pennate muscle: along its lower side, from its insertion on, as deep as a part of its thickness
APONEUROSIS_START, APONEUROSIS_SIDE, APONEUROSIS_DEPTH = 0.35, -0.3, 0.34
SHAPE_LENGTHS = ("muscle_width", "muscle_thickness", "muscle_gap", "origin_tendon", "insertion_tendon")
FACING_SAMPLES = 9
SAME_SIZE = 1.0e-3  # relative: a tet size that nobody has changed


@dataclass(frozen=True, eq=False)
class MuscleDrawing:
    """What somebody has drawn.

    Attributes:
        origin, insertion: The bones at both ends.
        points: From end to end in world space, (k, 3).
        profile: BELLY, FAN or STRAP.
        width: Where it is widest [Blender units].
        thickness: 0: as suits the profile.
    """

    origin: SkeletonBone
    insertion: SkeletonBone
    points: Floats
    profile: str
    width: float
    thickness: float = 0.0


def initial_width(points: Floats, profile: str) -> float:
    """Returns the width that suits a muscle through points, (k, 3) [Blender units]."""
    return WIDTH_SHARES[profile] * float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def drawn_muscle(drawing: MuscleDrawing) -> DrawnMuscle:
    """Returns the shape of a drawing in world space."""
    from ...solver.mesh.muscle_shape.muscle_surface import DrawnMuscle  # loads SciPy
    from ...solver.mesh.muscle_shape.profile import MuscleProfile

    thickness = drawing.thickness or THICKNESS_SHARES[drawing.profile] * drawing.width
    profile = MuscleProfile(drawing.profile.lower(), drawing.width, thickness)
    facing = _away_from_bones(drawing.points, (drawing.origin, drawing.insertion))
    return DrawnMuscle(drawing.points, facing, profile)


def _away_from_bones(points: Floats, bones: Sequence[SkeletonBone]) -> Floats:
    """Returns the direction from the nearest bone to a path, in the mean, (3,); zero where it runs along the bones."""
    shares = np.linspace(0.0, len(points) - 1.0, FACING_SAMPLES)[1:-1]
    samples = np.stack(
        [np.interp(shares, np.arange(len(points), dtype=np.int64), points[:, i]) for i in range(3)], axis=1
    )
    away = np.stack([samples - bone.nearest(samples) for bone in bones])
    nearest = np.argmin(np.linalg.norm(away, axis=2), axis=0)
    return np.asarray(away[nearest, np.arange(len(samples), dtype=np.int64)].mean(axis=0))


def new_muscle(context: bpy.types.Context, drawing: MuscleDrawing) -> tuple[bpy.types.Object, list[SinewError]]:
    """Returns a new muscle whose ends follow the bones that it was drawn between, and what is doubtful about its path.

    Raises:
        BadInput: "drawn-points-together": its points are at one place. Nothing was changed.
    """
    from ...solver.mesh.muscle_shape.muscle_surface import muscle_surface  # loads SciPy

    shape = drawn_muscle(drawing)
    without_obstacles = muscle_surface(shape)
    if without_obstacles is None or not drawing.width > 0.0:
        raise BadInput("drawn-points-together")
    middle = drawing.points.mean(axis=0)
    obj = bpy.data.objects.new(NAME, bpy.data.meshes.new(NAME))
    obj.location = middle
    (context.collection or context.scene.collection).objects.link(obj)
    context.view_layer.update()
    settings = obj.sinew
    settings.muscle_profile, settings.muscle_width = drawing.profile, drawing.width
    settings.muscle_thickness = shape.profile.thickness
    lengths = [share * without_obstacles.length for share in TENDON_SHARES[drawing.profile]]
    settings.origin_tendon, settings.insertion_tendon = lengths
    settings.shape_facing = shape.facing.tolist()
    store_obstacles(context, obj, without_obstacles.surface.vertices)
    _write_path(obj, drawing.points - middle)
    found = _build_surface(obj)
    assert found is not None
    _write_mesh(obj.data, found)
    shape_of_mesh = _muscle_shape(found, drawing)
    set_up_muscle(obj, shape_of_mesh)
    _write_groups(obj, found)
    if _thinnest_tendon(shape.profile) < settings.tet_size:
        settings.method = "ROBUST"  # its tets cover tendons that others would end before
    in_world = replace(shape_of_mesh.surface, vertices=found.surface.vertices + middle)
    ends = drawing.origin, drawing.insertion
    return obj, lay_path(
        obj, PathFinding(in_world, triangles(obj.data), ends, skeleton_bones(context, {obj}), END_SHARE)
    )


def _thinnest_tendon(profile: MuscleProfile) -> float:
    """Returns the smaller of the width and the thickness of a muscle's tendons."""
    from ...solver.mesh.muscle_shape.profile import TENDON_THICKNESS, TENDON_WIDTH  # loads SciPy

    return min(TENDON_WIDTH[profile.kind] * profile.width, TENDON_THICKNESS[profile.kind] * profile.thickness)


def rebuild_shape(obj: bpy.types.Object) -> None:
    """Makes the mesh of a drawn muscle anew, by its settings; other objects stay as they are.

    Weights that were painted stay while the number of heads does. A mesh with shape keys stays as it is.
    """
    if not is_drawn(obj) or obj.data.library is not None or obj.data.shape_keys is not None or obj.mode == "EDIT":
        return
    found, former = _build_surface(obj), positions(obj.data)
    if found is None:
        return
    _write_mesh(obj.data, found)
    if len(former) == len(found.surface.vertices):
        _fit_tets(obj, found, former)
    else:
        write_end_groups(obj, found.surface.along)
    _write_groups(obj, found)


def mirror_shape(sides: MirrorSymmetry, obj: bpy.types.Object, made: bpy.types.Object, mirror: Matrix) -> None:
    """Lets the shape of a mirrored muscle be the mirror image of that of the muscle that it was copied of.

    The path stays that of the muscle, so that the vertices keep their order, and painted weights their places. Around
    it are the objects of the other side as they are now; what is the same for both sides stays where it was.
    """
    if not is_drawn(obj):
        return
    made.sinew.shape_mirrored = not obj.sinew.shape_mirrored
    mirror_obstacles(sides, obj, made, mirror)


def scale_shape(obj: bpy.types.Object, factor: float) -> None:
    """Lets a drawn muscle be rebuilt larger by a factor in its own space, as where its scale is applied to its mesh."""
    points = np.array([tuple(point.location) for point in obj.sinew.path_points], np.float64).reshape(-1, 3)
    obj.sinew.path_points.clear()  # without it the settings rebuild nothing
    for name in SHAPE_LENGTHS:
        setattr(obj.sinew, name, factor * getattr(obj.sinew, name))
    scale_obstacles(obj, factor)
    _write_path(obj, factor * points)


def path_in_world(obj: bpy.types.Object) -> Floats:
    """Returns the points that a muscle is drawn through, in world space, (k, 3)."""
    points = np.array([tuple(point.location) for point in obj.sinew.path_points], np.float64).reshape(-1, 3)
    if obj.sinew.shape_mirrored:
        points = points * MIRRORED
    return transform_points(np.array(obj.matrix_world), points)


def is_drawn(obj: bpy.types.Object) -> bool:
    """Whether Draw Muscle has made an object."""
    return obj.type == "MESH" and len(obj.sinew.path_points) > 1


def _write_path(obj: bpy.types.Object, points: Floats) -> None:
    obj.sinew.path_points.clear()
    for point in points.tolist():
        obj.sinew.path_points.add().location = point


def _build_surface(obj: bpy.types.Object) -> MuscleSurface | None:
    """Returns the surface of a drawn muscle in its own space, by its settings."""
    from ...solver.mesh.muscle_shape.muscle_surface import DrawnMuscle, muscle_surface  # loads SciPy
    from ...solver.mesh.muscle_shape.profile import MuscleProfile

    own = obj.sinew
    kind = own.muscle_profile.lower()
    profile = MuscleProfile(kind, own.muscle_width, own.muscle_thickness, own.origin_tendon, own.insertion_tendon)
    points = np.array([tuple(point.location) for point in own.path_points], np.float64)
    facing = np.array(own.shape_facing, np.float64)
    drawn = DrawnMuscle(points, facing, profile, own.muscle_roll, own.origin_count, own.muscle_gap)
    found = muscle_surface(drawn, list(stored_obstacles(obj)))
    if found is None or not own.shape_mirrored:
        return found
    surface = found.surface
    return replace(found, surface=replace(surface, vertices=surface.vertices * MIRRORED, quads=surface.quads[:, ::-1]))


def _write_mesh(mesh: bpy.types.Mesh, found: MuscleSurface) -> None:
    vertices, quads = found.surface.vertices, found.surface.quads
    if len(mesh.vertices) != len(vertices):
        mesh.clear_geometry()
        mesh.from_pydata(vertices.tolist(), [], quads.tolist())
        mesh.polygons.foreach_set("use_smooth", np.ones(len(quads), np.bool_))
    else:
        mesh.vertices.foreach_set("co", vertices.astype(np.float32).ravel())
    mesh.update()


def _muscle_shape(found: MuscleSurface, drawing: MuscleDrawing) -> MuscleShape:
    from ...solver.mesh.geometry.longitudinal_profile import ElongatedSurface  # loads SciPy

    surface = found.surface
    ends = [
        MuscleEnd(bone, 0.0, bone, np.inf, float(place[2]))
        for bone, place in ((drawing.origin, drawing.points[0]), (drawing.insertion, drawing.points[-1]))
    ]
    return MuscleShape(ElongatedSurface(surface.along, found.length, surface.vertices), *ends)


def _write_groups(obj: bpy.types.Object, found: MuscleSurface) -> None:
    """Writes the vertex groups of heads, and of the aponeurosis of a pennate muscle."""
    heads, settings = obj.sinew.origin_count, obj.sinew
    for k in range(heads if heads > 1 else 0):
        write_group(obj, HEAD_GROUP.format(number=k + 1), found.surface.head == k)
    for group in [g for g in obj.vertex_groups if g.name in _head_groups(heads)]:
        obj.vertex_groups.remove(group)
    if settings.pennation_angle > 0.0 and settings.tendon_group in ("", APONEUROSIS):
        surface = found.surface
        is_sheet = (surface.along >= APONEUROSIS_START) & (surface.side <= APONEUROSIS_SIDE)
        write_group(obj, APONEUROSIS, is_sheet)
        settings.tendon_group = APONEUROSIS
        settings.tendon_depth = APONEUROSIS_DEPTH * settings.muscle_thickness
    elif settings.pennation_angle == 0.0 and settings.tendon_group == APONEUROSIS:
        settings.tendon_group = ""


def _head_groups(heads: int) -> set[str]:
    """Returns the names of groups that a muscle of so many heads does not have."""
    return {HEAD_GROUP.format(number=k + 1) for k in range(heads if heads > 1 else 0, MOST_HEADS)}


def _fit_tets(obj: bpy.types.Object, found: MuscleSurface, former: Floats) -> None:
    """Lets the tets suit the new thickness where they suited that of the former vertices, (n, 3)."""
    size = _thickness(found, former) / TETS_ACROSS
    if obj.sinew.sizing == "SIZE" and abs(obj.sinew.tet_size - size) <= SAME_SIZE * size:
        obj.sinew.tet_size = _thickness(found, found.surface.vertices) / TETS_ACROSS


def _thickness(found: MuscleSurface, vertices: Floats) -> float:
    """Returns how thick the middle of a surface is with its vertices at other places, (n, 3)."""
    from ...solver.mesh.geometry.longitudinal_profile import ElongatedSurface  # loads SciPy

    return ElongatedSurface(found.surface.along, found.length, vertices).thickness()
