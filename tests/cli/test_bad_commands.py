"""Awkward command lines, files and folders: every one ends with a sentence and exit code 1 or 2."""

import shlex
import shutil
import sys

import pytest

import lyceum
from lyceum import cli
from lyceum.bayes import NaiveBayes
from lyceum.linear import Ridge

ROWS = "".join(f"{i % 7},{'ab'[i % 2]},{i * 0.5},{'xyz'[i % 3]}\n" for i in range(30))
RECIPE = 'data = "t.csv"\ntarget = "c"\n'
FILES = {
    "t.csv": "n,c,m,d\n" + ROWS,
    "head.csv": "n,c,m,d\n",
    "empty.csv": "",
    "blank.csv": "\n\n\n",
    "one.csv": "n,c,m,d\n1,a,2,x\n",
    "const.csv": "n,c,m,d\n" + "1,a,1,x\n" * 9,
    "twice.csv": "n,n\n1,2\n",
    "ragged.csv": "n,c\n1,a\n1,a,b\n",
    "inf.csv": "n,c,m,d\n" + ROWS + "inf,a,1e999,x\n",
    "other.csv": "p,q\n1,2\n3,4\n",
    "bytes.csv": bytes(range(256)) * 9,
    "t.parquet": b"PAR1 not at all PAR1",
    "t.arrow": b"ARROW1",
    "t.xlsx": b"PK\x03\x04 no workbook",
    "t.sqlite": b"SQLite format 3\0 no more",
    "t.duckdb": b"DUCK no more",
    "t.jsonl": '{"n": 1}\n[1]\nno\n',
    "t.arff": "@relation r\n@attribute n {\n@data\n1\n",
    "sparse.arff": "@relation r\n@attribute n numeric\n@data\n{² 1}\n",
    "t.gz": b"\x1f\x8b no gzip",
    "t.unknown": b"\x00\x01\x02",
    "no.lyceum": b"no model",
    "pickle.lyceum": b"\x80\x04\x95cposix\nsystem\n.",
    "cut.bif": "variable x {",
    "sum.bif": "variable x { type discrete [2] {t,f}; }\nprobability (x) { table 0.9, 0.9; }\n",
    "cycle.bif": (
        "variable a { type discrete [2] {t,f}; }\nvariable b { type discrete [2] {t,f}; }\n"
        "probability (a|b) { default 0.5 0.5; }\nprobability (b|a) { default 0.5 0.5; }\n"
    ),
    "no.png": b"\x89PNG\r\n no",
    "loss.csv": "true,a\na,0\n",
    "nan.csv": "true,a,b\na,0,nan\nb,1,0\n",
    "loss.toml": "loss = 5\n",
    "keep.toml": RECIPE + "keep = 5\n",
    "kinds.toml": RECIPE + 'kinds = ["a"]\n',
    "data.toml": 'data = 5\ntarget = "c"\n',
    "repeats.toml": RECIPE + "repeats = 99999999999999\n",
    "folds.toml": RECIPE + "folds = 1\n",
    "key.toml": RECIPE + "fold = 3\n",
    "cut.toml": "data = [",
    "search.toml": (
        RECIPE + '[[learners]]\nname = "LogisticRegression"\n[learners.search]\n'
        'C = {low = 0.0, high = 1.0, scale = "log"}\n'
    ),
    "learner.toml": RECIPE + '[[learners]]\nname = "Nobody"\n',
    "setting.toml": RECIPE
    + '[[learners]]\nname = "NaiveBayes"\nsettings = {nothing = 1}\n',
    "metric.toml": RECIPE + 'metric = "beauty"\n',
    "binary.toml": b"\xff\xfe\x00",
}

KEPT = ("full", "link", "bayes.lyceum", "ridge.lyceum")
DATA = [
    "none.csv",
    ".",
    "empty.csv",
    "blank.csv",
    "bytes.csv",
    "t.parquet",
    "t.arrow",
    "t.xlsx",
    "t.sqlite",
    "t.duckdb",
    "t.jsonl",
    "t.arff",
    "sparse.arff",
    "t.gz",
    "t.unknown",
    "'*.nothing'",
    "''",
    "ragged.csv",
]

READING = """
inspect {}
study {} --target c --out s
fit {} --learner NaiveBayes --target c --out f
predict bayes.lyceum {}
"""

