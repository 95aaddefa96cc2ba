"""What mixtures of Gaussians and of Student-t share as problems of expectation-maximization: their
sums."""

from __future__ import annotations

from typing import Any

from lyceum._core.data import Block
from lyceum._core.solvers import EMProblem, Expectation
from lyceum.mixtures.covariance_forms import CovarianceForm
from lyceum.mixtures.start import StartLabels
from lyceum.mixtures.sums import MixtureSums, expected_sums


class MixtureProblem(EMProblem):
    """A mixture whose E-step needs the values of its components and the form of their
    covariances."""

    form: CovarianceForm

    def start_sums(self, block: Block, labels: StartLabels) -> MixtureSums:
        R = labels.responsibilities(block)
        return MixtureSums.of_labels(
            labels.fill(block, R), R, self.form.diagonal, self.form.pooled
        )

    def expectation(self, block: Block, parameters: Any) -> Expectation:
        total, sums = expected_sums(block, parameters.values, self.form.pooled)
        return Expectation(sums, total, block.weight)
