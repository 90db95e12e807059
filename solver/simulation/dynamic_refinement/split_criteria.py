# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tets of a body should become eight, and which eight should become one again.

A tet becomes eight where its deformation gradient F differs from the means at its corners by more than the body
allows: where F is the same everywhere, tets of any size are exact. The error of linear tets is of the order of that
difference, which halves with their size. It also becomes eight where a collider is near. Eight become one where all of
them, and the mean of their F, have differed by less than a third of that for `QUIET_CHECKS` checks, and no collider is
near: as one they would differ by about two thirds, so nothing switches to and fro. No tet becomes larger than it was at
the start: those at the surface are as small as its shape asks for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...contact.colliders.deforming_collider import is_active
from ...contact.colliders.rigid_colliders import BuiltCollider, posed_collider
from ...mechanics.model import Model
from ...mechanics.state_fields import LEVEL_QUIET_FIELD
from ...mesh.geometry.closest_point import closest_points
from ...runtime.arrays import Bools, Floats, floats
from ..features.feature import FeatureStep
from ..simulated_scene import SimulatedScene
from .body_levels import BodyLevels
from .switch_levels import switch_levels

COARSEN_SHARE = 1.0 / 3.0  # of the difference at which tets become eight
STEPS_BETWEEN_SWITCHES = 8  # tets are switched together, for the scene is built anew
# of the tets of a body, below which it waits until more want to become eight, or one: a dent is small, and what is too
# coarse behind it stays so until its tets are split, while tets that are too small only take time
MIN_SPLIT_SHARE, MIN_MERGE_SHARE = 0.003, 0.02
QUIET_CHECKS = 2  # before eight tets become one
# of the size of a tet, from its middle: its corners are 0.56 away
NEAR, NO_LONGER_NEAR = 1.0, 1.5


def adapt_levels(simulation: SimulatedScene, step: FeatureStep) -> None:
    """Switches the tets of all bodies that want others after a step, if it is one after which they may."""
    state, settings = simulation.state, step.scene.settings
    if round(step.end * settings.fps * settings.substeps) % STEPS_BETWEEN_SWITCHES:
        return
    wanted = dict[int, Bools]()
    for body in simulation.built.levels:
        is_split, quiet = _wanted(simulation, body, step)
        merges = is_split & (quiet >= QUIET_CHECKS)
        splits, leaves = int((is_split & ~body.is_split).sum()), len(body.leaves.cell)
        if splits > MIN_SPLIT_SHARE * leaves or int(merges.sum()) >= MIN_MERGE_SHARE * leaves:
            wanted[body.number] = is_split & ~merges
            quiet[merges] = 0
        state.fields[LEVEL_QUIET_FIELD.format(key=body.key)] = quiet
    switch_levels(simulation, wanted)


def _wanted(simulation: SimulatedScene, body: BodyLevels, step: FeatureStep) -> tuple[Bools, np.ndarray]:
    """Returns which tets are to be split, none of them merged, and the checks since each could have been, (c,) each."""
    model, state = simulation.built.model, simulation.state
    tets = model.tets[model.bodies[body.number].tets]
    F, variation = deformation_variation(model, state.x, body.number)
    speed = np.linalg.norm(state.v[tets].mean(axis=1), axis=1)
    leaves = _Leaves(
        middle=floats(state.x[tets].mean(axis=1)),
        path=floats(STEPS_BETWEEN_SWITCHES * step.dt * speed),
        volume=floats(model.volume[model.bodies[body.number].tets]),
        F=F,
        variation=variation,
    )
    may = _may_be_merged(simulation, body, leaves, step.end)
    before = state.fields.get(LEVEL_QUIET_FIELD.format(key=body.key), np.zeros(len(body.is_split), np.int32))
    quiet = np.zeros(len(body.is_split), np.int32)
    quiet[may] = before[may] + 1
    return _with_splits(simulation, body, leaves, step.end), quiet


@dataclass(frozen=True)
class _Leaves:
    """The m tets of a body.

    Attributes:
        middle: Their middles [m], (m, 3).
        path: How far these go until tets may be switched again [m], (m,).
        volume: [m³], (m,).
        F: Deformation gradients, (m, 3, 3).
        variation: How much F varies around each, (m,).
    """

    middle: Floats
    path: Floats
    volume: Floats
    F: Floats
    variation: Floats


