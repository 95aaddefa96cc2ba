"""Workloads of networks of neurons."""

from __future__ import annotations

import numpy as np
from workloads import Workload, accuracy, learner, size, workload


def augmented_digits(n, seed=10):
    """Real 8 × 8 digits, shifted by up to one pixel, scaled and noised; and 500 others as they
    are."""
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(seed)
    images, labels = load_digits(return_X_y=True)
    order = rng.permutation(len(images))
    kept, held = order[500:], order[:500]
    rows = rng.choice(kept, n)
    padded = np.pad(images[rows].reshape(n, 8, 8) / 16.0, ((0, 0), (1, 1), (1, 1)))
    down, right = rng.integers(0, 3, (2, n))
    cells = np.arange(8)
    at = np.arange(n)[:, None, None]
    X = padded[at, down[at] + cells[:, None], right[at] + cells].reshape(n, 64)
    X = X * rng.uniform(0.8, 1.2, (n, 1)) + 0.05 * rng.standard_normal((n, 64))
    return (
        X.astype(np.float32),
        labels[rows],
        (images[held] / 16.0).astype(np.float32),
        labels[held],
    )


def torch_mlp(X, y, test, threads):
    def prepare():
        import torch

        def run():
            torch.set_num_threads(threads)
            torch.manual_seed(0)
            layers = [
                torch.nn.Linear(64, 128),
                torch.nn.ReLU(),
                torch.nn.Linear(128, 128),
                torch.nn.ReLU(),
            ]
            model = torch.nn.Sequential(*layers, torch.nn.Linear(128, 10))
            descent = torch.optim.Adam(model.parameters(), lr=1e-3)
            rows, labels = torch.from_numpy(X), torch.from_numpy(y)
            for _ in range(10):
                for batch in torch.randperm(len(rows)).split(128):
                    descent.zero_grad()
                    torch.nn.functional.cross_entropy(
                        model(rows[batch]), labels[batch]
                    ).backward()
                    descent.step()
            with torch.no_grad():
                return model(torch.from_numpy(test)).argmax(dim=1).numpy()

        return run

    return prepare


@workload
def mlp(scale):
    X, y, test, truth = augmented_digits(size(60_000, scale))

    def use(model):
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn's, that ten epochs are few
            return model.fit(X, y).predict(test)

    common = {
        "hidden_layer_sizes": (128, 128),
        "batch_size": 128,
        "max_iter": 10,
        "random_state": 0,
    }
    return Workload(
        "Neural",
        "MLP 64-128-128-10 relu, Adam lr 1e-3, 10 epochs, batch 128, n=60k float32 (augmented real"
        " digits)",
        {
            "lyceum": learner(
                "lyceum.neural.MLPClassifier", use, dtype="float32", tol=None, **common
            ),
            "sklearn MLPClassifier": learner(
                "sklearn.neural_network.MLPClassifier", use, **common
            ),
            "torch eager 2 threads": torch_mlp(X, y, test, 2),
            "torch eager 1 thread": torch_mlp(X, y, test, 1),
        },
        accuracy(truth),
        ("accuracy", +1, 1e-2),
    )
