# SPDX-License-Identifier: GPL-3.0-or-later
"""Warnings at the end of a bake that flesh sank into something, from its report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..runtime.errors import SinewError
from ..scene.scene import Scene

MAX_PAIRS = 5  # that are told, the deepest ones


def deep_contact_warnings(lines: Iterable[Mapping[str, Any]], scene: Scene) -> list[SinewError]:
    """Returns a warning for each pair of a body and what it sank into, the deepest first.

    Args:
        lines: Of the report of a bake, one per frame.
        scene: With the names.
    """
    names = {body.key: body.name for body in scene.bodies} | {each.key: each.name for each in scene.colliders}
    worst: dict[frozenset[str], tuple[float, int, str, str]] = {}
    for line in lines:
        for key, others in line.get("deep_contacts", {}).items():
            for other, depth in others.items():
                pair, known = frozenset((key, other)), (depth, line["frame"], key, other)
                if pair not in worst or worst[pair][0] < depth:
                    worst[pair] = known
    found = sorted(worst.values(), key=lambda each: -each[0])[:MAX_PAIRS]
    return [
        SinewError(
            "sank-in", name=names.get(key, key), other=names.get(other, other), depth=f"{depth:.2g}", frame=frame
        )
        for depth, frame, key, other in found
    ]
