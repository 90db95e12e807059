# SPDX-License-Identifier: GPL-3.0-or-later
"""What is attached follows the animation whatever happens to the pins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from fixtures.scenes import Run, block
from sinew.solver.scene.scene import Body, Scene


def hung(**settings: object) -> Body:
    """Returns a bar that is attached at its top and pinned at its bottom."""
    body = block((2, 2, 6), (0.4, 0.4, 1.2))
    top = np.flatnonzero(body.vertices[:, 2] > 1.19).astype(np.int32)
    bottom = np.flatnonzero(body.vertices[:, 2] < 0.01).astype(np.int32)
    held = {"attached": top, "attached_weights": np.ones(len(top))}
    pins = {"pinned": bottom, "pin_weights": np.ones(len(bottom))}
    return replace(body, **held, **pins, **settings)


def test_releasing_the_pins_leaves_what_is_attached(tmp_path: Path) -> None:
    body = hung()
    times = np.array([0.0, 0.25, 0.25 + 1e-6])
    targets = np.array([body.vertices[body.attached] + [0.1 * i, 0.0, 0.0] for i in range(3)])
    run = Run(
        tmp_path,
        Scene((body,)),
        body__block__pin_stiffness=(times, np.array([100.0, 0.0, 0.0]), "step"),
        body__block__attached__targets=(times, targets),
    )
    before = run.advance(5).copy()
    assert np.abs(before[body.pinned] - body.vertices[body.pinned]).max() < 1e-12
    assert np.abs(before[body.attached, 0] - body.vertices[body.attached, 0]).min() > 0.05
    after = run.advance(3)
    assert np.abs(after[body.attached] - targets[-1]).max() < 1e-12
    assert np.abs(after[body.pinned] - body.vertices[body.pinned]).max() > 1e-3


def test_weights_between_are_springs(tmp_path: Path) -> None:
    """Softly attached vertices sag less than free ones and more than held ones."""
    sags = []
    for weight in (0.0, 0.2, 0.9):
        body = hung()
        rows = np.arange(len(body.vertices), dtype=np.int32)
        weights = np.where(np.isin(rows, body.attached), 1.0, weight)
        used = weights > 0
        body = replace(body, attached=rows[used], attached_weights=weights[used], pinned=rows[:0], pin_weights=rows[:0])
        run = Run(tmp_path / str(weight), Scene((body,)))
        sags.append(float((body.vertices - run.advance(12))[:, 2].max()))
    assert sags[0] > 1.05 * sags[1] > 1.05 * 1.05 * sags[2] > 0.0
