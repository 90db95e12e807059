# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are too soft for their size keep their volume: a hand of jelly, and the presets as cubes of 1 m and 2 m.

Each is dropped by half its size and watched until it lies; volumes are Σ fill · signed volume of its tets.

python -m pytest -s tests/validate_soft_volume.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.self_weight_scenes import (
    Volumes,
    cube_of,
    fall,
    fall_and_float,
    press_and_lift,
    press_by_plate,
    soft_cube,
)
from sinew.solver.mechanics.self_weight_volume_penalty import has_self_weight_pressure
from sinew.solver.mesh.formats.surface_files import read_surface
from sinew.solver.scene.flesh import DYNAMIC, FLESH_LAWS, FLESH_TIME_SCHEMES, Flesh
from sinew.solver.scene.material_presets import MATERIAL_PRESETS
from sinew.solver.scene.scene import Body, Material, Meshing

SECTION = "Bodies too soft to stand"
LAST, LEAST = 0.03, 0.08  # of the volume, that may be missing when the body lies, and in any frame of its fall
LEAST_OF_FIRM = 0.15  # in any frame, of a body that is stiff enough to stand, and so has no pressure
INVERTED = 0.002  # of the tets, that may be inside out in a step
DIVISIONS = 30  # of the hand: 13,000 tets
LIES = 96  # frames until it does
GRAVITY = np.array([0.0, 0.0, -9.81])

Reach = Callable[..., bool]


def standing_hand(folder: Path, material: Material, divisions: int) -> Body:
    """Returns a hand of one metre that stands on its wrist, half a metre above the ground."""
    surface = read_surface(folder / "testdata" / "surface" / "hand_closed_smpl.obj")
    vertices = surface.vertices[:, [2, 0, 1]]
    vertices /= np.ptp(vertices, axis=0).max()
    vertices -= [0.0, 0.0, vertices[:, 2].min() - 0.5]
    return Body(vertices, surface.triangles, material, Meshing(divisions=divisions), "hand", "Hand")


def tell(reach: Reach, line: str, body: Body, found: Volumes) -> None:
    """Adds the rows of one body."""
    least = 1.0 - (LEAST if has_self_weight_pressure(body, GRAVITY) else LEAST_OF_FIRM)
    reach(SECTION, f"{line}: volume at the end", f"{found.last:.1%}", f"±{LAST:.0%}", abs(found.last - 1.0) <= LAST)
    reach(SECTION, f"{line}: least volume", f"{found.least:.1%}", f"{least:.0%}", found.least >= least)
    inverted = f"{found.inverted_at_last} at the end, {found.inverted} at most"
    sound = found.inverted_at_last == 0 and found.inverted <= INVERTED * found.tets
    reach(SECTION, f"{line}: of {found.tets} tets inside out", inverted, f"0, {INVERTED:.1%}", sound)


@pytest.mark.parametrize("key", ["JELLY", "FAT", "FLESH", "WAX"])
def test_a_hand_of_one_metre(key: str, shared: Path, tmp_path: Path, reach: Reach) -> None:
    preset = MATERIAL_PRESETS[key]
    plasticity = preset.plasticity if "plasticity" in preset.features else None
    body = replace(standing_hand(shared, preset.material, DIVISIONS if key == "JELLY" else 16), plasticity=plasticity)
    found = fall(tmp_path, body, LIES)
    tell(reach, f"{preset.label}, a hand of 1 m", body, found)


@pytest.mark.parametrize("length", [1.0, 2.0])
@pytest.mark.parametrize("key", sorted(MATERIAL_PRESETS))
def test_presets_as_cubes(key: str, length: float, tmp_path: Path, reach: Reach) -> None:
    preset = MATERIAL_PRESETS[key]
    plasticity = preset.plasticity if "plasticity" in preset.features else None
    body = cube_of(preset.material, length, 6, at=(0.0, 0.0, 0.5 * length), plasticity=plasticity)
    found = fall(tmp_path, body, LIES)
    tell(reach, f"{preset.label}, a cube of {length:g} m", body, found)


