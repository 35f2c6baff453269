"""The streams of the station and the rules on them, as SQL.

Every rule is one query on bare streams: no window is written, and what each keeps follows from its
conditions on times (paper 5).  Two streams are fed by rules that read them again: looks at the last
seconds while there is a fire, and fragments of a fire of any length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_SENSED = "PROGRESS FOR at AS at - INTERVAL 15 SECONDS"
_QUIET = "IDLE AFTER 1 MINUTE"

COLUMNS: Mapping[str, str] = {
    "temperature": f"sid BIGINT, value DOUBLE, at TIMESTAMP NOT NULL, {_SENSED}",
    "smoke": f"sid BIGINT, value DOUBLE, at TIMESTAMP NOT NULL, {_SENSED}",
    "airflow": f"sid BIGINT, value DOUBLE, at TIMESTAMP NOT NULL, {_SENSED}",
    "fire_starts": f"fire BIGINT, area STRING, at TIMESTAMP NOT NULL, {_SENSED}",
    "fire_ends": f"fire BIGINT, at TIMESTAMP NOT NULL, {_SENSED}",
    "brigades": f"fire BIGINT, at TIMESTAMP NOT NULL, {_SENSED}",
    "reports": "area STRING, written TIMESTAMP NOT NULL, received TIMESTAMP ARRIVAL,"
    " PROGRESS FOR written AS written - INTERVAL 5 MINUTES",
}
"""The streams: what sensors say, what people say, and of wardens also when it was received."""

TABLES: Mapping[str, str] = {
    "sensors": "sid BIGINT, kind STRING, area STRING",
    "neighbours": "area STRING, beside STRING",
}

CLAUSES: Mapping[str, str] = {
    name: f"RETAIN 10 MINUTES {_QUIET}"
    if name in ("fire_starts", "fire_ends", "brigades")
    else "RETAIN 10 MINUTES"
    for name in COLUMNS
}
"""Late rows are taken in; where mostly nothing happens, silence must not hold up the others."""


DERIVED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "looks": (
        "fire BIGINT, begins TIMESTAMP NOT NULL, ends TIMESTAMP NOT NULL, PROGRESS FOR ends",
        (
            """
SELECT fire, at - INTERVAL 10 SECONDS AS begins, at AS ends FROM fire_starts
""",
            """
SELECT w.fire, w.begins + INTERVAL 1 SECOND AS begins, w.ends + INTERVAL 1 SECOND AS ends
FROM looks AS w
WHERE NOT EXISTS (SELECT 1 FROM fire_ends AS e WHERE e.fire = w.fire
  AND w.ends <= e.at + INTERVAL 310 SECONDS AND w.ends > e.at + INTERVAL 5 MINUTES)
""",
        ),
    ),
    "fragments": (
        "fire BIGINT, area STRING, began TIMESTAMP NOT NULL, ends TIMESTAMP NOT NULL,"
        " most DOUBLE, PROGRESS FOR ends",
        (
            """
SELECT f.fire, k.area, f.at AS began, f.at + INTERVAL 1 MINUTE AS ends, MAX(k.value) AS most
FROM fire_starts AS f
JOIN (SELECT s.area, k.value, k.at FROM smoke AS k JOIN sensors AS s ON s.sid = k.sid) AS k
  ON k.at >= f.at AND k.at < f.at + INTERVAL 1 MINUTE
WHERE NOT EXISTS (SELECT 1 FROM fire_ends AS e WHERE e.fire = f.fire
  AND e.at >= f.at AND e.at < f.at + INTERVAL 1 MINUTE)
GROUP BY f.fire, k.area, f.at
""",
            """
SELECT g.fire, g.area, g.began, g.ends + INTERVAL 1 MINUTE AS ends,
  GREATEST(g.most, MAX(k.value)) AS most
FROM fragments AS g
JOIN (SELECT s.area, k.value, k.at FROM smoke AS k JOIN sensors AS s ON s.sid = k.sid) AS k
  ON k.area = g.area AND k.at >= g.ends AND k.at < g.ends + INTERVAL 1 MINUTE
