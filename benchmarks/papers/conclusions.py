# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of the page: Sinew's default formulation, with reasons from the experiments.

Every reason is a sentence with its numbers and whether they support it; the page lists those that they do not, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from harness.text_wrap import wrap

Values = dict[str, dict[str, float]]

HEADING = "## Sinew's default and its reasons"
DEFAULT_TEXT = (
    "A new body uses **polar**, with the rotation nearest to each tet's deformation gradient, and implicit Euler. The "
    "experiments above support this:"
)
AGAINST_TEXT = "They also show its disadvantages:"
OTHER_FORMULATIONS_TEXT = (
    "The other formulations have their uses: **hybrid** and **green** where pressure and large strains have to be "
    "accurate and a step may cost more; **hierarchical** for fine meshes; **linear** for bodies that hardly rotate; "
    "**vertex-warp**, best with the least-squares field, for networks of springs and comparisons with its paper; "
    "**qr** for matrix-free products and comparisons with its paper."
)
SOLVED_TEXT = "solved to a residual of 10⁻⁴"


@dataclass(frozen=True)
class Reason:
    """A sentence, and whether the numbers support it."""

    sentence: str
    holds: bool


def conclusions_section(values: Values) -> str:
    """Returns the section for the named values of all experiments, by the experiment's name."""
    found = reasons_for(values)
    pros = [each.sentence for each in found if each.holds]
    cons = [each.sentence for each in found if not each.holds]
    cons += [each.sentence for each in reasons_against(values) if each.holds]
    return "\n".join(
        [
            HEADING,
            "",
            wrap(DEFAULT_TEXT),
            "",
            *_listed(pros),
            "",
            AGAINST_TEXT,
            "",
            *_listed(cons),
            "",
            wrap(OTHER_FORMULATIONS_TEXT),
            "",
        ]
    )


def _listed(sentences: list[str]) -> list[str]:
    return [wrap(f"- {sentence}", "  ") for sentence in sentences]


def reasons_for(values: Values) -> list[Reason]:
    """Returns the reasons for the default."""
    makers: tuple[Callable[[Values], Reason], ...] = (
        costs_no_more_than_linear, keeps_volume, is_more_accurate_than_warp, keeps_momentum, is_stable, recovers_shape,
    )  # fmt: skip
    return [make(values) for make in makers]


def costs_no_more_than_linear(values: Values) -> Reason:
    """Of 450 tets."""
    of = values["mdmjc02_cost"]
    linear, polar, green, hybrid = (of[f"{name}, {SOLVED_TEXT}"] for name in ("linear", "polar", "green", "hybrid"))
    return Reason(
        f"A step of 450 tets costs {polar / linear:.2f} times as much as with the linear method (with Green's strain "
        f"and one linearised step {green / linear:.1f} times, with hybrid {hybrid / linear:.1f} times).",
        polar < 1.5 * linear and polar < 0.5 * min(green, hybrid),
    )


def keeps_volume(values: Values) -> Reason:
    """Of the bar of 450 tets."""
    of = values["mdmjc02_volume"]
    linear, polar = of["change linear 450 tets"], of["change polar 450 tets"]
    return Reason(
        f"The volume of the bending bar changes by at most {polar:.1%}; with the linear method by {linear:.0%}.",
        polar < 0.1 * linear,
    )


def is_more_accurate_than_warp(values: Values) -> Reason:
    """Forces on the cube of HS04."""
    of = values["hs04_forces"]
    state = "sheared and turned"
    names = [key[len(state) + 1 : -len(" whole")] for key in of if key.startswith(state) and key.endswith(" whole")]
    error = {name: of[f"{state} {name} whole"] for name in names}
    warps = [value for name, value in error.items() if name.startswith("warp")]
    return Reason(
        f"Forces on the sheared and turned cube are {error['polar']:.0%} off those of Green's strain; with rotations "
        f"per vertex {min(warps):.0%} at best, with the linear method {error['linear']:.0f} times.",
        error["polar"] < min(warps) and error["polar"] < error["linear"],
    )


def keeps_momentum(values: Values) -> Reason:
    """Of the free bar."""
    of = values["mdmjc02_ghost_force"]
    polar, warped = of["net force, rotation per tet (polar)"], of["net force, edge frames"]
    return Reason(
        f"Its forces sum to zero ({polar:.0e} of all forces, round-off) and make no torque, without a correction; "
        f"those of rotations per vertex sum to {warped:.1%}. Its matrix is symmetric, so conjugate gradients suffice.",
        polar < 1e-12,
    )


def is_stable(values: Values) -> Reason:
    """Of the dropped tube."""
    of = values["mdmjc02_largest_step"]
    steps = [value for key, value in of.items() if key.startswith("polar, ")]
    return Reason(
        f"The dropped tube is stable at every step up to {min(steps):.0f} ms, the longest tried, for all five "
        "stiffnesses; with one linearised step of Green's strain soft tubes become unstable at "
        f"{1.1 * min(of[k] for k in of if 'one linearised' in k):.1g} ms.",
        min(steps) >= 60.0,
    )


def recovers_shape(values: Values) -> Reason:
    """Of the crushed rabbit and the torn liver."""
    nearest, higham, by_edges = (
        [
            came
            for name in ("npf05_crushed", "npf05_reversed")
            for key, came in values[name].items()
            if key.startswith(of)
        ]
        for of in ("recovers, polar, nearest", "recovers, polar, Higham", "recovers, QR")
    )
    return Reason(
        f"Of {len(nearest)} crushed or inverted bodies {sum(nearest):.0f} came back, since the nearest rotation is a "
        f"rotation for inverted tets, too (with QR {sum(by_edges):.0f}). With the orthogonal factor of Higham's "
        f"iteration, a reflection for inverted tets, {sum(higham):.0f} came back.",
        all(nearest) and not any(higham),
    )


def reasons_against(values: Values) -> list[Reason]:
    """Returns the reasons against the default."""
    of, saved = values["hs04_forces"], values["npf05_cost"]["saved, polar, nearest rotation, whole"]
    state = "sheared and turned"
    hybrid, polar = of[f"{state} hybrid whole"], of[f"{state} polar whole"]
    ratio = values["mdmjc02_cost"]
    more = ratio[f"hybrid, {SOLVED_TEXT}"] / ratio[f"polar, {SOLVED_TEXT}"]
    return [
        Reason(
            f"Hybrid's forces are nearer to Green's, {hybrid:.0%} off instead of {polar:.0%}, but a step costs "
            f"{more:.1f} times as much.",
            hybrid < polar and math.isfinite(more),
        ),
        Reason(f"With QR a step of 3430 tets costs {saved:.0%} less on one thread.", saved > 0.05),
    ]