@pytest.mark.parametrize("strain", [0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0])
@pytest.mark.parametrize("poisson_ratio", [0.3, 0.45, 0.49])
def test_however_soft_it_is(strain: float, poisson_ratio: float, tmp_path: Path, reach: Reach) -> None:
    found = fall(tmp_path, soft_cube(strain, poisson_ratio, 6), LIES)
    # what bulk moduli allow goes with 1 − 2ν
    line, bound = f"ρ g L / E = {strain:g}, ν = {poisson_ratio:g}", LAST * (1.0 - 2.0 * poisson_ratio) / 0.1
    reach(SECTION, f"{line}: volume at the end", f"{found.last:.1%}", f"±{bound:.1%}", abs(found.last - 1.0) <= bound)
    sound = found.inverted_at_last == 0 and found.inverted <= 8
    reach(SECTION, f"{line}: tets inside out", f"{found.inverted_at_last}, {found.inverted} at most", "0, 8", sound)
    reach(SECTION, f"{line}: motion and height", found.energy, "below 1", found.energy < 1.0)


def tell_loose(reach: Reach, line: str, found: Volumes, bound: float = LAST) -> None:
    """Adds the rows of loose flesh, and of what was pressed and let go."""
    reach(SECTION, f"{line}: volume at the end", f"{found.last:.1%}", f"±{bound:.1%}", abs(found.last - 1.0) <= bound)
    inverted = f"{found.inverted_at_last} at the end, {found.inverted} at most"
    sound = found.inverted_at_last == 0 and found.inverted <= INVERTED * found.tets
    reach(SECTION, f"{line}: of {found.tets} tets inside out", inverted, f"0, {INVERTED:.1%}", sound)


@pytest.mark.parametrize("strain", [0.3, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("law", FLESH_LAWS)
def test_loose_flesh(law: str, strain: float, tmp_path: Path, reach: Reach) -> None:
    for scheme in FLESH_TIME_SCHEMES:
        flesh = Flesh(DYNAMIC, law, scheme, keeps_volume=True)
        # at 100 Newmark would cut one step into 201, one more than it makes, and the error asks for more substeps
        substeps = 8 if strain >= 100.0 and scheme == "newmark" else 4
        found = fall(tmp_path / scheme, soft_cube(strain, cells=6, flesh=flesh), LIES, substeps)
        tell_loose(reach, f"loose flesh, {law}, {scheme}, ρ g L / E = {strain:g}", found)


@pytest.mark.parametrize("poisson_ratio", [0.3, 0.49])
def test_loose_flesh_by_its_volume_preservation(poisson_ratio: float, tmp_path: Path, reach: Reach) -> None:
    body = soft_cube(10.0, poisson_ratio, 6, flesh=Flesh(DYNAMIC, keeps_volume=True))
    bound = LAST * (1.0 - 2.0 * poisson_ratio) / 0.1
    tell_loose(reach, f"loose flesh, ν = {poisson_ratio:g}, ρ g L / E = 10", fall(tmp_path, body, LIES), bound)


@pytest.mark.parametrize("flesh", [None, Flesh(DYNAMIC, keeps_volume=True)])
@pytest.mark.parametrize("strain", [1.0, 10.0])
def test_pressed_by_a_plate_or_without_weight(strain: float, flesh: Flesh | None, tmp_path: Path, reach: Reach) -> None:
    name = f"{'loose flesh' if flesh else 'jelly'}, ρ g L / E = {strain:g}"
    for left in (0.3, 0.1):
        body = soft_cube(strain, cells=6, at=(0.0, 0.0, 0.001), flesh=flesh)
        found = press_by_plate(tmp_path / str(left), body, LIES, left)
        tell_loose(reach, f"{name}, pressed by a plate to {left:.0%} and let go", found)
    _, floating = fall_and_float(tmp_path / "float", soft_cube(strain, cells=6, flesh=flesh), (48, LIES))
    tell_loose(reach, f"{name}, without weight after it lay", floating)


def test_held_by_its_top_and_pressed(tmp_path: Path, reach: Reach) -> None:
    """As far as there is room: its top cells are held, and pressed to 10 % they are below the ground.

    Measured there: four cells end with 87 % of the volume, folded, eight with 99 % and 4 tets inside out.
    """
    for cells, pressed in ((4, 0.7), (8, 0.7), (8, 0.8)):
        body = soft_cube(1.0, cells=cells, at=(0.0, 0.0, 0.02))
        found = press_and_lift(tmp_path / f"{cells} {pressed}", body, LIES, pressed, 2.0)
        line = f"jelly held by its top, of {cells} cells, pressed to {1.0 - pressed:.0%} and lifted"
        reach(SECTION, f"{line}: volume", f"{found.last:.1%}", f"±{LAST:.1%}", abs(found.last - 1.0) <= LAST)
        reach(SECTION, f"{line}: tets inside out at the end", found.inverted_at_last, 0, found.inverted_at_last == 0)