def _with_splits(simulation: SimulatedScene, body: BodyLevels, leaves: _Leaves, time: float) -> Bools:
    """Returns which tets are to be split, (c,): those that are, and those of its leaves that have to be."""
    cell, levels = body.leaves.cell, body.levels
    may = ~body.is_frozen[cell] & ~levels.is_finest[cell]
    splits = may & (leaves.variation > body.max_variation)
    asked = np.flatnonzero(may & ~splits)
    reach = floats(NEAR * levels.size[cell[asked]] + leaves.path[asked])
    splits[asked] = are_near_colliders(simulation, body.number, leaves.middle[asked], reach, time)
    is_split = body.is_split.copy()
    is_split[cell[splits]] = True
    return is_split


def _may_be_merged(simulation: SimulatedScene, body: BodyLevels, leaves: _Leaves, time: float) -> np.ndarray:
    """Returns the tets whose children are all leaves and could be one tet now, (k,)."""
    levels = body.levels
    parents, place, children = np.unique(levels.parent[body.leaves.cell], return_inverse=True, return_counts=True)
    F, middle = leaves.F.reshape(-1, 9), leaves.middle
    weight = np.bincount(place, leaves.volume)
    mean = np.stack([np.bincount(place, leaves.volume * row) for row in F.T], axis=1) / weight[:, None]
    largest, path = np.zeros(len(parents)), np.zeros(len(parents))
    np.maximum.at(largest, place, np.maximum(leaves.variation, np.linalg.norm(F - mean[place], axis=1)))
    np.maximum.at(path, place, leaves.path)
    is_whole = (parents >= 0) & (children == levels.child_count[parents])
    may = np.flatnonzero(is_whole & (largest < COARSEN_SHARE * body.max_variation))
    may = may[~body.is_frozen[parents[may]] & ~levels.is_split_at_start[parents[may]]]
    center = np.stack([np.bincount(place, row) for row in middle.T], axis=1) / children[:, None]
    reach = floats(NO_LONGER_NEAR * levels.size[parents[may]] + path[may])
    return parents[may[~are_near_colliders(simulation, body.number, floats(center[may]), reach, time)]]


def deformation_variation(model: Model, x: Floats, number: int) -> tuple[Floats, Floats]:
    """Returns F of the tets of a body, (m, 3, 3), and |F − mean F| at the corner where that is largest, (m,).

    Means are weighted by volume. At a T-junction they are those of what it hangs on, which have its tets among theirs.
    """
    own = model.bodies[number].tets
    tets, volume = model.tets[own], model.volume[own]
    corners = x[tets]
    F = floats(np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2) @ model.Dm_inverse[own])
    sums = np.zeros((model.node_count, 10))
    columns = [*(volume[:, None] * F.reshape(-1, 9)).T, volume]
    for column, values in enumerate(columns):
        sums[:, column] = np.bincount(tets.ravel(), np.repeat(values, 4), model.node_count)
    if model.bound is not None:
        model.bound.hand_down(sums)
    means = floats(sums[:, :9] / np.maximum(sums[:, 9:], 1e-300))
    if model.bound is not None:
        model.bound.interpolate(means)
    off = np.linalg.norm(F.reshape(-1, 1, 9) - means[tets], axis=2)
    return F, floats(off.max(axis=1))


def are_near_colliders(simulation: SimulatedScene, number: int, points: Floats, reach: Floats, time: float) -> Bools:
    """Returns which points of a body [m], (k, 3), are no farther than their reach [m], (k,), from a collider."""
    built, tracks = simulation.built, simulation.tracks
    out, tets = np.zeros(len(points), np.bool_), built.model.bodies[number].tets
    for collider in built.colliders:
        if (tets.start, tets.stop) not in collider.ignored_tets and is_active(collider.key, tracks, time, time):
            pose = collider.pose(tracks, time)
            out |= _are_near(collider, (points - pose[3]) @ pose[:3], reach)
    for deforming in built.deforming:
        if deforming.is_active(tracks, time, time):
            out |= _are_near(posed_collider(deforming, deforming.vertices_at(tracks, time)), points, reach)
    return out


def _are_near(collider: BuiltCollider, points: Floats, reach: Floats) -> Bools:
    """Returns which points in the rigid space of a collider [m], (k, 3), are no farther than their reach [m], (k,)."""
    if collider.bvh is None:
        return points @ collider.normal <= reach + collider.max_thickness
    reach = reach + collider.max_thickness
    found = closest_points(collider.bvh, floats(points), float(reach.max(initial=0.0)))
    return (found.triangle >= 0) & (found.distance <= reach)
