"""How an answer is given, behind a query or a view: EMIT, ALLOW UNBOUNDED STATE, ON ERROR.

answer  ::=  { EMIT emission | ALLOW UNBOUNDED STATE | ON ERROR ( QUARANTINE | FAIL ) }

Law: each of the three stands there at most once, in any order.
"""

from dataclasses import replace

from ebbtide.algebra.quarantine import OnError
from ebbtide.sql import refusals
from ebbtide.sql.foreign import ForeignReader
from ebbtide.sql.syntax import NOTHING_SAID, AnswerOptions, Emit

__all__ = ["AnswerOptionsParser"]


class AnswerOptionsParser(ForeignReader):
    """Reads how an answer is given."""

    def answer_options(self, before: AnswerOptions = NOTHING_SAID) -> AnswerOptions:
        """Reads as many clauses as stand here, after those that were read before."""
        said = before
        while True:
            if self.at("EMIT"):
                said = replace(said, emit=self._emit(said.emit))
            elif self.at("ALLOW"):
                said = replace(said, allow_unbounded_state=self._allow(said.allow_unbounded_state))
            elif self.at("ON"):
                said = replace(said, on_error=self._on_error(said.on_error))
            else:
                return said

    def _emit(self, before: Emit | None) -> Emit:
        first = self._curr
        self._advance()
        # The longest first: the others begin with the same words.
        for emit in reversed(Emit):
            closing = emit is Emit.FINAL and self.take("ON", "WINDOW", "CLOSE")
            if closing or self.take(*emit.value.split()):
                if before is not None:
                    raise self.twice("EMIT", first)
                return emit
        if self.take("AFTER", "WATERMARK"):
            span = self.span(first, self._prev)
            self.refuse(refusals.EMIT_ELSEWHERE, span, name="AFTER WATERMARK")
        raise self.unexpected("CHANGES or FINAL")

    def _allow(self, before: bool) -> bool:
        first = self._curr
        self._advance()
        self.need("UNBOUNDED", "STATE")
        if before:
            raise self.twice("ALLOW UNBOUNDED STATE", first)
        return True

    def _on_error(self, before: OnError | None) -> OnError:
        first = self._curr
        self._advance()
        self.need("ERROR")
        for on_error in OnError:
            if self.take(on_error.value):
                if before is not None:
                    raise self.twice("ON ERROR", first)
                return on_error
        raise self.unexpected("QUARANTINE or FAIL")
