# SPDX-License-Identifier: GPL-3.0-or-later
"""A ball of clay keeps its dent, and a candle of wax melts on a hot plate."""

import sinew

clay = sinew.Body(
    *sinew.shapes.sphere(radius=0.1, center=(0.0, 0.0, 0.25)),
    sinew.Material(youngs_modulus=5.0e4),
    sinew.Meshing(divisions=6),
    key="clay",
    plasticity=sinew.Plasticity(yield_strain=0.02, flow=50.0),
)
wax = sinew.Body(
    *sinew.shapes.box((0.1, 0.1, 0.3), divisions=2, center=(0.5, 0.0, 0.15)),
    sinew.Material(youngs_modulus=2.0e5),
    sinew.Meshing("robust", divisions=6),
    key="wax",
    plasticity=sinew.Plasticity(yield_strain=0.05, flow=10.0),
    heat=sinew.Heat(temperature=20.0, melting_point=60.0),
)
plate = sinew.HeatSource("plate", "Hot Plate", temperature=300.0, radius=0.15, exchange=1.0e6)
scene = sinew.Scene([clay, wax], [sinew.Collider()], sinew.Settings(frame_end=30), heat_sources=[plate])

# the plate is a point that stands below the wax
matrix = [[1.0, 0.0, 0.0, 0.5], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
temperatures = []  # the highest of the wax [°C]
for frame in sinew.Simulation(scene, {"heat.plate.matrix": ([0.0], [matrix])}).run():
    told = frame.report.bodies
    temperatures.append(told["wax"]["hottest"])
    print(
        f"frame {frame.number}: plastic strain of the clay {told['clay']['largest_plastic_strain']:.2f}, "
        f"of the wax {told['wax']['largest_plastic_strain']:.2f} at up to {told['wax']['hottest']:.0f} °C"
    )
