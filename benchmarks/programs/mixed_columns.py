"""A table of mixed columns: impute, scale, code, classify, search, and explain by columns."""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import classification_report, roc_auc_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

rng = np.random.default_rng(0)
n_rows = 12_000
table = pd.DataFrame(
    {
        "age": rng.integers(18, 80, n_rows).astype(float),
        "fare": rng.lognormal(3.0, 1.0, n_rows),
        "family": rng.poisson(1.0, n_rows).astype(float),
        "class": rng.choice(["first", "second", "third"], n_rows, p=[0.2, 0.3, 0.5]),
        "port": rng.choice(["C", "Q", "S"], n_rows),
        "sex": rng.choice(["female", "male"], n_rows),
    }
)
score = (
    1.5 * (table["sex"] == "female")
    - 0.9 * (table["class"] == "third")
    + 0.3 * np.log(table["fare"])
    - 0.02 * table["age"]
    - 0.2 * table["family"]
)
survived = (rng.random(n_rows) < 1 / (1 + np.exp(-score))).astype(int)
for column, share in {"age": 0.2, "fare": 0.02, "port": 0.01}.items():
    table.loc[rng.random(n_rows) < share, column] = np.nan

numeric = Pipeline(
    [("impute", SimpleImputer(strategy="median")), ("scale", StandardScaler())]
)
categorical = Pipeline(
    [
        ("impute", SimpleImputer(strategy="most_frequent")),
        ("code", OneHotEncoder(handle_unknown="ignore")),
    ]
)
prepare = ColumnTransformer(
    [
        ("numbers", numeric, make_column_selector(dtype_include=np.number)),
        ("words", categorical, make_column_selector(dtype_exclude=np.number)),
    ]
)
model = Pipeline([("prepare", prepare), ("classify", LogisticRegression(tol=1e-8))])
X_train, X_test, y_train, y_test = train_test_split(table, survived, random_state=0)
model.fit(X_train, y_train)
print(f"accuracy: {model.score(X_test, y_test):.6f}")
area = roc_auc_score(y_test, model.predict_proba(X_test)[:, 1])
print(f"area: {area:.5f}")

search = GridSearchCV(
    model,
    {
        "prepare__numbers__impute__strategy": ["mean", "median"],
        "classify__C": [0.1, 1.0, 10.0],
    },
    cv=5,
)
search.fit(X_train, y_train)
print(f"searched: {search.best_score_:.6f}")
names = model[:-1].get_feature_names_out()
print(f"columns: {len(names)}")
weights = dict(zip(names, model[-1].coef_[0], strict=True))
strongest = max(weights, key=lambda name: abs(weights[name]))
print(f"weight of age: {weights['numbers__age']:.4f} +- 0.0005")
print(f"strongest is about: {strongest.split('_')[2]}")
report = classification_report(y_test, model.predict(X_test), output_dict=True)
print(f"f1 of survivors: {report['1']['f1-score']:.6f}")
unseen = X_test.iloc[:1].assign(port="X")
print(f"an unseen port: {model.predict_proba(unseen)[0, 1]:.4f} +- 0.0005")
