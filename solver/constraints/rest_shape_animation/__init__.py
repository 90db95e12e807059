# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies whose rest shape follows the track "body.KEY.rest": the shape in which they are free of stress.

bodies = make_reshaped(scene, meshes, bindings, model, tracks)
update_rest_nodes(bodies, state, tracks, before, time, settings)    # node positions at rest, in the state
changed = rest_shapes(bodies, model, state)                         # fields of the model that follow from them
"""

from .reshaped_bodies import ReshapedBody, make_reshaped, rest_shapes, update_rest_nodes

__all__ = ["ReshapedBody", "update_rest_nodes", "make_reshaped", "rest_shapes"]
