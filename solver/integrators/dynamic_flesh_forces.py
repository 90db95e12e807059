# SPDX-License-Identifier: GPL-3.0-or-later
"""Dynamic flesh in a step: which bodies it is, by which scheme they move, and their forces at an iterate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..linalg.block_pattern import BlockPattern
from ..mechanics.hyperelastic.body_energies import body_energies
from ..mechanics.hyperelastic.hyperelastic_bodies import (
    EvaluationResult,
    Hyperelastic,
    TetArrays,
    energy,
    forces,
    forces_and_tangent,
    tet_arrays,
    whole_tangent,
)
from ..mechanics.hyperelastic.rayleigh_damping import damping_matrix
from ..mechanics.model import Model
from ..mechanics.sheets.coupled_bending import CoupledBending, coupled_bending
from ..mechanics.sheets.sheet_elements import SheetElements
from ..mechanics.submodel import Submodel, make_submodel
from ..runtime.arrays import Floats, Indices, floats
from ..scene.flesh import FLESH_TIME_SCHEMES
from .solver_context import StepWorkspace

EULER, NEWMARK = FLESH_TIME_SCHEMES
SINGLE_SOLVE = "once"  # implicit Euler with one Newton iteration from the start of the step
ROUND_OFF = 1.0e-15  # of positions, and of strains around 1


@dataclass(frozen=True, eq=False)
class FleshGroup:
    """Bodies of flesh that move by one scheme: where they are in the whole model, of what, and their names."""

    part: Submodel
    law: Hyperelastic
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class DynamicFlesh:
    """All dynamic flesh of a model, by scheme; None where no body has that scheme.

    Attributes:
        euler, newmark: The bodies of each scheme.
        fixed_bodies: Numbers of further bodies all of whose nodes are fixed in every step: nothing is computed for
            them.
        all_groups: The bodies of both schemes.
        once: Bodies that are linearised once, about the start of the step, with all of −∂f/∂x as their stiffness.
        levels: Numbers of the hierarchical bodies.
    """

    euler: FleshGroup | None
    newmark: FleshGroup | None
    fixed_bodies: tuple[int, ...] = ()
    all_groups: FleshGroup | None = None
    once: FleshGroup | None = None
    levels: tuple[int, ...] = ()

    def by_euler(self) -> DynamicFlesh:
        """Returns the same bodies, all by implicit Euler."""
        return DynamicFlesh(self.all_groups, None, self.fixed_bodies, self.all_groups, self.once, self.levels)

    def corotational_bodies(self, whole: Model) -> list[int]:
        """Returns the numbers of the bodies whose tets leave records."""
        groups = [group for group in (self.euler, self.newmark, self.once) if group]
        gone = {*self.fixed_bodies, *self.levels, *(number for group in groups for number in group.part.bodies)}
        return [number for number in range(len(whole.bodies)) if number not in gone]


def dynamic_flesh(
    whole: Model,
    part: Submodel,
    law: Hyperelastic,
    schemes: Sequence[str],
    still: Sequence[int] = (),
    names: Sequence[str] = (),
) -> DynamicFlesh:
    """Returns what `step` takes as `flesh`.

    Args:
        whole: All bodies.
        part: Those of dynamic flesh.
        law: Their material; it or its extension has to have an energy for every F ("smooth", "linear").
        schemes: "euler", "newmark" or "once", for every body of `part`, in its order.
        still: Of `DynamicFlesh`.
        names: Display names of the bodies of `part`; none: their keys.
    """
    labels = names or [whole.bodies[number].key for number in part.bodies]

    def group(*selected: str) -> FleshGroup | None:
        own = [k for k, scheme in enumerate(schemes) if scheme in selected]
        if len(own) == len(part.bodies):
            return FleshGroup(part, law, tuple(labels))
        if not own:
            return None
        some = make_submodel(whole, [part.bodies[k] for k in own])
        rows = np.searchsorted(part.tets, some.tets)
        return FleshGroup(some, law.of_tets(rows), tuple(labels[k] for k in own))

    return DynamicFlesh(group(EULER), group(NEWMARK), tuple(still), group(EULER, NEWMARK), group(SINGLE_SOLVE))


@dataclass(eq=False)
class GroupArrays:
    """Work arrays of a group, and its last evaluation: the next step begins where one has ended.

    Attributes:
        model, rest: The group alone, and the arrays of the whole model that its rest shapes come from.
        tets, tangent, force: Output of an evaluation.
        x: Node positions of the last evaluation [m], (n, 3); None where the arrays have been used for something else.
        clamp: Whether its tangent was clamped.
        answer: Its result.
        moduli: Root of the sum of squares of the tets' stiffness [N/m], and the bodies' V (2μ + λ) [J]; None: not yet.
    """

    model: Model
    rest: tuple[Floats, Floats, SheetElements | None]
    tets: TetArrays
    tangent: Floats
    force: Floats
    x: Floats | None = None
    clamp: bool = True
    answer: EvaluationResult | None = None
    moduli: tuple[float, Floats] | None = None


class FleshEvaluator:
    """Forces and tangent of a group at the last evaluation; positions are those of its own nodes.

    Attributes:
        model: The group alone, with the rest shapes of the whole model.
        tangent: Blocks of the K = −∂f/∂x [N/m], clamped or not, (b, 9).
        force: f [N], (n, 3).
    """

    def __init__(self, group: FleshGroup, whole: Model, workspace: StepWorkspace) -> None:
        """Takes the arrays of a group from the workspace of the whole model."""
        part, pattern = group.part, group.part.model.pattern
        self.stiffness_damping = _select_rows(whole.stiffness_damping, part.tets)
        self.group, self.rest = group, (whole.Dm_inverse, whole.volume, whole.sheets)
        arrays = workspace.flesh_arrays.get(group)
        if arrays is None or any(a is not b for a, b in zip(self.rest, arrays.rest, strict=True)):
            Dm_inverse, volume = (_select_rows(values, part.tets) for values in (whole.Dm_inverse, whole.volume))
            if arrays is not None and _has_rest(arrays, Dm_inverse, volume, whole.sheets):
                arrays.rest = self.rest  # other bodies have changed theirs: clay beside it flows
            else:
                sheets = None if whole.sheets is None else whole.sheets.of_tets(part.tets)
                model = replace(part.model, Dm_inverse=Dm_inverse, volume=volume, sheets=sheets)
                if arrays is None:
                    tangent, force = np.empty((pattern.block_count, 9)), np.empty((pattern.node_count, 3))
                    arrays = GroupArrays(model, self.rest, tet_arrays(pattern), tangent, force)
                    workspace.flesh_arrays[group] = arrays
                arrays.model, arrays.rest, arrays.x, arrays.moduli = model, self.rest, None, None
        self._work, self.model = arrays, arrays.model
        self.tangent, self.force = self._work.tangent, self._work.force

    def evaluate(self, x: Floats, clamp: bool = True) -> EvaluationResult:
        """Computes forces and tangent at x [m], (n, 3), clamped or not."""
        work = self._work
        if work.answer is None or work.x is None or clamp != work.clamp or not np.array_equal(x, work.x):
            law, tets = self.group.law, work.tets
            work.answer = forces_and_tangent(self.model, law, x, self.tangent, self.force, tets, clamp)
            work.x, work.clamp = x.copy(), clamp
        return work.answer

    def coupled_bending(self, x: Floats) -> CoupledBending:
        """Returns what joins the hinges of sheets, of which there have to be some, at x [m], (n, 3)."""
        assert self.model.sheets is not None
        return coupled_bending(self.model.sheets, self.model.tets, floats(x))

    def whole_tangent(self, values: Floats) -> tuple[BlockPattern, Floats]:
        """Returns blocks of the group with those of averages at nodes at the last evaluation, and their pattern."""
        return whole_tangent(self.model, self.group.law, values, self._work.tets)

    def force_at(self, x: Floats, force: Floats) -> EvaluationResult:
        """Writes the forces at x [m] into `force` [N], (n, 3) each."""
        self._work.x = None
        return forces(self.model, self.group.law, x, force, self._work.tets)

    def energies(self, x: Floats) -> Floats:
        """Returns the energies of the group's bodies at x [m], (n, 3), in joules."""
        self._work.x = None
        energy(self.model, self.group.law, x, self._work.tets)
        return self.last_energies()

    def last_energies(self) -> Floats:
        """Returns the energies of the group's bodies at the last pass over their tets [J]."""
        return body_energies(self.model, self.group.law, self._work.tets)

    def round_off(self, x: Floats) -> tuple[float, Floats]:
        """Returns what round-off alone leaves: of the sum of forces [N], and of the bodies' energies [J], (k,).

        Args:
            x: Positions as large as those of evaluations [m], (n, 3).
        """
        work, model = self._work, self.model
        if work.moduli is None:
            g = np.sum(model.Dm_inverse**2, axis=(1, 2)) + np.sum(model.Dm_inverse.sum(axis=1) ** 2, axis=1)
            kappa = self.group.law.pressure_modulus
            stiff = model.volume * (2.0 * model.mu + model.lam + (kappa if len(kappa) else 0.0))
            tensions = stiff * g
            if model.sheets is not None:
                stiff, tensions = stiff.copy(), tensions.copy()
                stiff[model.sheets.tets], tensions[model.sheets.tets] = model.sheets.stiffness()
            starts = [body.tets.start for body in model.bodies]
            work.moduli = float(np.sqrt(np.sum(tensions**2))), np.add.reduceat(stiff, starts)
        size = float(np.abs(x).max(initial=0.0))
        return ROUND_OFF * size * work.moduli[0], ROUND_OFF * work.moduli[1]

    def damping(self, x: Floats, values: Floats) -> None:
        """Writes the blocks of D [N s/m], (b, 9), at x [m], (n, 3)."""
        model = replace(self.model, stiffness_damping=self.stiffness_damping)  # BDF2 scales it
        law = self.group.law
        damping_matrix(model, x, values, self._work.tets, law.left, law.pressure_modulus)


def _has_rest(arrays: GroupArrays, Dm_inverse: Floats, volume: Floats, sheets: SheetElements | None) -> bool:
    """Whether these are the rest shapes of a group: its own, and the sheets of the whole model."""
    own = arrays.model
    return (
        sheets is arrays.rest[2] and np.array_equal(volume, own.volume) and np.array_equal(Dm_inverse, own.Dm_inverse)
    )


def _select_rows(values: Floats, rows: Indices) -> Floats:
    """Returns some rows, without a copy where they follow each other."""
    is_run = len(rows) > 0 and rows[-1] - rows[0] + 1 == len(rows)
    return values[rows[0] : rows[-1] + 1] if is_run else values[rows]
