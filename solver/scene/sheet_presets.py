# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets by name: plain values and their sources.

Cloth is measured per width: with the thickness h, E h is what resists a stretch [N/m], G h what resists shear [N/m] and
D what resists bending [N m]. Kawabata's instruments give B in gf cm²/cm (9.81e-5 N m) and G in gf/(cm degree)
(56.2 N/m); the first stretch of a woven cloth, before its threads are straight, is 2 to 5 kN/m. Leather, rubber, skin,
paper and foil are plates. Sheets tear where they are stretched by their elongation at break, at E times that: their
stiffness is that of the first stretch. Paper and foil yield at lower strains than their material does (about 5e-3 and
1e-3), by eye: real creases are sharper than faces, and faces of some millimetres should keep them. Dampings are
β = tan δ / (2π · 3 Hz), with tan δ chosen by eye, as those of solids.
"""

from __future__ import annotations

from dataclasses import dataclass

from .material import Material, Plasticity
from .sheet import Sheet


@dataclass(frozen=True)
class SheetPreset:
    """A sheet with words for people.

    Attributes:
        label: Name for people.
        description: What it looks like when it moves, for a tooltip.
        source: Where the values come from.
        material, sheet: The values.
        elongation_at_break: Stretch less one at which it tears.
        plasticity: How its folds stay; None: they spring back.
    """

    label: str
    description: str
    source: str
    material: Material
    sheet: Sheet
    elongation_at_break: float
    plasticity: Plasticity | None = None

    @property
    def breaking_stress(self) -> float:
        """E times the elongation at break [Pa]."""
        return self.material.youngs_modulus * self.elongation_at_break


SHEET_PRESETS = {
    "COTTON": SheetPreset(
        "Cotton",
        "Shirt or bed linen: falls in folds, hardly stretches",
        "Woven shirting, 150 g/m² (Kawabata, The Standardization and Analysis of Hand Evaluation, 1980): "
        "B 0.08 gf cm²/cm, G 1 gf/(cm degree); breaks at 15 % (Saville, Physical Testing of Textiles, 1999)",
        Material(1.0e7, 0.3, 500.0, 0.0, 0.005),
        Sheet(3.0e-4, bending=0.3, shear=0.05),
        0.15,
    ),
    "SILK": SheetPreset(
        "Silk",
        "Light and flowing: fine folds",
        "Silk habotai, 80 g/m² (Kawabata, 1980): B 0.03 gf cm²/cm, G 0.3 gf/(cm degree); breaks at 20 % (Saville, "
        "1999)",
        Material(1.7e7, 0.3, 530.0, 0.0, 0.003),
        Sheet(1.5e-4, bending=0.5, shear=0.02),
        0.2,
    ),
    "LEATHER": SheetPreset(
        "Leather",
        "Heavy: wide folds that keep their roundness",
        "Garment leather of 1.2 mm: E 10 to 50 MPa at small strain; 860 kg/m³ (Ashby, Materials Selection in "
        "Mechanical Design, 2011), which breaks at 20 to 70 %",
        Material(3.0e7, 0.4, 860.0, 0.0, 0.01),
        Sheet(1.2e-3, bending=1.0, shear=1.0),
        0.4,
    ),
    "RUBBER": SheetPreset(
        "Rubber",
        "Stretches to several times its length, and comes back",
        "Natural rubber of 1 mm, soft (Gent, Engineering with Rubber, 2012): E 1 to 2 MPa, 930 kg/m³, breaks at 500 to "
        "800 %",
        Material(1.0e6, 0.45, 930.0, 0.0, 0.00424),
        Sheet(1.0e-3, bending=1.0, shear=1.0, law="stable-neo-hookean"),
        5.0,
    ),
    "SKIN": SheetPreset(
        "Skin",
        "Soft and heavy, without flesh below it",
        "Forearm under suction, 2 mm: E 129 kPa (Diridollou et al., Skin Res. Technol. 6, 2000); about 1100 kg/m³ "
        "(Duck, Physical Properties of Tissue, 1990); breaks at 54 % (Ní Annaidh et al., J. Mech. Behav. Biomed. "
        "Mater. 5, 2012)",
        Material(1.3e5, 0.45, 1100.0, 0.0, 0.016),
        Sheet(2.0e-3, bending=1.0, shear=1.0, law="stable-neo-hookean"),
        0.54,
    ),
    "PAPER": SheetPreset(
        "Paper",
        "Does not stretch, bends one way at a time, and keeps sharp folds",
        "Office paper, 80 g/m², 0.1 mm: E 2 to 4 GPa, breaks at 2 % (Niskanen, Mechanics of Paper Products, 2012)",
        Material(3.0e9, 0.3, 800.0, 0.0, 0.003),
        Sheet(1.0e-4, bending=1.0, shear=1.0),
        0.02,
        Plasticity(yield_strain=2.0e-3, flow=30.0),
    ),
    "FOIL": SheetPreset(
        "Foil",
        "Kitchen foil: crisp, and keeps nearly every fold",
        "Aluminium of 16 µm: E 70 GPa, ν 0.33, 2700 kg/m³ (Ashby, 2011); foil breaks at about 3 %",
        Material(7.0e10, 0.33, 2700.0, 0.0, 0.001),
        Sheet(1.6e-5, bending=1.0, shear=1.0),
        0.03,
        Plasticity(yield_strain=2.0e-4, flow=60.0),
    ),
}
