# SPDX-License-Identifier: GPL-3.0-or-later
"""The rigid core of a body as part of a scene, and the tracks of its hinge and its spring target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import bpy

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ...solver.scene.formulation import BDF2, HIERARCHICAL, NEWTON_FORMULATIONS
from ...solver.scene.rigid_core import Core, Hinge, Pull
from ...solver.scene.scene import Body
from ..evaluation.matrix_units import scale_translation
from ..evaluation.scene_copy import SceneCopy
from . import formulation
from .sampling_context import Sampling
from .settings_to_scene import read_fields
from .weight_reader import WeightReader

OBJECT_PROPERTIES = ("core_hinge", "core_pull")


def find_core_objects(bodies: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Returns the objects that hold and pull cores of bodies, each once."""
    named = (getattr(o.sinew, name) for o in bodies if o.sinew.use_core for name in OBJECT_PROPERTIES)
    return list(dict.fromkeys(obj for obj in named if obj is not None))


def check_core(obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Makes sure that a body can have the core that it asks for.

    Raises:
        BadInput: It is to do what does not go with one, or what holds or pulls it is not in the scene.
    """
    for feature in incompatible_features(obj):
        raise BadInput("core-combined", name=obj.name, feature=feature)
    for other in find_core_objects([obj]):
        if other.name not in scene.objects or scene.objects[other.name] != other:
            raise BadInput("core-object-elsewhere", name=obj.name, other=other.name, scene=scene.name)


def incompatible_features(obj: bpy.types.Object) -> Iterator[str]:
    """Yields what of a body does not go with its core."""
    settings = obj.sinew
    if not settings.use_core:
        return
    if settings.use_fracture:
        yield "Fracture"
    if settings.gravity_in_shape and settings.core_hinge is not None:
        yield "Gravity Already in Shape with a hinge"
    asked = formulation.read_formulation(settings)
    if asked.name in {*NEWTON_FORMULATIONS, HIERARCHICAL}:
        yield f"the Method {formulation.formulation_label(settings)}"
    if asked.scheme == BDF2:
        yield "BDF2 as Time Integration"


def read_core(
    scene_copy: SceneCopy, settings: bpy.types.PropertyGroup, weights: WeightReader, unit: float
) -> Core | None:
    """Returns the core of a body in the rest pose, or None.

    Args:
        scene_copy: Evaluated there.
        settings: The settings of the body.
        weights: The groups that they name.
        unit: Metres in a Blender unit.

    Raises:
        BadInput: A painted group is not there, or 0 everywhere.
    """
    if not settings.use_core:
        return None
    hinge = pull = None
    originals = weights.owner.sinew  # its pointers are to the original objects, not to evaluated ones
    if originals.core_hinge is not None:
        frame = scale_translation(scene_copy.matrix(originals.core_hinge), unit)
        hinge = Hinge(_vector(frame[:3, 3]), _vector(frame[:3, 2]))
    if originals.core_pull is not None:
        place = scale_translation(scene_copy.matrix(originals.core_pull), unit)[:3, 3]
        pull = Pull(_vector(place), **read_fields(Pull, settings))
    return Core(**read_fields(Core, settings, unit, weights), hinge=hinge, pull=pull)


def sample_core(sampling: Sampling, obj: bpy.types.Object, body: Body) -> None:
    """Adds to the tracks where the hinge and the spring target of a core are.

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
        frame = sampling.world_from_metres(other)
        if name == "hinge":
            sampling.add(f"body.{body.key}.hinge", frame, "rigid")
        else:
            sampling.add(f"body.{body.key}.pull", frame[:3, 3])


def _vector(values: Floats) -> tuple[float, float, float]:
    x, y, z = values.tolist()
    return (x, y, z)
