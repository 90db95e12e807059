# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about steps and poses that did not converge."""

TEXTS: dict[str, tuple[str, str]] = {
    # bodies with one linear solve per step
    "step-astray": (
        "A step of frame {frame} diverged: at its end the unbalanced force is {residual:.2g} times the applied force.",
        "Use more Substeps Per Frame, raise Max Iterations, or turn off One Newton Step for Green and Hybrid bodies.",
    ),
    "steps-astray": (
        "The motion went wrong in {count} steps, at worst in frame {frame}.",
        "Use more Substeps Per Frame, raise Max Iterations, or turn off One Newton Step for Green and Hybrid bodies.",
    ),
    # steps above the Tolerance
    "step-not-converged": (
        "A step of frame {frame} ended with a relative residual of {residual:.2g}, which is above the Tolerance.",
        "Raise Max Iterations, lower Volume Preservation, or use more Substeps Per Frame.",
    ),
    "steps-not-converged": (
        "{count} steps are less exact than the Tolerance asks for, at worst in frame {frame}.",
        "Raise Max Iterations, lower Volume Preservation, or use more Substeps Per Frame.",
    ),
    # poses of flesh
    "pose-not-converged": (
        "Flesh did not come to rest in frame {frame} (residual {residual:.1e}), and the bake is strict.",
        "Raise Max Pose Iterations, let bones or pins hold less of it, or run without --strict.",
    ),
    "poses-not-converged": (
        "Flesh did not come to rest in {count} poses, at worst in frame {frame}. The timeline marks such frames.",
        "Check there whether bones come close to each other or leave the flesh. Where flesh folds, lower the Radius "
        "of its armature bones or the Distance of its bone meshes, or bend it less. Where it hangs far from its bones, "
        "raise its Stiffness. Otherwise raise Max Pose Iterations, or set a Pre-Roll for the first frame.",
    ),
}
