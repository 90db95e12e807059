# SPDX-License-Identifier: GPL-3.0-or-later
"""The rigid core of a body: what it is in the rest pose, and where its hinge and what pulls it are over time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import bpy

from ...solver.arrays import Floats
from ...solver.errors import BadInput
from ...solver.method import BDF2, BY_NEWTON, HIERARCHICAL
from ...solver.rigid_core_settings import Core, Hinge, Pull
from ...solver.scene import Body
from . import input_method
from .input_materials import Paints
from .input_mesh import rigid_matrix
from .input_stage import Stage
from .track_recorder import TrackRecorder

OBJECTS = ("core_hinge", "core_pull")
OF_PULL = {"core_pull_stiffness", "core_pull_damping"}
# all settings of cores
ALL = {"use_core", "core_skin_thickness", "core_group", *OBJECTS, *OF_PULL}


def unread(own: bpy.types.PropertyGroup) -> set[str]:
    """Returns the settings of cores that are not read; all of them where a body has none, as before there were any."""
    if not own.use_core:
        return ALL
    return OF_PULL if own.core_pull is None else set()


def objects_of(bodies: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Returns the objects that hold and pull cores of bodies, each once."""
    named = (getattr(o.sinew, name) for o in bodies if o.sinew.use_core for name in OBJECTS)
    return list(dict.fromkeys(obj for obj in named if obj is not None))


def check_core(obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Makes sure that a body can have the core that it asks for.

    Raises:
        BadInput: It is to do what does not go with one, or what holds or pulls it is not in the scene.
    """
    for feature in clashing(obj):
        raise BadInput("core-combined", name=obj.name, feature=feature)
    for other in objects_of([obj]):
        if other.name not in scene.objects or scene.objects[other.name] != other:
            raise BadInput("core-object-elsewhere", name=obj.name, other=other.name, scene=scene.name)


def clashing(obj: bpy.types.Object) -> Iterator[str]:
    """Yields what of a body does not go with its core."""
    own = obj.sinew
    if not own.use_core:
        return
    if own.use_fracture:
        yield "Fracture"
    if own.gravity_in_shape and own.core_hinge is not None:
        yield "Gravity Already in Shape with a hinge"
    asked = input_method.method(own)
    if asked.name in {*BY_NEWTON, HIERARCHICAL}:
        yield f"the Method {input_method.label(own)}"
    if asked.scheme == BDF2:
        yield "BDF2 as Stepping"


def core(stage: Stage, own: bpy.types.PropertyGroup, paints: Paints, unit: float) -> Core | None:
    """Returns the core of a body in the rest pose, or None.

    Args:
        stage: Evaluated there.
        own: The settings of the body.
        paints: The groups that they name.
        unit: Metres in a Blender unit.

    Raises:
        BadInput: A painted group is not there, or 0 everywhere.
    """
    if not own.use_core:
        return None
    hinge = pull = None
    settings = paints.owner.sinew  # which points at the objects, not at what was evaluated of them
    if settings.core_hinge is not None:
        frame = rigid_matrix(stage.matrix(settings.core_hinge), unit)
        hinge = Hinge(_vector(frame[:3, 3]), _vector(frame[:3, 2]))
    if settings.core_pull is not None:
        place = rigid_matrix(stage.matrix(settings.core_pull), unit)[:3, 3]
        pull = Pull(_vector(place), own.core_pull_stiffness, own.core_pull_damping)
    return Core(own.core_skin_thickness * unit, paints.of("core_group"), hinge, pull)


def sample_core(stage: Stage, obj: bpy.types.Object, body: Body, unit: float, time: float, to: TrackRecorder) -> None:
    """Adds to the tracks where the hinge and what pulls a core are at a time [s].

    Raises:
        BadInput: They were taken away meanwhile.
    """
    asked = body.core
    for name, is_asked in (("hinge", asked and asked.hinge), ("pull", asked and asked.pull)):
        if not is_asked:
            continue
        other = getattr(obj.sinew, f"core_{name}")
        if other is None:
            raise BadInput("object-gone", name=f"{obj.name}: {name}")
        frame = rigid_matrix(stage.matrix(other), unit)
        if name == "hinge":
            to.add(f"body.{body.key}.hinge", time, frame, "rigid")
        else:
            to.add(f"body.{body.key}.pull", time, frame[:3, 3])


def _vector(values: Floats) -> tuple[float, float, float]:
    x, y, z = values.tolist()
    return (x, y, z)
