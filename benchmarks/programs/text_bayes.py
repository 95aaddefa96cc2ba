"""Sort short messages into topics: counts of words, naive Bayes, and its most telling words."""

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics import accuracy_score, log_loss
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline

rng = np.random.default_rng(0)
words = {
    "space": [
        "orbit",
        "rocket",
        "moon",
        "launch",
        "shuttle",
        "star",
        "planet",
        "crew",
        "mission",
        "fuel",
    ],
    "sport": [
        "match",
        "goal",
        "team",
        "coach",
        "season",
        "league",
        "player",
        "score",
        "win",
        "cup",
    ],
    "cars": [
        "engine",
        "wheel",
        "brake",
        "road",
        "driver",
        "gear",
        "diesel",
        "tire",
        "clutch",
        "speed",
    ],
}
common = [
    "the",
    "a",
    "of",
    "in",
    "to",
    "and",
    "we",
    "they",
    "new",
    "today",
    "last",
    "time",
    "people",
    "good",
    "report",
]
texts, topics = [], []
for topic, own in words.items():
    for _ in range(800):
        other = rng.choice([word for name in words for word in words[name]], 3)
        drawn = [*rng.choice(common, 8), *rng.choice(own, 3), *other]
        texts.append(" ".join(drawn))
        topics.append(topic)
order = rng.permutation(len(texts))
texts = [texts[i] for i in order]
topics = np.array(topics)[order]
for name, steps in {
    "multinomial": make_pipeline(CountVectorizer(), MultinomialNB(alpha=0.5)),
    "bernoulli": make_pipeline(CountVectorizer(binary=True), BernoulliNB()),
    "complement": make_pipeline(TfidfVectorizer(), ComplementNB()),
    "tf-idf": make_pipeline(TfidfVectorizer(sublinear_tf=True), MultinomialNB()),
}.items():
    steps.fit(texts[:1800], topics[:1800])
    proba = steps.predict_proba(texts[1800:])
    print(
        f"{name} accuracy: {accuracy_score(topics[1800:], steps.predict(texts[1800:])):.6f}"
    )
    print(f"{name} log loss: {log_loss(topics[1800:], proba):.6f}")
counts = make_pipeline(CountVectorizer(), MultinomialNB(alpha=0.5)).fit(texts, topics)
names = counts[0].get_feature_names_out()
telling = names[
    np.argmax(counts[-1].feature_log_prob_[1] - counts[-1].feature_log_prob_[0])
]
print(f"a word of space: {telling}")
