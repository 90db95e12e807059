# SPDX-License-Identifier: GPL-3.0-or-later
"""A rag doll hangs by its head, and an empty tears its front off: seams give way, and the stuffing falls out."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np

import stage

FRAMES = 72
CELL = 0.012  # of the cloth [m]
# limbs of the doll, seen from its front: two ends (x, z) and a radius [m]
LIMBS = (
    ((0.0, 0.40), (0.0, 0.41), 0.075),  # head
    ((0.0, 0.20), (0.0, 0.30), 0.070),  # body
    ((0.04, 0.29), (0.16, 0.24), 0.033),
    ((-0.04, 0.29), (-0.16, 0.24), 0.033),
    ((0.04, 0.17), (0.07, 0.04), 0.038),
    ((-0.04, 0.17), (-0.07, 0.04), 0.038),
)
BLEND = 0.02  # over which limbs join [m]
DEPTH, SEAM_GAP = 0.85, 0.003  # half depth over the radius of a limb, and half of the gap that seams close [m]
STUFFING_INSET = 0.007  # [m]
FOAM = 4.0e3  # [Pa]
EYES = ((0.027, 0.425), (-0.027, 0.425))
EYE_RADIUS, EYE_DEPTH = 0.013, 0.006  # [m]
TEARS_AT = 0.5  # [N], one edge of a seam
GRIP = (0.0, 0.22, 0.05)  # of the empty that tears: x, z and radius [m]
PULL, TORN = 18, 44  # frames
PULLED_TO = (0.10, -0.55, 0.10)  # [m], from where it was
LINEN, WOOL, HORN = (0.62, 0.42, 0.24), (0.86, 0.80, 0.68), (0.03, 0.02, 0.02)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    doll = _doll()
    _stuffing()
    _button_eyes(doll)
    _hang(doll)
    _tear(doll)
    stage.add_ground()
    stage.light_and_camera((0.55, -1.35, 0.55), (0.02, -0.08, 0.24), lens=44.0)


def _inside(x: np.ndarray, z: np.ndarray, inset: float = 0.0) -> np.ndarray:
    """Returns how far places are inside the outline [m], negative outside."""
    total = np.zeros_like(x)
    for start, end, radius in LIMBS:
        a, b = np.array(start), np.array(end)
        p = np.stack([x, z], axis=-1) - a
        t = np.clip(p @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        distance = np.linalg.norm(p - t[..., None] * (b - a), axis=-1)
        total = total + np.exp((radius - inset - distance) / (0.5 * BLEND))
    return 0.5 * BLEND * np.log(total)


def _panel(inset: float) -> tuple[np.ndarray, list[tuple[int, ...]], np.ndarray]:
    """Returns places (x, z) of a panel [m], its quads, and which of its places are on the outline."""
    count_x, count_z = round(0.44 / CELL), round(0.52 / CELL)
    x, z = np.meshgrid(-0.22 + CELL * np.arange(count_x + 1), CELL * np.arange(count_z + 1) - 0.01, indexing="ij")
    number = np.arange(x.size).reshape(x.shape)
    corners = (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:])
    quads = np.stack([c.ravel() for c in corners], axis=1)
    middle = _inside(x.ravel()[quads].mean(axis=1), z.ravel()[quads].mean(axis=1), inset)
    quads = quads[middle > 0.0]
    used, numbered = np.unique(quads, return_inverse=True)
    quads = numbered.reshape(-1, 4)
    places = np.stack([x.ravel()[used], z.ravel()[used]], axis=1)
    sides = np.sort(np.stack([quads, np.roll(quads, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    pairs, seen = np.unique(sides, axis=0, return_counts=True)
    is_border = np.zeros(len(places), bool)
    is_border[pairs[seen == 1]] = True
    for _ in range(8):  # onto the outline
        h = 1.0e-4
        depth = _inside(*places.T, inset)
        slope = np.stack([_inside(places[:, 0] + h, places[:, 1], inset) - depth,
                          _inside(places[:, 0], places[:, 1] + h, inset) - depth], axis=1) / h  # fmt: skip
        step = -depth[:, None] * slope / np.maximum((slope**2).sum(axis=1), 0.1)[:, None]
        places[is_border] += 0.5 * step[is_border]
    return places, [tuple(quad) for quad in quads], is_border


def _round_depth(places: np.ndarray, inset: float) -> np.ndarray:
    """Returns how far from the middle plane the doll reaches at places [m]."""
    inside = np.maximum(_inside(*places.T, inset), 0.0)
    radius = 0.065
    t = np.clip(inside / radius, 0.0, 1.0)
    return DEPTH * radius * np.sqrt(t * (2.0 - t))


def _shell(name: str, inset: float, gap: float, is_sewn: bool) -> bpy.types.Object:
    """Returns a front and a back, joined along the outline by seams or by faces."""
    places, quads, is_border = _panel(inset)
    depth = _round_depth(places, inset) + gap
    made = bmesh.new()
    sides = []
    for sign in (-1.0, 1.0):
        verts = [made.verts.new((x, sign * y, z)) for (x, z), y in zip(places, depth, strict=True)]
        for quad in quads:
            made.faces.new([verts[k] for k in (quad if sign < 0.0 else quad[::-1])])
        sides.append(verts)
    if is_sewn:
        for k in np.flatnonzero(is_border):
            made.edges.new((sides[0][k], sides[1][k]))
    else:
        for edge in [edge for edge in made.edges if len(edge.link_faces) == 1]:
            a, b = edge.verts
            if a in set(sides[0]):
                other = [sides[1][sides[0].index(v)] for v in (a, b)]
                made.faces.new((a, b, other[1], other[0]))
        bmesh.ops.recalc_face_normals(made, faces=made.faces)
    obj = stage.add_object(made, name)
    stage.smooth(obj)
    return obj


def _doll() -> bpy.types.Object:
    """Returns the cloth of the doll, sewn along its outline."""
    doll = _shell("Doll", 0.0, SEAM_GAP, is_sewn=True)
    stage.paint(doll, LINEN, 0.9)
    stage.select(doll)
    bpy.ops.sinew.make_body()
    bpy.ops.sinew.make_sheet()
    doll.sinew.use_seams, doll.sinew.seam_breaking_force = True, TEARS_AT
    return doll


def _stuffing() -> None:
    """Adds the foam inside."""
    foam = _shell("Stuffing", STUFFING_INSET, 0.0, is_sewn=False)
    stage.paint(foam, WOOL, 1.0)
    stage.make_body(foam, "JELLY", tet_size=0.022)
    foam.sinew.youngs_modulus, foam.sinew.density = FOAM, 60.0


def _button_eyes(doll: bpy.types.Object) -> None:
    """Adds two rigid buttons that are sewn on the face."""
    eyes = []
    for number, (x, z) in enumerate(EYES):
        depth = float(_round_depth(np.array([[x, z]]), 0.0)[0]) + SEAM_GAP
        place = (x, -depth - 0.6 * EYE_DEPTH, z)
        bpy.ops.mesh.primitive_cylinder_add(
            radius=EYE_RADIUS, depth=EYE_DEPTH, vertices=24, location=place, rotation=(np.pi / 2.0, 0.0, 0.0)
        )
        eye = bpy.context.object
        eye.name = f"Button {number + 1}"
        stage.paint(eye, HORN, 0.2)
        stage.select(eye)
        bpy.ops.sinew.make_body()
        eye.sinew.method = "RIGID"
        eyes.append(eye)
    stage.select(doll)
    for eye in eyes:
        eye.select_set(True)
    bpy.ops.sinew.attach(kind="FIXED", reach=0.02)


def _hang(doll: bpy.types.Object) -> None:
    """Pins the back of the head."""
    group = doll.vertex_groups.new(name="Hung")
    group.add([v.index for v in doll.data.vertices if v.co.z > 0.455 and v.co.y > 0.0], 1.0, "REPLACE")
    doll.sinew.pin_group = group.name


def _tear(doll: bpy.types.Object) -> None:
    """Adds an empty that takes the front of the belly and pulls it off."""
    hand = bpy.data.objects.new("Hand", None)
    hand.empty_display_size = 0.05
    bpy.context.scene.collection.objects.link(hand)
    x, z, radius = GRIP
    start = np.array([x, -0.07, z])
    stage.key_places(hand, (1, tuple(start)), (PULL, tuple(start)), (TORN, tuple(start + PULLED_TO)))
    grip = doll.vertex_groups.new(name="Grip")
    taken = [v.index for v in doll.data.vertices if v.co.y < 0.0 and np.hypot(v.co.x - x, v.co.z - z) < radius]
    grip.add(taken, 1.0, "REPLACE")
    stage.select(doll)
    hand.select_set(True)
    bpy.ops.sinew.add_attachment()
    hand.select_set(False)
    row = doll.sinew.attachments[len(doll.sinew.attachments) - 1]
    row.group = grip.name
    for frame, is_on in ((1, False), (PULL, True)):
        row.is_on = is_on
        row.keyframe_insert("is_on", frame=frame)
