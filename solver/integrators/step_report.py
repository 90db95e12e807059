# SPDX-License-Identifier: GPL-3.0-or-later
"""How one step went."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..runtime.arrays import Floats

# Residual that bodies linearised once may leave: stable bars leave 0.3 at most, unstable ones 10 and more
MAX_LINEARISATION_RESIDUAL = 1.0


@dataclass(frozen=True)
class StepReport:
    """How a step went.

    Attributes:
        iterations: Iterations of the linear solver, over all solves of the step.
        residual: ‖b − A v‖ / ‖b‖ of the last solve, recomputed at its end, of the body where it is largest. With
            dynamic flesh ‖r‖ / ‖b‖ of the equation of the step (`solver/integrators/newton/newton_system.py`).
        converged: Whether `residual` is within the tolerance.
        settled: Whether contacts agreed with the last solve, rather than being cut off after the last solve allowed.
        solves: Linear solves; more than one where contacts changed.
        contacts: Contacts in the last solve, each once for every pair of tets that it is made of.
        newton_iterations: Solves of a step with dynamic flesh; 0 without.
        substeps: Of flesh that moves by Newmark's scheme, in this step; 0 without.
        inverted_tets: Inverted tets at the end of the step.
        milliseconds: Time of each stage, by name; never written where bytes are compared.
        stored: Elastic energy of every island at the start and at the end [J], (k,) each; None where the step was not
            relinearised.
        loads: Forces and torques on colliders, see `contact_loads.collider_loads`; None without contacts.
        work: Cost of the solves, roughly in iterations of block Jacobi; 0 with flesh, where it is not known.
        rotates_far: Whether something stiff rotated so far in the step that it has to be taken in shorter ones.
        motion_residual: The residual relative to what moves the bodies, see
            `solver/integrators/system/right_hand_side.py`; 0 with flesh.
        gained_energy: Energy out of nothing that halving could not keep out of a step, over what the group of every
            island had at its start, (k,); None: none.
        splits_left: Overloaded tets that wait for the next step because of a limit, by key of the body.
        let_in: Points and edges that Exact contact does not keep out of some surface, since colliders had no other way.
        halvings: How often the shortest of its parts had been halved.
    """

    iterations: int
    residual: float
    converged: bool
    settled: bool = True
    solves: int = 1
    contacts: int = 0
    inverted_tets: int = 0
    milliseconds: dict[str, float] = field(default_factory=dict)
    splits_left: dict[str, float] = field(default_factory=dict)
    newton_iterations: int = 0
    substeps: int = 0
    stored: tuple[Floats, Floats] | None = None
    loads: Floats | None = None
    work: float = 0.0
    rotates_far: bool = False
    motion_residual: float = 0.0
    gained_energy: Floats | None = None
    let_in: int = 0
    halvings: int = 0
