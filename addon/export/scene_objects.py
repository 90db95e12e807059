# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's objects as parts of a scene, and the tracks of what changes over time."""

from __future__ import annotations

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ...solver.scene.contact import Collision
from ...solver.scene.scene import Body, Material, Meshing, Scene, Settings
from ..blender_data.rna_snapshot import animated_paths
from ..evaluation.evaluated_mesh import (
    evaluated_mesh,
    longest_side,
    metres_matrix,
    positions,
    to_world,
    triangles,
    weights,
)
from ..evaluation.sample_times import SampleTime, frame_range, frames_per_second, preroll, rest_frame
from ..evaluation.scene_copy import SceneCopy
from ..objects import collision_filter, watertight
from . import animated_settings, material_parameters, tet_file, validation
from .armature_bones import read_armature_bones, sample_armature_bone
from .bone_meshes import read_bone, sample_bone
from .collider_motion import read_collider
from .formulation import read_formulation
from .heat_sources import read_heat_source, sample_heat_source
from .participants import Participants
from .rest_pose import RestPose
from .rest_shape_animation import RestShapeReader
from .rigid_core import read_core, sample_core
from .scene_fields import read_fields
from .track_recorder import TrackRecorder
from .weight_reader import WeightReader


def read_scene(stage: SceneCopy, inputs: Participants, threads: int | None) -> Scene:
    """Returns the scene, read of objects that are evaluated in the rest pose.

    Raises:
        BadInput: An object cannot be simulated as it is.
    """
    unit = inputs.unit
    for obj in inputs.bodies:
        validation.check_same_in_render(stage, obj, inputs.scene, rest_frame(inputs.scene))
    bodies = {obj: _read_body(stage, obj, key, unit) for obj, key in inputs.bodies.items()}
    bones = [read_bone(stage, obj, key, unit, inputs.bodies) for obj, key in inputs.bones.items()]
    return Scene(
        tuple(bodies.values()),
        tuple(read_collider(stage, obj, key, unit) for obj, key in inputs.colliders.items()),
        _read_settings(stage, inputs.scene, threads),
        tuple(read_heat_source(stage, obj, key, unit) for obj, key in inputs.heat_sources.items()),
        (*bones, *read_armature_bones(stage, inputs.armature_bones, bodies, unit)),
        collision_filter.ignored_pairs(inputs.scene, inputs.bodies | inputs.colliders),
    )


def sample_tracks(
    stage: SceneCopy,
    shapes: RestShapeReader,
    inputs: Participants,
    scene: Scene,
    rest: RestPose,
    moment: SampleTime,
    to: TrackRecorder,
) -> None:
    """Adds to the tracks what is evaluated now, at a moment, and the rest shapes of then; colliders are left out.

    Raises:
        BadInput: A body's number of vertices changed, or coordinates are not numbers.
    """
    time, recorder = moment.time, to
    recorder.add("gravity", time, _gravity(stage, inputs.unit))
    if "sinew.air_temperature" in animated_paths(inputs.scene):
        recorder.add("air_temperature", time, stage.evaluated_scene().sinew.air_temperature)
    for obj, body in zip(inputs.bodies, scene.bodies, strict=True):
        matrix = metres_matrix(stage.matrix(obj), inputs.unit)
        validation.check_matrix(obj.name, matrix)
        recorder.add(f"body.{body.key}.matrix", time, matrix, "rigid")
        for setting, value in animated_settings.animated_values(obj, stage.evaluated(obj).sinew):
            recorder.add(f"body.{body.key}.{setting}", time, value)
        if obj.modifiers or len(body.pinned) or len(body.attached):
            points = _same_vertices(stage, inputs.scene, obj, len(body.vertices), moment.frame)
        if shapes.has(obj):
            shaped = shapes.vertices(stage, obj, len(body.vertices), moment.frame)
            recorder.add(f"body.{body.key}.rest", time, to_world(rest.bodies[body.key], shaped))
        if len(body.attached):
            recorder.add(f"body.{body.key}.attached.targets", time, to_world(matrix, points[body.attached]))
        if len(body.pinned):
            recorder.add(f"body.{body.key}.targets", time, to_world(matrix, points[body.pinned]))
            recorder.add(f"body.{body.key}.pin_stiffness", time, stage.evaluated(obj).sinew.pin_stiffness)
        sample_core(stage, obj, body, inputs.unit, time, recorder)
    for obj, source in zip(inputs.heat_sources, scene.heat_sources, strict=True):
        sample_heat_source(stage, obj, source, inputs.unit, (time, moment.frame), recorder)
    _sample_bones(stage, inputs, scene, rest, moment, recorder)


def _sample_bones(
    stage: SceneCopy, inputs: Participants, scene: Scene, rest: RestPose, moment: SampleTime, recorder: TrackRecorder
) -> None:
    bones = {bone.key: bone for bone in scene.bones}
    for obj, key in inputs.bones.items():
        sample_bone(stage, obj, bones[key], rest.bones.get(key), moment, recorder, inputs.unit)
    for found in inputs.armature_bones:
        if found.key in bones:
            sample_armature_bone(stage, found, rest.bones[found.key], moment, recorder, inputs.unit)


