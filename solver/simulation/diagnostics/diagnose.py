# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks through a scene as it is at rest, and says everything that is wrong or doubtful, not only the first."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from ...mesh.geometry.triangle_surface import Surface, make_surface
from ...runtime.errors import SinewError
from ...scene.attachment import ALL_BONES, NOTHING, Attachment
from ...scene.attachment_resolution import surface_attachments
from ...scene.force_fields import FieldWeights
from ...scene.scene import Body, Scene
from ...scene.sheet import is_wire
from ...scene.tracks import TrackReader
from ..assembled_scene import AssembledBody
from ..build import OnStage, build
from .finding import Finding
from .muscle_diagnostics import end_findings, head_findings, lost_end_findings
from .muscle_overlap_diagnostics import overlap_findings
from .surface_diagnostics import coarse_sheet_findings, surface_findings, thinness_findings
from .wrap_diagnostics import wrap_findings


def diagnose(scene: Scene, tracks: TrackReader, on_stage: OnStage = lambda stage, body: None) -> list[Finding]:
    """Returns what is wrong or doubtful about a scene.

    Args:
        scene: With at least one body.
        tracks: Its animated inputs, at least in the rest pose.
        on_stage: Called with ("tetrahedralize", "bind" or "rest", name of the body) before that is done.
    """
    found: list[Finding] = []
    built: dict[str, AssembledBody] = {}
    surfaces: dict[str, Surface] = {}
    for body in scene.bodies:
        found += _body_findings(body, scene, tracks, on_stage, surfaces, built)
    found += overlap_findings(scene, surfaces)
    found += wrap_findings(scene, surfaces)
    if len(built) == len(scene.bodies):
        meshes = {key: (body.mesh, body.binding) for key, body in built.items()}
        try:  # the tets are there: only what bodies do together, and warnings that know of all
            together = build(scene, tracks, lambda stage, name: None, meshes)
            built = {body.key: body for body in together.bodies}
        except SinewError as problem:
            found.append(Finding(problem, _key_of(problem, scene)))
    for key, assembled in built.items():
        found += [Finding(warning, key) for warning in assembled.warnings if not warning.is_minor]
    return found


def _body_findings(
    body: Body,
    scene: Scene,
    tracks: TrackReader,
    on_stage: OnStage,
    surfaces: dict[str, Surface],
    built: dict[str, AssembledBody],
) -> Iterator[Finding]:
    """Yields what is wrong with a body by itself; adds its surface, and the body as it is built if it can be."""
    try:
        if not is_wire(body):
            surface = make_surface(body.vertices, body.triangles, body.name, body.wrap_vertices)
            surfaces[body.key] = surface
            yield from surface_findings(body, surface)
        alone = _scene_of_one(body, scene)
        assembled = build(alone, tracks, on_stage)
        part = built[body.key] = assembled.stored.bodies[0]
        if body.is_sheet and not is_wire(body):
            yield from coarse_sheet_findings(body, scene, part.mesh.report.tet_size)
        elif body.meshing.method not in ("given", "sheet") and not body.is_rigid:
            yield from thinness_findings(body, surface, part.mesh.report.tet_size)
        if body.muscle is not None:
            yield from end_findings(body, body.muscle, assembled, alone, tracks)
            yield from head_findings(body, body.muscle, part.binding)
            yield from lost_end_findings(body, body.muscle, part)
    except SinewError as problem:
        yield Finding(problem, body.key)


def _scene_of_one(body: Body, scene: Scene) -> Scene:
    """Returns a scene of one body and the bones that hold it, without anything that it could touch."""
    linking = {number: {each.target for each in linked} for number, linked in surface_attachments(scene, body)}
    # those that link its surface stay without a target, since tracks have the numbers of all
    attachments = tuple(_without_targets(each, linking.get(number, ())) for number, each in enumerate(body.attachments))
    weights = replace(body.field_weights, excluded=FieldWeights().excluded)
    plain = replace(body, attachments=attachments, field_weights=weights)
    holding = [bone for bone in scene.bones if not bone.bodies or body.key in bone.bodies]
    bones = tuple(replace(bone, bodies=(body.key,) if bone.bodies else ()) for bone in holding)
    return Scene((plain,), settings=scene.settings, bones=bones, heat_sources=scene.heat_sources)


def _without_targets(attachment: Attachment, dropped: Collection[str]) -> Attachment:
    """Returns an attachment without the targets that link a surface; to all bones, these are none of its own."""
    if not dropped:
        return attachment
    kept = [each for each in attachment.targets if each not in dropped and each != ALL_BONES]
    return replace(attachment, target=kept[0] if kept else NOTHING, more_targets=tuple(kept[1:]))


def _key_of(problem: SinewError, scene: Scene) -> str:
    """Returns the key of the object that a problem names, or ""."""
    keys = {collider.name: collider.key for collider in scene.colliders}
    keys |= {bone.name: bone.key for bone in scene.bones} | {body.name: body.key for body in scene.bodies}
    return keys.get(str(problem.details.get("name", "")), "")
