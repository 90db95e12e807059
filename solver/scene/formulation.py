# SPDX-License-Identifier: GPL-3.0-or-later
"""The finite element formulation of a body, as part of a scene.

The papers' names: MDMJC02 warped stiffness, HS04 polar, hybrid and hierarchical, NPF05 QR.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from .serialisation.schema_constraints import OneOf, at_least, closed_range

LINEAR, VERTEX_WARP, POLAR, QR = "linear", "vertex-warp", "polar", "qr"
GREEN, HYBRID, HIERARCHICAL = "green", "hybrid", "hierarchical"
FORMULATIONS = (LINEAR, VERTEX_WARP, POLAR, QR, GREEN, HYBRID, HIERARCHICAL)
NEWTON_FORMULATIONS = (GREEN, HYBRID)  # with an energy of their own, whose steps are solved by Newton's method

# `FormulationSettings.rotation`: of "polar", how R is found
NEAREST, HIGHAM = "nearest", "higham"
ROTATIONS = (NEAREST, HIGHAM)
# `FormulationSettings.rotation_field`: of "vertex-warp"
LEAST_SQUARES, EDGES = "least-squares", "edges"
ROTATION_FIELDS = (LEAST_SQUARES, EDGES)
# `FormulationSettings.network`: of "vertex-warp"
TETS, SPRINGS = "tets", "springs"
NETWORKS = (TETS, SPRINGS)
# `FormulationSettings.scheme`
EULER, BDF2 = "euler", "bdf2"
TIME_SCHEMES = (EULER, BDF2)
# `FormulationSettings.coarse_solver`: of "hierarchical"
PCG, LU = "pcg", "lu"
COARSE_SOLVERS = (PCG, LU)
MAX_REFINEMENTS = 3  # of `FormulationSettings.levels`


@dataclass(frozen=True)
class FormulationSettings:
    """A formulation and its switches.

    A formulation reads only its own switches (`FORMULATION_SWITCHES`); each line below begins with the formulations
    that read it.

    Attributes:
        name: Of `FORMULATIONS`.
        rotation: polar: "nearest" (a function of F alone, proper for inverted F too) or "higham" (Higham's iteration,
            after QR where F is singular: a reflection where F is inverted, as HS04 has it).
        rotations_every: polar, vertex-warp, hybrid, hierarchical: steps after which rotations are computed again, ≥ 1.
        rotation_field: vertex-warp: "least-squares" (MDMJC02 (14), (15)) or "edges" ((16)).
        keeps_momentum: vertex-warp: whether the ghost force is removed after every step.
        network: vertex-warp: the stiffness of "tets", or of "springs" along their edges.
        is_stale: qr: whether the strain–displacement matrix of the rest shape is rotated instead of updated.
        is_matrix_free: qr: whether products are computed element by element instead of with an assembled matrix.
        one_step: green, hybrid: one linearised step per time step, without a line search, as MDMJC02 stepped it.
        levels: hierarchical: how often the coarse tets are refined, ≥ 1.
        coarse_solver: hierarchical: "pcg" (blocks of the diagonal on every level) or "lu" (direct on the coarse one).
        scheme: "euler" (implicit) or "bdf2".
    """

    name: Annotated[str, OneOf(FORMULATIONS)] = POLAR
    rotation: Annotated[str, OneOf(ROTATIONS)] = NEAREST
    rotations_every: Annotated[int, at_least(1, "Update Rotations Every", "")] = 1
    rotation_field: Annotated[str, OneOf(ROTATION_FIELDS)] = LEAST_SQUARES
    keeps_momentum: bool = True
    network: Annotated[str, OneOf(NETWORKS)] = TETS
    is_stale: bool = False
    is_matrix_free: bool = False
    one_step: bool = False
    levels: Annotated[int, closed_range(1, MAX_REFINEMENTS, "Refinements")] = 1
    coarse_solver: Annotated[str, OneOf(COARSE_SOLVERS)] = PCG
    scheme: Annotated[str, OneOf(TIME_SCHEMES)] = EULER


DEFAULT_FORMULATION = FormulationSettings()

# the labels in the window
FORMULATION_LABELS = {
    LINEAR: "Linear",
    VERTEX_WARP: "Warped Vertices",
    POLAR: "Polar",
    QR: "QR",
    GREEN: "Green",
    HYBRID: "Hybrid",
    HIERARCHICAL: "Hierarchical",
}
# the switches that each formulation reads
FORMULATION_SWITCHES = {
    LINEAR: ("scheme",),
    VERTEX_WARP: ("rotation_field", "keeps_momentum", "network", "rotations_every"),
    POLAR: ("rotation", "rotations_every", "scheme"),
    QR: ("is_stale", "is_matrix_free", "scheme"),
    GREEN: ("one_step", "scheme"),
    HYBRID: ("one_step", "rotations_every", "scheme"),
    HIERARCHICAL: ("levels", "coarse_solver", "rotations_every", "scheme"),
}
# the words of switches that are menus
SWITCH_VALUES = {
    "rotation": ROTATIONS,
    "rotation_field": ROTATION_FIELDS,
    "network": NETWORKS,
    "scheme": TIME_SCHEMES,
    "coarse_solver": COARSE_SOLVERS,
}
CHILDREN_PER_TET = 8  # tets that one refinement makes of one

# features of a body as the window calls them, in the order of the messages
PLASTICITY, HEAT, FRACTURE, GRAVITY_IN_SHAPE = "Plasticity", "Heat", "Fracture", "Gravity Already in Shape"


def with_unread_defaults(formulation: FormulationSettings) -> FormulationSettings:
    """Returns a formulation with only those switches that it reads, all others as they are by default."""
    return FormulationSettings(
        formulation.name, **{switch: getattr(formulation, switch) for switch in FORMULATION_SWITCHES[formulation.name]}
    )


def refinement_factor(formulation: FormulationSettings) -> int:
    """Returns how many tets a formulation makes of each that a body is filled with."""
    return CHILDREN_PER_TET**formulation.levels if formulation.name == HIERARCHICAL else 1


def is_spring_network(formulation: FormulationSettings) -> bool:
    """Whether a body resists by springs in place of its tets."""
    return formulation.name == VERTEX_WARP and formulation.network == SPRINGS


def display_name(formulation: FormulationSettings) -> str:
    """Returns what a formulation is called in the window, with its springs, where it has some."""
    return (
        f"{FORMULATION_LABELS[formulation.name]} with Springs"
        if is_spring_network(formulation)
        else FORMULATION_LABELS[formulation.name]
    )


def unsupported_features(formulation: FormulationSettings) -> Iterator[str]:
    """Yields the features that a body of this formulation cannot have, each with a reason that was measured or derived.

    Green, hybrid and hierarchical bodies are moved by the steps of dynamic flesh: what flows, melts, breaks or is under
    stress at rest changes the linear tets' record, which these do not have. Springs have no stress that could flow or
    break. Measured by that of their tets, a block of clay gained motion from flow (2.2 m/s, a second after it had
    fallen half a metre, eight of 320 tets inside out), and a shape with gravity in it rose by 3 % of its length. Warped
    vertices that have melted and are hit ran away in two of some 300 random scenes (342 m/s after a blow of 4 m/s with
    rotations held for three steps, 20 m/s with rotations in every step); polar ones of the same scenes did not.
    """
    if formulation.name in {GREEN, HYBRID, HIERARCHICAL} or is_spring_network(formulation):
        yield from (PLASTICITY, HEAT, FRACTURE, GRAVITY_IN_SHAPE)
    elif formulation.name == VERTEX_WARP:
        yield HEAT
