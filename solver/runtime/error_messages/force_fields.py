# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors and warnings about force fields."""

TEXTS: dict[str, tuple[str, str]] = {
    "force-field-not-finite": (
        'At {time} the animation of the force field "{name}" gives a position or a setting that is not a number.',
        "Check its animation and its parents at that time.",
    ),
    "field-vertices-change": (
        'The mesh of the force field "{name}" has {now} vertices on frame {frame}, and {first} at first.',
        "Apply the modifier that changes their number, or choose another Shape for the field.",
    ),
    "field-kind-idle": (
        'The force field "{name}" does nothing: fields of the type {field_type} act neither on Sinew nor on '
        "Blender's soft bodies.",
        "Choose another Type in its Force Fields panel, such as Force or Wind, or ignore it.",
    ),
    "field-of-particles": (
        'The particles of "{name}" have a force field, which does not act on bodies.',
        "Give a mesh a force field of the Shape Every Point where the particles are.",
    ),
    "field-without-mesh": (
        'The force field "{name}" has the Shape {shape}, but no mesh with {lacks}, so it does nothing.',
        "Choose another Shape, or give the force field to a mesh.",
    ),
    "field-without-texture": (
        'The texture field "{name}" has no texture, so it does nothing.',
        "Choose a Texture in its Force Fields panel.",
    ),
    "texture-field-sampled": (
        'The texture of the force field "{name}" is read once, on a grid of {count} points along the longest side of a '
        "box around the bodies; smaller details, and animation of the texture, are lost.",
        "Ignore this if the texture is coarser than that.",
    ),
    "field-on-posed-flesh": (
        '"{name}" follows the pose, and force fields do not act on it.',
        "Choose Jiggle instead of Follow Pose, if they should.",
    ),
}
