# SPDX-License-Identifier: GPL-3.0-or-later
"""The menus of the settings: identifier, label, tooltip; Blender's files have the place in the menu, or a number."""

from __future__ import annotations

ROLES = (
    ("NONE", "None", "Sinew leaves this object alone"),
    ("BODY", "Body", "A soft body: filled with tets, simulated and baked"),
    ("COLLIDER", "Collider", "Bodies bump into this object, which stands still, moves or deforms"),
    ("HEAT", "Heat Source", "Warms or cools what is near it: an empty, or the surface of a mesh"),
    ("BONE", "Bone", "Flesh grows on this mesh and follows it, whatever moves it"),
)
MOTIONS = (
    (
        "ELASTIC",
        "Soft Body",
        "Falls, bounces and breaks: for things, such as jelly, clay, wax and rubber. "
        "Dynamic, with the linear elasticity that Plasticity, Heat and Fracture go with",
        0,
    ),
    (
        "POSE",
        "Follow Pose",
        "Flesh that bulges and folds as its bones move, the same at any speed, and never swings: "
        "for bodies and limbs. Quasistatic: every frame is at rest",
        1,
    ),
    (
        "JIGGLE",
        "Jiggle",
        "Flesh that lags behind its bones and swings: for cheeks, bellies and tails in fast motion. "
        "Dynamic: it has inertia",
        2,
    ),
)
FLESH_LAWS = (
    (
        "NEO_HOOKEAN",
        "Neo-Hookean",
        "Rubber-like; resists being flattened ever harder",
        0,
    ),
    (
        "STABLE_NEO_HOOKEAN",
        "Stable Neo-Hookean",
        "Made for flesh (Smith, de Goes and Kim, 2018): bears any deformation, and recovers. The one to begin with",
        1,
    ),
    (
        "MOONEY_RIVLIN",
        "Mooney-Rivlin",
        "As muscle is simulated in biomechanics; resists being flattened ever harder",
        2,
    ),
    ("COROTATED", "Corotated", "The stretch in each direction counts by itself: crisp, and as stiff far as near", 3),
    ("STVK", "St. Venant-Kirchhoff", "Grows stiff when stretched and weak when squeezed: for small squeezes only", 4),
)
JIGGLE_SCHEMES = (
    ("EULER", "Calm", "Implicit Euler: never gets out of hand, and calms swinging, the more so with few substeps", 0),
    (
        "NEWMARK",
        "Lively",
        "Modified Newmark: keeps swinging as long as the Damping lets it; stiff flesh takes many substeps",
        1,
    ),
)
COLLIDER_SHAPES = (
    ("MESH", "Mesh", "The object's evaluated mesh"),
    ("PLANE", "Ground", "An endless plane: everything below the object's local Z = 0 is solid"),
)
COLLIDER_SIDES = (
    (
        "AUTO",
        "Automatic",
        "What is closed is solid: bodies stay outside, and come out where they begin inside. "
        "What is open, such as a sheet or a bowl of one layer, holds bodies on the side from which they come",
        0,
    ),
    (
        "FRONT",
        "Front",
        "Bodies are kept on the side to which the faces look (their normals), also by an open mesh; "
        "from behind they pass",
        1,
    ),
    ("BOTH", "Both", "Nothing passes, whichever side it comes from; bodies may be outside and inside", 2),
)
METHODS = (
    ("SMOOTH", "Smooth", "Tets follow the surface (isosurface stuffing): the best for rendering and contact"),
    ("ROBUST", "Robust", "A lattice of tets covers the surface: works on any mesh and keeps thin parts"),
    ("GIVEN", "From File", "Tets that you bring, in a file (.msh, .vtu, .vtk, .mesh, .veg)"),
)
SIZINGS = (
    ("DIVISIONS", "Resolution Divisions", "So many tets along the largest of the object's Dimensions"),
    ("SIZE", "Tet Size", "The edge length of the tets"),
)
INTERIOR_SIZES = (
    ("1", "Same", "Tets deep inside are as small as those at the surface"),
    ("2", "2×", "Tets deep inside may be twice as large as those at the surface"),
    ("4", "4×", "Tets deep inside may be four times as large as those at the surface"),
)
PLASTIC_LAWS = (
    ("MULTIPLICATIVE", "Keeps Volume", "What is squeezed one way grows the other ways, however far it goes"),
    (
        "ADDITIVE",
        "Simple",
        "The law of Müller and Gross (2004): quicker, loses volume; for lasting strains of a few per cent",
    ),
)
ATTRIBUTES = (
    ("stress", "Stress", '"stress": how hard the material is strained, von Mises [Pa]', 1),
    (
        "principal_stress",
        "Largest Pull",
        '"principal_stress": the largest pull, which is compared with Breaking Stress [Pa]',
        2,
    ),
    ("plastic_strain", "Lasting Strain", '"plastic_strain": how far it has taken a new shape for good', 4),
    (
        "temperature",
        "Temperature",
        '"temperature_celsius": of the material [°C]; Cycles keeps the shorter name to volumes',
        8,
    ),
    ("damage", "Damage", '"damage": how near it came to breaking so far, 0 to 1', 16),
    ("velocity", "Velocity", '"world_velocity": in world space [m/s]', 32),
)
