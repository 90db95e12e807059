# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts what a hand did in a live run into the scene, so that a bake repeats it: keys, empties, colliders, heat sources.

Keys are on the steps of the run. What is moved gets them in a new action, and its old one stays in the file. A grab
becomes an empty on which the body hangs (`export/hooks.py`), a push a ball that collides while it lasts, a heat gun a
heat source whose Heat Transfer is keyed off before and after.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import bmesh
import bpy
import numpy as np

from ...solver.bake.cache import layout
from ...solver.live.live_steps import KeptFrames
from ...solver.live.recording import RecordedInputs
from ...solver.scene.scene import Body, Scene
from ...solver.scene.settings.heat_settings import SOURCE_EXCHANGE
from ..baking.live_state import LiveRun
from ..blender_data.animation_curves import (
    CONSTANT,
    LINEAR,
    driven_paths,
    own_copy_of_action,
    shift_row_curves,
    write_curves,
)
from ..objects import new_attachments, roles
from ..objects.rigid_body_constraints import ENABLED_PATH
from ..properties.table_editing import remove_row
from . import handled_inputs
from .grabbed_group import make_group
from .hand_strokes import GRAB, PUSH, Hand, HeldValues, Stroke, hand_of

COLLECTION_NAME = "Live Hand"
EMPTY_SHARE = 0.1  # of the longest side of the body, as which an empty is drawn
BALL_SUBDIVISIONS = 3


@dataclass
class _KeptHand:
    """What is put into the scene, and what is not."""

    scene: bpy.types.Scene
    run: LiveRun
    hand: Hand
    steps_per_frame: int
    names: list[str] = field(default_factory=list)
    with_action: set[int] = field(default_factory=set)
    left_out: list[str] = field(default_factory=list)

    @property
    def unit(self) -> float:
        """Metres in a Blender unit."""
        return float(self.scene.unit_settings.scale_length)

    @cached_property
    def bodies(self) -> dict[str, Body]:
        """The bodies as they were written, by key."""
        return {body.key: body for body in Scene.load(self.run.folder / layout.SCENE_FOLDER).bodies}

    def frames(self, steps: Sequence[float]) -> np.ndarray:
        """Returns the frames after numbers of steps, (k,)."""
        return self.run.frame + np.asarray(steps, np.float64) / self.steps_per_frame

    def key(self, owner: bpy.types.ID, path: str, held: HeldValues, kind: str = LINEAR, factor: float = 1.0) -> None:
        """Writes keys into a new action of a data-block."""
        if owner.session_uid not in self.with_action:
            own_copy_of_action(owner, f"{owner.name} Live")
            self.with_action.add(owner.session_uid)
            self.names.append(owner.animation_data.action.name)
        write_curves(owner, path, self.frames(held.steps), np.asarray(held.values, np.float64) * factor, kind)


def put_into_scene(
    scene: bpy.types.Scene, run: LiveRun, recorded: RecordedInputs, frames: KeptFrames, steps_per_frame: int
) -> list[str]:
    """Gives a scene what the hand did in frames of a run, unless it has it; returns what it cannot have.

    Args:
        scene: That of the run, which has ended.
        run: It.
        recorded: What was done in it.
        frames: Which of its frames count; the first one becomes that at which it began.
        steps_per_frame: Of the run.
    """
    if run.kept and all(name in bpy.data.objects or name in bpy.data.actions for name in run.kept):
        if run.kept_frames == frames:
            return []
        _take_out(scene, run.kept)
    begin, end = (frame * steps_per_frame for frame in (frames.first, frames.first + frames.count))
    hand = hand_of(recorded, run.first_channels, end, begin)
    kept = _KeptHand(scene, run, hand, steps_per_frame)
    for stroke in hand.strokes:
        if stroke.kind == GRAB:
            _put_grab(kept, stroke)
        elif stroke.kind == PUSH:
            _put_push(kept, stroke)
        else:
            _put_heat(kept, stroke)
    _key_channels(kept)
    _key_settings(kept)
    if hand.softens:
        kept.left_out.append("softened and hardened material")
    run.kept, run.kept_frames = tuple(kept.names), frames
    return kept.left_out


def _take_out(scene: bpy.types.Scene, names: Iterable[str]) -> None:
    """Removes the objects that other frames of a run have put into a scene, and what hangs on them."""
    for made in filter(None, map(bpy.data.objects.get, names)):
        for body in roles.bodies(scene):
            rows = [n for n, row in enumerate(body.sinew.attachments) if row.target == made]
            for number in reversed(rows):
                group = body.vertex_groups.get(body.sinew.attachments[number].group)
                if group is not None:
                    body.vertex_groups.remove(group)
                remove_row(body.sinew.attachments, number)
                shift_row_curves(body, "sinew.attachments", number)
        bpy.data.objects.remove(made)


def _key_channels(kept: _KeptHand) -> None:
    """Keys what was moved, bones included."""
    driven = set[str]()
    for (name, path), held in kept.hand.channels.items():
        obj = bpy.data.objects.get(name)
        if obj is None or obj.library is not None or path in driven_paths(obj):
            driven.add(name)
        elif held.is_changed:
            kept.key(obj, path, held)
    keyed = {name for name, _ in kept.hand.channels} - driven
    for each in kept.run.inputs:
        obj = None if each.owner is None else each.owner.find()
        is_moved = each.what in handled_inputs.MOVED and each.track in kept.hand.tracks
        if obj is not None and is_moved and not _is_carried(obj, keyed):
            driven.add(obj.name)
    kept.left_out += [f'the motion of "{name}", which constraints, drivers or another file give' for name in driven]


