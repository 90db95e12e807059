# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads Blender's objects into the solver's scene, and samples what changes over time into its tracks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.errors import BadInput
from ...solver.scene.contact import Collider, Collision
from ...solver.scene.force_fields import FieldWeights
from ...solver.scene.joint_validation import check_joints
from ...solver.scene.meshing import RIGID, SHEET
from ...solver.scene.rest_scale import RestScale
from ...solver.scene.scene import Body, Material, MaterialPaint, Meshing, Scene, Settings
from ...solver.scene.settings.simulation_settings import AIR_TEMPERATURE, SPEED
from ...solver.scene.sheet import Sheet
from ..blender_data import start_property
from ..blender_data.rna_serialisation import animated_paths
from ..evaluation.evaluated_mesh import (
    evaluated_mesh,
    longest_side,
    polygon_of_triangle,
    polygon_starts,
    positions,
)
from ..evaluation.matrix_units import scale_to_metres, transform_points
from ..evaluation.prefetched_triangles import mesh_triangles
from ..evaluation.sample_times import frame_range, frames_per_second, preroll, rest_frame
from ..evaluation.scene_copy import SceneCopy
from ..evaluation.vertex_weights import weights
from ..objects import collision_filter, roles, tet_estimate
from ..objects.attachment_rows import attachment_owners
from ..objects.field_objects import acts_on
from . import animated_settings, artist_tet_files, body_features, validation
from .armature_bones import read_armature_bones, sample_armature_bone
from .attachment_edges import sample_edge_carriers
from .attachments import attachment_values, read_attachments
from .body_vertices import BodyVertexReader
from .bone_meshes import read_bone, sample_bone
from .colliders import read_collider
from .driven_bones import joint_key, passing_bones, read_bone_joints, sample_bone_joint, with_held_flesh
from .fat_geometry import with_wrap
from .fine_regions import read_fine_regions
from .force_fields import read_field, sample_field
from .formulation import read_formulation
from .heat_sources import read_heat_source, sample_heat_source
from .hooks import read_hooks, sample_hooks
from .joints import passing_pairs, read_joints, sample_joint
from .participants import Participants
from .rest_frame_transforms import RestFrameTransforms
from .rest_shape_animation import RestShapeReader
from .rigid_body import shape_vertices, with_rigid_body
from .rigid_core import read_core, sample_core
from .sampling_context import Sampling
from .settings_to_scene import read_fields
from .weight_reader import WeightReader

ALL_ROWS = slice(None)


def read_scene(
    scene_copy: SceneCopy, inputs: Participants, threads: int | None, grounds: Sequence[Collider] = ()
) -> Scene:
    """Returns the scene, read of objects that are evaluated in the rest pose; `grounds` are of earlier passes.

    Raises:
        BadInput: An object cannot be simulated as it is.
    """
    unit = inputs.unit
    for obj in inputs.bodies:
        validation.check_same_in_render(scene_copy, obj, inputs.scene, rest_frame(inputs.scene))
    bodies = {obj: _read_body(scene_copy, obj, inputs) for obj in inputs.bodies}
    bodies = with_held_flesh(scene_copy, inputs, bodies)
    bones = [read_bone(scene_copy, obj, key, unit, inputs.bodies) for obj, key in inputs.bones.items()]
    joints = read_joints(scene_copy, inputs)
    ignored = collision_filter.ignored_pairs(inputs.scene, inputs.bodies | inputs.colliders | inputs.grounds)
    scene = Scene(
        tuple(bodies.values()),
        (*(read_collider(scene_copy, obj, key, unit) for obj, key in inputs.colliders.items()), *grounds),
        _read_settings(scene_copy, inputs.scene, threads),
        tuple(read_heat_source(scene_copy, obj, key, unit) for obj, key in inputs.heat_sources.items()),
        (*bones, *read_armature_bones(scene_copy, inputs.armature_bones, bodies, unit)),
        (*ignored, *passing_pairs(joints, inputs), *passing_bones(inputs)),
        force_fields=tuple(
            read_field(scene_copy, obj, key, unit, list(bodies.values())) for obj, key in inputs.force_fields.items()
        ),
        joints=(*joints, *read_bone_joints(scene_copy, inputs)),
    )
    check_joints(scene)
    return scene


