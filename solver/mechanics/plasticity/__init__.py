# SPDX-License-Identifier: GPL-3.0-or-later
"""Plastic flow and creep: tets whose elastic strain is above the yield strain take it over into their rest shape.

plastic_bodies.py          yield strain, flow rate and maximum strain per tet: `PlasticBody`
multiplicative_flow.py     F = Fe Fp with det Fp = 1: volume is kept
additive_flow.py           the plastic strain subtracted from the strain, as Müller and Gross 2004 have it
plastic_flow.py            both, after a step: `flow`
plastic_rest_shape.py      the model that plastic strain makes, and its size: `with_plastic_strain`, `plastic_norm`
"""

from __future__ import annotations

from .plastic_bodies import PlasticBody, make_plastic
from .plastic_flow import flow
from .plastic_rest_shape import FLOWED, largest_plastic_strain, plastic_norm, rest_shapes, with_plastic_strain

__all__ = [
    "FLOWED",
    "PlasticBody",
    "flow",
    "largest_plastic_strain",
    "make_plastic",
    "plastic_norm",
    "rest_shapes",
    "with_plastic_strain",
]
