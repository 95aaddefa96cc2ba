"""One thread and two give the same bits, on enough rows for several working sets."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from lyceum.kernels import SVC, SVR


@pytest.mark.parametrize("learner", [SVC(), SVC(kernel="poly", coef0=1.0), SVR(C=0.1)], ids=repr)
def test_threads_do_not_change_a_bit(learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5))
    y = X[:, 0] + np.sin(X[:, 1]) + 0.5 * rng.normal(size=3000)
    y = y if isinstance(learner, SVR) else y > 0
    found = []
    for count in (1, 2):
        with threadpool_limits(count):
            model = learner.fit(X, y)
            found.append([model.alpha_, model.slack_, model.intercept_, model.predict(X)])
    for one, two in zip(*found):
        np.testing.assert_array_equal(one, two)
