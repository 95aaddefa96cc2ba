"""The switch: ours where scikit-learn's stood, theirs where ours cannot, and back."""

import inspect
import pickle
import subprocess
import sys
import types

import numpy as np
import pytest
import sklearn.linear_model
import sklearn.tree
from sklearn.base import clone

import lyceum
from lyceum import dropin
from lyceum.dropin import deferred
from lyceum.dropin.__main__ import main
from lyceum.dropin.names import our_class, our_names, their_class

X = np.random.default_rng(0).normal(size=(40, 3))
Y = X @ [1.0, -2.0, 3.0] + 1.0
THEIRS = sklearn.linear_model.Ridge


@pytest.fixture
def switched():
    lyceum.patch_sklearn()
    yield
    lyceum.unpatch_sklearn()


def rows_of(name):
    return [row[1:3] for row in dropin.report().rows if row[0] == name]


@pytest.mark.usefixtures("switched")
def test_the_public_and_the_private_module_give_ours():
    from sklearn.linear_model import Ridge
    from sklearn.linear_model._ridge import Ridge as Private

    model = Ridge(alpha=2.0).fit(X, Y)
    assert Private is Ridge
    assert isinstance(model, lyceum.linear.Ridge)
    np.testing.assert_allclose(model.coef_, THEIRS(alpha=2.0).fit(X, Y).coef_)
    assert rows_of("Ridge") == [("ours", "")]


@pytest.mark.usefixtures("switched")
def test_robust_regression_knows_ours_for_a_linear_regression():
    from sklearn.linear_model import LinearRegression, RANSACRegressor

    robust = RANSACRegressor(LinearRegression(), random_state=0).fit(X, Y)
    assert isinstance(robust.estimator_, lyceum.linear.LinearRegression)


def test_an_imputer_takes_missing_cells_without_fallback():
    lyceum.patch_sklearn(fallback=False)
    try:
        from sklearn.impute import SimpleImputer
        from sklearn.utils import get_tags

        assert get_tags(SimpleImputer()).input_tags.allow_nan
    finally:
        lyceum.unpatch_sklearn()


@pytest.mark.usefixtures("switched")
def test_a_tree_stays_ours_and_scikit_learn_prints_it():
    from sklearn.tree import DecisionTreeRegressor, export_text

    tree = DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0]], [0.0, 4.0])
    assert rows_of("DecisionTreeRegressor") == [("ours", "")]
    assert export_text(tree).startswith("|--- feature_0 <= 0.50")


def test_nodes_count_as_scikit_learns_while_the_switch_is_on():
    theirs = sklearn.tree.DecisionTreeRegressor(max_depth=1).fit(X, Y)
    lyceum.patch_sklearn()
    try:
        nodes = sklearn.tree.DecisionTreeRegressor(max_depth=1).fit(X, Y).tree_
        # as packages ask that read trees of scikit-learn, such as SHAP
        assert isinstance(nodes, sklearn.tree._tree.Tree)
        assert isinstance(theirs.tree_, sklearn.tree._tree.Tree)
        assert not isinstance(theirs, sklearn.tree._tree.Tree)
        again = pickle.loads(pickle.dumps(theirs.tree_))
        np.testing.assert_array_equal(again.threshold, theirs.tree_.threshold)
    finally:
        lyceum.unpatch_sklearn()
    assert not isinstance(nodes, sklearn.tree._tree.Tree)
    again = pickle.loads(pickle.dumps(theirs.tree_))
    assert type(again) is type(theirs.tree_) is sklearn.tree._tree.Tree


def test_what_scikit_learn_makes_inside_is_pickled():
    lyceum.patch_sklearn()
    try:
        from sklearn.compose import TransformedTargetRegressor

        model = TransformedTargetRegressor().fit(X, Y)  # its default is made inside
        assert type(model.regressor_).__module__ == "sklearn.linear_model._base"
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
    finally:
        lyceum.unpatch_sklearn()
    again = pickle.loads(pickle.dumps(model))
    assert type(again.regressor_) is sklearn.linear_model.LinearRegression


@pytest.mark.usefixtures("switched")
def test_the_signature_is_that_of_the_class():
    from sklearn.linear_model import Ridge

    assert list(inspect.signature(Ridge).parameters)[:1] == ["alpha"]


def test_back_again():
    lyceum.patch_sklearn()
    lyceum.patch_sklearn()  # a second time changes nothing
    lyceum.unpatch_sklearn()
    assert sklearn.linear_model.Ridge is THEIRS
    assert sklearn.linear_model._ridge.Ridge is THEIRS


