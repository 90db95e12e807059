# SPDX-License-Identifier: GPL-3.0-or-later
"""Flexed shapes: a shape key that is the rest shape of a muscle at activation 1, mixed in as the muscle is active."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ..evaluation.matrix_units import transform_points
from .activation_inputs import has_flexed_shape
from .activation_sampler import Moments
from .buffered_track_writer import BufferedTrackWriter
from .participants import Participants
from .rest_frame_transforms import RestFrameTransforms
from .rest_shape_animation import RestShapeReader, shape_key_mix
from .sampling_context import Sampling


@dataclass(frozen=True, eq=False)
class FlexedShape:
    """Vertices of a muscle at rest [m], in the rest pose, (n, 3) each: relaxed, and what full activation adds."""

    relaxed: Floats
    change: Floats


def read_flexed_shapes(
    sampling: Sampling, inputs: Participants, rest: RestFrameTransforms, shapes: RestShapeReader
) -> dict[str, FlexedShape]:
    """Returns the flexed shapes of muscles, by key, with other shape keys as they are in the rest pose, now.

    Raises:
        BadInput: A flexed shape is in the mesh already, or has another number of vertices.
    """
    found = {}
    for obj, key in inputs.bodies.items():
        if has_flexed_shape(obj):
            blocks = obj.data.shape_keys.key_blocks
            number = blocks.find(obj.sinew.flexed_shape)
            time, keys = shape_key_mix(obj.data.shape_keys.evaluated_get(sampling.scene_copy.depsgraph))
            if keys[number][0] != 0.0 and not keys[number][1]:
                raise BadInput("flexed-shape-on", name=obj.name, key=obj.sinew.flexed_shape, value=keys[number][0])
            mixes = [(time, (*keys[:number], (value, False), *keys[number + 1 :])) for value in (0.0, 1.0)]
            relaxed, flexed = (transform_points(rest.bodies[key], shapes.mixed(obj, mix)) for mix in mixes)
            if len(relaxed) != len(flexed):
                frame = sampling.moment.frame
                raise BadInput("rest-shape-vertices", name=obj.name, frame=frame, first=len(relaxed), now=len(flexed))
            found[key] = FlexedShape(relaxed, flexed - relaxed)
    return found


def write_rest_shapes(
    writer: BufferedTrackWriter, shapes: Mapping[str, FlexedShape], moments: Mapping[str, Moments]
) -> None:
    """Writes the rest shape of each muscle with a flexed one, relaxed + a (flexed − relaxed), into its track."""
    for key, shape in shapes.items():
        for time, activation in zip(moments[key].times, moments[key].activations, strict=True):
            writer.add(f"body.{key}.rest", float(time), shape.relaxed + activation * shape.change)
