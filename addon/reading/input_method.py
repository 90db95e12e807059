# SPDX-License-Identifier: GPL-3.0-or-later
"""By which method a body resists, and what of the body that method is not made for."""

from __future__ import annotations

from typing import Any

import bpy

from ...solver.method import DEFAULT, FRACTURE, HEAT, PLASTICITY, SAG, SWITCHES, WORDS, Method, called, not_for

PREFIX = "formulation_"
# all settings of methods
ALL = {"formulation", *(PREFIX + switch for reads in SWITCHES.values() for switch in reads)}
# the settings that give a body the features that some methods are not made for
SETTINGS_OF = {PLASTICITY: "use_plasticity", HEAT: "use_heat", FRACTURE: "use_fracture", SAG: "gravity_in_shape"}


def method(own: bpy.types.PropertyGroup) -> Method:
    """Returns the method of a body with the switches that it reads; flesh has its law instead."""
    if own.motion != "ELASTIC":
        return DEFAULT
    name = _word(own.formulation)
    values: dict[str, Any] = {}
    for switch in SWITCHES[name]:
        value = getattr(own, PREFIX + switch)
        values[switch] = _word(value) if switch in WORDS else value
    return Method(name, **values)


def read_by(own: bpy.types.PropertyGroup) -> list[str]:
    """Returns the settings that the chosen method reads, in the order in which they are drawn."""
    return [PREFIX + switch for switch in SWITCHES[_word(own.formulation)]]


def unread(own: bpy.types.PropertyGroup) -> set[str]:
    """Returns the settings of methods that are not read; none is where all are as bodies had it before methods."""
    asked = method(own)
    return ALL if asked == DEFAULT else ALL - {"formulation", *read_by(own)}


def clashing(own: bpy.types.PropertyGroup) -> list[str]:
    """Returns the features that are on and that the chosen method is not made for."""
    return [feature for feature in not_for(method(own)) if getattr(own, SETTINGS_OF[feature])]


def label(own: bpy.types.PropertyGroup) -> str:
    """Returns what the chosen method is called."""
    return called(method(own))


def _word(identifier: str) -> str:
    return identifier.lower().replace("_", "-")
