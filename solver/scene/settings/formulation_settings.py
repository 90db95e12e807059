# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the finite element formulation of a soft body; `formulation.py` says which formulation reads which."""

from __future__ import annotations

from ..formulation import FORMULATION_LABELS, FORMULATION_SWITCHES, FORMULATIONS, FormulationSettings
from ..serialisation.field_schema import declared_fields
from ..serialisation.schema_constraints import Limits
from .flesh_settings import IS_ELASTIC
from .setting import FIELD_DEFAULT, Choice, Setting, When, integer, menu, switch

PROPERTY_PREFIX = "formulation_"
_DEFAULT = FormulationSettings()

_TOOLTIPS = {
    "linear": "For what hardly turns, such as a trembling plate, and to compare: what turns or bends far swells",
    "vertex-warp": "For nets of springs, and to compare: a rotation per vertex (Müller and others, 2002)",
    "polar": "The one to begin with: corotated, a rotation per tet. Bends and turns far, flows, melts and breaks",
    "qr": "For compression, and to compare: a rotation by QR (Nesme and others, 2005). Fewer tets invert than with "
    "Polar, but they recover less surely",
    "green": "For references: Green's strain, exact for any rotation and stretch. Slow, and weak under compression",
    "hybrid": "For what gets pressed: pressure by Green's strain, shear as Polar (Hauth and Strasser, 2004). Slower",
    "hierarchical": "For fine detail on large bends: coarse tets by Green's strain, finer ones inside them as Polar. "
    "Weak under compression",
}


def _identifier(word: str) -> str:
    return word.upper().replace("-", "_")


FORMULATION = menu(
    "formulation",
    "Method",
    "Finite element formulation of this body. No other setting changes with it",
    tuple(
        Choice(_identifier(name), FORMULATION_LABELS[name], _TOOLTIPS[name], number, name)
        for number, name in enumerate(FORMULATIONS)
    ),
    _identifier(_DEFAULT.name),
    when=(IS_ELASTIC,),
    field="FormulationSettings.name",
    otherwise=FIELD_DEFAULT,
)


def _switch_fields(switch_name: str) -> dict[str, object]:
    """Returns when a switch of `FormulationSettings` counts, and where it goes."""
    readers = tuple(_identifier(name) for name in FORMULATIONS if switch_name in FORMULATION_SWITCHES[name])
    return {
        "when": (IS_ELASTIC, When("formulation", readers)),
        "field": f"FormulationSettings.{switch_name}",
        "otherwise": FIELD_DEFAULT,
    }


def _limits(name: str) -> Limits:
    limits: Limits = declared_fields(FormulationSettings)[name].rule(Limits)
    return limits


def _switch(name: str, label: str, tooltip: str) -> Setting:
    return switch(PROPERTY_PREFIX + name, label, tooltip, getattr(_DEFAULT, name), **_switch_fields(name))


def _menu(name: str, label: str, tooltip: str, choices: tuple[Choice, ...]) -> Setting:
    default = _identifier(getattr(_DEFAULT, name))
    return menu(PROPERTY_PREFIX + name, label, tooltip, choices, default, **_switch_fields(name))


FORMULATION_SETTINGS = (
    FORMULATION,
    _menu(
        "rotation",
        "Tet Rotation By",
        "How the rotation of a tet is computed from its deformation gradient F",
        (
            Choice("NEAREST", "Nearest", "The nearest rotation without reflection, so that inverted tets recover", 0),
            Choice("HIGHAM", "Higham", "Higham's iteration (Hauth and Strasser, 2004). Inverted tets stay inverted", 1),
        ),
    ),
    integer(
        PROPERTY_PREFIX + "rotations_every",
        "Update Rotations Every (Steps)",
        "Compute rotations again after this many steps. Above 1 is faster, but fast rotation gives wrong forces",
        1,
        _limits("rotations_every"),
        maximum=1000,
        soft=(None, 16),
        **_switch_fields("rotations_every"),
    ),
    _menu(
        "rotation_field",
        "Vertex Rotation By",
        "How the rotation of a vertex is computed",
        (
            Choice("LEAST_SQUARES", "Least Squares", "Fits all edges at a vertex, by singular value decomposition", 0),
            Choice("EDGES", "Edge Frames", "The frame of three edges at a vertex. Jitters when strongly deformed", 1),
        ),
    ),
    _switch(
        "keeps_momentum",
        "Remove Ghost Force",
        "Remove the false force and torque of the method after every step. Off: free bodies drift and turn",
    ),
    _menu(
        "network",
        "Tets or Springs",
        "What makes the body stiff",
        (
            Choice("TETS", "Tets", "Linear finite elements", 0),
            Choice("SPRINGS", "Springs", "Springs along the edges of the tets. Volume Preservation has no effect", 1),
        ),
    ),
    _switch(
        "is_stale",
        "Reuse Rest Matrix",
        "Rotate the strain–displacement matrix of the rest shape instead of computing it again. "
        "Free bodies begin to spin. To compare with the paper",
    ),
    _switch(
        "is_matrix_free",
        "Matrix-Free",
        "Multiply element by element instead of assembling a matrix. "
        "The same motion, faster where the solver needs few iterations",
    ),
    _switch(
        "one_step",
        "One Newton Step",
        "Faster, but may become unstable with few Substeps Per Frame (linearly implicit: one Newton iteration a step)",
    ),
    integer(
        PROPERTY_PREFIX + "levels",
        "Refinements",
        "How many times each tet is divided into eight for detail: 2 gives 64",
        1,
        _limits("levels"),
        **_switch_fields("levels"),
    ),
    _menu(
        "coarse_solver",
        "Coarse Solver",
        "Linear solver of the coarse tets",
        (
            Choice("PCG", "PCG", "Conjugate gradients, preconditioned by the blocks of every level", 0),
            Choice("LU", "LU", "Direct factorization: faster where the coarse tets are few and stiff", 1),
        ),
    ),
    _menu(
        "scheme",
        "Time Integration",
        "How the body steps through time, which decides how long it swings (time integration scheme)",
        (
            Choice(
                "EULER", "Implicit Euler", "Always stable. Damps the swinging, more so with few Substeps Per Frame", 0
            ),
            Choice(
                "BDF2",
                "BDF2",
                "Second order: swings on for longer. Steps with contact are by Implicit Euler",
                1,
            ),
        ),
    ),
)
