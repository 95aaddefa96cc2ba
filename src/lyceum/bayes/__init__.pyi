from lyceum.bayes.bayesian_gaussian import (
    BayesianGaussianClassifier as BayesianGaussianClassifier,
)
from lyceum.bayes.count_bayes import (
    BernoulliNB as BernoulliNB,
    MultinomialNB as MultinomialNB,
)
from lyceum.bayes.drifting_means import DriftingMeans as DriftingMeans
from lyceum.bayes.linear_discriminant import (
    LinearDiscriminantAnalysis as LinearDiscriminantAnalysis,
)
from lyceum.bayes.naive_bayes import NaiveBayes as NaiveBayes
from lyceum.bayes.normal_mean import NormalMean as NormalMean
from lyceum.bayes.quadratic_discriminant import (
    QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis,
)
from lyceum.bayes.regularized_discriminant import (
    RegularizedDiscriminant as RegularizedDiscriminant,
)