WHERE NOT EXISTS (SELECT 1 FROM fire_ends AS e WHERE e.fire = g.fire
  AND e.at >= g.ends AND e.at < g.ends + INTERVAL 1 MINUTE)
GROUP BY g.fire, g.area, g.began, g.ends, g.most
""",
        ),
    ),
}
"""Streams that rules feed, which read them again: each has its columns and its rules."""


@dataclass(frozen=True, slots=True)
class StationRule:
    """A rule: what it is for, what it says, and its query."""

    name: str
    kind: str
    says: str
    sql: str

    @property
    def final(self) -> str:
        """The query, with rows that leave once, when they are final."""
        return f"{self.sql.strip()}\nEMIT FINAL"


RULES = (
    StationRule(
        "temperatures",
        "analysis",
        "every temperature with the area of its sensor",
        """
SELECT s.area, t.value AS degrees, t.at
FROM temperature AS t JOIN sensors AS s ON s.sid = t.sid
""",
    ),
    StationRule(
        "airflows",
        "analysis",
        "the mean airflow at each sensor over every 20 seconds",
        """
SELECT sid, CEIL(at TO 20 SECONDS) AS at, AVG(value) AS speed
FROM airflow
GROUP BY sid, CEIL(at TO 20 SECONDS)
""",
    ),
    StationRule(
        "rises",
        "detection",
        "a sensor that measures at least 8 degrees more than the time before",
        """
SELECT sid, at, degrees - before AS rise
FROM (SELECT sid, at, value AS degrees,
        LAG(value) OVER (PARTITION BY sid ORDER BY at) AS before
      FROM temperature) AS t
WHERE degrees >= before + 8
""",
    ),
    StationRule(
        "detections",
        "detection",
        "smoke and then heat in one area within 30 seconds: perhaps a fire, at the later time",
        """
SELECT h.area, GREATEST(k.at, h.at) AS at
FROM (SELECT s.area, k.at FROM smoke AS k JOIN sensors AS s ON s.sid = k.sid
      WHERE k.value >= 10) AS k
JOIN (SELECT s.area, t.at FROM temperature AS t JOIN sensors AS s ON s.sid = t.sid
      WHERE t.value >= 30) AS h
ON h.area = k.area AND h.at >= k.at AND h.at <= k.at + INTERVAL 30 SECONDS
GROUP BY h.area, GREATEST(k.at, h.at)
""",
    ),
    StationRule(
        "alarms",
        "reaction",
        "a fire for which no report of its warden is received within two minutes",
        """
SELECT f.fire, f.area, f.at
FROM fire_starts AS f
WHERE NOT EXISTS (SELECT 1 FROM reports AS r WHERE r.area = f.area
  AND r.received BETWEEN f.at AND f.at + INTERVAL 2 MINUTES)
""",
    ),
    StationRule(
        "failures",
        "sensor failure",
        "a temperature sensor that says nothing for 30 seconds; it failed when it should have",
        """
SELECT t.sid, t.at + INTERVAL 10 SECONDS AS at
FROM temperature AS t
WHERE NOT EXISTS (SELECT 1 FROM temperature AS n WHERE n.sid = t.sid
  AND n.at > t.at AND n.at <= t.at + INTERVAL 30 SECONDS)
""",
    ),
    StationRule(
        "recoveries",
        "sensor failure",
        "a temperature sensor that is back after more than a minute",
        """
SELECT t.sid, t.at
FROM temperature AS t
WHERE EXISTS (SELECT 1 FROM temperature AS b WHERE b.sid = t.sid
    AND b.at >= t.at - INTERVAL 10 MINUTES AND b.at < t.at - INTERVAL 1 MINUTE)
  AND NOT EXISTS (SELECT 1 FROM temperature AS n WHERE n.sid = t.sid
    AND n.at >= t.at - INTERVAL 1 MINUTE AND n.at < t.at)
""",
    ),
    StationRule(
        "stuck",
        "sensor failure",
        "a temperature sensor that says one value for five minutes",
        """
