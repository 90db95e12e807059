# SPDX-License-Identifier: GPL-3.0-or-later
"""The menus of the settings: identifier, label, tooltip; Blender's files have the place in the menu, or a number."""

from __future__ import annotations

from ...solver.scene.formulation import FORMULATION_LABELS

ROLES = (
    ("NONE", "None", "Sinew leaves this object alone"),
    ("BODY", "Body", "A soft body: filled with tets, simulated and baked"),
    ("COLLIDER", "Collider", "Bodies bump into this object, which stands still, moves or deforms"),
    ("HEAT", "Heat Source", "Warms or cools what is near it: an empty, or the surface of a mesh"),
    ("BONE", "Bone", "Flesh grows on this mesh and follows it, whatever moves it"),
)
FLESH_MOTIONS = (
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
FILL_METHODS = (
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
# the last column of these is what files have: never to be changed
FORMULATIONS = (
    (
        "LINEAR",
        FORMULATION_LABELS["linear"],
        "For what hardly turns, such as a plate that trembles, and to compare: what turns or bends far swells",
        0,
    ),
    (
        "VERTEX_WARP",
        FORMULATION_LABELS["vertex-warp"],
        "For nets of springs, and to compare: a rotation for every vertex (Müller and others, 2002). Polar is as quick",
        1,
    ),
    (
        "POLAR",
        FORMULATION_LABELS["polar"],
        "The one to begin with: bends and turns as far as you like, flows, melts and breaks. A rotation for every tet",
        2,
    ),
    (
        "QR",
        FORMULATION_LABELS["qr"],
        "For squeezing, and to compare: pushes on the present faces of tets (Nesme and others, 2005). Fewer turn "
        "inside out than with Polar; those that did come back less surely",
        3,
    ),
    (
        "GREEN",
        FORMULATION_LABELS["green"],
        "For references: the full non-linear strain, right however far it turns or is pulled; slow, "
        "and gives way where it is pressed",
        4,
    ),
    (
        "HYBRID",
        FORMULATION_LABELS["hybrid"],
        "For forces near those of Green on what gets pressed: pressure as of Green, shear as of Polar, so that it "
        "comes back (Hauth and Strasser, 2004); slower",
        5,
    ),
    (
        "HIERARCHICAL",
        FORMULATION_LABELS["hierarchical"],
        "For fine detail on large bends: coarse tets resist as of Green, finer ones inside them follow as of Polar; "
        "gives way where it is pressed",
        6,
    ),
)
ROTATIONS = (
    ("NEAREST", "Nearest", "The nearest rotation, also of tets that are inside out: they turn back", 0),
    ("HIGHAM", "Higham", "Higham's iteration, as Hauth and Strasser have it: what is inside out stays so", 1),
)
ROTATION_FIELDS = (
    ("LEAST_SQUARES", "Least Squares", "That fits all edges at a vertex best, by singular value decomposition", 0),
    (
        "EDGES",
        "Edge Frames",
        "That of a frame of three edges at a vertex: rougher, and shakes what sags or is pressed far",
        1,
    ),
)
NETWORKS = (
    ("TETS", "Tets", "The stiffness of the tets", 0),
    ("SPRINGS", "Springs", "Springs along the edges of the tets: Volume Preservation does nothing then", 1),
)
COARSE_SOLVERS = (
    ("PCG", "Iterations", "Conjugate gradients with the blocks of every level", 0),
    ("LU", "Factors", "Factors of the coarse system: quicker where the coarse tets are few and stiff", 1),
)
TIME_SCHEMES = (
    ("EULER", "Implicit Euler", "Never gets out of hand, and calms swinging, the more so with few Substeps", 0),
    (
        "BDF2",
        "BDF2",
        "Swings on for longer with as many Substeps; while it touches something, it steps by Implicit Euler",
        1,
    ),
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
