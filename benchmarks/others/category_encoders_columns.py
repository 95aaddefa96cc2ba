"""Categories of the Titanic's kind of table as numbers, by category_encoders before a learner."""

import category_encoders as ce
import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

rng = np.random.default_rng(0)
n = 400
table = pd.DataFrame(
    {
        "city": rng.choice(["Ulm", "Rom", "Oslo", "Lima", "Riga"], n),
        "size": rng.choice(["S", "M", "L"], n),
        "age": rng.normal(40.0, 12.0, n),
    }
)
effects = {"Ulm": 0.0, "Rom": 1.0, "Oslo": -1.0, "Lima": 2.0, "Riga": 0.5}
price = table["city"].map(effects) + 0.02 * table["age"] + rng.normal(0.0, 0.5, n)
sold = (price > price.median()).astype(int)

encoders = {
    "target": ce.TargetEncoder(),
    "leave one out": ce.LeaveOneOutEncoder(),
    "james stein": ce.JamesSteinEncoder(),
    "m estimate": ce.MEstimateEncoder(),
    "weights of evidence": ce.WOEEncoder(),
    "cat boost": ce.CatBoostEncoder(),
    "ordinal": ce.OrdinalEncoder(),
    "one hot": ce.OneHotEncoder(use_cat_names=True),
    "binary": ce.BinaryEncoder(),
    "base 3": ce.BaseNEncoder(base=3),
    "hashing": ce.HashingEncoder(n_components=4, max_process=1),
    "count": ce.CountEncoder(),
    "helmert": ce.HelmertEncoder(),
    "sum": ce.SumEncoder(),
    "polynomial": ce.PolynomialEncoder(),
    "backward": ce.BackwardDifferenceEncoder(),
}
for name, encoder in encoders.items():
    model = make_pipeline(
        encoder, StandardScaler(), LogisticRegression(tol=1e-8, max_iter=1000)
    )
    losses = cross_val_score(model, table, sold, cv=5, scoring="neg_log_loss")
    print(f"{name}: {-losses.mean():.5f}")

for name in ("target", "one hot"):
    for learner in (Ridge(), GaussianNB(), SVC(C=2.0)):
        y = price if isinstance(learner, Ridge) else sold
        model = make_pipeline(encoders[name], StandardScaler(), learner)
        score = cross_val_score(model, table, y, cv=5).mean()
        print(f"{name}, {type(learner).__name__}: {score:.5f}")

steps = Pipeline(
    [
        (
            "columns",
            ColumnTransformer(
                [
                    ("text", ce.TargetEncoder(smoothing=5.0), ["city", "size"]),
                    ("number", StandardScaler(), ["age"]),
                ]
            ),
        ),
        ("model", Ridge()),
    ]
)
grid = {
    "columns__text__smoothing": [1.0, 5.0, 20.0],
    "model__alpha": [0.1, 1.0, 10.0],
}
search = GridSearchCV(steps, grid, cv=5).fit(table, price)
print(f"search: {search.best_score_:.6f}")
print(f"smoothing: {search.best_params_['columns__text__smoothing']}")
print(f"alpha: {search.best_params_['model__alpha']}")
nested = ce.wrapper.NestedCVWrapper(ce.TargetEncoder(), cv=5, random_state=0)
coded = nested.fit_transform(table[["city", "size"]], price)
print(f"nested target means: {coded.to_numpy().std():.6f}")
