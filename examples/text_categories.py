"""Text categorisation: which part of SciPy is a page of its documentation about?

The texts come with SciPy: the docstrings of five of its packages, some 900 pages of prose. Words
become sparse TF-IDF columns; a linear support vector machine, naive Bayes and nearest neighbors by
the angle are compared on pages that they have not seen.

    python examples/text_categories.py
"""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

from lyceum.bayes import MultinomialNB
from lyceum.evaluate import mcnemar
from lyceum.kernels import LinearSVC
from lyceum.neighbors import KNeighborsClassifier

TOPICS = ("linalg", "optimize", "signal", "special", "stats")


def pages(topics: tuple[str, ...] = TOPICS) -> tuple[list[str], np.ndarray]:
    """The prose of all docstrings, without their own names and those of packages, and the
    topics."""
    found: dict[str, str] = {}
    for topic in topics:
        room = importlib.import_module(f"scipy.{topic}")
        for name in room.__all__:
            text = inspect.getdoc(getattr(room, name)) or ""
            prose = text.partition("Examples\n")[0]
            if len(prose) > 300 and callable(getattr(room, name)):
                found.setdefault(
                    re.sub(rf"scipy|{'|'.join(topics)}|{re.escape(name)}", " ", prose),
                    topic,
                )
    return list(found), np.array(list(found.values()))


def contenders() -> dict[str, Any]:
    """The learners to compare."""
    return {
        "linear SVM": LinearSVC(),
        "naive Bayes": MultinomialNB(alpha=0.1),
        "5 nearest by angle": KNeighborsClassifier(
            5, metric="cosine", weights="distance"
        ),
    }


def compare(random_state: int = 0) -> tuple[dict[str, float], float, dict[str, str]]:
    """The accuracy of every learner, the p-value of the first against the second, and telling
    words."""
    texts, topics = pages()
    some, others, y, y_test = train_test_split(
        texts, topics, test_size=0.3, stratify=topics, random_state=random_state
    )
    words = TfidfVectorizer(
        sublinear_tf=True, min_df=3, token_pattern=r"[a-z]{3,}", stop_words="english"
    )
    X, X_test = words.fit_transform(some), words.transform(others)
    models = {name: model.fit(X, y) for name, model in contenders().items()}
    predicted = {name: model.predict(X_test) for name, model in models.items()}
    test = mcnemar(y_test, predicted["linear SVM"], predicted["naive Bayes"])
    names, svm = words.get_feature_names_out(), models["linear SVM"]
    telling = {
        str(topic): ", ".join(names[np.argsort(-weights)[:4]])
        for topic, weights in zip(svm.classes_, svm.coef_)
    }
    return (
        {name: float((labels == y_test).mean()) for name, labels in predicted.items()},
        test.p_value,
        telling,
    )


if __name__ == "__main__":
    accuracies, p_value, telling_words = compare()
    for name, accuracy in accuracies.items():
        print(f"{name:<20} {accuracy:.3f}")
    print(f"linear SVM against naive Bayes: McNemar p = {p_value:.3f}")
    for topic, best in telling_words.items():
        print(f"{topic:<10} {best}")
