"""Model files damaged at random load right or not at all."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lyceum
from lyceum.bayes import NaiveBayes
from lyceum.errors import ModelFileError

rng = np.random.default_rng(0)
TABLE = pd.DataFrame({"dose": rng.normal(size=80), "ward": rng.choice(["east", "north", "west"], 80)})
TABLE.loc[::7, "dose"] = np.nan
TABLE.loc[::9, "ward"] = None
CLASSES = np.where(TABLE.dose + rng.normal(size=80) > 0, "ill", "well")


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    model = NaiveBayes().fit(TABLE, CLASSES)
    return lyceum.save(model, folder / "model.skops"), model.predict_proba(TABLE)


def loads_right_or_not_at_all(data, sample):
    path, expected = sample
    damaged = path.with_name("damaged.skops")
    damaged.write_bytes(data)
    try:
        model = lyceum.load(damaged)
    except ModelFileError:
        return
    assert np.array_equal(model.predict_proba(TABLE), expected)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_flipped_bits_are_noticed_or_harmless(sample, data):
    content = bytearray(sample[0].read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    loads_right_or_not_at_all(bytes(content), sample)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_truncated_file_is_noticed(sample, data):
    content = sample[0].read_bytes()
    cut = content[: data.draw(st.integers(0, len(content) - 1))]
    sample[0].with_name("cut.skops").write_bytes(cut)
    with pytest.raises(ModelFileError):
        lyceum.load(sample[0].with_name("cut.skops"))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_stretches_of_noise_are_noticed_or_harmless(sample, data):
    content = bytearray(sample[0].read_bytes())
    start = data.draw(st.integers(0, len(content) - 1))
    noise = data.draw(st.binary(min_size=1, max_size=64))
    content[start : start + len(noise)] = noise
    loads_right_or_not_at_all(bytes(content), sample)
