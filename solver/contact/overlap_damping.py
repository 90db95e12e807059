# SPDX-License-Identifier: GPL-3.0-or-later
"""Damps bodies while contacts resolve their overlap, so that they stay where they separate.

A contact only pushes, so without damping a body would keep the speed at which it comes out, and would spring back from
what compressed it on the way. While any contact between two bodies resolves an overlap, their motion relative to their
common motion is damped; the common motion, and so momentum and free fall, does not change. Afterwards the damping
decays as long as they touch. No single damping suits all stiffnesses: strong damping releases soft bodies too slowly,
weak damping brakes too little; while it decays, it passes a suitable value for each body.
"""

from __future__ import annotations

import math

import numpy as np

from ..mechanics.model import Model
from ..mechanics.state import State
from ..mechanics.state_fields import SEPARATION_FIELD as FIELD
from ..mechanics.topology_state import TETS_FIELD
from ..runtime.arrays import Bools, Floats
from .contact_step import ContactStep

SEPARATION_DAMPING_TIME = 0.05  # time in which the relative motion falls to 1/e [s]
DAMPING_DECAY_TIME = 0.6  # time in which the damping falls to 1/e once the overlap is resolved [s]
MIN_DAMPING_STRENGTH = 0.01  # strength relative to the first one below which the damping ends
MIN_OVERLAP_DEPTH = 1.0e-3  # depth from which two bodies overlap, in tet sizes


def damp_separation(contacts: ContactStep, state: State) -> None:
    """Damps in the state bodies whose overlap is being resolved, after a step with these contacts, which it stores."""
    if not contacts.surfaces:
        return
    own, before = contacts.contact_state, state.fields.pop(FIELD, None)
    # once bodies have broken, overlaps are those of pieces, which have to fly
    is_resolving = (own.lift < -MIN_OVERLAP_DEPTH * own.size) & (TETS_FIELD not in state.fields)
    if before is None and not is_resolving.any():
        return
    normal_force = contacts.end[1]
    strength_of = dict.fromkeys(_body_pairs(contacts, is_resolving), 1.0)
    decay = math.exp(-contacts.dt / DAMPING_DECAY_TIME)
    touching = _body_pairs(contacts, normal_force > 0.0)
    for one, other, strength in before if before is not None else ():
        pair = int(one), int(other)
        if pair not in strength_of and pair in touching and strength * decay > MIN_DAMPING_STRENGTH:
            strength_of[pair] = strength * decay
    if strength_of:
        state.fields[FIELD] = np.array([(*pair, strength_of[pair]) for pair in sorted(strength_of)])
        state.v = damped_velocities(contacts.model, state.fields[FIELD], state.v, contacts.dt)


def damped_velocities(model: Model, damping: Floats, v: Floats, dt: float) -> Floats:
    """Returns damped velocities after a step [m/s], (n, 3).

    Args:
        model: All bodies.
        damping: See `FIELD`, (k, 3).
        v: At the end of the step [m/s], (n, 3).
        dt: Δt [s].
    """
    group, strengths = np.arange(len(model.bodies), dtype=np.int64), np.zeros(len(model.bodies))
    for one, other in [*damping[:, :2].astype(np.int64).tolist(), *_bound_bodies(model)]:
        group[group == group[other]] = group[one]
    # of bodies that are bound to each other: bound nodes have no mass, and go on with their parents
    for one, _, strength in damping:
        strengths[group[int(one)]] = max(strengths[group[int(one)]], strength)
    out = v.copy()
    for number in np.flatnonzero(strengths):
        own = np.zeros(len(v), bool)
        for body in np.flatnonzero(group == number):
            own[model.bodies[body].nodes] = True
        mass, share = model.mass[own], 1.0 - math.exp(-strengths[number] * dt / SEPARATION_DAMPING_TIME)
        out[own] += share * (mass @ v[own] / mass.sum() - v[own])
    return out


def _bound_bodies(model: Model) -> list[tuple[int, int]]:
    """Returns the pairs of bodies of which one has nodes that are bound to the other."""
    if model.bound is None:
        return []
    starts = np.array([body.nodes.start for body in model.bodies], np.int64)
    bound = np.repeat(model.bound.nodes, np.diff(model.bound.start))
    ends = np.stack([bound, model.bound.parents], axis=1)
    bodies = np.unique(np.searchsorted(starts, ends, side="right") - 1, axis=0)
    return [(one, other) for one, other in bodies.tolist() if one != other]


def _body_pairs(contacts: ContactStep, which: Bools) -> set[tuple[int, int]]:
    """Returns the pairs of bodies, lower number first, that some contacts are between."""
    tet = contacts.contact_state.attachment.tet
    ends = tet[which & (tet[:, 1] >= 0), :2]
    starts = np.array([body.tets.start for body in contacts.model.bodies], np.int64)
    bodies = np.unique(np.sort(np.searchsorted(starts, ends, side="right") - 1, axis=1), axis=0)
    return {(one, other) for one, other in bodies.tolist() if one != other}
