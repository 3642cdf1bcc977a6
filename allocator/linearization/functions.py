"""Functions of one variable, evaluated by rational enclosures of value and slope. Knows no approximation of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Protocol, runtime_checkable

from allocator.errors import ArgumentError
from allocator.linearization.enclosures import Enclosure, exponential, logarithm

__all__ = ["Fair", "Function", "Knee", "Negated", "Reciprocal", "Shape", "Smooth"]

ZERO, ONE = Fraction(0), Fraction(1)


class Shape(StrEnum):
    """How a function bends; a function that is both counts as concave."""

    CONCAVE = "concave"
    CONVEX = "convex"
    NEITHER = "neither"


@runtime_checkable
class Function(Protocol):
    """What the approximations ask of a function. Arguments are exact; outside its domain it raises ArgumentError."""

    def __hash__(self) -> int: ...

    @property
    def shape(self) -> Shape:
        """How the function bends over its domain."""
        ...

    @property
    def label(self) -> str:
        """A few words for certificates, such as ``knee p=4``."""
        ...

    def value(self, x: Fraction) -> Enclosure:
        """Enclosure of f(x)."""
        ...

    def slope(self, x: Fraction) -> Enclosure:
        """Enclosure of f'(x); at a kink it holds the slopes of both sides."""
        ...

    def vertices(self, low: Fraction, high: Fraction) -> tuple[Fraction, ...] | None:
        """For a piecewise linear function its breakpoints within [low, high], both ends included; else None."""
        ...


@dataclass(frozen=True, slots=True)
class Fair:
    """min(rho, 1) for rho >= 0: what proportional sharing carries, as a share of capacity."""

    @property
    def shape(self) -> Shape:
        """Concave."""
        return Shape.CONCAVE

    @property
    def label(self) -> str:
        """The curve's name."""
        return "fair"

    def value(self, x: Fraction) -> Enclosure:
        """Exact."""
        _require_nonnegative(x)
        return Enclosure.exact(min(x, ONE))

    def slope(self, x: Fraction) -> Enclosure:
        """Exact; [0, 1] at 1."""
        _require_nonnegative(x)
        return Enclosure(ONE if x < 1 else ZERO, ONE if x <= 1 else ZERO)

    def vertices(self, low: Fraction, high: Fraction) -> tuple[Fraction, ...]:
        """The kink at 1, where it lies inside."""
        return (low, ONE, high) if low < 1 < high else (low, high)


@dataclass(frozen=True, slots=True)
class Knee:
    """rho / (1 + rho^p)^(1/p) for rho >= 0; concave for every p > 0 since the slope (1 + rho^p)^(-1-1/p) falls.

    Raises
    ------
    ArgumentError
        unless p > 0.
    """

    p: Fraction = Fraction(4)

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", Fraction(self.p))
        if self.p <= 0:
            raise ArgumentError(f"a knee needs p > 0, not {self.p}")

    @property
    def shape(self) -> Shape:
        """Concave."""
        return Shape.CONCAVE

    @property
    def label(self) -> str:
        """The curve's name with its parameter."""
        return f"knee p={self.p}"

    def value(self, x: Fraction) -> Enclosure:
        """Enclosure with about 26 correct digits; exact at 0."""
        _require_nonnegative(x)
        if x == 0:
            return Enclosure.exact(ZERO)
        # from 1 on as 1 / (1 + rho^-p)^(1/p): no large powers
        raised = _one_plus_power(x if x < 1 else 1 / x, self.p)
        root = exponential(logarithm(raised).affine(-1 / self.p, ZERO))
        return root.affine(x, ZERO) if x < 1 else root

    def slope(self, x: Fraction) -> Enclosure:
        """Enclosure of (1 + rho^p)^(-1-1/p); exact at 0."""
        _require_nonnegative(x)
        if x == 0:
            return Enclosure.exact(ONE)
        factor = -1 - 1 / self.p
        if x < 1:
            return exponential(logarithm(_one_plus_power(x, self.p)).affine(factor, ZERO))
        # ln(1 + rho^p) = p ln rho + ln(1 + rho^-p)
        grown = logarithm(Enclosure.exact(x)).affine(self.p, ZERO) + logarithm(_one_plus_power(1 / x, self.p))
        return exponential(grown.affine(factor, ZERO))

    def vertices(self, low: Fraction, high: Fraction) -> None:
        """Smooth."""
        del low, high


