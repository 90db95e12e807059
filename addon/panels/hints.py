# SPDX-License-Identifier: GPL-3.0-or-later
"""Hints: a sentence on what is missing, with the buttons that mend it.

A hint that has been mended leaves a box of its size until another object is active or a bake begins. So nothing moves
under the mouse, which is still where the button was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy

from ..baking import bake_status
from ..baking.addon_session import ShownHint, session
from .text_rows import wrapped_lines

DONE_LABEL = "Done"


@dataclass(frozen=True)
class Fix:
    """A button of a hint.

    Attributes:
        name: The operator, or the property of the object's settings, which is drawn as itself.
        text: On the button; "": its own label.
        icon: Of Blender's.
        options: Properties of the operator.
    """

    name: str
    text: str = ""
    icon: str = "NONE"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Hint:
    """What is missing.

    Attributes:
        key: Which hint it is, among those of one panel.
        sentence: For people.
        fixes: What mends it.
        icon: "INFO", or "ERROR" where a bake would be refused.
        refusal: The kind of the failure that a bake would end in, which the hint already says; "": none.
        is_locked: Whether its buttons are locked with the bake.
    """

    key: str
    sentence: str
    fixes: tuple[Fix, ...] = ()
    icon: str = "INFO"
    refusal: str = ""
    is_locked: bool = True


def draw_hints(layout: bpy.types.UILayout, context: bpy.types.Context, panel: str, hints: Sequence[Hint]) -> None:
    """Draws the hints of a panel in their order, and boxes in place of those that have been mended meanwhile."""
    obj = context.object
    shown = session.hints_of(0 if obj is None else obj.session_uid)
    due = {f"{panel}.{hint.key}": hint for hint in hints}
    for key, hint in due.items():
        shown.setdefault(key, ShownHint(hint.sentence, len(hint.fixes)))
    for key, before in list(shown.items()):
        if key in due:
            shown[key] = ShownHint(due[key].sentence, len(due[key].fixes))
            _draw_hint(layout.box().column(align=True), context, due[key])
        elif key.startswith(f"{panel}."):
            _draw_done(layout.box().column(align=True), context, before)


def _draw_hint(layout: bpy.types.UILayout, context: bpy.types.Context, hint: Hint) -> None:
    for i, line in enumerate(wrapped_lines(hint.sentence, context)):
        layout.label(text=line, icon=hint.icon if i == 0 else "BLANK1")
    column = layout.column(align=True)
    column.enabled = not (hint.is_locked and bake_status.status(context.scene).is_locked)
    for fix in hint.fixes:
        words = {"text": fix.text} if fix.text else {}
        if "." not in fix.name:
            toggle = {"toggle": 1} if fix.text else {}
            column.prop(context.object.sinew, fix.name, icon=fix.icon, **words, **toggle)
            continue
        button = column.operator(fix.name, icon=fix.icon, **words)
        for name, value in fix.options.items():
            setattr(button, name, value)


def _draw_done(layout: bpy.types.UILayout, context: bpy.types.Context, hint: ShownHint) -> None:
    layout.enabled = False
    layout.label(text=DONE_LABEL, icon="CHECKMARK")
    for _ in range(len(wrapped_lines(hint.sentence, context)) + hint.buttons - 1):
        layout.label(text="")
