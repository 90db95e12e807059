# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects that take part in a bake, with their keys. They are chosen once, and looked up again in each slice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import bpy

from ...solver.runtime.errors import BadInput
from ...solver.scene.settings.simulation_settings import PREVIEW
from ..blender_data.object_keys import body_key, new_key, unique_keys
from ..evaluation.scene_copy import input_modifier_counts
from ..objects import roles
from ..objects.attachment_rows import bodies_at_wraps_of_rows, find_edge_objects, find_hook_objects, painted_targets
from ..objects.field_objects import force_fields
from ..objects.rigid_body_constraints import constraints_of, find_carriers
from .activation_inputs import find_source_objects, has_flexed_shape
from .armature_bones import ArmatureBone, bones_of_armatures
from .bone_meshes import bones_that_hold
from .crack_guides import find_guide_objects
from .fibre_objects import find_fibre_objects
from .fine_regions import find_fine_objects
from .rigid_core import find_core_objects

# the fields of `Participants` that are objects with their keys
KEYED_OBJECTS = (
    "bodies",
    "colliders",
    "heat_sources",
    "bones",
    "followed_objects",
    "force_fields",
    "fibre_objects",
    "wraps",
    "grounds",
    "joints",
)
# objects in the order of their names, and their names in files
ObjectKeys = dict[bpy.types.Object, str]


@dataclass(frozen=True)
class Participants:
    """The objects that take part, each with its key in files.

    Attributes:
        scene: The scene.
        bodies, colliders, heat_sources, bones: In the order of their names.
        armature_bones: Bones of armatures, body by body.
        followed_objects: Hinges and spring targets of rigid cores, via points and rigs of muscles, empties on which
            bodies hang, edges of attachments with what carries them, and what joints move with; the key is the object's
            name.
        force_fields: Objects with a force field that acts on bodies, in the order of their names.
        fibre_objects: Lattices, curves and meshes of tendon of muscles; the key is the object's name.
        wraps: At which fat ends; the key is the object's name.
        grounds: Bodies of earlier passes, and those left as they are, which move as they are baked.
        joints: Objects with a Rigid Body Constraint that holds bodies, in the order of their names.
        is_preview: Whether bodies with Preview Tets get these.
        deforming_colliders: Keys of colliders whose vertices are written although they may not have changed yet.
        reads_attachments: Whether those of bodies are read, which needs what they are attached to.
    """

    scene: bpy.types.Scene
    bodies: ObjectKeys
    colliders: ObjectKeys
    heat_sources: ObjectKeys
    bones: ObjectKeys
    armature_bones: list[ArmatureBone]
    followed_objects: ObjectKeys
    force_fields: ObjectKeys
    fibre_objects: ObjectKeys
    wraps: ObjectKeys = field(default_factory=dict)
    grounds: ObjectKeys = field(default_factory=dict)
    joints: ObjectKeys = field(default_factory=dict)
    is_preview: bool = False
    deforming_colliders: frozenset[str] = frozenset()
    reads_attachments: bool = True

    @property
    def unit(self) -> float:
        """Metres in a Blender unit."""
        return self.scene.unit_settings.scale_length

    @property
    def modifier_counts(self) -> dict[bpy.types.Object, int | None]:
        """All objects to evaluate, each with how many of its modifiers (None: all)."""
        painted = [obj for obj in painted_targets(self.bodies) if obj in self.grounds]
        cuts = input_modifier_counts(
            [*self.bodies, *self.wraps, *painted], [*self.colliders, *self.heat_sources, *self.bones]
        )
        rigs = [bone.rig for bone in self.armature_bones if not bone.modifier]
        return dict.fromkeys([*self.followed_objects, *self.force_fields, *self.fibre_objects, *rigs]) | cuts

    @property
    def ground_wraps(self) -> ObjectKeys:
        """The grounds whose Wraps rows of the bodies name, with keys for these."""
        taken = {*self.grounds.values(), *self.colliders.values(), *self.bodies.values()}
        named = {target for obj in self.bodies for target in bodies_at_wraps_of_rows(obj)}
        found = {}
        for obj, key in self.grounds.items():
            if obj in named:
                found[obj] = new_key(f"{key}-wrap", taken)
        return found

    @property
    def reshaped(self) -> list[bpy.types.Object]:
        """The bodies whose rest shape follows their shape keys."""
        return [o for o in self.bodies if roles.is_flesh(o) and o.sinew.rest_from_keys and o.data.shape_keys]

    @property
    def flexed(self) -> list[bpy.types.Object]:
        """The muscles whose rest shape follows their activation."""
        return [o for o in self.bodies if has_flexed_shape(o)]


