# SPDX-License-Identifier: GPL-3.0-or-later
"""The experiments of HS04 and MG04 at their full size: what the papers claim of errors, levels and condition numbers.

python -m pytest -s tests/validate_papers_corotational.py
"""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="make papers draws with it")

from papers import hs04_bar, hs04_forces, hs04_frames, hs04_levels, mg04_condition

WARPS = ("warp, edge frames", "warp, least squares")


def test_errors_of_forces(reach):
    values = hs04_forces.run(False).values
    others = max(value for name, value in values.items() if name.startswith("turned ") and name != "turned linear")
    reach("HS04", "turned cube: force of linear tets over that of shear", values["turned linear"], "> 0.1",
          values["turned linear"] > 0.1)  # fmt: skip
    reach("HS04", "turned cube: largest force of the others", others, "1e-9", others < 1e-9)
    for state in ("sheared", "sheared and turned"):
        for part in ("whole", "pressure"):
            hybrid, polar = (values[f"{state} {name} {part}"] for name in ("hybrid", "polar"))
            warp = min(values[f"{state} {name} {part}"] for name in WARPS)
            told = f"{hybrid:.3f}, {polar:.3f}, {warp:.3f}"
            reach("HS04", f"{state}, {part}: error of hybrid, polar, warp", told, "rising", hybrid < polar < warp)


def test_the_corner_of_the_bar(reach):
    values = hs04_bar.run(False).values
    for when in ("mean", "last"):
        found = {name: values[f"{when} {name}"] for name in hs04_bar.NAMES}
        told = ", ".join(f"{found[name]:.4f}" for name in ("hybrid", "polar", *WARPS, "linear"))
        line = f"bar, {when} error of hybrid, polar, warp (2), linear"
        reach("HS04", line, told, "rising", hs04_bar.is_error_order_as_paper(found))


def test_old_rotations(reach):
    values = hs04_frames.run(False).values
    breaks = {name: values[f"turned {name} breaks"] for name in ("polar", *WARPS)}
    told = ", ".join(f"{name} {k:g}" for name, k in breaks.items())
    reach("HS04", "turned bar breaks loose with rotations so old", told, "some", min(breaks.values()) < np.inf)
    still = min(values[f"not turned {name} breaks"] for name in hs04_frames.NAMES)
    reach("HS04", "without the turn", still, "never", bool(np.isinf(still)))


def test_levels(reach):
    values = hs04_levels.run(False).values
    for levels in hs04_levels.REFINEMENTS:
        own, coarse = values[f"error {levels} hierarchical"], values[f"error {levels} {hs04_levels.COARSE_GREEN}"]
        line = f"bar refined {levels} times: error over that of coarse tets alone"
        # 0.03 as long as the details were solved by Newton's method too, which HS04's fine levels are not
        reach("HS04", line, own / coarse, "0.2", own < 0.2 * coarse)


def test_condition_numbers(reach):
    values = mg04_condition.run(False).values
    for E in mg04_condition.MODULI:
        rise = values[f"bar {E:.0e} rise"]
        reach("MG04", f"bar of {E:.0e} Pa, rise of the condition number", f"{rise:.1%}", "25 %", rise <= 0.25)
    for name in mg04_condition.mg04_demo_scenes.PAPER_TABLE_1:
        if name in values:
            reach("MG04", f"{name}, change while it moves", f"{values[name]:.1%}", "25 %", values[name] <= 0.25)
