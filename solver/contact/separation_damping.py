# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are let out of each other part as in syrup, and stay where they have parted.

A contact only pushes, so what it lets out would keep the speed at which it comes out, and what it has pressed together
on the way would spring back. While any contact between two bodies lets out, their motion relative to their common one
is damped; that one, and so momentum and free fall, is left as it is. Then the syrup thins, as long as they touch: thick
it lets go of what is soft too slowly, thin it brakes too little, and on its way it is right for every body once.
"""

from __future__ import annotations

import math

import numpy as np

from ..mechanics.model import Model
from ..mechanics.state import State
from ..mechanics.state_fields import SEPARATION_FIELD as FIELD
from ..mechanics.topology import TETS_FIELD
from ..runtime.arrays import Bools, Floats
from .contact_step import ContactStep

SEPARATION_DAMPING_TIME = 0.05  # time in which the relative motion falls to 1/e [s]
DAMPING_DECAY_TIME = 0.6  # time in which the syrup thins to 1/e once nothing is let out any more [s]
MIN_DAMPING_STRENGTH = 0.01  # part of it that is none any more
MIN_OVERLAP_DEPTH = 1.0e-3  # depth up to which bodies part so, in sizes of tets


def damp_separation(contacts: ContactStep, state: State) -> None:
    """Damps in the state what parts, after a step with these contacts that it remembers."""
    if not contacts.skins:
        return
    pushing, before = contacts.contact_state, state.fields.pop(FIELD, None)
    # what is let out once bodies have broken is pieces among others; these have to fly
    lets_out = (pushing.lift < -MIN_OVERLAP_DEPTH * pushing.size) & (TETS_FIELD not in state.fields)
    if before is None and not lets_out.any():
        return
    normal_force = contacts.end[1]
    parting = dict.fromkeys(_body_pairs(contacts, lets_out), 1.0)
    thins = math.exp(-contacts.dt / DAMPING_DECAY_TIME)
    touching = _body_pairs(contacts, normal_force > 0.0)
    for one, other, thick in before if before is not None else ():
        pair = int(one), int(other)
        if pair not in parting and pair in touching and thick * thins > MIN_DAMPING_STRENGTH:
            parting[pair] = thick * thins
    if parting:
        state.fields[FIELD] = np.array([(*pair, parting[pair]) for pair in sorted(parting)])
        state.v = damped_velocities(contacts.model, state.fields[FIELD], state.v, contacts.dt)


def damped_velocities(model: Model, parting: Floats, v: Floats, dt: float) -> Floats:
    """Returns velocities after a step in which bodies part [m/s], (n, 3).

    Args:
        model: All bodies.
        parting: See `FIELD`, (k, 3).
        v: As the step left them [m/s], (n, 3).
        dt: Δt [s].
    """
    group, thick = np.arange(len(model.bodies), dtype=np.int64), np.zeros(len(model.bodies))
    for one, other in parting[:, :2].astype(np.int64).tolist():
        group[group == group[other]] = group[one]
    for one, _, strength in parting:
        thick[group[int(one)]] = max(thick[group[int(one)]], strength)
    out = v.copy()
    for number in np.flatnonzero(thick):
        own = np.zeros(len(v), bool)
        for body in np.flatnonzero(group == number):
            own[model.bodies[body].nodes] = True
        mass, share = model.mass[own], 1.0 - math.exp(-thick[number] * dt / SEPARATION_DAMPING_TIME)
        out[own] += share * (mass @ v[own] / mass.sum() - v[own])
    return out


def _body_pairs(contacts: ContactStep, which: Bools) -> set[tuple[int, int]]:
    """Returns which two bodies, the first one first, some contacts are between."""
    ends = contacts.contact_state.ends[which & (contacts.contact_state.ends[:, 1] >= 0), :2]
    starts = np.array([body.tets.start for body in contacts.model.bodies], np.int64)
    bodies = np.unique(np.sort(np.searchsorted(starts, ends, side="right") - 1, axis=1), axis=0)
    return {(one, other) for one, other in bodies.tolist() if one != other}
