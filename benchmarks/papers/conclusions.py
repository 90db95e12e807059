# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of the page: what Sinew uses by default, and why, out of what the experiments found.

Every reason is a sentence with its numbers and whether they bear it out; one that they do not bear out is said, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from harness.text_wrap import wrap

Values = dict[str, dict[str, float]]

HEADING = "## What Sinew uses by default, and why"
DEFAULT_TEXT = (
    "A new body resists by **polar**, with the rotation of every tet nearest to its deformation gradient, by implicit "
    "Euler. The experiments above speak for it:"
)
AGAINST_TEXT = "Against it they say:"
OTHER_FORMULATIONS_TEXT = (
    "So the others are there for what they are better at: **hybrid** and **green** where pressure and large strains "
    "have "
    "to be right and a step may cost more; **hierarchical** for fine meshes; **linear** for what hardly turns; "
    "**vertex-warp**, best with the least-squares field, for networks of springs and to compare with its paper; **qr** "
    "for products without a matrix, and to compare with its own."
)
SOLVED_TEXT = "solved to a residual of 10⁻⁴"


@dataclass(frozen=True)
class Reason:
    """A sentence, and whether the numbers bear it out."""

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
    """Returns what speaks for the default."""
    makers: tuple[Callable[[Values], Reason], ...] = (
        costs_no_more_than_linear, keeps_volume, is_more_accurate_than_warp, keeps_momentum, is_stable, recovers_shape,
    )  # fmt: skip
    return [make(values) for make in makers]


def costs_no_more_than_linear(values: Values) -> Reason:
    """Of 450 tets."""
    of = values["mdmjc02_cost"]
    linear, polar, green, hybrid = (of[f"{name}, {SOLVED_TEXT}"] for name in ("linear", "polar", "green", "hybrid"))
    return Reason(
        f"A step of 450 tets costs {polar / linear:.2f} times one of the linear method (one by Green's strain, a "
        f"single linearised step, {green / linear:.1f} times, the hybrid one {hybrid / linear:.1f} times).",
        polar < 1.5 * linear and polar < 0.5 * min(green, hybrid),
    )


def keeps_volume(values: Values) -> Reason:
    """Of the bar of 450 tets."""
    of = values["mdmjc02_volume"]
    linear, polar = of["change linear 450 tets"], of["change polar 450 tets"]
    return Reason(
        f"The volume of the bending bar changes by {polar:.1%} at most; the linear one's by {linear:.0%}.",
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
        f"Forces on the sheared and turned cube are {error['polar']:.0%} off those by Green's strain; by rotations per "
        f"vertex {min(warps):.0%} at best, by the linear method {error['linear']:.0f} times.",
        error["polar"] < min(warps) and error["polar"] < error["linear"],
    )


def keeps_momentum(values: Values) -> Reason:
    """Of the free bar."""
    of = values["mdmjc02_ghost_force"]
    polar, warped = of["net force, rotation per tet (polar)"], of["net force, edge frames"]
    return Reason(
        f"Its forces sum to zero ({polar:.0e} of all forces, round-off) and make no torque, without a correction "
        f"afterwards; those of rotations per vertex to {warped:.1%}. Its matrix is symmetric, so conjugate gradients "
        "do.",
        polar < 1e-12,
    )


def is_stable(values: Values) -> Reason:
    """Of the dropped tube."""
    of = values["mdmjc02_largest_step"]
    steps = [value for key, value in of.items() if key.startswith("polar, ")]
    return Reason(
        f"The dropped tube is stable at every step up to {min(steps):.0f} ms, the longest that was tried, and for all "
        "five stiffnesses; by one linearised step of Green's strain soft ones become unstable at "
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
        f"Of {len(nearest)} bodies that were crushed flat or torn inside out {sum(nearest):.0f} came back, since the "
        f"nearest rotation is one for inverted tets, too (by QR {sum(by_edges):.0f}); with the orthogonal factor of "
        f"Higham's iteration, a reflection then, {sum(higham):.0f}.",
        all(nearest) and not any(higham),
    )


def reasons_against(values: Values) -> list[Reason]:
    """Returns what speaks against it."""
    of, saved = values["hs04_forces"], values["npf05_cost"]["saved, polar, nearest rotation, whole"]
    state = "sheared and turned"
    hybrid, polar = of[f"{state} hybrid whole"], of[f"{state} polar whole"]
    ratio = values["mdmjc02_cost"]
    more = ratio[f"hybrid, {SOLVED_TEXT}"] / ratio[f"polar, {SOLVED_TEXT}"]
    return [
        Reason(
            f"The hybrid method's forces are nearer to Green's, {hybrid:.0%} off instead of {polar:.0%}; a step costs "
            f"{more:.1f} times as much.",
            hybrid < polar and math.isfinite(more),
        ),
        Reason(f"By QR a step of 3430 tets costs {saved:.0%} less on one thread.", saved > 0.05),
    ]
