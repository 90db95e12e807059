# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a body's heat, of the rows of its softening table, and of heat sources."""

from __future__ import annotations

from ..serialisation.schema_constraints import at_least, greater_than
from .setting import TABLE, Setting, When, length, switch, temperature

IS_HEATED = When("use_heat", (True,))

USE_HEAT = switch(
    "use_heat", "Heat", "Give the body a temperature. Heat sources and the air warm or cool it; it softens and melts"
)
TEMPERATURE = temperature(
    "temperature",
    "Temperature",
    "Temperature of the whole body at the first frame",
    20.0,
    soft=(-50.0, 2000.0),
    when=(IS_HEATED,),
    field="Heat.temperature",
)
CONDUCTIVITY = Setting(
    "conductivity",
    "Conductivity",
    "How well heat moves inside: wax has 0.25, glass 1, steel 50",
    default=0.25,
    term="Thermal conductivity k",
    unit="W/(m K)",
    limits=at_least(0.0, "Conductivity", "W/(m K)"),
    soft=(None, 400.0),
    when=(IS_HEATED,),
    field="Heat.conductivity",
)
HEAT_CAPACITY = Setting(
    "heat_capacity",
    "Heat Capacity",
    "Heat that warms a kilogram by one degree: water takes 4180, wax 2200",
    default=2000.0,
    term="Specific heat capacity c",
    unit="J/(kg K)",
    limits=greater_than(0.0, "Heat Capacity", "J/(kg K)"),
    soft=(100.0, 5000.0),
    precision=0,
    step=1000,
    when=(IS_HEATED,),
    field="Heat.heat_capacity",
)
HEAT_EXCHANGE = Setting(
    "heat_exchange",
    "Heat Transfer to Air",
    "How well the surface exchanges heat with the air: 10 in a room, 100 in strong wind",
    default=10.0,
    term="Heat transfer coefficient h",
    unit="W/(m² K)",
    limits=at_least(0.0, "Heat Transfer to Air", "W/(m² K)"),
    soft=(None, 1000.0),
    precision=1,
    step=100,
    when=(IS_HEATED,),
    field="Heat.exchange",
)
MELTING_POINT = temperature(
    "melting_point",
    "Melting Point",
    "Above this temperature the material flows like a liquid under any load",
    60.0,
    soft=(None, 2000.0),
    when=(IS_HEATED,),
    field="Heat.melting_point",
)
HEAT_SPEED = Setting(
    "heat_speed",
    "Heat Speed",
    "How many times faster than in nature heat flows. Where it is 1, Add Heat Source sets it so that heat gets through "
    "a third of the body in 60 frames",
    default=1.0,
    term="Time scale of heat flow",
    limits=at_least(0.0, "Heat Speed"),
    soft=(None, 1.0e5),
    precision=1,
    step=1000,
    when=(IS_HEATED,),
    field="Heat.speed",
    since="0.3",
)
SOFTENING = Setting(
    "softening",
    "Softening Factors",
    "Factors on Stiffness, Yield Strain and Flow Rate by temperature. Between rows they change linearly",
    TABLE,
    when=(IS_HEATED,),
    field="Heat.softening",
)

HEAT_SETTINGS = (
    USE_HEAT,
    TEMPERATURE,
    CONDUCTIVITY,
    HEAT_CAPACITY,
    HEAT_EXCHANGE,
    MELTING_POINT,
    HEAT_SPEED,
    SOFTENING,
)


def _factor(name: str, label: str, tooltip: str) -> Setting:
    return Setting(name, label, tooltip, default=1.0, limits=at_least(0.0, label), soft=(None, 10.0), precision=4)


# of one row of the table
SOFTENING_ROW_SETTINGS = (
    temperature(
        "temperature",
        "Temperature",
        "Temperature of this row",
        20.0,
        soft=(None, 2000.0),
    ),
    _factor("stiffness", "Stiffness ×", "Factor on Stiffness at this temperature"),
    _factor("yield_strain", "Yield ×", "Factor on the Yield Strain at this temperature"),
    _factor("flow", "Flow ×", "Factor on the Flow Rate at this temperature"),
)

SOURCE_TEMPERATURE = temperature(
    "source_temperature",
    "Temperature",
    "Temperature of the heat source. A cold one cools",
    200.0,
    soft=(-100.0, 2000.0),
    field="HeatSource.temperature",
    is_animated=True,
)
SOURCE_RADIUS = length(
    "source_radius",
    "Radius",
    "Reach of the heat. A larger radius spreads the same heat thinner: raise Heat Transfer too",
    0.2,
    limits=greater_than(0.0, "Radius", "m"),
    soft=(0.001, 10.0),
    field="HeatSource.radius",
)
SOURCE_EXCHANGE = Setting(
    "source_exchange",
    "Heat Transfer",
    "How fast the source heats what is within its Radius. Hot water has 500, a flame 5000; 50,000 melts wax in seconds",
    default=5.0e4,
    term="Heat transfer coefficient h",
    unit="W/(m² K)",
    limits=at_least(0.0, "Heat Transfer", "W/(m² K)"),
    soft=(None, 200000.0),
    precision=0,
    step=1000,
    field="HeatSource.exchange",
    is_animated=True,
)

HEAT_SOURCE_SETTINGS = (SOURCE_TEMPERATURE, SOURCE_RADIUS, SOURCE_EXCHANGE)
