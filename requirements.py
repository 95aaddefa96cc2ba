"""Print what pyproject.toml requires, with the extras that are named; `make` fetches it while it
compiles."""

import sys
import tomllib
from pathlib import Path


def requirements(extras: list[str]) -> list[str]:
    project = tomllib.loads((Path(__file__).parent / "pyproject.toml").read_text())[
        "project"
    ]
    own = f"{project['name']}["  # an extra may name others: "lyceum-ml[dask,report]"
    found = list(project["dependencies"])
    for extra in extras:
        for line in project["optional-dependencies"][extra]:
            found += (
                requirements(line[len(own) : -1].split(","))
                if line.startswith(own)
                else [line]
            )
    return list(dict.fromkeys(found))


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1:])))
