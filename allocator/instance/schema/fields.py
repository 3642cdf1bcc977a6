"""Types of single values: names, whole numbers, truth values, quantities. Owns their messages and JSON schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, GetJsonSchemaHandler, PlainValidator, WithJsonSchema
from pydantic_core import CoreSchema, PydanticCustomError

from allocator.quantities import Dimension, QuantityError, parse_decimal, parse_quantity, parse_whole
from allocator.quantities.decimals import split_number

_REMEMBERED = 65536
_SHORT = 18  # digits of a number that needs no closer look

__all__ = [
    "Amount",
    "AtLeastOne",
    "Bandwidth",
    "Bytes",
    "Cores",
    "Flag",
    "Name",
    "Number",
    "NumberRow",
    "OneOrMany",
    "Positive",
    "Rate",
    "Strict",
    "Time",
    "Watts",
    "Whole",
]


class Strict(BaseModel):
    """Base of all maps of the document: unknown keys are refused, nothing changes later."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        raise PydanticCustomError("allocator", "must not be null; state a value or leave the key out")
    raise PydanticCustomError("allocator", "must be a single value, not a map or a list")


def _name(value: object) -> str:
    text = _text(value)
    if not text:
        raise PydanticCustomError("allocator", "must not be empty")
    return text


def _reader(parse: Callable[[str], Any], *, positive: bool = False) -> Callable[[object], Any]:
    """Validator that parses text and refuses what is negative (or not positive)."""
    known: dict[object, Any] = {}  # texts repeat: most numbers of a large instance are alike

    def read(value: object) -> Any:
        if value.__class__ is str and value in known:
            return known[value]
        found = check(value)
        if len(known) < _REMEMBERED:
            known[value] = found
        return found

    def check(value: object) -> Any:
        try:
            found = parse(_text(value))
        except QuantityError as error:
            raise PydanticCustomError("allocator", "{reason}", {"reason": str(error)}) from None
        if found < 0:
            raise PydanticCustomError("allocator", "must be more than 0" if positive else "must be at least 0")
        if positive and not found:
            raise PydanticCustomError("allocator", "must be more than 0")
        return found

    return read


@lru_cache(maxsize=65536)
def _check_amount(text: str) -> str:
    value, _ = split_number(text)
    if value < 0:
        raise QuantityError("must be at least 0")
    return text


def _amount(value: object) -> str:
    if isinstance(value, str) and len(value) <= _SHORT and value.isascii() and value.isdigit():
        return value
    try:
        return _check_amount(_text(value))
    except QuantityError as error:
        raise PydanticCustomError("allocator", "{reason}", {"reason": str(error)}) from None


def _flag(value: object) -> bool:
    text = _text(value)
    if text in ("true", "True", "TRUE"):
        return True
    if text in ("false", "False", "FALSE"):
        return False
    raise PydanticCustomError("allocator", "must be true or false")


def _json(examples: list[Any], description: str = "") -> WithJsonSchema:
    schema: dict[str, Any] = {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "minLength": 1}]}
    if description:
        schema["description"] = description
    return WithJsonSchema({**schema, "examples": examples})


def _of(dimension: Dimension) -> Callable[[str], Fraction]:
    def parse(text: str) -> Fraction:
        return parse_quantity(text, dimension)

    return parse


def _row(read: Callable[[object], Fraction]) -> Callable[[object], tuple[Fraction, ...]]:
    """Validator of a row of numbers. Equal texts give the same numbers, equal rows the same row."""
    known: dict[str, tuple[Fraction, ...]] = {}

    def check(value: object) -> tuple[Fraction, ...]:
        if not isinstance(value, list):
            text = _text(value)
            if text not in known:
                if len(known) >= _REMEMBERED // 8:
                    known.clear()
                known[text] = tuple([read(part) for part in text.split()])
            return known[text]
        return tuple([read(part) for part in value])

    return check


_WHOLE = {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]+$"}]}
_NAME = {"anyOf": [{"type": "string", "minLength": 1}, {"type": ["number", "boolean"]}]}

Name = Annotated[str, PlainValidator(_name), WithJsonSchema(_NAME)]
Flag = Annotated[bool, PlainValidator(_flag), WithJsonSchema({"type": "boolean"})]
Whole = Annotated[int, PlainValidator(_reader(parse_whole)), WithJsonSchema(_WHOLE)]
AtLeastOne = Annotated[int, PlainValidator(_reader(parse_whole, positive=True)), WithJsonSchema(_WHOLE)]
Number = Annotated[Fraction, PlainValidator(_reader(parse_decimal)), _json([1, 0.5])]
NumberRow = Annotated[
    tuple[Fraction, ...],
    PlainValidator(_row(_reader(parse_decimal))),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": ["number", "string"]}}]}),
]
Positive = Annotated[Fraction, PlainValidator(_reader(parse_decimal, positive=True)), _json([4])]
Time = Annotated[Fraction, PlainValidator(_reader(_of(Dimension.SECOND))), _json(["200 ms", "5 us"], "seconds")]
Rate = Annotated[Fraction, PlainValidator(_reader(_of(Dimension.FREQUENCY))), _json(["0.8/s", "48/min"], "per second")]
Bandwidth = Annotated[
    Fraction, PlainValidator(_reader(_of(Dimension.BITRATE))), _json(["400 Gbit/s", "50 GB/s"], "bit/s")
]
Bytes = Annotated[Fraction, PlainValidator(_reader(_of(Dimension.BYTE))), _json(["1 MB", "10 MiB"], "bytes")]
Watts = Annotated[Fraction, PlainValidator(_reader(_of(Dimension.WATT))), _json(["500 W", "120 kW"], "watts")]
Cores = Annotated[Fraction, PlainValidator(_reader(_of(Dimension.CORE), positive=True)), _json([1, "500m"])]
Amount = Annotated[
    str, PlainValidator(_amount), _json(["500m", "1Gi", "768 GiB", 2], "amount of the resource, in its unit")
]


Item = TypeVar("Item")


class _OneOrManySchema:
    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler(core)
        return {"anyOf": [schema["items"], schema]} if "items" in schema else schema


def _listed(value: object) -> object:
    return [value] if isinstance(value, Mapping) else value


# One map, or a list of them
OneOrMany = Annotated[list[Item], _OneOrManySchema(), BeforeValidator(_listed)]