def _is_carried(obj: bpy.types.Object, keyed: set[str]) -> bool:
    """Whether an object or one of its parents is among those with keys."""
    return obj.name in keyed or (obj.parent is not None and _is_carried(obj.parent, keyed))


def _key_settings(kept: _KeptHand) -> None:
    """Keys settings of objects and of the scene, gravity, and whether constraints act."""
    for each in kept.run.inputs:
        held = kept.hand.tracks.get(each.track)
        if held is None:
            continue
        if each.what == handled_inputs.GRAVITY:
            kept.key(kept.scene, "gravity", held, factor=1.0 / kept.unit)
            continue
        owner = kept.scene if each.owner is None else each.owner.find()
        if owner is not None and each.what == handled_inputs.JOINT_ENABLED:
            if ENABLED_PATH in driven_paths(owner) or owner.library is not None:
                kept.left_out.append(f'Enabled of "{owner.name}", which a driver or another file gives')
            else:
                kept.key(owner, ENABLED_PATH, held, CONSTANT)
            continue
        if owner is None or each.what not in (handled_inputs.SETTING, handled_inputs.SCENE_SETTING):
            continue
        if f"sinew.{each.of}" in driven_paths(owner) or owner.library is not None:
            label = owner.sinew.bl_rna.properties[each.of].name
            kept.left_out.append(f'{label} of "{owner.name}", which a driver or another file gives')
        else:
            kept.key(owner, f"sinew.{each.of}", held)


def _put_grab(kept: _KeptHand, stroke: Stroke) -> None:
    """Adds an empty that pulls what was grabbed, from when it was grabbed until it was let go."""
    handle = kept.run.bodies.get(stroke.given["body"])
    obj = None if handle is None else handle.find()
    if obj is None:
        return
    group = make_group(kept.run, obj, stroke.given, lambda: kept.bodies[stroke.given["body"]])
    if not group or obj.library is not None:
        kept.left_out.append(f'a grab of "{obj.name}", whose vertices this file cannot name')
        return
    empty = _new_object(kept, f"Grab of {obj.name}", None)
    empty.empty_display_type, empty.empty_display_size = "SPHERE", EMPTY_SHARE * max(obj.dimensions)
    kept.key(empty, "location", stroke.places, factor=1.0 / kept.unit)
    row = new_attachments.add_attachment(obj, empty)
    row.group = group
    path = f"sinew.attachments[{len(obj.sinew.attachments) - 1}].strength"
    kept.key(obj, path, _while_held(stroke, 1, 1.0), CONSTANT)


def _put_push(kept: _KeptHand, stroke: Stroke) -> None:
    """Adds a ball that collides while it was held, and does not rub."""
    mesh = bpy.data.meshes.new("Push")
    ball = bmesh.new()
    bmesh.ops.create_icosphere(ball, subdivisions=BALL_SUBDIVISIONS, radius=stroke.given["radius"] / kept.unit)
    ball.to_mesh(mesh)
    ball.free()
    obj = _new_object(kept, "Push", mesh)
    obj.display_type, obj.hide_render = "WIRE", True
    roles.make_collider(obj)
    obj.sinew.friction = 0.0
    kept.key(obj, "location", stroke.places, factor=1.0 / kept.unit)
    kept.key(obj, "sinew.use_collision", _while_held(stroke, 0, 1.0), CONSTANT)


def _put_heat(kept: _KeptHand, stroke: Stroke) -> None:
    """Adds a heat source where the heat gun was."""
    temperature = stroke.given.get("temperature")
    if temperature is None:
        kept.left_out.append("a heat gun with a power in watts")
        return
    obj = _new_object(kept, "Heat Gun", None)
    obj.sinew.source_temperature = temperature
    obj.sinew.source_radius = stroke.given["radius"] / kept.unit
    roles.make_heat_source(obj)
    kept.key(obj, "location", stroke.places, factor=1.0 / kept.unit)
    exchange = float(stroke.given.get("exchange", SOURCE_EXCHANGE.default))
    kept.key(obj, f"sinew.{SOURCE_EXCHANGE.name}", _while_held(stroke, 1, exchange), CONSTANT)


def _while_held(stroke: Stroke, later: int, value: float) -> HeldValues:
    """Returns a value while a stroke lasts and 0 besides; it acts `later` steps after the commands."""
    found = HeldValues(0, 0.0)
    if stroke.begin + later <= 0:
        found.values[0] = value
    else:
        found.steps.append(stroke.begin + later)
        found.values.append(value)
    if stroke.end is not None:
        found.steps.append(stroke.end + later)
        found.values.append(0.0)
    return found


def _new_object(kept: _KeptHand, name: str, data: bpy.types.Mesh | None) -> bpy.types.Object:
    collection = kept.scene.collection.children.get(COLLECTION_NAME)
    if collection is None:
        collection = bpy.data.collections.new(COLLECTION_NAME)
        kept.scene.collection.children.link(collection)
    obj = bpy.data.objects.new(name, data)
    collection.objects.link(obj)
    kept.names.append(obj.name)
    return obj
