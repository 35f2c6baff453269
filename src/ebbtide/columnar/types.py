"""SQL types as Arrow holds them inside of the engine."""

from ebbtide.state.types import AnyType, arrow_type

__all__ = ["AnyType", "arrow_type"]
