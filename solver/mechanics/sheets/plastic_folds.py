# SPDX-License-Identifier: GPL-3.0-or-later
"""Folds that stay: the angle of a hinge at rest follows the angle to which it is bent, beyond a yield.

A hinge of the edge e between triangles of the areas A₁ and A₂, bent by φ from its angle at rest, has the curvature
φ |e| / (A₁ + A₂): its triangles reach (A₁ + A₂) / |e| across the edge, half of the sum of their heights. At the surface
of a sheet of the thickness h that is the strain ε = c φ with

    c = h |e| / 2 (A₁ + A₂).

Beyond the yield strain the angle that stays, φₚ, grows by dφₚ/dt = r (|φ| − φ_y) at the flow rate r, with φ_y =
(ε_y + H ε_f) / c, the hardening H, and ε_f = c ∫ |dφₚ|. For a φ + φₚ that stays over a step this is solved exactly:

    Δφₚ = (|φ| − φ_y) (1 − exp(−r (1 + H) Δt)) / (1 + H).

Kept in the state, per tet of the model:

    tet.fold_angle    φₚ, (m,)
    tet.fold_flowed   ε_f, (m,)

Own derivation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ...mesh.sheet_mesh import check_areas, sheet_tets, triangle_edges
from ...runtime.arrays import Floats, Indices, floats
from ...runtime.jit import kernel
from ...scene.tracks import TrackReader
from ..model import Model
from ..plasticity.plastic_bodies import PlasticBody
from ..state import State
from ..state_fields import FOLD_ANGLE, FOLD_FLOWED, HINGE_BEND
from .dihedral_angle import dihedral_angle
from .sheet_kernels import load_relative, nearest_turn

MAX_FOLD = 0.95 * math.pi  # angle that may stay: at π a sheet lies on itself, and angles have no sign


@dataclass(frozen=True, eq=False)
class FoldingSheet:
    """A sheet whose folds stay, k tets.

    Attributes:
        plastic: Its yield strain, flow rate, maximum and hardening.
        strain_per_angle: c of its hinges [1/rad], zero of what does not bend, (k,).
    """

    plastic: PlasticBody
    strain_per_angle: Floats

    def flow(self, model: Model, state: State, tracks: TrackReader, dt: float) -> None:
        """Lets folds at the end of a step of Δt = dt [s] stay, as far as they go beyond the yield.

        Args:
            model: All bodies, as they were built.
            state: At the end of the step.
            tracks: Animated values.
            dt: See above.

        Raises:
            SolveFailed: The animation of a limit gives no number.
        """
        assert model.sheets is not None
        for name in (FOLD_ANGLE, FOLD_FLOWED):
            if name not in state.fields:
                state.fields[name] = np.zeros(model.tet_count)
        tets = self.plastic.tets
        rows = slice(*np.searchsorted(model.sheets.tets, (tets.start, tets.stop)).tolist())
        limits = (*self.plastic.limits(tracks, state.time), self.plastic.settings.hardening)
        own = model.tets[tets], self.strain_per_angle, model.sheets.hinges.rest_angle[rows]
        before = state.fields.get(HINGE_BEND)
        known = np.zeros(tets.stop - tets.start) if before is None else before[tets]
        flow_folds(*own, known, state.x, limits, dt, state.fields[FOLD_ANGLE][tets], state.fields[FOLD_FLOWED][tets])

    def largest_strain(self, state: State) -> float:
        """Returns the largest strain at the surface that stays, max c |φₚ|."""
        stays = state.fields.get(FOLD_ANGLE)
        if stays is None:
            return 0.0
        return float((self.strain_per_angle * np.abs(stays[self.plastic.tets])).max())


def strains_per_angle(X: Floats, triangles: Indices, thickness: float, may_tear: bool, name: str = "") -> Floats:
    """Returns c of the tets of a sheet [1/rad], zero of those that do not bend, (k,).

    Args:
        X: Nodes at rest [m], (n, 3).
        triangles: (t, 3).
        thickness: h [m].
        may_tear, name: See `sheet_mesh`.
    """
    tets, _, sides = sheet_tets(triangles, may_tear)
    area = check_areas(*triangle_edges(X, triangles), name)
    length = np.linalg.norm(X[tets[:, 1]] - X[tets[:, 0]], axis=1)
    c = 0.5 * thickness * length / (area[sides[:, 0]] + area[sides[:, 1]])
    return floats(np.where(sides[:, 1] >= 0, c, 0.0))


def with_folds(model: Model, state: State) -> Model:
    """Returns the model whose hinges have the angles at rest that stay."""
    stays = state.fields.get(FOLD_ANGLE)
    if stays is None or model.sheets is None or not stays.any():
        return model
    hinges = model.sheets.hinges
    bent = hinges._replace(rest_angle=hinges.rest_angle + stays[model.sheets.tets])
    return replace(model, sheets=replace(model.sheets, hinges=bent))


@kernel()
def flow_folds(tets, strain_per_angle, rest_angle, bent_before, x, limits, dt, stays, flowed):
    """Lets the folds of a sheet stay.

    Args:
        tets: Nodes of its hinges, (k, 4).
        strain_per_angle: c, (k,).
        rest_angle: θ₀ as built, (k,).
        bent_before: φ as `hinge_turns.py` keeps it, (k,).
        x: Node positions [m], (n, 3).
        limits: Yield strain, flow rate [1/s] and maximum strain, (k,) each, and the hardening.
        dt: Δt [s].
        stays, flowed: φₚ and ε_f, (k,), changed.
    """
    yield_strain, rate, maximum, hardening = limits
    d, gradient, unused = np.empty((3, 3)), np.empty((3, 3)), np.empty((0, 0))
    for k in range(len(tets)):
        c = strain_per_angle[k]
        if c == 0.0 or tets[k, 2] == tets[k, 3]:  # or its edge has torn
            continue
        load_relative(tets[k], x, d)
        has_normals, angle = dihedral_angle(d, False, gradient, unused)
        bent = nearest_turn(angle - rest_angle[k] - stays[k], bent_before[k])
        excess = abs(bent) - (yield_strain[k] + hardening * flowed[k]) / c
        if not has_normals or excess <= 0.0:
            continue
        change = excess / (1.0 + hardening) * -math.expm1(-rate[k] * (1.0 + hardening) * dt)
        most = max(maximum[k] / c, abs(stays[k]))
        now = min(max(stays[k] + math.copysign(change, bent), -most), most)
        now = min(max(now, -MAX_FOLD - rest_angle[k]), MAX_FOLD - rest_angle[k])
        flowed[k] += c * abs(now - stays[k])
        stays[k] = now
