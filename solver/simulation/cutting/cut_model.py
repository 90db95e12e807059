# SPDX-License-Identifier: GPL-3.0-or-later
"""The model of bodies that are cut: copies have the moduli of their tets, and mass and volume by their shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...linalg.block_pattern import island_starts
from ...linalg.block_pattern_kernel import compiled_block_pattern
from ...mechanics.model import NODE_ARRAYS, TET_ARRAYS, BodyRange, Model, lumped_masses
from ...mesh.cut_tets import CutTets
from ...runtime.arrays import Indices, indices


@dataclass(frozen=True, eq=False)
class CopiedRows:
    """Of which node and which tet those after a cut are copies, all bodies in one.

    Attributes:
        node: (n',).
        tet: (k,).
    """

    node: Indices
    tet: Indices


def copied_rows(before: Model, cuts: Mapping[int, CutTets]) -> CopiedRows:
    """Returns where nodes and tets come from when bodies, by their numbers, are cut; the others stay as they are."""
    nodes, tets = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    for number, body in enumerate(before.bodies):
        cut = cuts.get(number)
        if cut is None:
            nodes.append(np.arange(body.nodes.start, body.nodes.stop, dtype=np.int32))
            tets.append(np.arange(body.tets.start, body.tets.stop, dtype=np.int32))
        else:
            nodes.append(indices(cut.origin + body.nodes.start))
            tets.append(indices(cut.parent + body.tets.start))
    return CopiedRows(np.concatenate(nodes), np.concatenate(tets))


def cut_model(whole: Model, cuts: Mapping[int, CutTets]) -> Model:
    """Returns the model after bodies were cut, given that of whole bodies without sheets and bound nodes.

    Masses are those of the copies, V and with it the stiffness goes by `filled`, and moduli are those of the tets.

    Args:
        whole: The model.
        cuts: By number of the body; nodes of a piece come one after the other.
    """
    assert whole.sheets is None and whole.bound is None
    rows, bodies = copied_rows(whole, cuts), _body_ranges(whole, cuts)
    tets = np.empty((len(rows.tet), 4), np.int32)
    changed: dict[str, Any] = {name: _selected(getattr(whole, name), rows.node) for name in NODE_ARRAYS}
    changed |= {name: _selected(getattr(whole, name), rows.tet) for name in TET_ARRAYS}
    mass, volume = changed["mass"], changed["volume"]
    for number, (was, now) in enumerate(zip(whole.bodies, bodies, strict=True)):
        cut = cuts.get(number)
        if cut is None:
            tets[now.tets] = whole.tets[was.tets] + np.int32(now.nodes.start - was.nodes.start)
            continue
        tets[now.tets] = cut.tets + np.int32(now.nodes.start)
        volume[now.tets] *= cut.filled
        mass[now.nodes] = lumped_masses(cut.tets, changed["density"][now.tets], volume[now.tets], len(cut.origin))
    return replace(
        whole,
        **changed,
        tets=tets,
        pattern=compiled_block_pattern(tets, len(rows.node), _islands(whole, bodies, tets, cuts)),
        bodies=bodies,
        cores=tuple(
            core.renumbered(
                *next(
                    (now.nodes.start - was.nodes.start, now.tets.start - was.tets.start)
                    for was, now in zip(whole.bodies, bodies, strict=True)
                    if was.nodes.start <= core.nodes[0] < was.nodes.stop
                )
            )
            for core in whole.cores
        ),
    )


def _body_ranges(whole: Model, cuts: Mapping[int, CutTets]) -> tuple[BodyRange, ...]:
    found, node, tet = [], 0, 0
    for number, body in enumerate(whole.bodies):
        cut = cuts.get(number)
        n = body.nodes.stop - body.nodes.start if cut is None else len(cut.origin)
        m = body.tets.stop - body.tets.start if cut is None else len(cut.parent)
        found.append(BodyRange(body.key, slice(node, node + n), slice(tet, tet + m)))
        node, tet = node + n, tet + m
    return tuple(found)


def _islands(whole: Model, bodies: tuple[BodyRange, ...], tets: Indices, cuts: Mapping[int, CutTets]) -> list[int]:
    """Returns the first nodes of islands: pieces of bodies that are cut, and what the others had."""
    found, before = list[int](), whole.pattern.island_start.astype(np.int64)[:-1]
    for number, (was, now) in enumerate(zip(whole.bodies, bodies, strict=True)):
        if number in cuts:
            own = tets[now.tets] - np.int32(now.nodes.start)
            found += [now.nodes.start + first for first in island_starts(own, now.nodes.stop - now.nodes.start, [0])]
        else:
            own_starts = before[(before >= was.nodes.start) & (before < was.nodes.stop)]
            found += (own_starts + (now.nodes.start - was.nodes.start)).tolist()
    return found


def _selected(values: np.ndarray, rows: Indices) -> np.ndarray:
    """Returns rows of an array of their own; an array that has none stays without any."""
    return values[rows] if len(values) else values
