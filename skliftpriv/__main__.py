"""The command line: ``python -m skliftpriv`` is the same as ``skliftpriv``."""

import sys

from skliftpriv.cli import main

if __name__ == "__main__":
    sys.exit(main())
