# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies whose formulation has an energy of its own: they are stepped as dynamic flesh is, by Newton's method.

Green's strain makes of Hooke's law that of St. Venant and Kirchhoff; HS04's hybrid takes it for pressure alone.
Their tets bear everything themselves, also where their volume hardly changes, as those of the papers do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ..hierarchical.numbers import level_numbers
from ..linear.pattern import BlockPattern
from ..method import BY_NEWTON, GREEN, HYBRID, Method
from ..model import Model

if TYPE_CHECKING:
    from .flesh import DynamicFlesh

LAW_OF = {GREEN: "stvk", HYBRID: "hybrid"}

_kept: WeakKeyDictionary[BlockPattern, tuple[tuple[object, ...], DynamicFlesh]] = WeakKeyDictionary()


def scheme_of(method: Method) -> str:
    """Returns how such a body is stepped: "euler" or "once"."""
    from .flesh import EULER, ONCE

    return ONCE if method.one_step else EULER


def moved_by_newton(model: Model) -> DynamicFlesh | None:
    """Returns the bodies of a model whose formulation asks for Newton's method as `step` takes them; None: none do."""
    if not model.methods:
        return None
    own = [number for number, method in enumerate(model.methods) if method.name in BY_NEWTON]
    levels = level_numbers(model)
    if not own and not levels:
        return None
    from ..hyperelastic.element import hyperelastic
    from ..part_model import part_model
    from .flesh import DynamicFlesh, dynamic_flesh
    from .held_shear import pressure_alone

    if not own:
        return DynamicFlesh(None, None, levels=levels)
    of = (model.mu, model.lam, model.methods)
    kept = _kept.get(model.pattern)
    if kept is None or any(a is not b for a, b in zip(kept[0], of, strict=True)):
        part, methods = part_model(model, own), [model.methods[number] for number in own]
        law = hyperelastic(part.model, [LAW_OF[method.name] for method in methods], None)
        law = pressure_alone(part.model, law)
        kept = of, dynamic_flesh(model, part, law, [scheme_of(method) for method in methods])
        _kept[model.pattern] = kept
    return replace(kept[1], levels=levels) if levels else kept[1]