SELECT sid, CEIL(at TO 5 MINUTES) AS at, MIN(value) AS value
FROM temperature
GROUP BY sid, CEIL(at TO 5 MINUTES)
HAVING COUNT(*) >= 8 AND MIN(value) = MAX(value)
""",
    ),
    StationRule(
        "threatened",
        "analysis",
        "the areas beside a fire",
        """
SELECT f.fire, n.beside AS area, f.at
FROM fire_starts AS f JOIN neighbours AS n ON n.area = f.area
""",
    ),
    StationRule(
        "worst_smoke",
        "analysis",
        "the most smoke in each area during a fire, of a minute to an hour, from start to end",
        """
SELECT f.fire, s.area, f.at AS began, e.at AS ended, MAX(k.value) AS most
FROM fire_starts AS f
JOIN fire_ends AS e ON e.fire = f.fire
  AND e.at >= f.at + INTERVAL 1 MINUTE AND e.at <= f.at + INTERVAL 1 HOUR
JOIN smoke AS k ON k.at >= f.at AND k.at <= e.at
JOIN sensors AS s ON s.sid = k.sid
GROUP BY f.fire, s.area, f.at, e.at
""",
    ),
    StationRule(
        "smoke_until_brigade",
        "analysis",
        "the most smoke in each area from the start of a fire until the brigade is there",
        """
SELECT f.fire, s.area, b.at AS arrived, MAX(k.value) AS most
FROM fire_starts AS f
JOIN brigades AS b ON b.fire = f.fire AND b.at >= f.at AND b.at <= f.at + INTERVAL 30 MINUTES
JOIN smoke AS k ON k.at >= f.at AND k.at <= b.at
JOIN sensors AS s ON s.sid = k.sid
GROUP BY f.fire, s.area, f.at, b.at
""",
    ),
    StationRule(
        "smoke_around_fires",
        "analysis",
        "the mean smoke of the last 10 seconds in each area, every second, from the start of a"
        " fire until 5 minutes after its end",
        """
SELECT s.area, w.ends AS at, AVG(k.value) AS mean
FROM looks AS w
JOIN smoke AS k ON k.at >= w.begins AND k.at <= w.ends
JOIN sensors AS s ON s.sid = k.sid
GROUP BY s.area, w.ends
""",
    ),
    StationRule(
        "so_far",
        "analysis",
        "the most smoke in each area since a fire began, minute by minute, while it lasts",
        """
SELECT fire, area, began, ends, most FROM fragments
""",
    ),
    StationRule(
        "worst_of_fragments",
        "analysis",
        "the most smoke in each area during a fire of any length, from its last minute on",
        """
SELECT g.fire, g.area, g.began, e.at AS ended, GREATEST(g.most, MAX(k.value)) AS most
FROM fragments AS g
JOIN fire_ends AS e ON e.fire = g.fire AND e.at >= g.ends AND e.at < g.ends + INTERVAL 1 MINUTE
LEFT JOIN (SELECT s.area, k.value, k.at FROM smoke AS k JOIN sensors AS s ON s.sid = k.sid) AS k
  ON k.area = g.area AND k.at >= g.ends AND k.at < e.at
GROUP BY g.fire, g.area, g.began, e.at, g.most
""",
    ),
)


def declarations(directory: str | None = None) -> str:
    """The statements that declare the station; with a directory, on files below it."""
    statements = []
    for kind, sources in (("STREAM", COLUMNS), ("TABLE", TABLES)):
        for name, columns in sources.items():
            files = f" FROM FILES '{directory}/{name}' FORMAT json" if directory else ""
            clauses = f" {CLAUSES[name]}" if name in CLAUSES else ""
            statements.append(f"CREATE {kind} {name} ({columns}){files}{clauses};")
    for name, (columns, queries) in DERIVED.items():
        statements.append(f"CREATE STREAM {name} ({columns});")
        statements += [f"INSERT INTO {name} {query.strip()};" for query in queries]
    return "\n".join(statements)


def script(directory: str) -> str:
    """The station on files, and all rules: what ``ebbtide run`` takes."""
    queries = "\n\n".join(
        f"-- {rule.says}\nCREATE VIEW {rule.name} AS {rule.sql.strip()};" for rule in RULES
    )
    return f"{declarations(directory)}\n\n{queries}\n"
