"""Positions in the small arrays of problem and state."""

from __future__ import annotations

# sizes of a problem
NODES, DOMAINS, COLUMNS, RESOURCES, KINDS, ITEMS, LEVELS, FLAGS = range(8)

# bits of sizes[FLAGS]: what there is to keep up to date
(
    TRAFFIC,  # the goal traffic
    LINKS,  # loads of links
    MATRIX,  # distances by a matrix of nodes
    POOLS,
    CAPS,  # watts allowed in a domain
    P99,
    TRANSIENT,
    BALANCED,
    COSTS,
    MACHINES,  # cost of moving from machine to machine
    RULES,  # groups with tallies
    MOVING,  # members run somewhere now
    WATTS,  # the goal power
    OPENING,  # the goal nodes
    UNITS,
    PAIRS,
    ENTRIES,
) = (1 << bit for bit in range(17))

# goals of level_of
(
    GOAL_PLACED,
    GOAL_TRAFFIC,
    GOAL_COST,
    GOAL_CONGESTION,
    GOAL_BALANCE,
    GOAL_MOVES,
    GOAL_NODES,
    GOAL_POWER,
    GOAL_P99,
    GOAL_RATES,
) = range(10)
NUM_GOALS = 10

# totals of a state
UNSPREAD, UNMET, SPLIT, MOVED, BYTES, MOST_MOVED, LEFT = range(7)
NUM_TOTALS = 8

FAIR, KNEE, TABLE = range(3)
