"""`python -m toolroster`: the command line."""

from __future__ import annotations

import sys

from toolroster.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
