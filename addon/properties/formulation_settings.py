# SPDX-License-Identifier: GPL-3.0-or-later
"""By which method of the papers the tets of a body resist: a menu, and the switches that each method reads."""

from __future__ import annotations

from bpy.props import BoolProperty, EnumProperty, IntProperty

from ...solver.scene.formulation import MAX_REFINEMENTS
from .enum_items import COARSE_SOLVERS, FORMULATIONS, NETWORKS, ROTATION_FIELDS, ROTATIONS, TIME_SCHEMES
from .property_options import FIXED_OPTIONS


class FormulationProperties:
    """The method, and its switches under the names of `solver.method.Method` after "formulation_"."""

    formulation: EnumProperty(
        name="Method",
        items=FORMULATIONS,
        default="POLAR",
        description="How the tets of this body resist being deformed; every other setting stays as it is",
        **FIXED_OPTIONS,
    )
    formulation_rotation: EnumProperty(
        name="Rotation",
        items=ROTATIONS,
        default="NEAREST",
        description="How the rotation of a tet is found",
        **FIXED_OPTIONS,
    )
    formulation_rotations_every: IntProperty(
        name="New Rotations Every",
        description=(
            "Steps after which rotations are found anew: 1 is every step. More saves hardly any time, and what turns "
            "fast resists wrongly in between"
        ),
        default=1,
        min=1,
        soft_max=16,
        max=1000,
        **FIXED_OPTIONS,
    )
    formulation_rotation_field: EnumProperty(
        name="Rotations",
        items=ROTATION_FIELDS,
        default="LEAST_SQUARES",
        description="How the rotation of a vertex is found",
        **FIXED_OPTIONS,
    )
    formulation_keeps_momentum: BoolProperty(
        name="Keep Momentum",
        description=(
            "Take out, after every step, the force and the torque that the method itself makes. "
            "Off, a free body drifts and turns by itself, as the paper warns"
        ),
        default=True,
        **FIXED_OPTIONS,
    )
    formulation_network: EnumProperty(
        name="Resisting",
        items=NETWORKS,
        default="TETS",
        description="What of the body resists",
        **FIXED_OPTIONS,
    )
    formulation_is_stale: BoolProperty(
        name="Matrix of the Rest Shape",
        description="Only turn the matrix of the rest shape, instead of that of the present one: bodies then spin up",
        default=False,
        **FIXED_OPTIONS,
    )
    formulation_is_matrix_free: BoolProperty(
        name="Without a Matrix",
        description=(
            "Multiply tet by tet instead of making a matrix: the same motion; quicker where few products are made"
        ),
        default=False,
        **FIXED_OPTIONS,
    )
    formulation_one_step: BoolProperty(
        name="One Linear Step",
        description=(
            "Solve one linearised step instead of searching until the forces agree: quicker, "
            "and may get out of hand with few Substeps"
        ),
        default=False,
        **FIXED_OPTIONS,
    )
    formulation_levels: IntProperty(
        name="Refinements",
        description="How often each tet is cut into eight for the detail: every one makes eight times as many",
        default=1,
        min=1,
        max=MAX_REFINEMENTS,
        **FIXED_OPTIONS,
    )
    formulation_coarse_solver: EnumProperty(
        name="Coarse",
        items=COARSE_SOLVERS,
        default="PCG",
        description="How the coarse tets are solved for",
        **FIXED_OPTIONS,
    )
    formulation_scheme: EnumProperty(
        name="Stepping",
        items=TIME_SCHEMES,
        default="EULER",
        description="How this body goes from one step of time to the next",
        **FIXED_OPTIONS,
    )