def sample_tracks(
    sampling: Sampling,
    inputs: Participants,
    scene: Scene,
    rest: RestFrameTransforms,
    shapes: RestShapeReader,
    body_vertices: BodyVertexReader,
) -> None:
    """Adds to the tracks everything of a moment but colliders.

    Args:
        sampling: The moment.
        inputs: The objects that take part.
        scene: What was read of them.
        rest: Where they were in the rest pose.
        shapes: The rest shapes of bodies that change theirs.
        body_vertices: Has read the earlier moments.

    Raises:
        BadInput: A body's number of vertices changed, or coordinates are not numbers.
    """
    scene_copy, add_targets = sampling.scene_copy, body_vertices.add_targets
    sampling.add("gravity", _gravity(scene_copy, sampling.unit))
    for own in (AIR_TEMPERATURE, SPEED):
        if f"sinew.{own.name}" in animated_paths(inputs.scene):
            sampling.add(own.name, getattr(scene_copy.evaluated_scene().sinew, own.name))
    for obj, body in zip(inputs.bodies, scene.bodies, strict=True):
        matrix = sampling.world_from_units(obj)
        validation.check_matrix(obj.name, matrix)
        sampling.add(f"body.{body.key}.matrix", matrix, "rigid")
        for setting, value, kind in animated_settings.animated_values(obj, sampling.evaluated(obj)):
            sampling.add(f"body.{body.key}.{setting}", value, kind)
        for owner, first in attachment_owners(obj):
            for track, value, kind in attachment_values(owner, sampling.evaluated(owner).sinew, first):
                sampling.add(f"body.{body.key}.{track}", value, kind)
        sample_hooks(sampling, obj, body.key)
        sample_edge_carriers(sampling, obj, body.key)
        is_animated = animated_settings.may_be_animated(obj, body)
        if obj.modifiers or len(body.pinned) or len(body.attached) or body.goal or is_animated:
            hidden = shape_vertices(body, rest.bodies[body.key])
            points = body_vertices.vertices(sampling, inputs.scene, obj, body, hidden)
        if shapes.is_animated(obj):
            shaped = shapes.vertices(sampling, obj, len(body.vertices))
            sampling.add(f"body.{body.key}.rest", transform_points(rest.bodies[body.key], shaped))
        if body.goal is not None:
            add_targets(sampling, f"body.{body.key}.goal.targets", matrix, points, ALL_ROWS)
        if is_animated:
            add_targets(sampling, f"body.{body.key}.animated.targets", matrix, points, ALL_ROWS)
        if len(body.attached):
            add_targets(sampling, f"body.{body.key}.attached.targets", matrix, points, body.attached)
        if len(body.pinned):
            add_targets(sampling, f"body.{body.key}.targets", matrix, points, body.pinned)
            sampling.add(f"body.{body.key}.pin_stiffness", sampling.evaluated(obj).sinew.pin_stiffness)
        sample_core(sampling, obj, body)
    for obj, source in zip(inputs.heat_sources, scene.heat_sources, strict=True):
        sample_heat_source(sampling, obj, source)
    for obj, field in zip(inputs.force_fields, scene.force_fields, strict=True):
        sample_field(sampling, obj, field)
    joints = {joint.key: joint for joint in scene.joints}
    for obj, key in inputs.joints.items():
        sample_joint(sampling, obj, joints[key], rest.carriers.get(key))
    for obj, key in inputs.bodies.items():
        if joint_key(key) in joints:
            sample_bone_joint(sampling, obj, joints[joint_key(key)])
    _sample_bones(sampling, inputs, scene, rest)


def _sample_bones(sampling: Sampling, inputs: Participants, scene: Scene, rest: RestFrameTransforms) -> None:
    bones = {bone.key: bone for bone in scene.bones}
    for obj, key in inputs.bones.items():
        sample_bone(sampling, obj, bones[key], rest.bones.get(key))
    for found in inputs.armature_bones:
        if found.key in bones:
            sample_armature_bone(sampling, found, rest.bones[found.key])