@pytest.mark.usefixtures("switched")
def test_what_ours_refuses_theirs_learns_and_the_report_says_why():
    text = np.array([["a"], ["b"]] * 20, dtype=object)
    model = sklearn.linear_model.Ridge()
    with pytest.raises(ValueError, match="could not convert string to float"):
        model.fit(np.c_[X.astype(object), text, text][:, :4], [["y"]] * 40)
    ridge = sklearn.linear_model.Ridge()
    Z = np.ma.masked_array(X[:, :, None])
    with pytest.raises(ValueError, match="Found array with dim 3"):
        ridge.fit(Z, Y)  # the error is scikit-learn's, where both refuse


@pytest.mark.usefixtures("switched")
def test_the_object_becomes_one_of_theirs_where_ours_cannot(monkeypatch):
    def refuse(self, X, y=None, sample_weight=None):
        raise lyceum.errors.DataError("not today")

    from sklearn.linear_model import Ridge

    model = Ridge(alpha=3.0)
    monkeypatch.setattr(lyceum.linear.Ridge, "_rows", refuse)
    assert model.fit(X, Y) is model
    assert type(model) is THEIRS
    assert model.alpha == 3.0
    assert isinstance(model, Ridge)
    assert rows_of("Ridge") == [("theirs", "DataError: not today")]
    np.testing.assert_allclose(model.predict(X), THEIRS(alpha=3.0).fit(X, Y).predict(X))


def test_without_fallback_the_error_is_ours():
    lyceum.patch_sklearn(fallback=False)
    try:
        with pytest.raises(lyceum.errors.MissingValuesError):
            sklearn.linear_model.Ridge().fit([[np.nan], [1.0]], [1.0, 2.0])
    finally:
        lyceum.unpatch_sklearn()


@pytest.mark.usefixtures("switched")
def test_a_subclass_inherits_from_theirs():
    class Mine(sklearn.linear_model.Ridge):
        def fit(self, X, y):
            return super().fit(X, y)

    assert issubclass(Mine, THEIRS)
    assert Mine().fit(X, Y).coef_.shape == (3,)
    assert ("theirs", "Mine inherits from it") in rows_of("Ridge")


def test_models_are_pickled_and_cloned_with_and_without_the_switch():
    lyceum.patch_sklearn()
    model = sklearn.linear_model.Ridge().fit(X, Y)
    lyceum.unpatch_sklearn()
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert type(clone(model)) is type(model)


@pytest.mark.usefixtures("switched")
def test_models_that_became_theirs_are_pickled(monkeypatch):
    from sklearn.linear_model import Ridge

    model = Ridge()
    monkeypatch.setattr(lyceum.linear.Ridge, "_rows", None)
    model.fit(X, Y)
    copy = pickle.loads(pickle.dumps(model))
    assert type(copy) is THEIRS
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))


def test_models_that_scikit_learn_pickled_remain_its_own():
    model = THEIRS().fit(X, Y)
    data = pickle.dumps(model)
    lyceum.patch_sklearn()
    copy = pickle.loads(data)
    lyceum.unpatch_sklearn()
    assert type(copy) is THEIRS
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))


@pytest.mark.usefixtures("switched")
def test_scikit_learns_own_code_keeps_its_own_classes():
    import sklearn.linear_model._ridge

    assert vars(sklearn.linear_model._ridge)["Ridge"] is THEIRS
    assert sklearn.linear_model._ridge.Ridge is not THEIRS


def test_the_names_lead_to_the_shared_classes():
    # another test may have imported what scikit-learn calls experimental
    dropin.shared_classes.cache_clear()
    shared = dropin.shared_classes()
    both = {name for name in our_names() if their_class(name) is not None}
    assert {name: (our_class(name), their_class(name)) for name in both} == shared


IMPORTED = """
import sys, lyceum
lyceum.patch_sklearn()
from sklearn.linear_model import Ridge
assert Ridge.__mro__[1].__module__ == "lyceum.linear.penalized.ridge", Ridge
from sklearn.impute import SimpleImputer  # ours inherits from scikit-learn's
assert "lyceum" in SimpleImputer.__mro__[1].__module__, SimpleImputer
import sklearn.model_selection
late = ("lyceum.trees.tree", "lyceum.cluster.kmeans", "lyceum._core.data.files.csv")
for name in ("sklearn.ensemble", "sklearn.cluster", "pandas", "scipy.stats", *late):
    assert name not in sys.modules, name
from lyceum.distances import metric
assert metric("gower") is not metric("jaccard")  # each is known before its module is asked for
"""


