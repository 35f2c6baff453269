"""Prints nodes as SQL that the parser reads back into equal nodes."""

from sqlglot import exp
from sqlglot.generators.spark import SparkGenerator

from ebbtide.algebra.window import WINDOWS
from ebbtide.core.time import format_duration
from ebbtide.sql import nodes

__all__ = ["EbbtideGenerator"]


class EbbtideGenerator(SparkGenerator):
    """sqlglot's generator for Spark, with the nodes of ours."""

    EXPRESSIONS_WITHOUT_NESTED_CTES = set()
    TYPE_MAPPING = {**SparkGenerator.TYPE_MAPPING, exp.DType.INTERVAL: "INTERVAL DAY TO SECOND"}

    def duration_sql(self, node: nodes.Duration) -> str:
        """INTERVAL 15 MINUTES."""
        return f"INTERVAL {format_duration(node.us)}"

    def call_sql(self, node: nodes.Call) -> str:
        """F(DISTINCT a, b) WITHIN GROUP (ORDER BY c) FILTER (WHERE d) IGNORE NULLS."""
        distinct = "DISTINCT " if node.args.get("distinct") else ""
        text = f"{node.this}({distinct}{self.expressions(node, flat=True)})"
        if node.this == "EXTRACT":
            field, value = node.expressions
            text = f"EXTRACT({self.sql(field)} FROM {self.sql(value)})"
        if order := node.args.get("order"):
            keys = ", ".join(self.sql(key) for key in order)
            text += f" WITHIN GROUP (ORDER BY {keys})"
        if condition := node.args.get("filter"):
            text += f" FILTER (WHERE {self.sql(condition)})"
        if nulls := node.args.get("nulls"):
            text += f" {nulls} NULLS"
        return text

    def quantified_sql(self, node: nodes.Quantified) -> str:
        """a > ANY (query)."""
        return f"{self.sql(node, 'this')} {node.args['op']} ANY {self.sql(node, 'query')}"

    def floorto_sql(self, node: nodes.FloorTo) -> str:
        """FLOOR(t TO 15 MINUTES)."""
        return f"FLOOR({self.sql(node, 'this')} TO {self._length(node, 'grid')})"

    def ceilto_sql(self, node: nodes.CeilTo) -> str:
        """CEIL(t TO 15 MINUTES)."""
        return f"CEIL({self.sql(node, 'this')} TO {self._length(node, 'grid')})"

    def trycast_sql(self, expression: exp.TryCast) -> str:
        """TRY_CAST(a AS INT)."""
        return self.cast_sql(expression, safe_prefix="TRY_")

    def not_sql(self, expression: exp.Not) -> str:
        """a NOT IN (b), a IS NOT NULL; a NOT before it would reach further than it did."""
        inner = expression.this
        if isinstance(inner, exp.Is):
            return f"{self.sql(inner, 'this')} IS NOT {self.sql(inner, 'expression')}"
        text = self.sql(inner)
        if isinstance(inner, exp.Between | exp.In | exp.RegexpLike):
            operand = self.sql(inner, "this")
            return f"{operand} NOT{text.removeprefix(operand)}"
        return f"NOT {text}"

    # --- windows --------------------------------------------------------------------------------

    def windownode_sql(self, node: nodes.WindowNode) -> str:
        """[PARTITION BY seller ROWS 10 SLIDE 5 ON at]."""
        if node.this == "VALID":
            return f"[VALID{self._valid(node)}{self._on(node)}]"
        keys = ", ".join(self.sql(key) for key in node.args.get("partition_by") or ())
        text = f"PARTITION BY {keys} {node.this}" if keys else node.this
        words = (amount.word for amount in WINDOWS[node.this].syntax.amounts)
        for word, given in zip(words, node.args.get("amounts") or (), strict=False):
            shown = format_duration(given.us) if isinstance(given, nodes.Duration) else str(given)
            text += f" {word} {shown}" if word else f" {shown}"
        return f"[{text}{self._on(node)}]"

    def _valid(self, node: nodes.WindowNode) -> str:
        ends = (("FROM", node.args.get("valid_from")), ("TO", node.args.get("valid_to")))
        return "".join(f" {word} {self.sql(end)}" for word, end in ends if end is not None)

    # --- sources --------------------------------------------------------------------------------

    def windowed_sql(self, node: nodes.Windowed) -> str:
        """source [window] AS alias."""
        return self._aliased(node, f"{self.sql(node, 'this')} {self.sql(node, 'window')}")

    def asof_sql(self, node: nodes.AsOf) -> str:
        """source FOR SYSTEM_TIME AS OF o.at AS alias."""
        source, at = self.sql(node, "this"), self.sql(node, "at")
        return self._aliased(node, f"{source} FOR SYSTEM_TIME AS OF {at}")

    def joined_sql(self, node: nodes.Joined) -> str:
        """(source JOIN ...)."""
        joins = "".join(self.sql(join) for join in node.args.get("joins") or ())
        return f"({self.sql(node, 'this')}{joins})"

    def unnest_sql(self, node: exp.Expr) -> str:
        """UNNEST(array) WITH ORDINALITY AS t (item, place)."""
        place = " WITH ORDINALITY" if node.args.get("place") else ""
        return self._aliased(node, f"UNNEST({self.sql(node, 'this')}){place}")

    def tumble_sql(self, node: nodes.Tumble) -> str:
        """TUMBLE(source, at, 1 HOUR)."""
        return self._function("TUMBLE", node, "size", "offset")

    def hop_sql(self, node: nodes.Hop) -> str:
        """HOP(source, at, 1 MINUTE, 1 HOUR)."""
        return self._function("HOP", node, "slide", "size", "offset")

    def session_sql(self, node: nodes.Session) -> str:
        """SESSION(source PARTITION BY bidder, at, 10 SECONDS)."""
        return self._function("SESSION", node, "gap")

    def cumulate_sql(self, node: nodes.Cumulate) -> str:
        """CUMULATE(source, at, 1 HOUR, 1 DAY)."""
        return self._function("CUMULATE", node, "step", "size", "offset")

    def istream_sql(self, node: nodes.Istream) -> str:
        """ISTREAM(query)."""
        return self._stream(node, f"ISTREAM({self.sql(node, 'this')})")

    def dstream_sql(self, node: nodes.Dstream) -> str:
        """DSTREAM(query)."""
        return self._stream(node, f"DSTREAM({self.sql(node, 'this')})")

    def rstream_sql(self, node: nodes.Rstream) -> str:
        """RSTREAM(query EVERY 10 SECONDS)."""
        every = self._length(node, "every")
        return self._stream(node, f"RSTREAM({self.sql(node, 'this')} EVERY {every})")

    def set_operation(self, expression: exp.SetOperation) -> str:
        """The words of a set operation, UNION MAX among them."""
        if isinstance(expression, nodes.MaxUnion):
            return "UNION MAX"
        return super().set_operation(expression)

    def maxunion_sql(self, node: nodes.MaxUnion) -> str:
        """query UNION MAX query."""
        return self.set_operations(node)

    # --- parts ----------------------------------------------------------------------------------

    def _length(self, node: exp.Expr, key: str) -> str:
        return format_duration(node.args[key].us)

    def _on(self, node: exp.Expr) -> str:
        return f" ON {self.sql(node, 'on')}" if node.args.get("on") else ""

    def _aliased(self, node: exp.Expr, text: str) -> str:
        alias = self.sql(node, "alias")
        return f"{text} AS {alias}" if alias else text

    def _stream(self, node: exp.Expr, text: str) -> str:
        with_ = self.sql(node, "with_")
        return self._aliased(node, f"{with_} {text}" if with_ else text)

    def _function(self, name: str, node: exp.Expr, *lengths: str) -> str:
        keys = ", ".join(self.sql(key) for key in node.args.get("partition_by") or ())
        partition = f" PARTITION BY {keys}" if keys else ""
        given = [length for length in lengths if node.args.get(length) is not None]
        sizes = "".join(f", {self._length(node, length)}" for length in given)
        text = f"{name}({self.sql(node, 'this')}{partition}, {self.sql(node, 'on')}{sizes})"
        return self._aliased(node, text)

    TRANSFORMS = {
        **{
            node: transform
            for node, transform in SparkGenerator.TRANSFORMS.items()
            if node not in (exp.Select, exp.From)  # they rewrite what is not in the language
        },
        nodes.Duration: duration_sql,
        nodes.Call: call_sql,
        nodes.Quantified: quantified_sql,
        exp.TryCast: trycast_sql,
        exp.Not: not_sql,
        nodes.FloorTo: floorto_sql,
        nodes.CeilTo: ceilto_sql,
        nodes.WindowNode: windownode_sql,
        nodes.AsOf: asof_sql,
        nodes.Windowed: windowed_sql,
        nodes.Joined: joined_sql,
        nodes.Unnest: unnest_sql,
        nodes.Tumble: tumble_sql,
        nodes.Hop: hop_sql,
        nodes.Session: session_sql,
        nodes.Cumulate: cumulate_sql,
        nodes.Istream: istream_sql,
        nodes.Dstream: dstream_sql,
        nodes.Rstream: rstream_sql,
        nodes.MaxUnion: maxunion_sql,
    }
