# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about a run: its files, its process and its disk."""

TEXTS: dict[str, tuple[str, str]] = {
    # anywhere
    "internal": ("Sinew has an internal error: {problem}.", "Please report it, with {log}."),
    "cancelled": ("Cancelled.", "The baked frames stay. To continue, resume the bake (--resume)."),
    # what a bake asks for
    "frame-range-empty": ("The frame range {start} to {end} has no frames.", "Set the end after the start."),
    "blend-unreadable": (
        "Sinew cannot open {path}: {problem}.",
        "Check the path, and check that it is a .blend file.",
    ),
    "bake-not-moved": (
        "Sinew could not move the bake beside the file: {problem}. It stays in {path}, which a restart may empty.",
        "Free some space there, then save again.",
    ),
    "folder-in-use": ("{path} contains other files.", "Choose a separate folder for the cache."),
    # scene files and tracks
    "scene-format": ("The scene in {path} has format {found}, but this Sinew reads {wanted}.", "Bake it again."),
    "scene-unreadable": ("Sinew cannot read the scene in {path}: {problem}.", "Bake it again."),
    "scene-value": (
        "In the scene in {path}, {place} is {found}, but it has to be {wanted}.",
        "Bake it again from Blender, or correct the value in scene.json.",
    ),
    "track-missing": ('Sinew cannot read the animated input "{name}": {problem}.', "Bake it again."),
    "track-invalid": ('Sinew cannot use the animated input "{name}": {problem}.', "Correct its times and values."),
    "track-unknown": (
        'Nothing in the scene reads an animated input called "{name}".',
        "The name consists of the kind of its owner, the owner's key and the property, such as {example}.",
    ),
    "track-late": ('The animated input "{name}" ends before {time}.', "Bake it again."),
    # the command line
    "no-such-preset": ('There is no preset "{name}".', "{advice}."),
    "too-long": (
        "{seconds:g} s at {fps:g} frames per second are more than {most:,} frames.",
        "Choose fewer --seconds or a lower --fps.",
    ),
    # the child process
    "child-not-started": (
        "The solver could not start: {code}.",
        "Install Sinew again. If it still does not start, please report log.txt from the cache folder.",
    ),
    "child-silent": (
        "The solver sent nothing for {seconds} s, so Sinew stopped it.",
        "Bake again. If that happens again, please report log.txt from the cache folder.",
    ),
    "child-crashed": (
        "The solver crashed {place}: {code}.",
        "The baked frames stay. Resume the bake, and please report log.txt from the cache folder.",
    ),
    # the cache and its disk
    "cache-missing": ("There is no bake in {path}.", "Press Simulate, or choose another cache folder."),
    "cache-format": ("The bake in {path} has format {found}, but this Sinew reads {wanted}.", "Bake it again."),
    "cache-unreadable": ("Sinew cannot read the bake in {path}: {problem}.", "Delete it and bake again."),
    "cache-damaged": (
        "{file} of the bake in {path} is damaged: {problem}.",
        "Restore it from a backup, or resume from an earlier frame (--from-frame).",
    ),
    "cache-problem": (
        "The bake in {path} is damaged: {problem}.",
        "Restore the damaged files from a backup, resume the bake (--resume), or bake it again (--start-over).",
    ),
    "cache-broken-body": (
        'In the bake in {path}, "{name}" is broken at frame {frame}, but its Fracture is off now.',
        "Turn Fracture on, resume from a frame before it broke, or bake it again.",
    ),
    "cache-locked": (
        "Another Sinew is baking into {path} or runs live in it.",
        "Wait for it or cancel it, or choose another cache folder.",
    ),
    "cache-frame-missing": ("The bake in {path} has no frame {frame}.", "Resume from an earlier frame."),
    "cache-other-shape": (
        "The bake in {path} has other bodies, vertices, first frame or frame rate.",
        "Bake it again from the start.",
    ),
    "cache-out-of-date": (
        "The bake in {path} was made with {what} that changed since.",
        "Bake it again (--start-over; in Blender: Simulate), or keep the frames and resume with the changes "
        "(--accept-changes; in Blender: Resume from Frame N).",
    ),
    "cache-no-resume": (
        "Sinew cannot resume the bake in {path} at or before that frame.",
        "Choose a later one, or bake all frames again (--start-over; in Blender: Simulate).",
    ),
    "cache-part-lost": (
        "{part}/ of the bake in {path} is missing or damaged, so Sinew cannot continue the bake.",
        "Restore it from a backup, or bake all frames again (--start-over; in Blender: Delete Bake, then Simulate).",
    ),
    "cache-resume-far": (
        "The newest intact resume point of the bake in {path} is frame {frame}, but its frames go on to {last}.",
        "Restore resume/ from a backup, bake the frames after {frame} again (--from-frame {frame}), or bake all of "
        "them again (--start-over; in Blender: Delete Bake, then Simulate).",
    ),
    "cache-head-lost": (
        "The file cache.json of the bake in {path}, which identifies its scene, is missing or damaged.",
        "Resume anyway (--accept-changes), or bake all frames again (--start-over).",
    ),
    "cache-head-made": (
        "The file cache.json of the bake in {path} was missing or damaged. Sinew made it again from the scene.",
        "If the scene has changed since, bake all frames again (--start-over).",
    ),
    "cache-point-damaged": (
        "{file} of the bake in {path} is damaged ({problem}), so Sinew resumes from an earlier frame.",
        "You need not do anything.",
    ),
    "cache-play-drawn": (
        'The motion of "{name}" in {path} was damaged from frame {frame} on. Sinew restored it from the frames.',
        "You need not do anything.",
    ),
    "cache-frames-again": (
        "The motion in play/ of the bake in {path} is damaged, so Sinew bakes frames {first} to {last} again.",
        "You need not do anything.",
    ),
    "cache-frames-missing": (
        "The files of frames {first} to {last} are missing from the bake in {path}.",
        "The bake plays and continues without them. To restore them, resume from an earlier frame (--from-frame).",
    ),
    "not-a-cache": ("{path} is not a Sinew cache, so Sinew deleted nothing.", "Choose the folder of a bake."),
    "body-key": (
        'The key "{key}" of "{name}" is not a valid file name, or is not unique.',
        "Use letters, digits, _ and -.",
    ),
    "disk-full": (
        "The disk of {path} is full. The baked frames are safe.",
        "Free some space, then resume the bake.",
    ),
    "folder-read-only": ("{path} is on a read-only drive.", "Choose another cache folder."),
    "folder-not-allowed": (
        "Sinew has no permission to write {path}.",
        "Change its permissions or choose another folder.",
    ),
    "file-held": (
        "Another program has {path} open, so Sinew cannot change it. It tried for 10 seconds.",
        "Close that program, or wait until it is done, then try again.",
    ),
    "file-read-only": (
        "{path} is marked as read-only.",
        "Clear that mark in the properties of the file, or choose another folder.",
    ),
    "path-too-long": (
        "The path {path} is longer than Windows allows here (about 250 characters).",
        "Choose a folder with a shorter path, or a shorter name for the body.",
    ),
    "folder-not-made": (
        "Sinew cannot create the folder {path}: {problem}.",
        "Choose another folder, or connect its drive.",
    ),
    "folder-is-file": (
        "{path} is a file or lies inside one, but Sinew needs a folder there.",
        "Choose another folder.",
    ),
    "file-is-folder": (
        "{path} is a folder, but Sinew needs a file there.",
        "Move that folder elsewhere, or choose another cache folder.",
    ),
    "folder-gone": (
        "{path} is no longer there ({problem}). The baked frames are as safe as the drive that holds them.",
        "Connect the drive again, then resume the bake.",
    ),
    "disk-failed": ("The disk of {path} failed: {problem}.", "Check the drive, then resume the bake."),
}
