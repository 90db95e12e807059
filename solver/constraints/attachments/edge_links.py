# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges that are drawn between a body and what it is attached to: each is a spring or strut that keeps its length.

A link between the places p and q (`edge_places.py`), ℓ₀ apart at rest, has the energy ½ k (|p − q| − ℓ₀)², so its force
is along p − q: it resists both ways, turns freely about either end, and has no torque. Its damper is a spring of the
stiffness b / Δt that keeps the length ℓ of the start of a step, so it pulls with b (ℓ⁺ − ℓ) / Δt, implicit Euler's
difference quotient.

Source: own; the springs are those of `surface_links.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...mechanics.elastic_moduli import youngs_modulus
from ...runtime.arrays import Floats, Indices, floats, indices
from ...runtime.errors import BadInput
from ...scene.attachment import FIXED, SPRING, Attachment
from .attachable_bodies import NO_INDICES, AttachableBodies, TargetSurfaces
from .attachment_potential import ActiveLinks
from .edge_places import SurfacePlaces, place_edges
from .origin_surface import OriginSurface
from .surface_links import AnimatedPoints, SurfaceLinks
from .target_surface import TargetSurface

# Without a spring constant, an edge is as stiff as a cube of the softer body's material of its thickness L = 3 V / A,
# which is E L; of a sheet E h. What is fixed is that many times as stiff: of whole surfaces, the pressure that opens a
# spring by a three-hundredth of the thickness opens it by a three-hundred-thousandth.
FIXED_FACTOR = 1000.0
UNLIMITED_REACH = 1.0e6  # [m], at which neither edges nor what is fixed let go


@dataclass(frozen=True, eq=False)
class _Row:
    """A row to one target, k of whose edges end there.

    Attributes:
        attachment: As the scene has it.
        origin: The surface that has it.
        key: Beginning of the names of its tracks.
        strength: Painted at its edges, (k,).
        share: That of each over the sum of all edges of the row, (k,).
    """

    attachment: Attachment
    origin: OriginSurface
    key: str
    strength: Floats
    share: Floats


def make_edge_links(
    bodies: AttachableBodies,
    origin: OriginSurface,
    attachments: Sequence[Attachment],
    targets: TargetSurfaces,
    key: str,
    must_reach: bool = True,
) -> list[SurfaceLinks]:
    """Returns the links of the edges of one row, one `SurfaceLinks` for each target that has any.

    Args:
        bodies: All bodies.
        origin: The surface that has the row.
        attachments: The row, to each of its targets, at least one.
        targets: Finds their surfaces.
        key: Beginning of the names of its tracks.
        must_reach: Whether edges that are out of reach are refused; they are left out otherwise.

    Raises:
        BadInput: An edge ends too far from the body or the target, or the paint leaves none.
    """
    own = origin.animated.surface if origin.animated is not None else targets.find(key.split(".")[1])
    reach, placed = attachments[0].reach, place_edges(bodies, own, attachments, targets, key)
    if must_reach:
        placed.check_reach(origin.name, reach)
    strength = np.where(placed.are_near(reach), placed.strengths(attachments, bodies), 0.0)
    if must_reach and not (strength > 0.0).any():
        raise BadInput("edges-unpainted", name=origin.name)
    made = []
    for number, attachment in enumerate(attachments):
        which: Indices = indices(np.flatnonzero((placed.target == number) & (strength > 0.0)))
        if len(which):
            row = _Row(attachment, origin, key, strength[which], strength[which] / strength.sum())
            made.append(_links_between(bodies, row, placed.begins.select(which), placed.ends[number].select(which)))
    return made


def _links_between(bodies: AttachableBodies, row: _Row, begins: SurfacePlaces, ends: SurfacePlaces) -> SurfaceLinks:
    model, attachment, origin, count = bodies.model, row.attachment, row.origin, len(row.share)
    tet, weights = np.full(count, -1, np.int32), np.zeros((count, 4))
    if begins.surface.body is not None:
        tet, weights = begins.in_tets(model)
    anchor_tet, anchor_weights = ends.in_tets(model)
    is_animated, is_fixed = ends.surface.body is None, attachment.kind == FIXED
    stiffness = row.strength * _own_stiffness(bodies, origin, ends.surface) * (FIXED_FACTOR if is_fixed else 1.0)
    if attachment.spring_constant is not None and not is_fixed:
        stiffness = attachment.spring_constant * row.share
    is_damped = attachment.kind == SPRING and attachment.damping > 0.0
    return SurfaceLinks(
        key=row.key,
        body=origin.body,
        own=origin.own,
        name=origin.name,
        strength=attachment.strength,
        reach=UNLIMITED_REACH,
        tet=tet,
        weights=weights,
        stiffness=stiffness,
        target=ends.surface,
        rest_distance=np.zeros(0),
        side=np.ones(count),
        anchor_tet=anchor_tet,
        anchor_weights=anchor_weights,
        anchor_triangle=ends.triangle if is_animated else NO_INDICES,
        anchor_place=ends.weights if is_animated else np.zeros((0, 3)),
        anchor_offset=np.zeros((count if is_animated else 0, 3)),
        animated=AnimatedPoints(begins.surface, begins.corners, begins.weights) if origin.body is None else None,
        is_fixed=is_fixed,
        damping=attachment.damping * row.share if is_damped else np.zeros(0),
        breaking_force=attachment.breaking_force,
        rest_length=floats(np.linalg.norm(begins.positions - ends.positions, axis=1)),
        are_edges=True,
    )


def _own_stiffness(bodies: AttachableBodies, origin: OriginSurface, target: TargetSurface) -> float:
    """Returns how stiff an edge is without a spring constant [N/m]: as the softer of both sides."""
    if origin.body is None:
        own = float(origin.area @ origin.youngs_modulus / origin.area.sum() * origin.thickness)
    else:
        own = _body_stiffness(bodies, origin.body)
    return own if target.body is None else min(own, _body_stiffness(bodies, target.body))


def _body_stiffness(bodies: AttachableBodies, number: int) -> float:
    """Returns E L of a body, or E h of a sheet [N/m]."""
    body, model = bodies.scene.bodies[number], bodies.model
    if body.is_sheet:
        return body.material.youngs_modulus * body.sheet.thickness
    if body.is_rigid:  # the tet that has its mass and inertia is not its volume
        volume_of_body = model.mass[model.bodies[number].nodes].sum() / body.material.density
        return float(body.material.youngs_modulus * 3.0 * volume_of_body / bodies.points[number].area.sum())
    tets = model.bodies[number].tets
    volume = model.volume[tets]
    E = volume @ youngs_modulus(model.mu[tets], model.lam[tets]) / volume.sum()
    return float(E * 3.0 * volume.sum() / bodies.points[number].area.sum())


def edge_dampers(now: ActiveLinks, before: ActiveLinks, x: Floats, tets: Indices, dt: float) -> ActiveLinks | None:
    """Returns the dampers of edges in a step as springs that keep the lengths of its start; None where there are none.

    Args:
        now: The edges at the end of the step.
        before: The same at its start.
        x: Node positions at its start [m], (n, 3).
        tets: Nodes of the tets, (m, 4).
        dt: Δt [s], infinite without inertia.
    """
    links = now.links
    if not len(links.damping) or not np.isfinite(dt):
        return None
    apart = before.points(x, tets) - before.ends(x, tets)
    length = floats(np.linalg.norm(apart, axis=1))
    braking = replace(links, stiffness=links.damping / dt, rest_length=length, damping=np.zeros(0))
    return replace(now, links=braking)
