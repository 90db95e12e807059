# SPDX-License-Identifier: GPL-3.0-or-later
"""A layout that notes what is drawn into it, and refuses properties and operators that do not exist."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import bpy


class FakeLayout:
    """Stands for bpy.types.UILayout where there is no window."""

    def __init__(self, above: FakeLayout | None = None) -> None:
        self._above = above
        self.lines: list[str] = [] if above is None else above.lines
        self.drawn: list[tuple[FakeLayout, str]] = [] if above is None else above.drawn
        self.enabled = self.alert = self.active = True
        self.scale_y = 1.0
        self.use_property_split = self.use_property_decorate = False

    @property
    def is_enabled(self) -> bool:
        """Whether an artist could press what is drawn here."""
        return self.enabled and (self._above is None or self._above.is_enabled)

    def row(self, **_: Any) -> FakeLayout:
        return FakeLayout(self)

    column = box = split = grid_flow = row

    def panel(self, idname: str, default_closed: bool = False) -> tuple[FakeLayout, FakeLayout | None]:
        return FakeLayout(self), None if default_closed else FakeLayout(self)

    def label(self, text: str = "", icon: str = "NONE") -> None:
        self.lines.append(text)

    def progress(self, factor: float = 0.0, type: str = "BAR", text: str = "") -> None:
        assert 0.0 <= factor <= 1.0
        self.lines.append(text)

    def prop(self, data: Any, name: str, **options: Any) -> None:
        assert name in data.bl_rna.properties, f"{data} has no {name}"
        self.drawn.append((self, name))
        self.lines.append(options.get("text", data.bl_rna.properties[name].name))

    def prop_search(self, data: Any, name: str, among: Any, collection: str, **options: Any) -> None:
        assert hasattr(among, collection)
        self.prop(data, name, **options)

    def template_list(self, kind: str, name: str, data: Any, table: str, active: Any, index: str, **_: Any) -> None:
        assert hasattr(bpy.types, kind) and index in active.bl_rna.properties
        self.prop(data, table)

    def operator(self, name: str, text: str | None = None, icon: str = "NONE") -> SimpleNamespace:
        module, _, act = name.partition(".")
        kind = getattr(bpy.types, f"{module.upper()}_OT_{act}")
        self.drawn.append((self, name))
        self.lines.append(kind.bl_label if text is None else text)
        return SimpleNamespace()

    def enabled_of(self, name: str) -> bool:
        """Whether the property or operator `name` can be used; it must have been drawn."""
        return next(layout.is_enabled for layout, drawn in self.drawn if drawn == name)