@dataclass(frozen=True, slots=True)
class Reciprocal:
    """scale / |x - pole| on one side of the pole: 1/x, or the delay 1/(C - L) of a link. Convex, exact.

    Raises
    ------
    ArgumentError
        unless scale > 0.
    """

    scale: Fraction = ONE
    pole: Fraction = ZERO
    right_of_pole: bool = True

    def __post_init__(self) -> None:
        if self.scale <= 0:
            raise ArgumentError(f"a reciprocal needs scale > 0, not {self.scale}")

    @property
    def shape(self) -> Shape:
        """Convex."""
        return Shape.CONVEX

    @property
    def label(self) -> str:
        """The formula."""
        return f"{self.scale}/(x - {self.pole})" if self.right_of_pole else f"{self.scale}/({self.pole} - x)"

    def value(self, x: Fraction) -> Enclosure:
        """Exact."""
        return Enclosure.exact(self.scale / self._distance(x))

    def slope(self, x: Fraction) -> Enclosure:
        """Exact."""
        steep = self.scale / self._distance(x) ** 2
        return Enclosure.exact(-steep if self.right_of_pole else steep)

    def vertices(self, low: Fraction, high: Fraction) -> None:
        """Smooth."""
        del low, high

    def _distance(self, x: Fraction) -> Fraction:
        distance = x - self.pole if self.right_of_pole else self.pole - x
        if distance <= 0:
            raise ArgumentError(f"{self.label} is not defined at {x}")
        return distance


@dataclass(frozen=True, slots=True)
class Smooth:
    """A function with a continuous slope, stated by its two evaluations.

    Parameters
    ----------
    evaluate, differentiate : enclosures of value and slope at a rational; that they hold and that the slope is
        continuous is the caller's promise, on which every proof about this function rests.
    bends : concave or convex; the promise that it is.
    name : for certificates.
    """

    evaluate: Callable[[Fraction], Enclosure]
    differentiate: Callable[[Fraction], Enclosure]
    bends: Shape
    name: str = "smooth"

    @property
    def shape(self) -> Shape:
        """As promised."""
        return self.bends

    @property
    def label(self) -> str:
        """As named."""
        return self.name

    def value(self, x: Fraction) -> Enclosure:
        """As promised."""
        return self.evaluate(x)

    def slope(self, x: Fraction) -> Enclosure:
        """As promised."""
        return self.differentiate(x)

    def vertices(self, low: Fraction, high: Fraction) -> None:
        """Smooth."""
        del low, high


@dataclass(frozen=True, slots=True)
class Negated:
    """-f, which turns convex into concave: everything is proven once, for concave functions."""

    function: Function

    @property
    def shape(self) -> Shape:
        """The opposite of the function's."""
        opposite = {Shape.CONCAVE: Shape.CONVEX, Shape.CONVEX: Shape.CONCAVE, Shape.NEITHER: Shape.NEITHER}
        return opposite[self.function.shape]

    @property
    def label(self) -> str:
        """Minus the function's."""
        return f"-({self.function.label})"

    def value(self, x: Fraction) -> Enclosure:
        """Minus the function's."""
        return -self.function.value(x)

    def slope(self, x: Fraction) -> Enclosure:
        """Minus the function's."""
        return -self.function.slope(x)

    def vertices(self, low: Fraction, high: Fraction) -> tuple[Fraction, ...] | None:
        """The function's."""
        return self.function.vertices(low, high)


def _one_plus_power(base: Fraction, power: Fraction) -> Enclosure:
    """1 + base^power for 0 < base <= 1."""
    raised = exponential(logarithm(Enclosure.exact(base)).affine(power, ZERO))
    return Enclosure(1 + max(raised.lower, ZERO), 1 + min(raised.upper, ONE))


def _require_nonnegative(x: Fraction) -> None:
    if x < 0:
        raise ArgumentError(f"a goodput curve starts at load 0, not {x}")
