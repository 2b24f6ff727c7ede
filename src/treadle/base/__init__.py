"""Words every layer shares; standard library only.

Every import of ours comes through here, so this is where an interpreter is refused that has no
global lock: free lists and counted references are not locked.
"""

import sys

if not getattr(sys, "_is_gil_enabled", lambda: True)():
    raise ImportError(
        "treadle: this Python runs without its global interpreter lock, which Treadle needs\n"
        "  hint: use the usual build of Python, or start this one with PYTHON_GIL=1"
    )
