# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist does in an hour, in an order that a seed gives: bodies, settings, bakes of every kind, undo and redo.

The same in a window (`undo.py`) and in the bpy module (`random_operations_background.py`). Operations are generators
that yield the seconds to wait. Nothing of Blender's is kept between them but names: undo moves everything in memory.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import bpy

Steps = Iterator[float]

MOST_OBJECTS = 5
MOST_POLLS = 20_000  # the first bake may compile, on a machine that does other things too
FRAMES = (5, 12)
KINDS = ("soft", "breaking", "breaking", "pieces", "flesh")


@dataclass
class Session:
    """The Blender that operations happen in.

    Attributes:
        bakes: Sinew's module of that name.
        start: Begins a bake, or resumes one.
        undo, redo: Do so once.
        log: Takes one line per operation, before it happens.
        stopped: Kinds of sentences with which operators refused.
        done: How often each operation happened.
        seen: After how many operations a bake ran, something broken stood in the file, and force curves did.
    """

    bakes: object
    start: Callable[[bool], Steps]
    undo: Callable[[], Steps]
    redo: Callable[[], Steps]
    log: Callable[[str], None]
    refused: list[str] = field(default_factory=list)
    done: Counter = field(default_factory=Counter)
    seen: Counter = field(default_factory=Counter)
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="sinew-operations-")))


def operations(seed: int, count: int, session: Session) -> Steps:
    """Does so many operations, and looks at all of Blender's data after each."""
    chance = random.Random(seed)
    names = [name for name, weight in WEIGHTS.items() for _ in range(weight)]
    # what falls on it breaks, and presses it
    yield from _guarded(session, add_ground(session, chance))
    yield from _guarded(session, add_body(session, chance, "breaking"))
    yield from _guarded(session, simulate(session, chance))
    yield from _guarded(session, finish(session, chance))
    for number in range(count):
        name = chance.choice(names)
        if not _bodies() and name not in ("undo", "redo", "reload"):
            name = "add_body"
        session.log(f"{number} {name}")
        session.done[name] += 1
        yield from _guarded(session, globals()[name](session, chance))
        yield 0.05
        look_at_everything()
        _note(session)
    session.bakes.session.cancel()
    yield from _until_ended(session)
    look_at_everything()


def _guarded(session: Session, steps: Steps) -> Steps:
    """Lets an operator refuse, in its own words; any other failure is one."""
    try:
        yield from steps
    except RuntimeError as problem:
        words = str(problem)
        assert "Traceback" not in words, words
        session.log(f"   refused: {words.strip()}")
        session.refused.append(words.strip())


def look_at_everything() -> None:
    """Follows every pointer between data-blocks: one that dangles ends Blender here, and not some day."""
    bpy.data.user_map()
    for obj in bpy.data.objects:
        data = obj.animation_data
        [strip.action.name for track in (data.nla_tracks if data else ()) for strip in track.strips if strip.action]
        [modifier.node_group.name for modifier in obj.modifiers if getattr(modifier, "node_group", None)]
        [slot.material.name for slot in obj.material_slots if slot.material]
        assert obj.sinew.result_of is None or obj.sinew.result_of.name
    left = [scene.name for scene in bpy.data.scenes if "Stage" in scene.name]
    assert not left, f"a stage was left in the file: {left}"
    bpy.context.view_layer.update()


def _note(session: Session) -> None:
    scene = bpy.context.scene
    session.seen["running"] += session.bakes.session.bake is not None
    session.seen["broken"] += any(o.sinew.result_of for o in scene.objects)
    session.seen["curves"] += bool(bpy.data.actions)
    session.seen["nodes"] += bool(bpy.data.node_groups)
    session.seen["baked"] += any(m.filepath for o in scene.objects for m in o.modifiers if m.type == "MESH_CACHE")


def _bodies() -> list[str]:
    scene = bpy.context.scene
    return sorted(o.name for o in scene.objects if o.sinew.role == "BODY" and o.name in bpy.context.view_layer.objects)


def _pick(chance: random.Random, names: list[str] | None = None) -> bpy.types.Object | None:
    """Selects one object, makes it active, and returns it."""
    scene = bpy.context.scene
    known = set(bpy.context.view_layer.objects.keys())
    usual = sorted(o.name for o in scene.objects if o.type == "MESH" and not o.sinew.result_of)
    found = [name for name in (usual if names is None else names) if name in known]
    if not found or bpy.context.mode != "OBJECT":
        return None
    obj = bpy.data.objects[chance.choice(found)]
    for other in bpy.context.view_layer.objects:
        other.select_set(other == obj)
    bpy.context.view_layer.objects.active = obj
    return obj