@dataclass(frozen=True)
class _BodyMesh:
    """What the evaluated mesh of a body gives in the rest pose.

    Attributes:
        points: Vertices [Blender units], object space, (n, 3).
        faces: Triangles (t, 3).
        pins, attached: How strongly Pin Group and Affect hold each vertex, (n,).
        fields: The fields of `Body` that read weights or polygons.
    """

    points: Floats
    faces: Indices
    pins: Floats
    attached: Floats
    fields: dict[str, Any]


def _read_mesh(scene_copy: SceneCopy, obj: bpy.types.Object, inputs: Participants) -> _BodyMesh:
    unit = inputs.unit
    evaluated = scene_copy.evaluated(obj)
    settings = evaluated.sinew
    with evaluated_mesh(evaluated) as mesh:
        points, faces = positions(mesh), mesh_triangles(obj, mesh)
        pins, attached = _pin_weights(evaluated, mesh, obj)
        weights = WeightReader(obj, evaluated, mesh)
        fields: dict[str, Any] = {
            "plasticity": body_features.read_plasticity(settings, weights),
            "fracture": body_features.read_fracture(scene_copy, settings, weights, unit),
            "material_paint": MaterialPaint(**read_fields(MaterialPaint, settings, weights=weights)),
            "rest_scale": RestScale(**read_fields(RestScale, settings, weights=weights)),
            "flesh": body_features.read_flesh(settings, weights),
            "core": read_core(scene_copy, settings, weights, unit),
            "fine": read_fine_regions(scene_copy, settings, weights, unit),
            "goal": body_features.read_goal(settings, weights),
            "muscle": body_features.read_muscle(scene_copy, settings, weights, unit),
            "attachments": read_attachments(scene_copy, inputs, obj, weights),
            "hooks": read_hooks(scene_copy, inputs, weights),
            "stretch_limit": body_features.read_stretch_limit(settings, weights),
            "seams": body_features.read_seams(obj, settings, mesh),
            "strands": body_features.read_strands(obj, mesh),
        }
        if fields["fracture"] is not None:
            fields["face_of_triangle"] = polygon_of_triangle(polygon_starts(mesh))
    return _BodyMesh(points, faces, pins, attached, fields)


def _read_body(scene_copy: SceneCopy, obj: bpy.types.Object, inputs: Participants) -> Body:
    key, unit = inputs.bodies[obj], inputs.unit
    settings = scene_copy.evaluated(obj).sinew
    matrix = scale_to_metres(scene_copy.matrix(obj), unit)
    found = _read_mesh(scene_copy, obj, inputs)
    faces = found.faces
    if not len(faces) and not len(found.fields["strands"]):
        raise BadInput("mesh-empty", name=obj.name)
    validation.check_points(obj.name, found.points)
    validation.check_matrix(obj.name, matrix)
    world = transform_points(matrix, found.points)
    longest = longest_side(found.points, matrix)
    if np.linalg.det(matrix[:3, :3]) < 0:  # mirrored: faces look outwards again when they are turned round
        faces = faces[:, ::-1]
    rest_scale = found.fields["rest_scale"]
    found.fields["rest_scale"] = replace(rest_scale, direction=rest_scale.direction @ matrix[:3, :3].T)
    pinned = np.flatnonzero(found.pins > 0).astype(np.int32)
    attached = np.flatnonzero(found.attached > 0).astype(np.int32)
    body = Body(
        key=key,
        name=obj.name,
        vertices=world,
        triangles=np.ascontiguousarray(faces),
        material=Material(**read_fields(Material, settings)),
        meshing=replace(_meshing(settings, world, faces, longest, inputs), fine=found.fields.pop("fine")),
        pinned=pinned,
        pin_weights=found.pins[pinned],
        attached=attached,
        attached_weights=found.attached[attached],
        simulated_scale=_simulated_scale(settings, longest, unit),
        heat=body_features.read_heat(settings),
        pressure=body_features.read_pressure(settings),
        surface_detail=body_features.read_surface_detail(settings),
        sheet=Sheet(**read_fields(Sheet, settings, unit), strands=found.fields.pop("strands")),
        method=read_formulation(settings),
        start=start_property.read(obj, matrix),
        collision=Collision(**read_fields(Collision, settings, unit)),
        field_weights=FieldWeights(
            **read_fields(FieldWeights, settings, unit),
            excluded=tuple(key for field, key in inputs.force_fields.items() if not acts_on(field, obj)),
        ),
        **found.fields,
        **read_fields(Body, settings, unit),
        **(artist_tet_files.body_tets(obj, matrix) if settings.method == "GIVEN" else {}),
    )
    if body.is_rigid and body.fracture is None:
        return with_rigid_body(scene_copy, body, obj, matrix)
    return body if obj.sinew.wrap is None else with_wrap(scene_copy, inputs, body, obj)


