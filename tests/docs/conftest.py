"""The modules that build the site are imported by name, as `make site` does."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "site"))