def test_the_switch_imports_nothing_that_is_not_asked_for():
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


# as modules of scikit-learn begin
DEFERRING = """
import pandas as pd
import scipy.stats
from scipy import sparse, stats
from scipy.stats import chi2, rankdata
def frame():
    import pandas
    return pandas.DataFrame
"""


def test_what_scikit_learn_hardly_uses_is_there_when_it_is_used(monkeypatch):
    import pandas
    import scipy.sparse
    import scipy.stats

    monkeypatch.setattr(deferred, "_can_wait", lambda name: True)
    module = types.ModuleType("sklearn.isotonic")
    deferred.load(module, lambda module: exec(DEFERRING, vars(module)))
    for name in ("pd", "stats", "chi2"):
        assert isinstance(vars(module)[name], deferred.Deferred), name
    assert module.scipy is scipy
    assert module.sparse is scipy.sparse
    assert module.pd.DataFrame is module.frame() is pandas.DataFrame
    assert module.stats.mode is scipy.stats.mode
    for values in ([2.0, 1.0, 2.0, 0.5], [1.0, np.nan], [[2.0, 1.0]], [3, 1, 1]):
        for options in ({}, {"method": "min"}, {"method": "max", "axis": -1}):
            ranks = module.rankdata(np.array(values), **options)
            right = scipy.stats.rankdata(values, **options)
            np.testing.assert_array_equal(ranks, right)
            assert ranks.dtype == right.dtype
    assert module.chi2.ppf(0.5, 1) == scipy.stats.chi2.ppf(0.5, 1)


def test_other_modules_of_scikit_learn_import_as_ever(monkeypatch):
    import pandas

    monkeypatch.setattr(deferred, "_can_wait", lambda name: True)
    module = types.ModuleType("sklearn.svm")
    deferred.load(module, lambda module: exec("import pandas", vars(module)))
    assert module.pandas is pandas


PROGRAM = """
import sys
from sklearn.linear_model import Ridge
print(Ridge.__mro__[1].__module__, *sys.argv[1:])
"""


def test_a_program_is_run_with_its_arguments(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "lyceum.dropin", "--report", "program.py", "a"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "lyceum.linear.penalized.ridge a\n", done.stderr
    assert "Learners since the switch" in done.stderr


@pytest.mark.parametrize("first", ["lyceum", "sklearn"])
def test_the_environment_switches_whatever_imports_lyceum(first, monkeypatch):
    monkeypatch.setenv("LYCEUM_DROPIN", "1")
    command = [sys.executable, "-c", f"import {first}, lyceum\n{PROGRAM}"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "lyceum.linear.penalized.ridge\n", done.stderr


def test_the_environment_imports_nothing_by_itself(monkeypatch):
    monkeypatch.setenv("LYCEUM_DROPIN", "1")
    code = "import lyceum, sys; assert 'sklearn' not in sys.modules, 'imported'"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_notebook_loads_and_unloads_the_switch(capsys):
    shell = types.SimpleNamespace(user_ns={"Earlier": THEIRS, "x": 1, "np": np})
    dropin.load_ipython_extension(shell)
    assert "still scikit-learn's: Earlier." in capsys.readouterr().out
    assert sklearn.linear_model.Ridge is not THEIRS
    shell.user_ns["Earlier"] = sklearn.linear_model.Ridge
    dropin.load_ipython_extension(shell)
    assert capsys.readouterr().out == ""
    dropin.unload_ipython_extension(shell)
    assert sklearn.linear_model.Ridge is THEIRS


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--help"], 0, "Run a program with"),
        ([], 1, "Run a program with"),
        (["--reprot", "x.py"], 1, "Run a program with"),
        (["nowhere.py"], 1, "nowhere.py: there is no such file"),
    ],
)
def test_the_command_says_what_it_cannot_run(arguments, code, text, capsys):
    ends = 0
    try:
        main(arguments)
    except SystemExit as end:
        ends = 1
        print(end)
    assert ends == code
    assert text in capsys.readouterr().out


def test_pytest_takes_it_as_a_plugin(tmp_path):
    test = (
        "from sklearn.linear_model import Ridge\n"
        "def test(): assert 'lyceum' in str(Ridge.__mro__)"
    )
    (tmp_path / "test_it.py").write_text(test, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "lyceum.dropin", "."]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "Learners since the switch" in done.stdout
