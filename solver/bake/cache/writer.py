# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a cache so that a crash at any time leaves complete frames only.

The order is: topologies, attributes and contacts of a frame, then the frame itself, each under a temporary name,
synced and renamed; then its samples in every PC2, synced, and its line in the report; last the PC2 headers count the
samples. A crash between any two of these leaves the earlier frames.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from ...runtime.atomic_files import PART_SUFFIX, write_atomic
from ...runtime.checksums import line_with_checksum, npz_bytes, sha256
from ...runtime.errors import StorageFailed
from ...runtime.locked_file_retries import remove_file, retry_while_locked
from ...runtime.storage_errors import make_folder, named_errors
from . import layout
from .checkpoint_list import checkpoints_to_keep, is_list_intact, write_list
from .delete import delete_selected
from .frame_npz import Frame, frame_arrays
from .frame_report import read_lines
from .lock import CacheLock
from .metadata import CacheMetadata, metadata_is_intact
from .pc2 import Pc2Writer
from .reader import CacheReader

EMPTY: Mapping[Any, Any] = MappingProxyType({})


class CacheWriter:
    """The only writer of a cache folder, from construction until `close`."""

    def __init__(self, folder: Path) -> None:
        """Locks `folder`, and creates it if necessary.

        Raises:
            StorageFailed: Another process is writing this cache, or the folder cannot be written.
        """
        self.folder = Path(folder)
        self.metadata: CacheMetadata | None = None
        self._play: dict[str, Pc2Writer] = {}
        make_folder(self.folder)
        self._lock = CacheLock(self.folder)

    def __enter__(self) -> CacheWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start_over(self, head: CacheMetadata) -> None:
        """Deletes an earlier bake and starts a new one; nothing if a file is in place of a folder or the reverse.

        What some of its bodies were baked to afterwards (`layout.selected_paths`) goes with the earlier bake.
        """
        for name in layout.BAKED_FOLDERS:
            if os.path.lexists(self.folder / name):
                make_folder(self.folder / name)  # refuses a file in place of the folder
        with self._named():
            self._close_play()
            self._refuse_folders(head)
            delete_selected(self.folder)
            write_atomic(self.folder / layout.START_OVER_MARK, b"")
            for name in (layout.METADATA_COPY, layout.METADATA_FILE):
                remove_file(self.folder / name)
            for name in layout.BAKED_FOLDERS:
                self._empty(name)
            remove_file(self.folder / layout.REPORT_FILE)
            self._begin(head)
            for name in (layout.START_OVER_MARK, layout.RESUME_MARK):
                remove_file(self.folder / name)

    def resume(self, head: CacheMetadata, frame: int, finished: Collection[str] = ()) -> None:
        """Continues after `frame`: deletes unfinished files, later frames, and the output of the finishing pass.

        Args:
            head: Of the resumed bake.
            frame: The last frame that stays.
            finished: Keys of the bodies whose attributes come from the finishing pass.

        Raises:
            StorageFailed: `frame` is incomplete, or the cache has bodies of another layout.
        """
        before = CacheReader(self.folder)
        last = before.last_frame()  # by the headers and the sizes of the PC2 files
        if last is None or frame > last:
            raise StorageFailed("cache-frame-missing", path=str(self.folder), frame=frame)
        if not before.metadata.has_same_layout(head):
            raise StorageFailed("cache-other-shape", path=str(self.folder))
        with self._named():
            write_atomic(self.folder / layout.RESUME_MARK, b"%d" % frame)
            self._empty(layout.RESULT_FOLDER)
            for key in finished:
                self._empty(f"{layout.ATTRIBUTE_FOLDER}/{key}")
                self._empty(f"{layout.DUST_FOLDER}/{key}")
            self._begin(head)
            self._drop_after(frame)
            remove_file(self.folder / layout.RESUME_MARK)

    def repair(self) -> None:
        """Rewrites `cache.json`, its copy and the list of checkpoints if they are missing or damaged.

        Corrects PC2 headers that count missing samples.
        """
        reader = CacheReader(self.folder)
        with self._named():
            if reader.play_problems():
                self._open_play(reader.metadata)
                self._close_play()
            if not metadata_is_intact(self.folder):
                reader.metadata.save(self.folder)
            if not is_list_intact(self.folder):
                write_list(self.folder, layout.numbers_in(self.folder / layout.RESUME_FOLDER))

    def write_model(self, key: str, arrays: Mapping[str, Any]) -> None:
        """Writes the tets of a body, for resume, overlays and other tools."""
        with self._named():
            write_atomic(layout.model_path(self.folder, key), npz_bytes(arrays))

    def write_preroll(self, key: str, positions: npt.NDArray[np.float32]) -> None:
        """Writes the positions of a body in the pre-roll, object space, (samples, n, 3)."""
        with self._named():
            self._write(layout.preroll_path(self.folder, key), npz_bytes({"positions": positions}))

    def write_frame(
        self,
        frame: Frame,
        samples: Mapping[str, npt.NDArray],
        report: Mapping[str, Any],
        topologies: Mapping[int, Mapping[str, npt.NDArray]] = EMPTY,
        attributes: Mapping[str, bytes] = EMPTY,
        contacts: Mapping[str, npt.NDArray] = EMPTY,
    ) -> None:
        """Writes the next frame.

        Args:
            frame: Its data.
            samples: Render positions of every body, (k, vertices, 3).
            report: Its line of the report.
            topologies: New topologies, by the number of their first sample.
            attributes: The file of every body that has attributes.
            contacts: Arrays of its contacts by name, or none.

        Raises:
            StorageFailed: The disk failed; all earlier frames still count, this one does not.
        """
        drawn = {key: np.ascontiguousarray(samples[key], "<f4") for key in self._play}
        folder = self.folder / layout.TOPOLOGY_FOLDER
        files = {layout.numbered_path(folder, number): npz_bytes(arrays) for number, arrays in topologies.items()}
        files |= {layout.attribute_path(self.folder, key, frame.frame): data for key, data in attributes.items()}
        checksums = {layout.relative_play_path(key): sha256(values.data.cast("B")) for key, values in drawn.items()}
        checksums |= {path.relative_to(self.folder).as_posix(): sha256(data) for path, data in files.items()}
        report_path = self.folder / layout.REPORT_FILE
        with self._named():
            report_size = report_path.stat().st_size if report_path.exists() else 0
            try:
                for path, data in files.items():
                    self._write(path, data)
                if contacts:
                    path, data = (
                        layout.numbered_path(self.folder / layout.CONTACT_FOLDER, frame.frame),
                        npz_bytes(contacts),
                    )
                    checksums[path.relative_to(self.folder).as_posix()] = sha256(data)
                    self._write(path, data, is_durable=False)  # only drawn
                arrays = npz_bytes(frame_arrays(frame, checksums))
                write_atomic(layout.numbered_path(self.folder / layout.FRAME_FOLDER, frame.frame), arrays)
                for key, play in self._play.items():
                    play.append(drawn[key])
                self._report(report)
                for play in self._play.values():
                    play.commit()
            except OSError:
                self._roll_back_frame(frame.frame - 1, report_size)
                raise

    def write_resume(self, frame: int, arrays: Mapping[str, Any], interval: int) -> None:
        """Writes the checkpoint of `frame`, and deletes all but the newest and the last few regular ones.

        Regular frames are multiples of `interval` after the first. Another one stays only until the next is written, so
        that the files do not depend on where a bake was interrupted.
        """
        with self._named():
            write_atomic(layout.numbered_path(self.folder / layout.RESUME_FOLDER, frame), npz_bytes(arrays))
            self._thin_checkpoints(frame, interval)

    def write_head(self, head: CacheMetadata) -> None:
        """Replaces the metadata by an extended version of the same bake."""
        if head != self.metadata:
            head.save(self.folder)
            self.metadata = head

    def close(self) -> None:
        """Syncs and closes all files and releases the lock."""
        try:
            with self._named():
                self._close_play()
        finally:
            self._lock.release()

    @contextmanager
    def _named(self) -> Iterator[None]:
        with named_errors(self.folder):
            try:
                yield
            except ValueError as problem:
                raise StorageFailed("cache-unreadable", path=str(self.folder), problem=str(problem)) from problem

    def _begin(self, head: CacheMetadata) -> None:
        self._close_play()
        for name in (layout.MODEL_FOLDER, layout.FRAME_FOLDER, layout.RESUME_FOLDER, layout.PLAY_FOLDER):
            (self.folder / name).mkdir(exist_ok=True)
        for name in layout.BAKED_FOLDERS:
            for part in (self.folder / name).rglob("*" + PART_SUFFIX):
                remove_file(part)
        head.save(self.folder)
        self.metadata = head
        self._open_play(head)

    def _open_play(self, head: CacheMetadata) -> None:
        for body in head.bodies:
            path = layout.play_path(self.folder, body.key)
            self._play[body.key] = Pc2Writer(path, body.vertices, head.frame_start, 1.0 / head.samples_per_frame)

    def _drop_after(self, frame: int) -> None:
        assert self.metadata is not None
        for play in self._play.values():
            play.truncate(self.metadata.sample_count(frame))
            if play.samples != self.metadata.sample_count(frame):  # later samples would be misplaced
                raise ValueError(f"{play.path.name} holds {play.samples} samples at frame {frame}")
        points = layout.numbers_in(self.folder / layout.RESUME_FOLDER)
        write_list(self.folder, [point for point in points if point <= frame])
        for name in (layout.RESUME_FOLDER, layout.FRAME_FOLDER):
            for later in reversed(layout.numbers_in(self.folder / name)):
                if later > frame:
                    remove_file(layout.numbered_path(self.folder / name, later))
        self._drop_dependent_files_after(frame)
        path = self.folder / layout.REPORT_FILE
        lines = [line.text for line in read_lines(path) if line.values.get("frame", frame) <= frame]
        write_atomic(path, "".join(text + "\n" for text in lines).encode())

    def _drop_dependent_files_after(self, frame: int) -> None:
        """Deletes topologies, attributes and contacts of later frames."""
        assert self.metadata is not None
        contacts = self.folder / layout.CONTACT_FOLDER
        for later in reversed(layout.numbers_in(contacts)):
            if later > frame:
                remove_file(layout.numbered_path(contacts, later))
        folder = self.folder / layout.TOPOLOGY_FOLDER
        for number in reversed(layout.numbers_in(folder)):
            if number >= self.metadata.sample_count(frame):
                remove_file(layout.numbered_path(folder, number))
        for body in self.metadata.bodies:
            for later in reversed(layout.attribute_frames(self.folder, body.key)):
                if later > frame:
                    remove_file(layout.attribute_path(self.folder, body.key, later))

    def _write(self, path: Path, data: bytes, is_durable: bool = True) -> None:
        """Writes an optional file and creates its folder."""
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, data, is_durable)

    def _roll_back_frame(self, last: int, report_size: int) -> None:
        """Frees the space of an unfinished frame; ignores errors, since the disk may be gone."""
        assert self.metadata is not None
        try:
            for play in self._play.values():
                play.truncate(self.metadata.sample_count(last))
            remove_file(layout.numbered_path(self.folder / layout.FRAME_FOLDER, last + 1))
            self._drop_dependent_files_after(last)
            if (self.folder / layout.REPORT_FILE).exists():
                os.truncate(self.folder / layout.REPORT_FILE, report_size)
        except OSError:
            pass

    def _report(self, report: Mapping[str, Any]) -> None:
        path = self.folder / layout.REPORT_FILE
        with retry_while_locked(lambda: open(path, "ab"), path) as file:
            file.write(line_with_checksum(report).encode() + b"\n")

    def _thin_checkpoints(self, newest: int, interval: int) -> None:
        assert self.metadata is not None
        folder = self.folder / layout.RESUME_FOLDER
        remaining = checkpoints_to_keep(layout.numbers_in(folder), self.metadata.frame_start, newest, interval)
        write_list(self.folder, remaining)
        for frame in layout.numbers_in(folder):
            if frame not in remaining:
                remove_file(layout.numbered_path(folder, frame))

    def _refuse_folders(self, head: CacheMetadata) -> None:
        """Raises StorageFailed where a folder is in place of a file that the bake will write at its start."""
        names = (layout.METADATA_COPY, layout.METADATA_FILE, layout.REPORT_FILE)
        played = [layout.play_path(self.folder, body.key) for body in head.bodies]
        for path in (*(self.folder / name for name in names), *played):
            if path.is_dir():
                raise StorageFailed("file-is-folder", path=str(path))

    def _empty(self, name: str) -> None:
        for path in sorted((self.folder / name).rglob("*"), reverse=True):
            if path.is_file() and layout.is_sinew_file(path.relative_to(self.folder)):
                remove_file(path)

    def _close_play(self) -> None:
        play, self._play = self._play, {}
        with ExitStack() as closing:  # close all, even if one fails: Windows locks open files
            for file in reversed(play.values()):
                closing.callback(file.close)


def free_space(folder: Path) -> int:
    """Returns the free bytes on the drive of `folder`."""
    with named_errors(folder):
        return shutil.disk_usage(folder).free
