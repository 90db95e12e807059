# SPDX-License-Identifier: GPL-3.0-or-later
"""How many tets a body will get and how much memory they need, before any work is done.

Blender's panel shows it while a slider is dragged, so this file loads neither Numba nor SciPy.

A cell of the body-centred lattice with edge a (the tet size) holds 12 tets, so a volume V holds 12 V/a³. What the
surface adds is known for the lattice cover: the tets that a convex body K meets are, on average over its places
and turns, N = (V(K) + ½ (A(K) w(T) + w(K) A(T)) + V(T)) / V(T) with the area A and mean width w of K and of a tet T.
Source: Santaló (1976), Integral Geometry and Geometric Probability, III.15 (kinematic formula).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ...runtime.errors import BadInput
from ...runtime.free_memory import free_memory
from ...scene.scene import Meshing

TETS_PER_CELL = 12.0
# Mean width and area of a lattice tet of a = 1: two edges of length 1 at 90°, four of √3/2 at 60°; four faces of √2/4.
TET_MEAN_WIDTH = (2.0 * math.pi / 2.0 + 4.0 * math.sqrt(0.75) * 2.0 * math.pi / 3.0) / (4.0 * math.pi)
TET_SURFACE_AREA = math.sqrt(2.0)

# Smooth: tets per a² of area and per a of mean width beyond 12 V/a³, fitted to 17 surfaces at 12, 24 and 40 divisions.
SMOOTH_TETS_PER_AREA = 1.7
SMOOTH_TETS_PER_WIDTH = -5.0
SMOOTH_SHELL_DEPTH = 3.0  # depth [a] at which the larger tets inside begin

# Adaptive: radius 3 V / A [a] at which half of the tets are small, fitted to 7 surfaces at 8 to 32 divisions: a fifth
# off (rms), and up to 2.6 times too many for a small ball. Depth at which tets of a size begin, in that size.
ADAPTIVE_HALF_RADIUS = 2.5
ADAPTIVE_DEPTH_RATIO = 1.1

# A surface without a known volume: shares of the box and of a sphere with the same area, medians of the 17 surfaces.
UNKNOWN_VOLUME_BOX_SHARE = 0.26
UNKNOWN_VOLUME_SPHERE_SHARE = 0.5

MAX_SHEET_VOLUME_RATIO = 1.0e-4  # a surface with less volume than this times area^1.5 is a sheet (a sphere has 0.094)

# Dropping a ball of 52,000 or of 407,000 tets took 735 bytes for each; contacts and checkpoints need more.
BYTES_PER_TET = 1200
# a block of 20,480 or of 69,120 tets made by one refinement took 2,600 to 2,900 for each
BYTES_PER_REFINED_TET = 3000
# of the longest side: finer tets are counted as that many, which no memory holds and floats still do
MIN_COUNTED_SIZE = 1.0e-9
BYTES_PER_CELL = 150  # of the lattice around the whole body, while it is filled

TETS_ACROSS = 3.0  # what is thin gets as many tets across as it takes to bend and bulge
MAX_COUNT_RATIO = 2.0  # of tets for that, over those that were asked for
SIZE_BISECTIONS = 60


def estimate_tets(lengths: Sequence[float], area: float, volume: float | None, meshing: Meshing) -> int:
    """Returns about how many tets a surface will get, at least 1.

    Args:
        lengths: Sides of its bounding box [m], (3,).
        area: Its area [m²].
        volume: The volume that it encloses [m³], or None where that is not known.
        meshing: Method and tet size.
    """
    sides = [float(length) for length in lengths]
    size = _counted_size(sides, meshing)
    if not size > 0.0 or not math.isfinite(size):
        return 1
    inside = _volume(sides, area, volume) / size**3
    surface = area / size**2
    if volume is not None and inside < MAX_SHEET_VOLUME_RATIO * surface**1.5:
        surface *= 2.0  # an open sheet has two sides; its faces were counted once
    width = 0.5 * sum(sides) / size  # the mean width of a box
    if meshing.method == "robust":
        return _format_count(_covering_tets(inside, surface, width))
    if meshing.method == "adaptive":
        return _format_count(_adaptive_tets(inside, surface, width, meshing.coarsest_size))
    count = TETS_PER_CELL * inside + SMOOTH_TETS_PER_AREA * surface + SMOOTH_TETS_PER_WIDTH * width
    if meshing.interior_size > 1 and inside > 0.0:
        deep = inside * max(0.0, 1.0 - surface * SMOOTH_SHELL_DEPTH / (3.0 * inside)) ** 3
        count -= TETS_PER_CELL * deep * (1.0 - 1.0 / meshing.interior_size**3)
    return _format_count(max(count, 0.4 * TETS_PER_CELL * inside))


def _covering_tets(inside: float, surface: float, width: float) -> float:
    """Returns how many equal tets cover a body of a volume, an area and a mean width, in a³, a² and a."""
    return TETS_PER_CELL * (inside + 0.5 * (surface * TET_MEAN_WIDTH + width * TET_SURFACE_AREA)) + 1.0


def _adaptive_tets(inside: float, surface: float, width: float, coarsest: int) -> float:
    """Returns the same where tets are up to `coarsest` times larger, with volume, area and width in the smallest a."""
    even, double = _covering_tets(inside, surface, width), _covering_tets(inside / 8.0, surface / 4.0, width / 2.0)
    radius = 3.0 * inside / surface if surface > 0.0 else 0.0
    count = double + (even - double) / (1.0 + (radius / ADAPTIVE_HALF_RADIUS) ** 2)
    size = 4
    while size <= coarsest and radius > 0.0:
        deep = inside * max(0.0, 1.0 - ADAPTIVE_DEPTH_RATIO * size / radius) ** 3
        count -= TETS_PER_CELL * deep * 7.0 / size**3  # a tet of half the size is an eighth of one of these
        size *= 2
    return count


def tet_size_for_count(
    lengths: Sequence[float], area: float, volume: float, thickness: float | None, count: int, meshing: Meshing
) -> float:
    """Returns the tet size [m] that gives about `count` tets, or up to `MAX_COUNT_RATIO` times as many where the body
    has parts that are thinner than `TETS_ACROSS` of these tets; 0 for a surface without size.

    Args:
        lengths: Sides of its bounding box [m], (3,).
        area: Its area [m²].
        volume: The volume that it encloses [m³].
        thickness: Of its thin parts [m]; None where that is not known.
        count: The number of tets, at least 1.
        meshing: Method and interior size; its tet size is not read.
    """
    size = _size_of_estimate(lengths, area, volume, count, meshing)
    if thickness is None or thickness >= TETS_ACROSS * size:
        return size
    return max(
        thickness / TETS_ACROSS, _size_of_estimate(lengths, area, volume, round(MAX_COUNT_RATIO * count), meshing)
    )


def _size_of_estimate(lengths: Sequence[float], area: float, volume: float, count: int, meshing: Meshing) -> float:
    """Returns the largest tet size [m] at which `estimate_tets` is `count` or more, by bisection of its logarithm."""
    longest = float(max(lengths))
    if not longest > 0.0:
        return 0.0
    low, high = math.log(MIN_COUNTED_SIZE * longest), math.log(longest)
    for _ in range(SIZE_BISECTIONS):
        middle = 0.5 * (low + high)
        if estimate_tets(lengths, area, volume, replace(meshing, tet_size=math.exp(middle))) >= count:
            low = middle
        else:
            high = middle
    return math.exp(low)


def estimate_memory(lengths: Sequence[float], tet_count: int, meshing: Meshing) -> int:
    """Returns about how many bytes it takes to build and simulate a body in a box of sides `lengths` [m], (3,)."""
    size = _counted_size(lengths, meshing)
    cells = math.prod(float(length) / size + 2.0 for length in lengths)
    return int(tet_count * BYTES_PER_TET + cells * BYTES_PER_CELL)


def check_estimate(lengths: Sequence[float], area: float, volume: float | None, meshing: Meshing, name: str) -> int:
    """Returns the estimate, where it fits into memory.

    Raises:
        BadInput: "too-many-tets", with the numbers and the tet size that would fit.
    """
    count = estimate_tets(lengths, area, volume, meshing)
    limit = free_memory() if meshing.memory_limit is None else meshing.memory_limit
    needed = estimate_memory(lengths, count, meshing)
    if limit is None or needed <= limit:
        return count
    size = _counted_size(lengths, meshing)
    raise BadInput(
        "too-many-tets",
        name=name,
        tet_size=f"{tet_size_of(lengths, meshing):.3g}",
        count=f"{count:,}",
        needed=_format_gigabytes(needed),
        limit=_format_gigabytes(limit),
        fitting_size=f"{1.1 * size * (needed / max(limit, 1)) ** (1.0 / 3.0):.2g}",
    )


def check_refined_estimate(tet_count: int, levels: int, per_tet: int, meshing: Meshing, name: str) -> None:
    """Makes sure that tets fit into memory of which each becomes `per_tet` by `levels` refinements.

    Raises:
        BadInput: "too-many-refined", with the numbers.
    """
    limit = free_memory() if meshing.memory_limit is None else meshing.memory_limit
    count = tet_count * per_tet
    needed = count * BYTES_PER_REFINED_TET
    if limit is not None and needed > limit:
        raise BadInput(
            "too-many-refined",
            name=name,
            count=f"{count:,}",
            levels=levels,
            needed=_format_gigabytes(needed),
            limit=_format_gigabytes(limit),
        )


def tet_size_of(lengths: Sequence[float], meshing: Meshing) -> float:
    """Returns the tet size [m]: what is set, else the longest of `lengths` [m] over the divisions."""
    if meshing.tet_size is not None:
        return float(meshing.tet_size)
    return float(max(lengths)) / max(meshing.divisions, 1)


def _counted_size(lengths: Sequence[float], meshing: Meshing) -> float:
    """Returns the tet size [m], or `MIN_COUNTED_SIZE` of the longest side where it is smaller, so that counts stay
    finite.
    """
    size = tet_size_of(lengths, meshing)
    return max(size, MIN_COUNTED_SIZE * float(max(lengths))) if size > 0.0 else size


def _volume(lengths: Sequence[float], area: float, volume: float | None) -> float:
    """Returns the volume [m³], no more than fits into the box and into a sphere's area; a guess where unknown."""
    box = lengths[0] * lengths[1] * lengths[2]
    sphere = area**1.5 / (6.0 * math.sqrt(math.pi))
    if volume is None:
        return min(UNKNOWN_VOLUME_BOX_SHARE * box, UNKNOWN_VOLUME_SPHERE_SHARE * sphere)
    return min(abs(volume), box, sphere)


def _format_count(count: float) -> int:
    return max(1, int(min(count, 1e15)))


def _format_gigabytes(count: float) -> str:
    return f"{count / 1e9:.3g} GB"
