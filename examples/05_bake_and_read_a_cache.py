# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene is baked into a cache, as Blender does it, and read again: positions, reports, tets."""

import numpy as np

import sinew

vertices, triangles = sinew.shapes.torus(0.12, 0.05, center=(0.0, 0.0, 0.15))
ring = sinew.Body(vertices, triangles, meshing=sinew.Meshing(divisions=10), key="ring", name="Ring")
scene = sinew.Scene([ring], [sinew.Collider()], sinew.Settings(frame_end=10))

# another program reads it by sinew.CacheReader("ring.sinew"), also while the bake still runs
cache = sinew.bake(scene, "ring.sinew")
first, last = cache.baked_range()
positions = np.array([cache.read_positions(frame, "ring") for frame in range(first, last + 1)])
print(f"frames {first} to {last}: {positions.shape[1]} vertices, {len(cache.read_model('ring')['tets'])} tets")
print(f"the lowest point is at {positions[-1, :, 2].min():.3f} m in the end")
print(f"{sum(line['iterations'] for line in cache.report())} iterations of the linear solver in all")
