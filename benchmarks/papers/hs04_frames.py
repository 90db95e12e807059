# SPDX-License-Identifier: GPL-3.0-or-later
"""HS04, example 2: rotations updated only every k steps, until the body becomes unstable."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from harness import plots
from harness.result import Picture, Result
from papers.experiment import Experiment, Row, claim_row
from papers.hs04_cube_and_bar import (
    DT,
    MATERIAL_TEXT,
    METHOD_COLOURS,
    METHOD_LINE_STYLES,
    METHODS,
    corner_node,
    upright_box,
)
from papers.simulation_setup import take_step
from sinew.solver.runtime.arrays import Floats
from sinew.solver.runtime.errors import SolveFailed

CELLS, LENGTHS = (2, 2, 8), (1.0, 1.0, 4.0)  # [m]
FORCE = 1.0e3  # [N]
LOADING_STEPS, ROTATION_STEPS, FINAL_STEPS = (
    100,
    400,
    100,
)  # steps in which the load rises, the side is turned once, and until the end
STEPS = LOADING_STEPS + ROTATION_STEPS + FINAL_STEPS
UPDATE_INTERVALS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
UNSTABLE_SPEED_RATIO = 10.0  # times the largest speed of Green's run, from which on a body has broken loose
NAMES = [name for name in METHODS if name not in ("green", "linear")]


@dataclass(frozen=True)
class Trajectory:
    """A run.

    Attributes:
        corner: Where an upper corner is after every step [m], (steps, 3), as many as there were.
        speed: The largest speed of a node in the run [m/s].
        newton: Newton iterations per step, on average.
        broke: Whether it was stopped, since it had broken loose.
    """

    corner: Floats
    speed: float
    newton: float
    broke: bool


def run(quick: bool) -> Result:
    """Bends a bar, and turns it, with rotations that are older and older."""
    cells, every = ((1, 1, 4), (1, 4, 32, 64)) if quick else (CELLS, UPDATE_INTERVALS)
    rows, values = [], {}
    figure, axes = plots.plot(
        "steps between updates of rotations", "mean error of the corner [%]", beside=2, x_log=True
    )
    for ax, (what, angle) in zip(axes, {"turned": 2.0 * np.pi, "not turned": 0.0}.items(), strict=True):
        true = run_bar("green", cells, 1, angle, np.inf)
        values |= {f"{what} green newton": true.newton}
        first_broken: dict[str, int] = {}
        for name in NAMES:
            errors = []
            for k in every:
                found = run_bar(name, cells, k, angle, UNSTABLE_SPEED_RATIO * true.speed)
                if found.broke:
                    first_broken[name] = k
                    break
                errors.append(float(np.linalg.norm(found.corner - true.corner, axis=1).mean() / LENGTHS[2]))
            values |= {f"{what} {name} {k}": error for k, error in zip(every, errors, strict=False)}
            values[f"{what} {name} breaks"] = first_broken.get(name, np.inf)
            rows.append(
                Row(
                    f"{what}: {name}",
                    PAPER_CLAIMS[what],
                    interval_text(every, errors, first_broken.get(name), angle),
                    None,
                )
            )
            colour = plots.COLOURS[METHOD_COLOURS[name]]
            ax.plot(
                every[: len(errors)],
                np.multiply(100.0, errors),
                "o",
                color=colour,
                ls=METHOD_LINE_STYLES.get(name, "-"),
                label=name,
            )
            if name in first_broken:
                ax.axvline(first_broken[name], color=colour, ls=":", lw=1.0)
        ax.set_title(what, fontsize=9)
        ax.set_ylim(bottom=0.0)
    axes[0].legend()
    figure.tight_layout()
    rows += claim_rows(values, every)
    caption = "Errors over the age of rotations; a dotted line is the first age at which a method becomes unstable."
    return Result(rows, [Picture(caption, figure)], values)


PAPER_CLAIMS = {
    "turned": "errors grow with the angle between updates, until the method is unstable",
    "not turned": "stable for larger update rates",
}


def interval_text(every: tuple[int, ...], errors: list[float], broken: int | None, angle: float) -> str:
    """Returns a cell of the table: the errors, and where it broke."""
    text = ", ".join(f"{k}: {error:.1%}" for k, error in zip(every, errors, strict=False))
    if broken is None:
        return f"{text}; never breaks"
    return f"{text}; breaks at {broken}" + (
        f" ({np.degrees(angle) / ROTATION_STEPS * broken:.0f}° between)" if angle else ""
    )


def claim_rows(values: dict[str, float], every: tuple[int, ...]) -> list[Row]:
    """Returns rows on what the paper claims."""
    turned, still = ([values[f"{what} {name} breaks"] for name in NAMES] for what in ("turned", "not turned"))
    newton = values["turned green newton"]
    does_break, lasts = min(turned) < np.inf, all(a >= b for a, b in zip(still, turned, strict=True))
    never = f"even rotations {every[-1]} steps old do not break it"
    green = f"stable, {newton:.1f} Newton iterations a step"
    shared = [k for k in every if all(f"turned {name} {k}" in values for name in NAMES)]
    polar, hybrid = ({k: values.get(f"turned {name} {k}", np.inf) for k in every} for name in ("polar", "hybrid"))
    below = all(polar[k] < values[f"turned {name} {k}"] for k in shared for name in NAMES if name.startswith("warp"))
    suffers = [k for k in every if polar[k] < hybrid[k] < np.inf]
    from_k = f"its error is above that of polar from {suffers[0]} steps on" if suffers else "never above polar"
    return [
        claim_row("turned: polar below warp at every age", "yes", "yes" if below else "no", below, "not at every age"),
        claim_row("turned: hybrid", "suffers most from old rotations", from_k, bool(suffers), "its pressure has none"),
        claim_row(
            "some method breaks where the bar is turned", "yes", "yes" if does_break else "no", does_break, never
        ),
        claim_row("without the turn: breaks at", "later", ", ".join(map(_text, still)), lasts, "some break earlier"),
        Row("Green's strain, which has no rotations", "stable", green, True),
    ]


def _text(broken: float) -> str:
    return "never" if np.isinf(broken) else f"{broken:.0f}"


def run_bar(name: str, cells: tuple[int, int, int], every: int, angle: float, fastest: float) -> Trajectory:
    """Runs the bar by a method whose rotations are found anew every so many steps, and turns it by an angle [rad]."""
    method = replace(METHODS[name], rotations_every=every)
    simulated = upright_box(
        cells, LENGTHS, method,
        force=lambda t: FORCE * min(1.0, t / (LOADING_STEPS * DT)),
        turn=lambda t: angle * float(np.clip((t / DT - LOADING_STEPS) / ROTATION_STEPS, 0.0, 1.0)),
    )  # fmt: skip
    X = simulated.built.model.X
    node = corner_node(X)
    corner, speed, newton, broke = [], 0.0, 0, False
    for _ in range(STEPS):
        try:
            newton += take_step(simulated).newton_iterations
        except SolveFailed:
            broke = True
            break
        speed = max(speed, float(np.linalg.norm(simulated.state.v, axis=1).max()))
        corner.append(simulated.state.x[node].copy())
        if speed > fastest:
            broke = True
            break
    return Trajectory(np.array(corner), speed, newton / STEPS, broke)


EXPERIMENT = Experiment(
    "HS04",
    "Rotations updated every 1, 2, 4, 8 … steps (example 2)",
    f"""A bar of {LENGTHS[0]:g} × {LENGTHS[1]:g} × {LENGTHS[2]:g} m and {5 * CELLS[0] * CELLS[1] * CELLS[2]} tets
    ({MATERIAL_TEXT}) stands on a held side. A force of {FORCE / 1e3:g} kN along x on its upper side rises in
    {LOADING_STEPS * DT:g} s; then the held side turns once around within {ROTATION_STEPS * DT:g} s,
    {360.0 / ROTATION_STEPS:g}° per step, and rests for {FINAL_STEPS * DT:g} s. Rotations are updated every k steps.
    The error is the mean distance of an upper corner from its position with Green's strain, over the length of the
    bar. A body breaks if a node moves faster than {UNSTABLE_SPEED_RATIO:g} times the fastest in Green's run, or
    velocities are not finite. A second run has no turn.""",
    run,
)