def find_participants(scene: bpy.types.Scene, number: int | None = None) -> Participants:
    """Returns what takes part in `scene`, in the pass of a number or, with None, in all at once.

    Raises:
        BadInput: A body asks for the bones of its armature, and has none.
    """
    everything = {obj: body_key(obj) for obj in roles.bodies(scene)}
    bodies = {obj: key for obj, key in everything.items() if number in (None, obj.sinew.bake_pass)}
    bones = _with_keys(bones_that_hold(scene, bodies))
    colliders = collider_keys(scene)
    taken, others = set(bones.values()), {*everything.values(), *colliders.values()}
    return Participants(
        scene,
        bodies,
        colliders,
        _with_keys(roles.heat_sources(scene)),
        bones,
        [bone for obj, key in bodies.items() for bone in bones_of_armatures(obj, key, taken, others)],
        {obj: obj.name for obj in followed_objects(scene, bodies)},
        _with_keys(force_fields(scene)),
        {obj: obj.name for obj in find_fibre_objects(bodies)},
        {wrap: wrap.name for obj in bodies if (wrap := obj.sinew.wrap) is not None},
        {obj: key for obj, key in everything.items() if number is not None and obj.sinew.bake_pass < number},
        _with_keys(constraints_of(scene, bodies)),
        is_preview=scene.sinew.bake_detail == PREVIEW,
    )


def followed_objects(scene: bpy.types.Scene, bodies: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Returns the objects that bodies follow by their settings: of cores and muscles, empties that they hang on, those
    near which their tets are small, guides of cracks, edges of attachments, and those that their joints move with."""
    every = list(bodies)
    return [
        *find_core_objects(every),
        *find_source_objects(every),
        *find_hook_objects(every),
        *find_edge_objects(every),
        *find_fine_objects(every),
        *find_guide_objects(every),
        *find_carriers(scene, every),
    ]


def collider_keys(scene: bpy.types.Scene) -> ObjectKeys:
    """Returns the colliders of a scene with their keys; no body has any of these, since contacts name both alike."""
    colliders = [obj for obj in roles.colliders(scene) if roles.is_ever_collider(obj)]
    return _with_keys(colliders, map(body_key, roles.bodies(scene)))


def _with_keys(objects: list[bpy.types.Object], others: Iterable[str] = ()) -> ObjectKeys:
    keys = unique_keys(objects, others)
    return {obj: keys[obj] for obj in objects}


class ParticipantHandles:
    """Finds the objects of an export again after other things have happened in Blender."""

    def __init__(self, inputs: Participants) -> None:
        self._scene = (inputs.scene.session_uid, inputs.scene.name)
        self._keyed = {
            name: [(o.session_uid, o.name, key) for o, key in getattr(inputs, name).items()] for name in KEYED_OBJECTS
        }
        self._rigs = [
            (bone.body.session_uid, bone.rig.session_uid, bone.rig.name, replace(bone, body=None, rig=None))
            for bone in inputs.armature_bones
        ]
        self._is_preview, self._reads_attachments = inputs.is_preview, inputs.reads_attachments
        self._deforming_colliders = inputs.deforming_colliders

    def find(self) -> Participants:
        """Returns the objects as they are now.

        Raises:
            BadInput: One of them was deleted.
        """
        scenes = {s.session_uid: s for s in bpy.data.scenes}
        uid, name = self._scene
        if uid not in scenes:
            raise BadInput("object-gone", name=name)
        present = {o.session_uid: o for o in scenes[uid].objects}
        anywhere = {o.session_uid: o for o in bpy.data.objects} if self._rigs else {}
        wanted = [(uid, name, present) for keyed in self._keyed.values() for uid, name, _ in keyed]
        for uid, name, where in [*wanted, *((rig, name, anywhere) for _, rig, name, _ in self._rigs)]:
            if uid not in where:
                raise BadInput("object-gone", name=name)
        found: dict[str, Any] = {
            name: {present[uid]: key for uid, _, key in keyed} for name, keyed in self._keyed.items()
        }
        rigs = [replace(bone, body=present[body], rig=anywhere[rig]) for body, rig, _, bone in self._rigs]
        return Participants(
            scenes[self._scene[0]],
            armature_bones=rigs,
            is_preview=self._is_preview,
            deforming_colliders=self._deforming_colliders,
            reads_attachments=self._reads_attachments,
            **found,
        )
