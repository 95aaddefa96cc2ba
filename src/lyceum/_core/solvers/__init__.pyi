from lyceum._core.solvers.column_elastic_net import (
    ColumnElasticNet as ColumnElasticNet,
    DenseColumns as DenseColumns,
    SparseColumns as SparseColumns,
)
from lyceum._core.solvers.constrained import constrained_optima as constrained_optima
from lyceum._core.solvers.em import (
    EMOutcome as EMOutcome,
    EMProblem as EMProblem,
    Expectation as Expectation,
    ExpectationMaximization as ExpectationMaximization,
)
from lyceum._core.solvers.first_order import (
    ConjugateGradient as ConjugateGradient,
    GradientDescent as GradientDescent,
)
from lyceum._core.solvers.gram_elastic_net import (
    ElasticNetProblem as ElasticNetProblem,
    GramElasticNet as GramElasticNet,
    RoundObserver as RoundObserver,
    Solution as Solution,
    newton_on_support as newton_on_support,
)
from lyceum._core.solvers.kkt_system import ConstrainedProblem as ConstrainedProblem
from lyceum._core.solvers.lagrange import (
    ConstrainedOptima as ConstrainedOptima,
    StationaryPoint as StationaryPoint,
)
from lyceum._core.solvers.lbfgs import LBFGS as LBFGS
from lyceum._core.solvers.least_norm import (
    RankedSquares as RankedSquares,
    ranked_squares as ranked_squares,
)
from lyceum._core.solvers.newton import (
    LevenbergMarquardt as LevenbergMarquardt,
    Newton as Newton,
)
from lyceum._core.solvers.patience import Patience as Patience
from lyceum._core.solvers.problem import (
    Observer as Observer,
    Outcome as Outcome,
    Point as Point,
    Problem as Problem,
    Solver as Solver,
    descent_loop as descent_loop,
    gradient_test as gradient_test,
)
from lyceum._core.solvers.softmax_regression import (
    fit_softmax as fit_softmax,
    softmax as softmax,
)
