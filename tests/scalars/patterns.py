"""LIKE and regular expressions."""

from ebbtide.algebra import coercion
from scalars import Fails, cases, col, const, f


def like(text, pattern, escape="\\"):
    """A LIKE of constants or expressions."""
    return coercion.like(const(text), const(pattern), escape)


PATTERNS = cases(
    (like("tide", "t%e"), True),
    (like("tide", "t__e"), True),
    (like("tide", "t_e"), False),
    (like("a\nb", "a_b"), True),
    (like("a%", "a\\%"), True),
    (like("ab", "a\\%"), False),
    (like("a\\b", "a\\\\b"), True),
    (like("a%b", "a#%b", "#"), True),
    (like("A", "a"), False),
    (like("a.c", "a.c"), True),
    (like("abc", "a.c"), False),
    (like("", "%"), True),
    (like("a", None), None),
    (like(None, "a"), None),
    (like(col("ts"), "2020%"), True),
    (like(col("i"), col("i")), True),
    (like(col("s"), "a\\"), Fails("bad-argument")),
    (like(col("s"), "a\\b"), Fails("bad-argument")),
    (f("RLIKE", "abc", "b"), True),
    (f("RLIKE", "abc", "^b"), False),
    (f("RLIKE", "abc", "^a.c$"), True),
    (f("RLIKE", "abc", None), None),
    (f("RLIKE", "x1", "\\d"), True),
    (f("RLIKE", "x٣", "\\d"), False),
    (f("RLIKE", "aB", "\\p{Upper}"), True),
    (f("RLIKE", "a.b", "^a\\Q.\\Eb\\z"), True),
    (f("RLIKE", "ABC", "(?i)b"), True),
    (f("REGEXP_LIKE", col("i"), "3"), True),
    (f("RLIKE", col("s"), "("), Fails("bad-argument")),
    (f("REGEXP_EXTRACT", "100-200", "(\\d+)-(\\d+)", 1), "100"),
    (f("REGEXP_EXTRACT", "100-200", "(\\d+)-(\\d+)"), "100"),
    (f("REGEXP_EXTRACT", "100-200", "(\\d+)-(\\d+)", 0), "100-200"),
    (f("REGEXP_EXTRACT", "100-200", "(\\d+)-(\\d+)", 3), Fails("bad-argument")),
    (f("REGEXP_EXTRACT", "foo", "(\\d+)", 1), ""),
    (f("REGEXP_EXTRACT", "foo", "(\\d+)", 9), ""),
    (f("REGEXP_EXTRACT", "ab", "(a)|(c)", 2), ""),
    (f("REGEXP_EXTRACT", "x=1", "(?<key>\\w)=(?<value>\\w)", 2), "1"),
    (f("REGEXP_EXTRACT", None, "a"), None),
    (f("REGEXP_REPLACE", "100-200", "(\\d+)", "num"), "num-num"),
    (f("REGEXP_REPLACE", "100-200", "(\\d+)", "<$1>"), "<100>-<200>"),
    (f("REGEXP_REPLACE", "100-200", "(\\d)(\\d)", "$2$1"), "010-020"),
    (f("REGEXP_REPLACE", "ab", "(?<n>a)", "${n}${n}"), "aab"),
    (f("REGEXP_REPLACE", "ab", "(a)", "$10"), "a0b"),
    (f("REGEXP_REPLACE", "a.b", "\\.", "\\$"), "a$b"),
    (f("REGEXP_REPLACE", "a1b1", "1", "x", 3), "a1bx"),
    (f("REGEXP_REPLACE", "abc", "", "-"), "-a-b-c-"),
    (f("SPLIT", "a,b,,c,,", ","), ("a", "b", "", "c", "", "")),
    (f("SPLIT", "a,b,c", ",", 2), ("a", "b,c")),
    (f("SPLIT", "a,b,,", ",", 0), ("a", "b", "", "")),
    (f("SPLIT", "abc", ""), ("a", "b", "c")),
    (f("SPLIT", "", ","), ("",)),
    (f("SPLIT", "a1b2", "[0-9]"), ("a", "b", "")),
    (f("SPLIT", ",a", ","), ("", "a")),
    (f("SPLIT", "aXbX", "(?=X)"), ("a", "Xb", "X")),
)
