from lyceum.reinforcement.grid_world import GridWorld as GridWorld
from lyceum.reinforcement.markov_decisions import (
    DecisionProcess as DecisionProcess,
    Policy as Policy,
    policy_iteration as policy_iteration,
    value_iteration as value_iteration,
)
from lyceum.reinforcement.q_learning import QLearning as QLearning, Sarsa as Sarsa
from lyceum.reinforcement.schedules import schedule as schedule
