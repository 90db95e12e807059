# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a body's fracture, and of what a bake gives to the renderer."""

from __future__ import annotations

from ..serialisation.schema_constraints import at_least, closed_range, greater_than, right_open_range
from .setting import (
    CHOICES,
    COLLECTION,
    FIELD_DEFAULT,
    MATERIAL,
    OBJECT,
    UNBOUNDED,
    Choice,
    Setting,
    When,
    integer,
    paint,
    switch,
    weight_group,
)

MAX_SEED = 2**31 - 1
MAX_CRACK_ADVANCES = 100
NEW_BODY_CRACK_ADVANCES = 8
# at 2 a pane of 432 tets has not had 40 stress solves after six minutes; at 1 it takes one and a half in all
MAX_FINENESS = 1
IS_BREAKABLE = When("use_fracture", (True,))
# sheets tear along the edges of their faces, which guides do not know
MAY_BE_GUIDED = (IS_BREAKABLE, When("method", ("SMOOTH", "ROBUST", "ADAPTIVE", "GIVEN")))

USE_FRACTURE = switch(
    "use_fracture",
    "Fracture",
    "The body cracks and falls to pieces where its stress exceeds the Breaking Stress. Sheets tear along the edges of "
    "their faces",
)
BREAKING_STRESS = Setting(
    "breaking_stress",
    "Breaking Stress",
    "Tension at which the material tears. After a bake, this panel shows the largest stress, to compare with",
    default=1.0e5,
    term="Tensile strength, a maximum principal stress",
    unit="Pa",
    limits=greater_than(0.0, "Breaking Stress", "Pa"),
    minimum=UNBOUNDED,
    soft=(100.0, 1.0e9),
    precision=0,
    step=100000,
    when=(IS_BREAKABLE,),
    field="Fracture.breaking_stress",
    is_animated=True,
)
USE_TOUGHNESS = switch(
    "use_toughness",
    "Toughness",
    "Set how hard a crack is to extend. Off: derived from Breaking Stress and tet size",
    when=(IS_BREAKABLE,),
)
TOUGHNESS = Setting(
    "toughness",
    "Toughness",
    "How hard a crack or a notch is to extend. Small values are brittle: glass has 700,000, wax 80,000",
    default=5.0e4,
    term="Fracture toughness K",
    unit="Pa √m",
    limits=greater_than(0.0, "Toughness", "Pa √m"),
    soft=(100.0, 1.0e8),
    precision=0,
    step=100000,
    when=(IS_BREAKABLE, When("use_toughness", (True,))),
    field="Fracture.toughness",
    otherwise=None,
)
SCATTER = Setting(
    "scatter",
    "Scatter",
    "How much the strength differs from place to place. Cracks become ragged",
    default=0.1,
    limits=right_open_range(0.0, 1.0, "Scatter"),
    maximum=0.9,
    precision=2,
    is_share=True,
    when=(IS_BREAKABLE,),
    field="Fracture.scatter",
)
SEED = integer(
    "seed",
    "Seed",
    "Each seed gives other cracks",
    0,
    closed_range(0, MAX_SEED, "Seed"),
    when=(IS_BREAKABLE,),
    field="Fracture.seed",
)
STRENGTH_GROUP = paint(
    "strength_group", "Breaking Stress Group", "Breaking Stress", when=(IS_BREAKABLE,), field="Fracture.strength_paint"
)
UNBREAKABLE_GROUP = weight_group(
    "unbreakable_group",
    "Unbreakable Group",
    "Vertex group or attribute: painted surface (weight above 0.5) and what lies under it never break",
    when=(IS_BREAKABLE,),
    field="Fracture.unbreakable",
)
CRACK_ADVANCES = integer(
    "crack_advances",
    "Crack Advances",
    "How many tets a crack may run through within one step, where the stress carries it. Each takes the step again; 1: "
    "cracks go on by one tet a step, and what is hit may stay whole",
    1,
    closed_range(1, MAX_CRACK_ADVANCES, "Crack Advances"),
    soft=(None, 20),
    when=(IS_BREAKABLE,),
    field="Fracture.crack_advances",
    since="0.3",
)
CRACK_GUIDE = Setting(
    "crack_guide",
    "Crack Guide",
    "Mesh or curve, as it is at the Rest Frame, along which the body is weaker. Across open meshes, around what closed "
    "meshes enclose, and below curves on the surface",
    OBJECT,
    None,
    when=MAY_BE_GUIDED,
    since="0.3",
)
CRACK_GUIDES = Setting(
    "crack_guides",
    "Guide Collection",
    "Meshes and curves along which the body is weaker, such as the pieces that Cell Fracture makes",
    COLLECTION,
    None,
    when=MAY_BE_GUIDED,
    since="0.3",
)
GUIDE_STRENGTH = Setting(
    "guide_strength",
    "Guide Strength",
    "Strength along the crack guides, of that of the body. 1: guides have no effect",
    default=0.1,
    limits=closed_range(0.001, 1.0, "Guide Strength"),
    precision=2,
    is_share=True,
    when=MAY_BE_GUIDED,
    field="Fracture.guide_strength",
    otherwise=FIELD_DEFAULT,
    since="0.3",
)
WANTED_PIECES = integer(
    "wanted_pieces",
    "Pieces",
    "About how many pieces come of the body, dust not counted. Once a hit breaks it, Breaking Stress and Toughness are "
    "scaled for it by trial. 0: as many as come of the material",
    0,
    at_least(0, "Pieces"),
    soft=(None, 200),
    when=(IS_BREAKABLE, When("motion", ("BRITTLE",))),
    field="Fracture.wanted_pieces",
    otherwise=FIELD_DEFAULT,
    since="0.3",
)
MAKES_DUST = switch(
    "makes_dust",
    "Dust",
    "Splinters below half a cell of twelve tets come off, too, and are shown as points with velocity, size and age. "
    "Off: cracks leave none",
    when=(IS_BREAKABLE, When("motion", ("BRITTLE",))),
    field="Fracture.makes_dust",
    otherwise=FIELD_DEFAULT,
    since="0.3",
)
FINENESS = integer(
    "fineness",
    "Fineness",
    "Cracks begin in smaller tets, so that splinters come off where the body is hit. At 1 their edges are half as "
    "long, and a hit takes several times as long. 0: pieces are cut along the tets of the body",
    0,
    closed_range(0, MAX_FINENESS, "Fineness"),
    when=(IS_BREAKABLE, When("motion", ("BRITTLE",))),
    field="Fracture.fineness",
    otherwise=FIELD_DEFAULT,
    since="0.3",
)
MOST_SPLITS = integer(
    "most_splits",
    "Max Splits Per Step",
    "Most points that may split in one step. The others wait for the next step, and the bake reports it",
    50,
    at_least(1, "Max Splits Per Step"),
    soft=(None, 1000),
    when=(IS_BREAKABLE,),
    field="Fracture.most_splits",
)
MOST_PIECES = integer(
    "most_pieces",
    "Max Pieces",
    "The body stops cracking at this number of pieces, and the bake reports it",
    1000,
    at_least(1, "Max Pieces"),
    minimum=2,
    soft=(None, 10000),
    when=(IS_BREAKABLE,),
    field="Fracture.most_pieces",
)