def _same_vertices(stage: SceneCopy, scene: bpy.types.Scene, obj: bpy.types.Object, count: int, frame: int) -> Floats:
    with evaluated_mesh(stage.evaluated(obj)) as mesh:
        points = positions(mesh)
    if len(points) != count:
        start = rest_frame(scene)
        name, numbers = validation.changing_modifier(scene, obj, start, frame), {"first": count, "now": len(points)}
        raise BadInput("vertices-change", name=obj.name, modifier=name, start=start, frame=frame, **numbers)
    validation.check_points(obj.name, points)
    return points


def _read_body(stage: SceneCopy, obj: bpy.types.Object, key: str, unit: float) -> Body:
    evaluated = stage.evaluated(obj)
    own = evaluated.sinew
    matrix = metres_matrix(stage.matrix(obj), unit)
    with evaluated_mesh(evaluated) as mesh:
        points, faces = positions(mesh), triangles(mesh)
        pins, attached = _pin_weights(evaluated, mesh, obj)
        weights = WeightReader(obj, evaluated, mesh)
        plasticity = material_parameters.read_plasticity(own, weights)
        fracture = material_parameters.read_fracture(own, weights)
        flesh = material_parameters.read_flesh(own, weights)
        rigid_core = read_core(stage, own, weights, unit)
        polygons = material_parameters.polygon_of_triangle(mesh) if fracture is not None else np.zeros(0, np.int32)
    if not len(faces):
        raise BadInput("mesh-empty", name=obj.name)
    validation.check_points(obj.name, points)
    validation.check_matrix(obj.name, matrix)
    world = to_world(matrix, points)
    longest = longest_side(points, matrix)
    if np.linalg.det(matrix[:3, :3]) < 0:  # mirrored: faces look outwards again when they are turned round
        faces = faces[:, ::-1]
    if own.use_fracture:
        watertight.check_watertight(obj.name, world, faces)
    pinned = np.flatnonzero(pins > 0).astype(np.int32)
    held = np.flatnonzero(attached > 0).astype(np.int32)
    return Body(
        key=key,
        name=obj.name,
        vertices=world,
        triangles=np.ascontiguousarray(faces),
        material=Material(**read_fields(Material, own)),
        meshing=_meshing(own, longest, unit),
        pinned=pinned,
        pin_weights=pins[pinned],
        attached=held,
        attached_weights=attached[held],
        simulated_scale=_simulated_scale(own, longest, unit),
        plasticity=plasticity,
        heat=material_parameters.read_heat(own),
        fracture=fracture,
        face_of_triangle=polygons,
        flesh=flesh,
        method=read_formulation(own),
        core=rigid_core,
        collision=Collision(**read_fields(Collision, own, unit)),
        **read_fields(Body, own, unit),
        **(tet_file.body_tets(obj, matrix) if own.method == "GIVEN" else {}),
    )


def _meshing(own: bpy.types.PropertyGroup, longest: float, unit: float) -> Meshing:
    if own.method == "GIVEN":
        return Meshing(method="given")
    fields = read_fields(Meshing, own, unit)
    return Meshing(**fields | ({} if own.sizing == "SIZE" else {"tet_size": longest / own.divisions or None}))


def _pin_weights(evaluated: bpy.types.Object, mesh: bpy.types.Mesh, obj: bpy.types.Object) -> tuple[Floats, Floats]:
    """Returns how much each vertex is held by the Pin Group and by being outside of Simulated Group, (n,) and (n,).

    A vertex that both hold is held by the stronger one, in doubt by Simulated Group, which always holds.
    """
    own = obj.sinew
    pins = attached = np.zeros(len(mesh.vertices))
    if own.pin_group:
        pins = weights(evaluated, mesh, own.pin_group, obj.name, "Pin Group")
    if own.affect_group:
        attached = 1.0 - weights(evaluated, mesh, own.affect_group, obj.name, "Simulated Group")
    return np.where(pins > attached, pins, 0.0), np.where(pins > attached, 0.0, attached)


def _simulated_scale(own: bpy.types.PropertyGroup, longest: float, unit: float) -> float:
    return own.simulated_size * unit / longest if own.use_simulated_size and longest > 0 else 1.0


def _read_settings(stage: SceneCopy, scene: bpy.types.Scene, threads: int | None) -> Settings:
    own = scene.sinew
    if own.substeps % own.samples_per_frame:
        wanted = f"a divisor of the {own.substeps} Substeps Per Frame"
        raise BadInput(
            "setting-out-of-range",
            setting="Samples Per Frame",
            name=scene.name,
            value=own.samples_per_frame,
            range=wanted,
        )
    start, end = frame_range(scene)
    return Settings(
        frame_start=start,
        frame_end=end,
        fps=frames_per_second(scene),
        gravity=_gravity(stage, scene.unit_settings.scale_length),
        threads=threads,
        preroll=preroll(scene),
        **read_fields(Settings, stage.evaluated_scene().sinew),
    )


def _gravity(stage: SceneCopy, unit: float) -> tuple[float, float, float]:
    """Returns the gravity of the evaluated scene [m/s²], as Blender shows it: in its units, times their size."""
    scene = stage.evaluated_scene()
    return _vector(scene.gravity, unit) if scene.use_gravity else (0.0, 0.0, 0.0)


def _vector(values: bpy.types.bpy_prop_array, unit: float) -> tuple[float, float, float]:
    x, y, z = values
    return (x * unit, y * unit, z * unit)
