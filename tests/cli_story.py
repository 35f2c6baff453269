"""What the tests of the command, and its page, are about: a script and two files."""

from __future__ import annotations

SCRIPT = """\
CREATE STREAM traffic (section INT, speed DOUBLE, at TIMESTAMP,
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS) RETAIN 1 MINUTE
  FROM FILES 'data/traffic' FORMAT json;

CREATE VIEW means AS
  SELECT section, AVG(speed) AS mean FROM traffic [RANGE 15 MINUTES] GROUP BY section;
"""

STEPS = (
    [(1, 20.0, "00:00:00"), (1, 30.0, "00:10:00"), (2, 40.0, "00:10:00")],
    [(1, 22.0, "00:09:30"), (2, 1.0, "00:01:00")],
)
