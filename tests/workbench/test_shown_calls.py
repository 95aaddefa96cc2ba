"""What stands beside a page as a command and as Python runs by itself, and both say the same."""

import json
import shlex
import shutil

import pytest

pytest.importorskip("starlette")

from tests.forks import COMMAND, Forks, by_command
from tests.workbench.started import opened

import lyceum
from lyceum import datasets

TABLE = "file=weather.csv&target=play"
# answers of pages that show a call which reads
ASKED = {
    "inspect": f"data?{TABLE}",
    "pair": "data/pair?file=weather.csv&x=outlook&y=play",
    "study": "study?out=weather-study",
    "ask": "ask?out=weather-study&row=%7B%7D",
    "errors": "errors?out=weather-study",
    "query": "networks/posteriors?net=asia&evidence=dysp%3Dyes",
    "working": "networks/working?net=asia&evidence=dysp%3Dyes&query=lung",
    "separation": "networks/separation?net=asia&first=asia&second=smoke",
    "clusters": "clusters?file=penguins.csv&clusters=3",
    "columns": "columns?file=penguins.csv",
    "theatre": "theatre?method=id3",
}
# what a call gives
RUN = """
import json, sys
space = {}
exec(sys.argv[1], space)
value = list(space.values())[-1]
if isinstance(value, dict):  # posteriors by their variables
    value = list(value.values())
if isinstance(value, list):
    value = [each.as_dict() for each in value]
else:
    value = value.as_dict()
print(json.dumps(value), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shown")
    for name in ("weather", "penguins"):
        shutil.copy(datasets.path(name), folder / f"{name}.csv")
    lyceum.study(
        folder / "weather.csv",
        "play",
        learners=["NaiveBayes", "DecisionTreeClassifier"],
        folds=2,
        n_settings=1,
        committees=False,
        out=folder / "weather-study",
    )
    return folder


def test_shown_commands_print_what_the_python_gives(folder):
    with opened(folder) as workbench:
        answers = {name: workbench.get(f"/api/{path}") for name, path in ASKED.items()}
    actions = {name: answer["action"] for name, answer in answers.items()}
    with Forks(COMMAND) as forks:
        for name, action in actions.items():
            done = forks.run(RUN, action["python"], folder=folder)
            assert done.returncode == 0, done.stderr
            wanted = json.loads(done.stderr.splitlines()[-1])
            command = [*shlex.split(action["command"]), "--json"]
            printed = json.loads(by_command(command, folder))
            if name == "query":  # the command leaves out what was observed
                wanted = [each for each in wanted if each["query"] != ["dysp"]]
            assert printed == wanted, action["command"]
