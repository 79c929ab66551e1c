"""Which names may a tool have, which names look alike, and which names does a glob match?

Knows nothing of policies or files.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

NAME_GRAMMAR = "[A-Za-z0-9_.-]{1,128}"
"""What a canonical tool name may be. Source: MCP 2025-11-25, server/tools, "Tool Names"."""

_NAME = re.compile(NAME_GRAMMAR)
_GLOB = re.compile(r"[A-Za-z0-9_.*-]{1,256}")
_ALLOWED = re.compile(r"[A-Za-z0-9_.-]")
# Source: Microsoft, "Naming Files, Paths, and Namespaces": reserved with and without an extension, in any case.
_WINDOWS_DEVICE = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
# ASCII characters that many fonts draw alike; separators are read alike too.
_LOOK_ALIKE = str.maketrans({"0": "o", "1": "l", "I": "l", "5": "s", ".": "_", "-": "_"})


def explain_invalid_name(name: str, *, glob: bool = False) -> str | None:
    """Return why `name` is no tool name (with the code point and its 1-based position), or None when it is one."""
    if (_GLOB if glob else _NAME).fullmatch(name):
        return None
    if not name:
        return "the name is empty"
    for position, character in enumerate(name, 1):
        if not _ALLOWED.match(character) and not (glob and character == "*"):
            title = unicodedata.name(character, "unnamed character")
            return f"character {position} is U+{ord(character):04X} ({title}); only A-Z a-z 0-9 _ . - are allowed"
    return f"it is {len(name)} characters long; the limit is 128"


def is_windows_device(name: str) -> bool:
    """Return whether a file of this name can't exist on Windows (`con`, `nul.json`, `COM1`, …)."""
    return _WINDOWS_DEVICE.fullmatch(name) is not None


def reduce_look_alikes(name: str) -> str:
    """Return a form that two names share when they are easily read as each other."""
    return name.translate(_LOOK_ALIKE).casefold()


def is_glob(entry: str) -> bool:
    """Return whether a set entry is a glob rather than a name; `*` is the only special character."""
    return "*" in entry


@lru_cache(maxsize=4096)
def _compile(glob: str) -> re.Pattern[str]:
    first, *middle, last = (re.escape(part) for part in re.split(r"\*+", glob))
    # The first place of each part is as good as any, so nothing is tried twice (?>…): many stars can't take long.
    return re.compile(first + "".join(f"(?>.*?{part})" for part in middle) + ".*" + last, re.DOTALL)


def matches(entry: str, name: str) -> bool:
    """Return whether a set entry (a name or a glob, case-sensitive) covers `name`."""
    return entry == name if not is_glob(entry) else _compile(entry).fullmatch(name) is not None


def suggest(name: str, candidates: Iterable[str]) -> str:
    """Return ` (did you mean 'x'?)` for the closest candidate, or an empty string.

    The leading space lets callers append the result to a sentence.
    """
    pool = sorted(set(candidates))
    close = difflib.get_close_matches(name, pool, n=1, cutoff=0.6)
    if not close:
        close = [candidate for candidate in pool if candidate.casefold() == name.casefold()][:1]
    return f" (did you mean {close[0]!r}?)" if close else ""


def suggest_close(name: str, candidates: Iterable[str]) -> str | None:
    """Return the closest candidate that is at least 0.8 alike by `difflib`'s ratio (about one letter in five), or None."""
    close = difflib.get_close_matches(name, sorted(set(candidates)), n=1, cutoff=0.8)
    return close[0] if close else None