def _meshing(
    settings: bpy.types.PropertyGroup, world: Floats, faces: Indices, longest: float, inputs: Participants
) -> Meshing:
    if settings.method == "GIVEN":
        return Meshing(method="given")
    if settings.method == "RIGID":
        return Meshing(method=RIGID)
    if settings.method == "SHEET":
        return Meshing(method=SHEET)
    fields, unit = read_fields(Meshing, settings, inputs.unit), inputs.unit
    is_preview = inputs.is_preview and tet_estimate.has_preview(settings)
    if is_preview or settings.sizing == "COUNT":
        found = tet_estimate.measure_surface(world, faces, longest)
        fields["tet_size"] = tet_estimate.meshing_of(settings, found, unit, is_preview).tet_size or None
    elif settings.sizing == "DIVISIONS":
        fields["tet_size"] = longest / settings.divisions or None
    if roles.is_brittle(settings.id_data):
        fields["method"] = RIGID
    return Meshing(**fields)


def _pin_weights(evaluated: bpy.types.Object, mesh: bpy.types.Mesh, obj: bpy.types.Object) -> tuple[Floats, Floats]:
    """Returns how much each vertex is held by the Pin Group and by being outside of Simulated Group, (n,) and (n,).

    A vertex that both hold is held by the stronger one, in doubt by Simulated Group, which always holds.
    """
    settings = obj.sinew
    pins = attached = np.zeros(len(mesh.vertices))
    if settings.pin_group:
        pins = weights(evaluated, mesh, settings.pin_group, obj.name, "Pin Group")
    if settings.affect_group:
        attached = 1.0 - weights(evaluated, mesh, settings.affect_group, obj.name, "Simulated Group")
    return np.where(pins > attached, pins, 0.0), np.where(pins > attached, 0.0, attached)


def _simulated_scale(settings: bpy.types.PropertyGroup, longest: float, unit: float) -> float:
    return settings.simulated_size * unit / longest if settings.use_simulated_size and longest > 0 else 1.0


def _read_settings(scene_copy: SceneCopy, scene: bpy.types.Scene, threads: int | None) -> Settings:
    settings = scene.sinew
    if settings.substeps % settings.samples_per_frame:
        wanted = f"a divisor of the {settings.substeps} Substeps Per Frame"
        raise BadInput(
            "setting-out-of-range",
            setting="Samples Per Frame",
            name=scene.name,
            value=settings.samples_per_frame,
            range=wanted,
        )
    start, end = frame_range(scene)
    return Settings(
        frame_start=start,
        frame_end=end,
        fps=frames_per_second(scene),
        gravity=_gravity(scene_copy, scene.unit_settings.scale_length),
        threads=threads,
        preroll=preroll(scene),
        **read_fields(Settings, scene_copy.evaluated_scene().sinew),
    )


def _gravity(scene_copy: SceneCopy, unit: float) -> tuple[float, float, float]:
    """Returns the gravity of the evaluated scene [m/s²], as Blender shows it: in its units, times their size."""
    scene = scene_copy.evaluated_scene()
    return _vector(scene.gravity, unit) if scene.use_gravity else (0.0, 0.0, 0.0)


def _vector(values: bpy.types.bpy_prop_array, unit: float) -> tuple[float, float, float]:
    x, y, z = values
    return (x * unit, y * unit, z * unit)
