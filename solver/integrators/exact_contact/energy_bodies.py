# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that have an energy of Green's strain in the incremental potential: sheets and rigid bodies.

A rigid body is the tet of four equal masses that has its inertia. It has the energy μ V ‖E‖², E = ½ (FᵀF − I), which no
rotation excites: the affine body of Lan et al. (2022), ¼ μ V ‖FᵀF − I‖². Its vertices move along straight lines between
iterates, so that the time of impact is that of all other surfaces, and no iterate has to be brought back to a rotation.
It is so stiff that a body that is stopped within a step by which it would move by its size is strained by
`STRAIN_PER_STEP`.

Source: Lan et al. (2022).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...mechanics.hyperelastic.hyperelastic_bodies import hyperelastic
from ...mechanics.model import Model
from ...mechanics.rigid_core import RigidCore
from ...mechanics.submodel import make_submodel
from ...scene.formulation import GREEN
from ..dynamic_flesh_forces import FleshGroup

STRAIN_PER_STEP = 1.0e-4


def is_affine(core: RigidCore) -> bool:
    """Whether a core is a rigid body that has this energy: one that turns about an axis is a core in every iterate."""
    return core.is_whole and core.hinge is None


def energy_bodies(model: Model, dt: float) -> tuple[FleshGroup, ...]:
    """Returns the sheets and rigid bodies of a model as a group; none: it has none.

    Args:
        model: The bodies.
        dt: Δt of a step [s].
    """
    cores = [core for core in model.cores if is_affine(core)]
    starts = np.array([body.nodes.start for body in model.bodies])
    rigid = {int(np.searchsorted(starts, core.nodes[0], side="right")) - 1 for core in cores}
    own = sorted(rigid.union(number for number, method in enumerate(model.methods) if method.name == GREEN))
    if not own:
        return ()
    part = make_submodel(model, own)
    law = hyperelastic(part.model, "stvk", None)
    mu, lam = law.mu.copy(), law.lam.copy()
    for core in cores:  # one of a rigid body, one of each piece of a brittle one
        nodes, tets = model.X[core.nodes], np.searchsorted(part.tets, core.tets)
        inertia = float((model.mass[core.nodes, None] * (nodes - nodes.mean(axis=0)) ** 2).sum())
        mu[tets] = inertia / (STRAIN_PER_STEP * dt * dt * part.model.volume[tets])
        lam[tets] = 0.0
    return (FleshGroup(part, replace(law, mu=mu, lam=lam), tuple(model.bodies[number].key for number in own)),)


def without_rigid_bodies(model: Model, posed: Sequence[int] = ()) -> Model:
    """Returns a model whose rigid bodies have four free nodes each, and no damping but that by mass.

    Rigid cores of soft bodies, and rigid bodies that turn about an axis, stay, without damping, and so do bodies of
    some numbers, which follow a pose.
    """
    if not (model.cores or posed):
        return model
    damping = model.stiffness_damping.copy()
    for tets in (*(core.tets for core in model.cores), *(model.bodies[number].tets for number in posed)):
        damping[tets] = 0.0
    return replace(model, cores=tuple(core for core in model.cores if not is_affine(core)), stiffness_damping=damping)
