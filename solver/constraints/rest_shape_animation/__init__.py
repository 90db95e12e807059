# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies whose rest shape follows the track "body.KEY.rest": the shape in which they are free of stress.

reshaped = make_reshaped(scene, bindings, model, tracks)
follow_rest(reshaped, state, tracks, before, time)      # keeps node positions at rest in the state
changed = rest_shapes(reshaped, model, state)           # fields of the model that follow from them
"""

from .animated_bodies import ReshapedBody, make_reshaped, rest_shapes, update_rest_nodes

__all__ = ["ReshapedBody", "update_rest_nodes", "make_reshaped", "rest_shapes"]
