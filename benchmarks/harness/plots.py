# SPDX-License-Identifier: GPL-3.0-or-later
"""Plots of curves and of bodies of tets, saved as small PNGs."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from PIL import Image

from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.runtime.atomic_files import write_file

# a method has the same colour in all pictures, the paper's where there is one
COLOURS = {
    "linear": "#d62728",
    "vertex-warp": "#1f5fd0",
    "vertex-warp, least squares": "#6baed6",
    "polar": "#ff8c00",
    "qr": "#8c564b",
    "green": "#2ca02c",
    "hybrid": "#9467bd",
    "hierarchical": "#17a2b8",
}
DOTS_PER_INCH = 110
MAX_IMAGE_BYTES = 100_000
PLOT_STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
}
LIGHT_DIRECTION = np.array([0.4, -0.5, 0.77])


def plot(x_label: str, y_label: str, *, beside: int = 1, x_log: bool = False, y_log: bool = False):
    """Returns a figure and its axes, or a list of `beside` axes in a row."""
    with plt.rc_context(PLOT_STYLE):
        figure, axes = plt.subplots(1, beside, figsize=(5.6 if beside == 1 else 4.0 * beside, 3.4), squeeze=False)
    for ax in axes[0]:
        ax.set_xlabel(x_label)
        ax.set_ylabel(y_label)
        ax.set_xscale("log" if x_log else "linear")
        ax.set_yscale("log" if y_log else "linear")
    return figure, axes[0][0] if beside == 1 else list(axes[0])


def plot_bodies(
    titles: Sequence[str],
    faces: Sequence[Floats],
    colours: Sequence[str],
    *,
    view: tuple[float, float] = (12.0, -60.0),
    wide: float = 2.6,
):
    """Returns a figure of bodies beside each other, all at the same scale.

    Args:
        titles: Of each.
        faces: The corners of the triangles of each [m], (t, 3, 3).
        colours: Of each.
        view: Elevation and azimuth of the camera [°].
        wide: Width of each [inch].
    """
    figure = plt.figure(figsize=(wide * len(titles), wide * 1.15))
    low, high = (getattr(np, name)([getattr(f, name)(axis=(0, 1)) for f in faces], axis=0) for name in ("min", "max"))
    for number, (title, corners, colour) in enumerate(zip(titles, faces, colours, strict=True)):
        ax = figure.add_subplot(1, len(titles), number + 1, projection="3d")
        ax.add_collection3d(
            Poly3DCollection(corners, facecolors=shade_triangles(corners, colour), edgecolors="k", lw=0.2)
        )
        ax.set_title(title, fontsize=9)
        for axis, a, b in zip("xyz", low, high, strict=True):
            getattr(ax, f"set_{axis}lim")(a, b + 1e-9)
        ax.set_box_aspect(np.maximum(high - low, 1e-3))
        ax.view_init(*view)
        ax.set_axis_off()
    figure.subplots_adjust(0.0, 0.0, 1.0, 0.92, 0.0, 0.0)
    return figure


def boundary_triangles(x: Floats, tets: Indices) -> Floats:
    """Returns the corners of the triangles that bound tets [m], (t, 3, 3), for node positions x, (n, 3)."""
    sides = np.concatenate([tets[:, [1, 2, 3]], tets[:, [0, 3, 2]], tets[:, [0, 1, 3]], tets[:, [0, 2, 1]]])
    _, first, count = np.unique(np.sort(sides, axis=1), axis=0, return_index=True, return_counts=True)
    return np.asarray(x)[sides[np.sort(first[count == 1])]]


def shade_triangles(corners: Floats, colour: str) -> Floats:
    """Returns the colours of triangles in the light, (t, 4)."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    bright = 0.55 + 0.45 * np.clip(normal @ (LIGHT_DIRECTION / np.linalg.norm(LIGHT_DIRECTION)), -0.6, 1.0)
    return np.column_stack([bright[:, None] * matplotlib.colors.to_rgb(colour), np.ones(len(bright))])


def save_png(figure, path: Path) -> None:
    """Writes a figure as a PNG of at most `MAX_IMAGE_BYTES`, with 128 colours, scaled down if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for shrink in (1.0, 0.85, 0.7, 0.55):
        raw = io.BytesIO()
        figure.savefig(raw, dpi=shrink * DOTS_PER_INCH, bbox_inches="tight", format="png")
        image = Image.open(raw).convert("RGB").quantize(128)
        small = io.BytesIO()
        image.save(small, "PNG", optimize=True)
        if len(small.getvalue()) <= MAX_IMAGE_BYTES:
            break
    write_file(path, small.getvalue())
    plt.close(figure)
