"""Choose the penalties of ridge and lasso for polynomial columns of the diabetes table."""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import ElasticNet, LassoCV, LinearRegression, RidgeCV
from sklearn.metrics import mean_squared_error, r2_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
models = {
    "least squares": LinearRegression(),
    "ridge": RidgeCV(alphas=np.logspace(-3, 3, 13)),
    "lasso": LassoCV(cv=5, max_iter=20_000, tol=1e-6),
    "elastic net": ElasticNet(alpha=0.5, l1_ratio=0.7, max_iter=20_000, tol=1e-6),
}
for name, model in models.items():
    steps = make_pipeline(PolynomialFeatures(2), StandardScaler(), model)
    steps.fit(X_train, y_train)
    predicted = steps.predict(X_test)
    print(f"{name} r2: {r2_score(y_test, predicted):.6f}")
    print(f"{name} mse: {mean_squared_error(y_test, predicted):.3f}")
print(f"ridge alpha: {models['ridge'].alpha_:.6f}")
print(f"lasso alpha: {models['lasso'].alpha_:.6f}")
print(f"lasso columns: {np.count_nonzero(models['lasso'].coef_)}")