def _step(message: str) -> None:
    """What Blender does after a setting was changed in a panel."""
    bpy.ops.ed.undo_push(message=message)


# ---- operations


def add_body(session: Session, chance: random.Random, kind: str = "") -> Steps:
    """A cube of some kind of body; flesh with a bone."""
    yield 0.0
    if bpy.context.mode != "OBJECT" or len(bpy.context.scene.objects) > MOST_OBJECTS + 6:
        return
    kind = kind or chance.choice(KINDS)
    place = [chance.uniform(-1.0, 1.0), chance.uniform(-1.0, 1.0), chance.uniform(0.25, 0.5)]
    session.log(f"   {kind}")
    bpy.ops.mesh.primitive_cube_add("EXEC_DEFAULT", True, size=0.4, location=place)
    name = bpy.context.object.name
    if kind == "flesh":
        bpy.ops.sinew.make_flesh("EXEC_DEFAULT", True)
        bpy.ops.sinew.add_bone("EXEC_DEFAULT", True)
    else:
        bpy.ops.sinew.make_body("EXEC_DEFAULT", True)
    own = bpy.data.objects[name].sinew
    own.divisions = 2
    if kind in ("breaking", "pieces"):
        own.use_fracture, own.breaking_stress, own.youngs_modulus = True, 2.0e3, 1.0e6
        own.initial_velocity, own.most_pieces = (0.0, 0.0, -5.0), 4
        own.separate_pieces = kind == "pieces"
        own.attributes = {"damage"}
    scene = bpy.context.scene
    scene.frame_end = chance.randint(*FRAMES)
    _step("settings")


def add_ground(session: Session, chance: random.Random) -> Steps:
    yield 0.0
    if bpy.context.mode == "OBJECT" and not any(o.sinew.role == "COLLIDER" for o in bpy.context.scene.objects):
        bpy.ops.sinew.add_ground("EXEC_DEFAULT", True)


def add_collider(session: Session, chance: random.Random) -> Steps:
    yield 0.0
    if bpy.context.mode == "OBJECT" and len(bpy.context.scene.objects) <= MOST_OBJECTS + 3:
        bpy.ops.mesh.primitive_cube_add("EXEC_DEFAULT", True, size=0.3, location=(0.0, 0.0, -0.3))
        bpy.ops.sinew.make_collider("EXEC_DEFAULT", True)


def move(session: Session, chance: random.Random) -> Steps:
    yield 0.0
    if _pick(chance) is not None:
        bpy.ops.transform.translate(
            "EXEC_DEFAULT", True, value=(chance.uniform(-0.3, 0.3), 0.0, chance.uniform(0, 0.2))
        )


def scale(session: Session, chance: random.Random) -> Steps:
    yield 0.0
    if _pick(chance) is not None:
        bpy.ops.transform.resize("EXEC_DEFAULT", True, value=[chance.uniform(0.9, 1.1)] * 3)


def delete(session: Session, chance: random.Random) -> Steps:
    yield 0.0
    if _pick(chance) is not None:
        bpy.ops.object.delete("EXEC_DEFAULT", True)


def delete_any(session: Session, chance: random.Random) -> Steps:
    """Also what stands in for a broken body."""
    yield 0.0
    names = sorted(o.name for o in bpy.context.view_layer.objects if o.sinew.result_of)
    if _pick(chance, names) is not None:
        bpy.ops.object.delete("EXEC_DEFAULT", True)


def duplicate(session: Session, chance: random.Random) -> Steps:
    yield 0.0
    if len(bpy.context.scene.objects) <= MOST_OBJECTS + 6 and _pick(chance) is not None:
        bpy.ops.object.duplicate("EXEC_DEFAULT", True)


def remove(session: Session, chance: random.Random) -> Steps:
    yield 0.0
    if _pick(chance) is not None:
        bpy.ops.sinew.remove("EXEC_DEFAULT", True)


def settings(session: Session, chance: random.Random) -> Steps:
    yield 0.0
    obj = _pick(chance, _bodies())
    if obj is None:
        return
    own, what = obj.sinew, chance.randrange(7)
    if what == 0:
        own.youngs_modulus = chance.uniform(1.0e5, 1.0e6)
    elif what == 1:
        own.attributes = chance.choice([set(), {"damage"}, {"stress"}])
    elif what == 2:
        own.separate_pieces = not own.separate_pieces
    elif what == 3:
        own.broken_material = chance.choice([None, bpy.data.materials.new("Inside")])
    elif what == 4:
        bpy.context.scene.frame_end = chance.randint(*FRAMES)
    elif what == 5:
        bpy.context.scene.sinew.take = chance.choice(["", "two"])
    else:
        own.use_fracture = not own.use_fracture
    _step("settings")


