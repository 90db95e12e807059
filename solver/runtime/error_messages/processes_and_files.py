# SPDX-License-Identifier: GPL-3.0-or-later
"""What can go wrong with a run: its files, its process, its disk."""

TEXTS: dict[str, tuple[str, str]] = {
    # anywhere
    "internal": ("Sinew met an error of its own: {problem}.", "Please report it, with {log}."),
    "cancelled": ("Cancelled.", "What was baked so far stays; Simulate goes on from there."),
    # scene files and tracks
    "scene-format": ("The scene at {path} has format {found}; this Sinew reads {wanted}.", "Bake it again."),
    "scene-unreadable": ("The scene at {path} cannot be read: {problem}.", "Bake it again."),
    "scene-value": (
        "In the scene at {path}, {place} is {found}; it has to be {wanted}.",
        "Bake it again from Blender, or correct the value in scene.json.",
    ),
    "track-missing": ('The animated input "{name}" cannot be read: {problem}.', "Bake it again."),
    "track-invalid": ('The animated input "{name}" cannot be used: {problem}.', "Correct its times and values."),
    "track-unknown": (
        'Nothing in the scene reads an animated input called "{name}".',
        "Its name is made of what it belongs to, the key of that and what it is, such as {example}.",
    ),
    "track-late": ('The animated input "{name}" was not written up to {time}.', "Bake it again."),
    # the command line
    "no-such-preset": ('There is no preset "{name}".', "{advice}."),
    "too-long": (
        "{seconds:g} s at {fps:g} frames per second are more than {most:,} frames.",
        "Choose fewer --seconds or a lower --fps.",
    ),
    # the child process
    "child-not-started": (
        "The solver could not be started: {code}.",
        "Look at log.txt in the cache folder; installing Sinew again may help.",
    ),
    "child-silent": ("The solver said nothing for {seconds} s and was ended.", "Look at log.txt in the cache folder."),
    "child-crashed": (
        "The solver crashed {place}: {code}.",
        "What was baked so far stays: resume the bake, and report log.txt of the cache folder.",
    ),
    # the cache and its disk
    "cache-missing": ("There is no bake in {path}.", "Press Simulate, or choose another cache folder."),
    "cache-format": ("The bake in {path} has format {found}; this Sinew reads {wanted}.", "Bake it again."),
    "cache-unreadable": ("The bake in {path} cannot be read: {problem}.", "Delete it and bake again."),
    "cache-damaged": (
        "{file} of the bake in {path} is damaged: {problem}.",
        "Copy it back from a backup, or resume from a frame before it (--from-frame).",
    ),
    "cache-problem": (
        "The bake in {path} is damaged: {problem}.",
        "Copy what is damaged back from a backup, resume the bake (--resume), or bake it again (--start-over).",
    ),
    "cache-broken-body": (
        'In the bake in {path} "{name}" is in pieces at frame {frame}, but Fracture is off for it now.',
        "Turn Fracture on, resume from a frame before it broke, or simulate anew.",
    ),
    "cache-locked": (
        "Another Sinew is baking into {path}.",
        "Wait for it or cancel it, or choose another cache folder.",
    ),
    "cache-frame-missing": ("Frame {frame} of the bake in {path} is not there.", "Resume from an earlier frame."),
    "cache-other-shape": (
        "The bake in {path} has other bodies, vertices, first frame or frame rate.",
        "Bake it again from the start.",
    ),
    "cache-out-of-date": (
        "The bake in {path} was made with {what} that changed since.",
        "Bake it again, or accept the changes to resume with them (--accept-changes).",
    ),
    "cache-no-resume": (
        "The bake in {path} has no frame to resume from.",
        "Resume from a later frame, or bake all frames again (--start-over; in Blender: Simulate).",
    ),
    "cache-part-lost": (
        "{part}/ of the bake in {path} is missing or damaged, so the bake cannot be gone on with.",
        "Copy it back from a backup, or bake all frames again (--start-over; in Blender: Delete Bake, then Simulate).",
    ),
    "cache-resume-far": (
        "The newest whole resume point of the bake in {path} is of frame {frame}, though its frames reach to {last}.",
        "Copy resume/ back from a backup, bake the frames after {frame} again (--from-frame {frame}), or all of them "
        "(--start-over; in Blender: Delete Bake, then Simulate).",
    ),
    "cache-head-lost": (
        "The head of the bake in {path}, cache.json, which says what scene was baked, is missing or damaged.",
        "Resume all the same (--accept-changes), or bake all frames again (--start-over).",
    ),
    "cache-head-made": (
        "The head of the bake in {path}, cache.json, was missing or damaged; it was made again from the scene.",
        "If the scene has changed since, bake all frames again (--start-over).",
    ),
    "cache-point-damaged": (
        "{file} of the bake in {path} is damaged ({problem}), so the bake goes on from an earlier frame.",
        "Nothing has to be done.",
    ),
    "cache-play-drawn": (
        'The motion of "{name}" in {path} was damaged from frame {frame} on; it was drawn again from the frames.',
        "Nothing has to be done.",
    ),
    "cache-frames-again": (
        "The motion in play/ of the bake in {path} is damaged, so the frames {first} to {last} are baked again.",
        "Nothing has to be done.",
    ),
    "cache-frames-missing": (
        "The bake in {path} lacks the files of the frames {first} to {last}.",
        "It plays and goes on without them; to have them again, resume from a frame before them (--from-frame).",
    ),
    "not-a-cache": ("{path} is not a Sinew cache, so nothing was deleted.", "Choose the folder of a bake."),
    "body-key": (
        'The key "{key}" of "{name}" cannot name a file, or is there twice.',
        "Use letters, digits, _ and -.",
    ),
    "disk-full": (
        "The disk of {path} is full; what was baked so far is safe.",
        "Free some space, then resume the bake.",
    ),
    "folder-read-only": ("{path} lies on a drive that cannot be written.", "Choose another cache folder."),
    "folder-not-allowed": ("Sinew is not allowed to write {path}.", "Change its permissions or choose another folder."),
    "file-held": (
        "Another program keeps {path} from being changed; Sinew tried for 10 seconds.",
        "Close that program, or wait until it is done, then do this again.",
    ),
    "file-read-only": (
        "{path} is marked as read-only.",
        "Remove that mark in the properties of the file, or choose another folder.",
    ),
    "path-too-long": (
        "The path {path} is longer than Windows allows here (about 250 characters).",
        "Choose a folder with a shorter path, or a shorter name for the body.",
    ),
    "folder-not-made": (
        "The folder {path} cannot be made: {problem}.",
        "Choose another folder, or connect the drive that it is to be on.",
    ),
    "folder-is-file": ("{path} is a file, or lies in one, where a folder is needed.", "Choose another folder."),
    "folder-gone": (
        "{path} is not there any more ({problem}); what was baked so far is as safe as its drive.",
        "Connect the drive again, then resume the bake.",
    ),
    "disk-failed": ("The disk of {path} failed: {problem}.", "Check the drive, then resume the bake."),
}
