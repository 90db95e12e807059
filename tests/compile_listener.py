# SPDX-License-Identifier: GPL-3.0-or-later
"""Code for a fresh Python that tells which kernels it compiles."""

# behind it, `listening()` puts their names into `names`, in the order in which they are begun
LISTENER = """
from numba.core import event
class Listener(event.Listener):
    def on_start(self, what):
        names.append(what.data["dispatcher"].__name__)
    def on_end(self, what):
        pass
names = []
def listening():
    return event.install_listener("numba:compile", Listener())
"""
