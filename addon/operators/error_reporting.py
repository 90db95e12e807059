# SPDX-License-Identifier: GPL-3.0-or-later
"""A decorator with which operators report errors instead of raising them."""

from __future__ import annotations

from collections.abc import Callable

import bpy

from ...solver.runtime.errors import SinewError
from ..baking.error_messages import error_text
from ..baking.last_failure import forget_failure, store_error_event


def reporting_errors(act: Callable[..., set[str]]) -> Callable[..., set[str]]:
    """Wraps `execute` or `invoke` of an operator, so that it reports errors instead of raising them."""

    def guarded(operator: bpy.types.Operator, context: bpy.types.Context, *event: bpy.types.Event) -> set[str]:
        forget_failure(context.scene)
        try:
            return act(operator, context, *event)
        except SinewError as problem:
            store_error_event(context.scene, problem.as_event())
            operator.report({"ERROR"}, error_text(problem))
            return {"CANCELLED"}

    # Blender checks the number of arguments
    if act.__name__ == "execute":
        return lambda operator, context: guarded(operator, context)
    return lambda operator, context, event: guarded(operator, context, event)