COMMANDS = """
nothing
--nothing
study
study t.csv
study t.csv --target nothing
study t.csv --target c --task poetry
study t.csv --target c --task regression
study t.csv --target c --learners Nobody
study t.csv --target c --learners KMeans
study t.csv --target n --task regression --learners NaiveBayes
study t.csv --target c --folds 1
study t.csv --target c --folds x
study t.csv --target c --folds 999
study t.csv --target c --repeats 0
study t.csv --target c --holdout 1.5
study t.csv --target c --holdout nan
study t.csv --target c --choose worst
study t.csv --target c --budget -1
study t.csv --target c --budget nan
study t.csv --target c --metric beauty
study t.csv --target c --metric rmse
study t.csv --target c --group nothing
study t.csv --target c --time nothing
study t.csv --target c --settings 0
study t.csv --target c --kind n=strange
study t.csv --target c --kind n
study t.csv --target c --kind nothing=continuous
study t.csv --target c --ignore nothing
study t.csv --target c --ignore c
study t.csv --target c --ignore n --ignore m --ignore d
study t.csv --target c --keep nothing
study t.csv --target c --weight d
study t.csv --target c --weight nothing
study t.csv --target c --loss a
study t.csv --target c --loss a:b=x
study t.csv --target c --loss none.csv
study t.csv --target c --loss loss.csv
study t.csv --target c --loss nan.csv
study t.csv --target c --loss loss.toml
study t.csv --target c --doubt -1
study t.csv --target c --doubt nan
study t.csv --target c --seed -1
study t.csv --target c --separator ab
study t.csv --target c --encoding klingon
study t.csv --target c --decimal x
study t.csv --target c --table nothing
study t.csv --target c --out t.csv
study t.csv --target c --out t.csv --force
study t.csv --target c --out full --force
study t.csv --target c --out . --force
study t.csv --target c --out link --force
study t.csv --target c --out ''
study t.csv --target c --out /proc/none
study one.csv --target c
study head.csv --target c
study const.csv --target c
study twice.csv --target n
study --recipe none.toml
study --recipe .
study --recipe keep.toml
study --recipe kinds.toml
study --recipe data.toml
study --recipe repeats.toml
study --recipe folds.toml
study --recipe key.toml
study --recipe cut.toml
study --recipe search.toml
study --recipe learner.toml
study --recipe setting.toml
study --recipe metric.toml
study --recipe binary.toml
fit t.csv
fit t.csv --learner
fit t.csv --learner Nobody
fit t.csv --learner NaiveBayes
fit t.csv --learner NaiveBayes --target nothing
fit t.csv --learner Ridge --target c
fit t.csv --learner NaiveBayes --target c --set nothing=1
fit t.csv --learner NaiveBayes --target c --set prior_alpha
fit t.csv --learner NaiveBayes --target c --set 'prior_alpha=["a"]'
fit t.csv --learner NaiveBayes --target c --set prior_alpha=nan
fit t.csv --learner NaiveBayes --target c --set prior_alpha=-1
fit t.csv --learner KMeans --set n_clusters=0
fit t.csv --learner KMeans --set n_clusters=99
fit t.csv --learner KMeans --set 'n_clusters={a = 1}'
fit t.csv --learner MLPClassifier --target c --set hidden_layer_sizes=-1
fit t.csv --learner NaiveBayes --target c --kind n=strange
fit t.csv --learner NaiveBayes --target c --kind c=continuous
fit t.csv --learner NaiveBayes --target c --weight d
fit t.csv --learner NaiveBayes --target c --weight c
fit t.csv --learner NaiveBayes --target c --separator ab
fit t.csv --learner NaiveBayes --target c --delimiter ab
fit t.csv --learner NaiveBayes --target c --out t.csv
fit t.csv --learner NaiveBayes --target c --out full
fit t.csv --learner NaiveBayes --target c --out full --force
fit t.csv --learner NaiveBayes --target c --out none/f
fit t.csv --learner NaiveBayes --target c --out '' --force
predict bayes.lyceum t.csv --out '' --force
cluster t.csv --clusters 2 --out '' --force
fit t.csv --learner NaiveBayes --target c --out /proc/f
fit head.csv --learner NaiveBayes --target c
fit inf.csv --learner Ridge --target m
fit one.csv --learner LogisticRegression --target c --set C=-1
predict
predict bayes.lyceum
predict none.lyceum t.csv
predict . t.csv
predict no.lyceum t.csv
predict pickle.lyceum t.csv
predict t.csv bayes.lyceum
predict bayes.lyceum other.csv
predict bayes.lyceum t.csv --out t.csv
predict bayes.lyceum t.csv --out p.docx
predict bayes.lyceum t.csv --out full --force
predict bayes.lyceum t.csv --out none/p.csv
predict bayes.lyceum t.csv --keep nothing
predict bayes.lyceum t.csv --loss nan.csv
predict bayes.lyceum t.csv --doubt -0.5
predict ridge.lyceum t.csv --proba
predict ridge.lyceum t.csv --doubt 0.1
predict ridge.lyceum t.csv --loss a:b=1
evaluate
evaluate none.lyceum t.csv
evaluate no.lyceum t.csv
evaluate bayes.lyceum head.csv
evaluate bayes.lyceum other.csv
evaluate bayes.lyceum t.csv --target nothing
evaluate bayes.lyceum t.csv --target n
evaluate ridge.lyceum t.csv --target c
evaluate ridge.lyceum t.csv --loss a:b=1
evaluate bayes.lyceum t.csv --loss loss.csv
evaluate bayes.lyceum t.csv --doubt x
explain bayes.lyceum
explain bayes.lyceum t.csv --row -1
explain bayes.lyceum t.csv --row 999
explain bayes.lyceum t.csv --row x
explain bayes.lyceum head.csv
explain no.lyceum t.csv
compare bayes.lyceum t.csv
compare bayes.lyceum ridge.lyceum t.csv
compare bayes.lyceum bayes.lyceum head.csv
compare bayes.lyceum none.lyceum t.csv
compare bayes.lyceum bayes.lyceum t.csv --target nothing
inspect t.csv --target nothing
learners --task poetry
cluster t.csv --clusters 0
cluster t.csv --clusters -1
cluster t.csv --clusters 999
cluster t.csv --clusters x
cluster t.csv --learner Nobody
cluster t.csv --learner NaiveBayes
cluster t.csv --learner KMeans --set nothing=1
cluster t.csv --learner KMeans --set 'n_clusters=["a"]'
cluster t.csv --ignore n --ignore m --ignore c --ignore d
cluster t.csv --out t.csv
cluster t.csv --clusters 2 --learner KMeans --out none/c.csv
cluster head.csv
cluster one.csv
reduce t.csv --method nothing
reduce t.csv --method fisher
reduce t.csv --method ranking
reduce t.csv --method fisher --target nothing
reduce t.csv --components 0
reduce t.csv --components -2
reduce t.csv --components 99
reduce t.csv --components nan
reduce t.csv --out r.docx
reduce head.csv
segment
segment none.png
segment no.png
segment .
segment t.csv
segment no.png --segments 0
segment no.png --by feeling
segment no.png --method nothing
label t.csv --target c
label t.csv --target c --out l.csv --strategy nothing
label t.csv --target c --out l.csv --queries -1
label t.csv --target c --out l.csv --learner Nobody
label t.csv --target c --out l.csv --learner Ridge
label head.csv --target c --out l.csv
bayesnet nothing
bayesnet learn none.csv
bayesnet learn head.csv
bayesnet learn t.csv --method nothing
bayesnet learn t.csv --score nothing
bayesnet learn t.csv --method k2 --order nothing
bayesnet learn t.csv --required n
bayesnet learn t.csv --required 'n->nothing'
bayesnet learn t.csv --max-parents -1
bayesnet query none.bif x
bayesnet query cut.bif x
bayesnet query sum.bif x
bayesnet query cycle.bif a
bayesnet query asia nothing
bayesnet query asia smoke --evidence smoke
bayesnet query asia smoke --evidence nothing=yes
bayesnet query asia smoke --evidence lung=perhaps
bayesnet query asia smoke --method nothing
bayesnet query asia smoke --method gibbs --samples 0
bayesnet independent asia nothing smoke
bayesnet draw asia --out a.docx
bayesnet draw cut.bif
bayesnet sample asia -5
bayesnet sample asia x
bayesnet sample asia 5 --out s.docx
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of awkward files, with two sound models and a sound table."""
    top = tmp_path_factory.mktemp("bad")
    for name, content in FILES.items():
        (top / name).write_bytes(
            content if isinstance(content, bytes) else content.encode()
        )
    (top / "full").mkdir()
    (top / "full" / "mine.txt").write_text("keep me")
    (top / "link").symlink_to(top / "full", target_is_directory=True)
    frame = pytest.importorskip("pandas").read_csv(top / "t.csv")
    lyceum.save(
        NaiveBayes().fit(frame[["n", "m", "d"]], frame["c"]), top / "bayes.lyceum"
    )
    lyceum.save(Ridge().fit(frame[["n"]], frame["m"]), top / "ridge.lyceum")
    return top


def lines():
    for line in COMMANDS.strip().splitlines():
        yield line
    for line in READING.strip().splitlines():
        yield from (line.format(data) for data in DATA)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", list(lines()))
def test_a_bad_command_ends_with_a_sentence(line, folder, monkeypatch, capfd):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["lyceum", *shlex.split(line)])
    with pytest.raises(SystemExit) as done:
        cli.main()
    said = capfd.readouterr().err
    assert done.value.code in (1, 2), said
    assert said.strip(), "it said nothing"
    assert "should not happen" not in said, said
    assert "Traceback" not in said, said
    assert (folder / "full" / "mine.txt").read_text(encoding="utf-8") == "keep me"
    assert (folder / "t.csv").read_text(encoding="utf-8") == FILES["t.csv"]
    for left in {path.name for path in folder.iterdir()} - {
        *FILES,
        *KEPT,
    }:  # a study that was begun
        shutil.rmtree(folder / left)