def simulate(session: Session, chance: random.Random) -> Steps:
    yield 0.0
    if session.bakes.session.bake is None:
        yield from session.start(False)
    yield from _some_frames(session, chance)


def resume(session: Session, chance: random.Random) -> Steps:
    yield 0.0
    if session.bakes.session.bake is None:
        yield from session.start(True)
    yield from _some_frames(session, chance)


def finish(session: Session, chance: random.Random) -> Steps:
    """Waits for the end of the bake, and sometimes undoes at once."""
    yield from _until_ended(session)
    if chance.random() < 0.5:
        yield from session.undo()


def cancel(session: Session, chance: random.Random) -> Steps:
    yield 0.0
    session.bakes.session.cancel()
    if chance.random() < 0.5:
        yield from _until_ended(session)


def delete_bake(session: Session, chance: random.Random) -> Steps:
    yield 0.0
    if session.bakes.session.bake is None:
        bpy.ops.sinew.delete_bake("EXEC_DEFAULT", True)


def convert(session: Session, chance: random.Random) -> Steps:
    yield 0.0
    if len(bpy.context.scene.objects) <= MOST_OBJECTS + 8 and _pick(chance, _bodies()) is not None:
        bpy.ops.sinew.convert_to_shape_keys("EXEC_DEFAULT", True)


def force_curves(session: Session, chance: random.Random) -> Steps:
    yield 0.0
    names = sorted(o.name for o in bpy.context.scene.objects if o.sinew.role == "COLLIDER")
    if _pick(chance, names) is not None:
        act = chance.choice([bpy.ops.sinew.create_force_curves] * 2 + [bpy.ops.sinew.remove_force_curves])
        act("EXEC_DEFAULT", True)


def show_bake(session: Session, chance: random.Random) -> Steps:
    yield 0.0
    bpy.ops.sinew.show_bake("EXEC_DEFAULT", True)


def scrub(session: Session, chance: random.Random) -> Steps:
    for _ in range(3):
        bpy.context.scene.frame_set(chance.randint(1, FRAMES[1]))
        yield 0.03


def edit_mode(session: Session, chance: random.Random) -> Steps:
    """Into it and out of it; what happens between is happening to a mesh."""
    yield 0.0
    if bpy.context.mode != "OBJECT" or _pick(chance) is not None:
        if bpy.ops.object.mode_set.poll():
            bpy.ops.object.editmode_toggle("EXEC_DEFAULT", True)


def undo(session: Session, chance: random.Random) -> Steps:
    for _ in range(chance.randint(1, 4)):
        yield from session.undo()
        look_at_everything()


def redo(session: Session, chance: random.Random) -> Steps:
    for _ in range(chance.randint(1, 3)):
        yield from session.redo()
        look_at_everything()


def save(session: Session, chance: random.Random) -> Steps:
    yield 0.0
    bpy.ops.wm.save_as_mainfile("EXEC_DEFAULT", True, filepath=str(session.folder / f"{chance.choice('ab')}.blend"))


def reload(session: Session, chance: random.Random) -> Steps:
    yield 0.0
    if bpy.data.filepath and Path(bpy.data.filepath).is_file():
        bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
        yield 0.5


def _some_frames(session: Session, chance: random.Random) -> Steps:
    """Waits for so many polls of the bake, from none to as many as it has."""
    for _ in range(chance.choice([0, 5, 20, 60])):
        if session.bakes.session.bake is None:
            return
        yield 0.05


def _until_ended(session: Session) -> Steps:
    for _ in range(MOST_POLLS):
        if session.bakes.session.bake is None:
            yield 0.3
            return
        yield 0.03
    raise AssertionError("a bake of a few frames did not end")


WEIGHTS = {
    "add_body": 4, "add_ground": 3, "add_collider": 1, "move": 4, "scale": 2, "delete": 2, "delete_any": 1,
    "duplicate": 2, "remove": 1, "settings": 4, "simulate": 7, "resume": 2, "finish": 9, "cancel": 2, "delete_bake": 1,
    "convert": 1, "force_curves": 4, "show_bake": 2, "scrub": 2, "edit_mode": 1, "undo": 12, "redo": 6, "save": 1,
    "reload": 1,
}  # fmt: skip
