# SPDX-License-Identifier: GPL-3.0-or-later
"""What bones do in a step: nodes that they hold exactly, and springs.

`attachment.py` says which node follows which bone, `motion.py` where it is at a time. Pins are asked after bones, so
where both hold a node the pins have it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..anatomy import Bone
from ..arrays import Bools, Floats, Indices, floats
from ..errors import SinewError
from ..integrators.outside import Points
from ..model import Model
from ..pins import BodyPins
from ..scene import Scene
from ..state import State
from ..tetrahedralize.tet_mesh import TetMesh
from ..tracks import TrackReader
from .attachment import Attachment, attach, holds
from .checks import APART, check_freedom, check_outside, conflicts, never_released
from .motion import Motion, make_motion
from .reach import Shape
from .turned import count_turned, refuse_most


@dataclass(frozen=True)
class Springs:
    """Springs from nodes to places.

    Attributes:
        nodes: Of the model, (k,).
        targets: Where they are pulled [m], (k, 3).
        stiffness: [N/m], (k,).
    """

    nodes: Indices
    targets: Floats
    stiffness: Floats


@dataclass(frozen=True, eq=False)
class Hold:
    """What one bone holds of one body.

    Attributes:
        number: Of the bone, in the order of the scene.
        bone: As in the scene.
        body, name: Number of the body, and its name for people.
        nodes: Nodes of the model, rising, (k,).
        rows: Which place of `motion` each of them has, (k,).
        motion: Where these places are.
        tets: Tets of the model all of whose nodes it holds, by `rows`, (t, 4).
    """

    number: int
    bone: Bone
    body: int
    name: str
    nodes: Indices
    rows: Indices
    motion: Motion
    tets: Indices

    def targets(self, tracks: TrackReader, time: float) -> Floats:
        """Returns where the nodes are at a time [s] in metres, (k, 3); raises as `Motion.targets`."""
        return self.motion.targets(tracks, time)[self.rows]

    def turned(self, places: Floats) -> int:
        """Returns how many of `tets` are inside out with places [m]; a matrix turns none, and has been looked at."""
        return count_turned(places, self.tets) if self.motion.groups else 0

    def following(self, whole_tets: Indices, tets: Indices) -> Hold:
        """Returns the same after nodes have split: tets (m, 4) as they were and as they are."""
        row = np.full(int(whole_tets.max(initial=0)) + 1, -1, np.int32)
        row[self.nodes] = self.rows
        corners = np.flatnonzero(row[whole_tets.ravel()] >= 0)
        nodes, first = np.unique(tets.ravel()[corners], return_index=True)
        rows = row[whole_tets.ravel()[corners[first]]]
        return replace(self, nodes=nodes.astype(np.int32), rows=rows)


@dataclass(frozen=True, eq=False)
class Bones:
    """All bones of a scene, and what they hold.

    Attributes:
        names: Of all bones of the scene, in order, also those that hold nothing.
        is_soft: Which of them hold by springs.
        holds: Per bone and body.
        warnings: What an artist should know, by number of the body.
    """

    names: tuple[str, ...]
    is_soft: tuple[bool, ...]
    holds: tuple[Hold, ...]
    warnings: dict[int, tuple[SinewError, ...]]

    def attached(self, node_count: int) -> Indices:
        """Returns the number of the bone that each of n nodes of the model follows, −1 for none, (n,)."""
        numbers = np.full(node_count, -1, np.int32)
        for hold in self.holds:
            numbers[hold.nodes] = hold.number
        return numbers

    def to_arrays(self, nodes: slice) -> dict[str, np.ndarray]:
        """Returns for `model/KEY.npz` what a body with these nodes of the model follows.

        `attached` is the number of each node's bone, −1 for none, (n,), `bones` are the names of all bones of the
        scene, (b,), and `bone_is_soft` says which of them hold by springs, (b,).
        """
        count = max([nodes.stop, *(int(hold.nodes[-1]) + 1 for hold in self.holds)])
        return {
            "attached": self.attached(count)[nodes],
            "bones": np.array(self.names),
            "bone_is_soft": np.array(self.is_soft),
        }

    @property
    def held_nodes(self) -> Indices:
        """Nodes of the model that are held exactly."""
        held = (hold.nodes for hold in self.holds if hold.bone.stiffness is None)
        return np.concatenate([np.zeros(0, np.int32), *held])

    def of(self, bodies: Collection[int]) -> Bones:
        """Returns what bones hold of the bodies of these numbers."""
        return replace(self, holds=tuple(hold for hold in self.holds if hold.body in bodies))

    def besides(self, bodies: Collection[int]) -> Bones:
        """Returns what bones hold of all other bodies."""
        return replace(self, holds=tuple(hold for hold in self.holds if hold.body not in bodies))

    def hold(self, tracks: TrackReader, time: float, is_fixed: Bools, fixed_target: Floats) -> None:
        """Marks the nodes held exactly at a time [s], (n,), and writes where they have to be [m], (n, 3).

        Raises:
            SolveFailed: The animation of a bone gives no numbers, or turns what it holds inside out.
        """
        for hold in self.holds:
            if hold.bone.stiffness is None:
                places = hold.motion.targets(tracks, time)
                refuse_most(hold.turned(places), len(hold.tets), hold.bone.name, hold.name, time)
                is_fixed[hold.nodes] = True
                fixed_target[hold.nodes] = places[hold.rows]

    def springs(self, tracks: TrackReader, model: Model, time: float) -> Springs:
        """Returns the springs of all soft bones at a time [s]; raises as `hold`."""
        soft = [hold for hold in self.holds if hold.bone.stiffness is not None]
        nodes = np.concatenate([np.zeros(0, np.int32), *(hold.nodes for hold in soft)])
        stiffness = [np.full(len(hold.nodes), hold.bone.stiffness, np.float64) for hold in soft]
        return Springs(
            nodes,
            np.concatenate([np.zeros((0, 3)), *(hold.targets(tracks, time) for hold in soft)]),
            np.concatenate([np.zeros(0), *stiffness]) * model.mass[nodes],
        )

    def pull(self, state: State, model: Model, tracks: TrackReader, time: float) -> Points:
        """Returns the springs of a step that ends at a time [s]; raises as `hold`."""
        springs = self.springs(tracks, model, time)
        if not len(springs.nodes):
            return Points()
        pattern = model.pattern
        corner = pattern.corners[pattern.corner_start[springs.nodes]].astype(np.int32)
        weights = np.zeros((len(corner), 4))
        weights[np.arange(len(corner)), corner % 4] = 1.0
        k = springs.stiffness
        force = k[:, None] * (springs.targets - state.x[springs.nodes])
        return Points(corner // 4, weights, force, k[:, None, None] * np.eye(3), np.zeros((len(k), 3, 3)))

    def turned_inside_out(self, tracks: TrackReader, time: float) -> list[tuple[int, str, int]]:
        """Returns number of the body, name of the bone and number of tets that bones alone turn inside out.

        Springs give way, and do not count.
        """
        exact = [hold for hold in self.holds if hold.bone.stiffness is None and hold.motion.groups]
        counts = [(hold, hold.turned(hold.motion.targets(tracks, time))) for hold in exact]
        return [(hold.body, hold.bone.name, count) for hold, count in counts if count]

    def following(self, whole: Model, tets: Indices) -> Bones:
        """Returns these bones after nodes of other bodies have split: tets have the nodes `tets`, (m, 4), now."""
        return replace(self, holds=tuple(hold.following(whole.tets, tets) for hold in self.holds))


def make_bones(
    scene: Scene, meshes: Sequence[TetMesh], model: Model, tracks: TrackReader, pins: Sequence[BodyPins] = ()
) -> Bones | None:
    """Returns what the bones of a scene hold, or None where it has none that may hold anything.

    Args:
        scene: What is asked for, found sound by `check_bones`.
        meshes: The tets of its bodies.
        model: All bodies.
        tracks: Animated inputs.
        pins: Of all bodies.

    Raises:
        BadInput: A bone reaches none of the flesh, or a body is held as a whole; the sentence names it.
    """
    numbers = [n for n, body in enumerate(scene.bodies) if any(holds(bone, body) for bone in scene.bones)]
    if not numbers:
        return None
    shapes = [Shape(bone) for bone in scene.bones]
    found = []
    for number in numbers:
        place = model.bodies[number]
        own = model.tets[place.tets] - np.int32(place.nodes.start)
        found.append(attach(scene.bones, shapes, scene.bodies[number], floats(model.X[place.nodes]), own))
    check_outside(scene.bones, [scene.bodies[number] for number in numbers], found)
    made: list[Hold] = []
    warnings: dict[int, tuple[SinewError, ...]] = {}
    for number, there in zip(numbers, found, strict=True):
        size = meshes[number].report.tet_size
        own_holds = _holds(scene, shapes, model, number, there, tracks, size)
        made += own_holds
        told = conflicts(scene.bones, scene.bodies[number], there, size)
        own_pins = [one for one in pins if one.body == number]
        warnings[number] = (*told, *_against_pins(own_holds, own_pins, model, tracks, size))
        is_held = np.zeros(model.node_count, bool)
        for hold in own_holds:
            is_held[hold.nodes] |= hold.bone.stiffness is None
        for one in never_released(own_pins, tracks):
            is_held[one.held_nodes] = True
        check_freedom(scene.bodies[number], is_held[model.bodies[number].nodes])
    is_soft = tuple(bone.stiffness is not None for bone in scene.bones)
    return Bones(tuple(bone.name for bone in scene.bones), is_soft, tuple(made), warnings)


def _holds(
    scene: Scene,
    shapes: Sequence[Shape],
    model: Model,
    body: int,
    found: Attachment,
    tracks: TrackReader,
    tet_size: float,
) -> list[Hold]:
    place, made = model.bodies[body], []
    own_tets = model.tets[place.tets] - np.int32(place.nodes.start)
    for number in found.bones:
        own = np.flatnonzero(found.bone == number).astype(np.int32)
        if not len(own):
            continue
        nodes = own + np.int32(place.nodes.start)
        row = np.full(place.nodes.stop - place.nodes.start, -1, np.int32)
        row[own] = np.arange(len(own), dtype=np.int32)
        tets = row[own_tets[(row[own_tets] >= 0).all(axis=1)]]
        motion = make_motion(shapes[number], floats(model.X[nodes]), tracks, tet_size)
        rows, name = np.arange(len(own), dtype=np.int32), scene.bodies[body].name
        made.append(Hold(number, scene.bones[number], body, name, nodes, rows, motion, tets))
    return made


def _against_pins(
    made: Sequence[Hold], pins: Sequence[BodyPins], model: Model, tracks: TrackReader, tet_size: float
) -> list[SinewError]:
    """Returns a warning per exact bone whose nodes pins want elsewhere at the first frame."""
    is_pinned, wanted = np.zeros(model.node_count, bool), np.zeros((model.node_count, 3))
    for one in pins:
        if one.stiffness(tracks, 0.0) > 0.0:
            one.hold(one.targets(tracks, 0.0), is_pinned, wanted)
    told = []
    for hold in made:
        both = is_pinned[hold.nodes]
        if hold.bone.stiffness is not None or not both.any():
            continue
        away = np.linalg.norm((hold.targets(tracks, 0.0) - wanted[hold.nodes])[both], axis=1)
        count = int((away > APART * tet_size).sum())
        if count:
            numbers = {"count": count, "distance": f"{away.max():.3g}"}
            told.append(SinewError("pins-against-bones", name=hold.name, bone=hold.bone.name, **numbers))
    return told
