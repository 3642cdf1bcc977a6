"""The method ``adjust``: an even split, then load moves off the fullest resource until that gains nothing.

The baseline that operators use (differential adjustment): it looks at utilisations of domains and uplinks alone, never
at goals. Owns the choice of bottleneck, member and target.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.plan.result import Status, Termination, TerminationReason
from allocator.solvers.base import Answer, Assignment
from allocator.solvers.budget import Budget
from allocator.solvers.heuristic.adjust_links import LinkLoads
from allocator.solvers.heuristic.adjust_rules import MoveRules
from allocator.solvers.heuristic.least_floors import with_least_floors
from allocator.solvers.heuristic.outcome import better, heuristic_answer, with_shares
from allocator.solvers.heuristic.room import ENDLESS
from allocator.solvers.heuristic.uniform import SUPPORT, Dealt, deal
from allocator.solvers.recorder import Recorder

__all__ = ["AdjustMethod"]

Float = npt.NDArray[np.float64]
LEAST_GAIN = 1e-9
MAX_ROUNDS = 3
TRIED = 2  # classes of members tried for one bottleneck
SAMPLED = 24  # members looked at for one uplink


class AdjustMethod:
    """An even split, adjusted. Has no bound; keeps the split where the adjusted plan is worse on the levels."""

    name = "adjust"
    support = SUPPORT

    def refuse(self, compiled: Compiled) -> None:
        """Any size is welcome."""

    def solve(
        self,
        compiled: Compiled,
        *,
        budget: Budget,
        recorder: Recorder,
        start: Assignment | None,
        seed: int,
        threads: int,  # noqa: ARG002 - one thread
        gap: float,  # noqa: ARG002 - no bound, hence no gap
    ) -> Answer:
        """Split evenly, adjust, and keep the best of both and of the start. An iteration is one move."""
        recorder.phase("splitting evenly")
        raised = with_least_floors(compiled)
        dealt = deal(raised, budget)
        plans = [] if start is None else [start]
        moves = 0
        if dealt is not None:
            even = with_shares(compiled, dealt.room.counts)
            recorder.phase("moving load off the fullest resource")
            adjustment = _Adjustment(raised, dealt, np.random.default_rng(seed))
            moves = adjustment.run(budget)
            adjusted = with_shares(compiled, dealt.room.counts)
            plans += [plan for plan in (even, adjusted) if plan is not None]
        if not plans:
            reason = TerminationReason.TIME_LIMIT if budget.exhausted else TerminationReason.CONVERGED
            none: tuple[Fraction | None, ...] = (None,) * len(compiled.model.levels)
            return Answer(Status.UNKNOWN, Termination(reason, "an even split does not fit"), None, none, none)
        best = plans[0]
        for plan in plans[1:]:
            if better(compiled, plan, best):
                best = plan
        reason = TerminationReason.CONVERGED
        if budget.exhausted:
            reason = TerminationReason.INTERRUPTED if budget.interrupted else TerminationReason.TIME_LIMIT
        elif budget.limits.iterations is not None and moves >= budget.limits.iterations:
            reason = TerminationReason.ITERATION_LIMIT
        return heuristic_answer(compiled, best, recorder, reason, f"{moves} moves after an even split")


class _Adjustment:
    """State of the moves: room, link loads, rules, and who stands on each node."""

    def __init__(self, compiled: Compiled, dealt: Dealt, rng: np.random.Generator) -> None:
        self.compiled = compiled
        self.room = dealt.room
        self.left = dealt.left
        self.rng = rng
        self.links = LinkLoads(compiled)
        self.rules = MoveRules(compiled, self.room.counts)
        self.fixed = {block for unit in compiled.gangs for block in unit.blocks}
        self.standing: list[dict[tuple[int, int], int]] = [{} for _ in range(compiled.num_nodes)]
        with_links = self.links.matter
        for (block, option, node), count in self.room.counts.items():
            self.standing[node][block, option] = count
            if with_links and self.links.talks(block):
                for _ in range(count):
                    self.links.shift(block, node, 1)
        limit = compiled.limit.astype(float)
        usable = (compiled.limit > 0) & (compiled.limit < ENDLESS)
        usable[:, [r for r, name in enumerate(compiled.resources) if name == "power"]] = False
        self.limit: Float = np.where(usable, limit, np.inf)
        self.limit_padded: Float = np.vstack([self.limit, np.full((1, self.limit.shape[1]), np.inf)])
        self.with_links = with_links

    def run(self, budget: Budget) -> int:
        """Insert who was left out, then move until nothing gains. Returns the number of moves."""
        most = budget.limits.iterations
        moves = 0
        self._insert(budget)
        for _ in range(MAX_ROUNDS):
            stuck = np.zeros(self._utilisation().shape, dtype=np.bool_)
            moved = 0
            while not budget.exhausted and (most is None or moves < most):
                use = np.where(stuck, 0.0, self._utilisation())
                top = int(use.argmax())
                if use[top] <= 0:
                    break
                if self._relieve(top, float(use[top])):
                    moved += 1
                    moves += 1
                else:
                    stuck[top] = True
            self._insert(budget)
            if not moved or budget.exhausted or (most is not None and moves >= most):
                break
        return moves

    def _utilisation(self) -> Float:
        """float64[D * R + D]: of every domain and resource, then of every uplink."""
        room = self.room.free[:-1]
        use = np.where(np.isfinite(self.limit), 1.0 - room / self.limit, 0.0).ravel()
        return np.concatenate([use, self.links.utilisation() if self.with_links else np.zeros(len(room))])

    def _relieve(self, top: int, utilisation: float) -> bool:
        resources = self.limit.shape[1]
        if top < self.limit.size:
            return self._relieve_domain(top // resources, top % resources, utilisation)
        return self._relieve_link(top - self.limit.size, utilisation)

    def _relieve_domain(self, domain: int, r: int, utilisation: float) -> bool:
        """Move one member off the node of the domain that uses most of the resource."""
        compiled = self.compiled
        low, high = int(compiled.first_node[domain]), int(compiled.end_node[domain])
        node = low + int(self._use_of_nodes(r)[low:high].argmax())
        seen: dict[tuple[int, int], list[int]] = {}
        for block, option in self.standing[node]:
            if block not in self.fixed:
                seen.setdefault((compiled.blocks[block].workload, option), []).append(block)
        kind = compiled.node_kind[node]
        order = sorted(seen, key=lambda key: (-int(compiled.floor[key[1], kind, r]), key))
        for workload, option in order[:TRIED]:
            if compiled.floor[option, kind, r] <= 0:
                break
            blocks = seen[workload, option]
            block = blocks[int(self.rng.integers(len(blocks)))]
            if self._move(block, option, node, utilisation, (low, high)):
                return True
        return False

    def _use_of_nodes(self, r: int) -> Float:
        """float64[N]: what members on each node hold of a resource (from limits where nodes state one)."""
        domains = self.compiled.node_domain
        limits = self.limit[domains, r]
        if np.isfinite(limits).all():
            found: Float = limits - self.room.free[domains, r]
            return found
        use = np.zeros(self.compiled.num_nodes)
        for node, standing in enumerate(self.standing):
            kind = self.compiled.node_kind[node]
            use[node] = sum(int(self.compiled.floor[option, kind, r]) * n for (_, option), n in standing.items())
        return use

    def _relieve_link(self, domain: int, utilisation: float) -> bool:
        """Move one member so that less crosses the uplink: out to its partners, or a partner in."""
        compiled = self.compiled
        low, high = int(compiled.first_node[domain]), int(compiled.end_node[domain])
        inside = [(b, o, n) for n in range(low, high) for b, o in self.standing[n] if self.links.talks(b)]
        if len(inside) > SAMPLED:
            inside = [inside[i] for i in self.rng.choice(len(inside), SAMPLED, replace=False)]
        gains: list[tuple[float, tuple[int, int, int]]] = []
        for block, option, node in inside:
            if block in self.fixed:
                continue
            known = self.links.partners(block)
            itself = self._itself(block)
            own = max(0.0, float(known.send[domain] + known.receive[domain]) - itself)
            gain = float(known.send[0] + known.receive[0]) - itself - 2 * own
            if gain > 0:
                gains.append((-gain, (block, option, node)))
        for _, (block, option, node) in sorted(gains)[:TRIED]:
            if self._move(block, option, node, utilisation, (low, high)):
                return True
        return False

    def _itself(self, block: int) -> float:
        """What a placed member counts as traffic with itself: its team counts it among its partners."""
        team = self.compiled.blocks[block].team
        return 0.0 if team < 0 else 2 * float(self.compiled.teams[team].rate)

    def _move(self, block: int, option: int, node: int, utilisation: float, outside: tuple[int, int]) -> bool:
        """Move a member to where the highest utilisation it touches is least, if that is below the bottleneck's."""
        compiled = self.compiled
        self.room.put(block, option, node, -1)
        partners = None
        if self.with_links and self.links.talks(block):
            self.links.shift(block, node, -1)
            partners = self.links.partners(block)
        best: tuple[float, int, int] | None = None
        for other in compiled.options_of(compiled.blocks[block].workload):
            allowed = self.room.mask(block, other)
            allowed[outside[0] : outside[1]] = False
            allowed[node] = False
            if not allowed.any():
                continue
            score = self._after(other)
            if partners is not None:
                score = np.maximum(score, self.links.utilisation_with(partners, self.room.paths))
            score[~allowed] = np.inf
            target = int(score.argmin())
            if best is None or score[target] < best[0]:
                best = float(score[target]), other, target
        gains = best is not None and best[0] < utilisation - LEAST_GAIN and self.rules.allow(block, node, best[2])
        chosen, target = (best[1], best[2]) if gains and best is not None else (option, node)
        self.room.put(block, chosen, target)
        if partners is not None:
            self.links.shift(block, target, 1, partners)
        if gains:
            self._note(block, option, node, -1)
            self._note(block, chosen, target, 1)
            self.rules.shift(block, node, -1)
            self.rules.shift(block, target, 1)
        return gains

    def _after(self, option: int) -> Float:
        """float64[N]: highest utilisation at or above each node with one more member of the option."""
        compiled = self.compiled
        need = compiled.floor[option][compiled.node_kind]  # [N, R]
        limit = self.limit_padded[self.room.paths]  # [N, depth, R]
        used = np.where(np.isfinite(limit), limit - self.room.free[self.room.paths] + need[:, None, :], 0.0)
        found: Float = (used / limit).max(axis=(1, 2))
        return found

    def _note(self, block: int, option: int, node: int, number: int) -> None:
        standing = self.standing[node]
        standing[block, option] = standing.get((block, option), 0) + number
        if not standing[block, option]:
            del standing[block, option]

    def _insert(self, budget: Budget) -> None:
        """Place units that were left out where they fill least; a team whole or not at all."""
        self.left = [unit for unit in self.left if budget.exhausted or not self._insert_unit(unit)]

    def _insert_unit(self, unit: list[tuple[int, int]]) -> bool:
        whole = self.compiled.blocks[unit[0][0]].team >= 0
        done: list[tuple[int, int, int]] = []
        for position, (block, number) in enumerate(unit):
            for placed in range(number):
                spot = self._emptiest(block)
                if spot is None:
                    if whole:
                        for key in done:
                            self._add(*key, -1)
                    else:
                        unit[position] = block, number - placed
                    return False
                self._add(block, *spot, 1)
                done.append((block, *spot))
        return True

    def _emptiest(self, block: int) -> tuple[int, int] | None:
        best: tuple[float, int, int] | None = None
        for option in self.compiled.options_of(self.compiled.blocks[block].workload):
            allowed = self.room.mask(block, option)
            if allowed.any():
                score = np.where(allowed, self._after(option), np.inf)
                node = int(score.argmin())
                if best is None or score[node] < best[0]:
                    best = float(score[node]), option, node
        return None if best is None else best[1:]

    def _add(self, block: int, option: int, node: int, number: int) -> None:
        self.room.put(block, option, node, number)
        self._note(block, option, node, number)
        self.rules.shift(block, node, number)
        if self.with_links and self.links.talks(block):
            self.links.shift(block, node, number)