FRACTURE_SETTINGS = (
    USE_FRACTURE,
    BREAKING_STRESS,
    USE_TOUGHNESS,
    TOUGHNESS,
    SCATTER,
    SEED,
    STRENGTH_GROUP,
    UNBREAKABLE_GROUP,
    CRACK_ADVANCES,
    CRACK_GUIDE,
    CRACK_GUIDES,
    GUIDE_STRENGTH,
    WANTED_PIECES,
    MAKES_DUST,
    FINENESS,
    MOST_SPLITS,
    MOST_PIECES,
)

# of cracks that go on from step to step: those of brittle bodies run as far as they go within one
STEPWISE_SETTINGS = (CRACK_ADVANCES, MOST_SPLITS)

# what can be written per render vertex, in the order of the scene's `ATTRIBUTES`
ATTRIBUTE_CHOICES = (
    Choice("stress", "Von Mises Stress", '"stress": the von Mises stress [Pa]', 1, "stress"),
    Choice(
        "principal_stress",
        "Maximum Principal Stress",
        '"principal_stress": the largest tension [Pa], to be compared with Breaking Stress',
        2,
        "principal_stress",
    ),
    Choice("plastic_strain", "Plastic Strain", '"plastic_strain": the norm of the plastic strain', 4, "plastic_strain"),
    Choice(
        "temperature",
        "Temperature",
        '"temperature_celsius": the temperature [°C]',
        8,
        "temperature",
    ),
    Choice(
        "damage",
        "Damage",
        '"damage": how near the material is to breaking, 0 to 1',
        16,
        "damage",
    ),
    Choice("velocity", "Velocity", '"world_velocity": the velocity in world space [m/s]', 32, "velocity"),
)
ATTRIBUTES_SETTING = Setting(
    "attributes",
    "Attributes",
    "Quantities that the bake stores per vertex and frame. Materials read them with Attribute nodes",
    CHOICES,
    frozenset(),
    choices=ATTRIBUTE_CHOICES,
    field="Body.attributes",
)
BROKEN_MATERIAL = Setting(
    "broken_material",
    "Inside Material",
    "Material of the broken faces, the inside of the body. Empty: plain gray",
    MATERIAL,
    None,
    when=(IS_BREAKABLE,),
    changes_bake=False,
)
SEPARATE_PIECES = switch(
    "separate_pieces",
    "Separate Pieces",
    "Make one object per piece, so that each can be edited. Off: one object for all pieces",
    when=(IS_BREAKABLE,),
    changes_bake=False,
)

RESULT_SETTINGS = (ATTRIBUTES_SETTING, BROKEN_MATERIAL, SEPARATE_PIECES)
