# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid cores of soft bodies under Exact contact: what holds them, and what of them cannot be simulated.

Held nodes that do not lie on a line say where all of a core is, so in a step its nodes are held as well, and it has no
motion of its own. A core that turns about held nodes on a line is refused: an iteration turns what is free about its
centre of mass, or about the axis that it has (`solver/integrators/exact_contact/core_axes.py`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...constraints.rigid_core.rigid_body_momentum import rigid_fit
from ...constraints.rigid_core.rotation_update import determines_rotation, rigid_velocities
from ...integrators.exact_contact.energy_bodies import is_affine
from ...mechanics.model import Model
from ...mechanics.rigid_core import RigidCore
from ...mechanics.state import State
from ...runtime.arrays import Bools
from ...runtime.errors import BadInput
from ..assembled_scene import AssembledScene
from ..step_boundary_conditions import BoundaryConditions


def check_free_cores(built: AssembledScene) -> None:
    """Raises BadInput where the core of a soft body turns about held nodes on a line."""
    model, is_held = built.model, np.zeros(built.model.node_count, bool)
    for force in built.forces:
        is_held[force.fixed_nodes] = True
    for core in model.cores:
        if is_affine(core):
            continue
        if is_held[core.nodes].any() and not _is_placed(model, core, is_held):
            _refuse(built, core, "pins that hold its rigid core on a line only")


def is_held_core(core: RigidCore, is_fixed: Bools | None) -> bool:
    """Whether some nodes of a core that is no affine body are among those held, (n,), None: none."""
    return is_fixed is not None and not is_affine(core) and bool(is_fixed[core.nodes].any())


def with_held_cores(
    built: AssembledScene, model: Model, bounds: BoundaryConditions
) -> tuple[Model, BoundaryConditions]:
    """Returns a model without the cores that held nodes place in a step, and conditions that hold all of their nodes.

    Args:
        built: The scene.
        model: The bodies as they are in the step.
        bounds: What holds and pulls.

    Raises:
        BadInput: "exact-contact-without": a core is held on a line only.
    """
    is_fixed = bounds.is_fixed
    if is_fixed is None or not any(is_held_core(core, is_fixed) for core in model.cores):
        return model, bounds
    held, target, cores = is_fixed.copy(), bounds.fixed_target.copy(), []
    for core in model.cores:
        if not is_held_core(core, is_fixed):
            cores.append(core)
            continue
        if not _is_placed(model, core, is_fixed):
            _refuse(built, core, "pins that hold its rigid core on a line only")
        own = core.nodes[is_fixed[core.nodes]]
        R, t = rigid_fit(model.mass[own], model.X[own], target[own])
        held[core.nodes], target[core.nodes] = True, model.X[core.nodes] @ R.T + t
    return replace(model, cores=tuple(cores)), replace(bounds, is_fixed=held, fixed_target=target)


def end_held_cores(model: Model, is_fixed: Bools | None, state: State) -> None:
    """Gives cores that held nodes have placed in a step the velocities of rigid bodies; their momenta stay.

    Args:
        model: The bodies as they are in the step, with all cores.
        is_fixed: Which nodes are held, (n,); None: none.
        state: Where the step has ended; its velocities are changed.
    """
    cores = tuple(core for core in model.cores if is_held_core(core, is_fixed))
    if cores:
        state.v = rigid_velocities(replace(model, cores=cores), state.x, state.v)


def _is_placed(model: Model, core: RigidCore, is_held: Bools) -> bool:
    """Whether held nodes of a core say where it is."""
    return determines_rotation(model.X[core.nodes[is_held[core.nodes]]])


def _refuse(built: AssembledScene, core: RigidCore, feature: str) -> None:
    node = int(core.nodes[0])
    number = next(n for n, body in enumerate(built.model.bodies) if body.nodes.start <= node < body.nodes.stop)
    raise BadInput("exact-contact-without", name=built.bodies[number].name, feature=feature)
