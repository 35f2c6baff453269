"""The rules of the station from Python: the verbs of :mod:`ebbtide.builder` instead of SQL.

Law: each says what the rule of its name in :mod:`ebbtide.metro.rules` says.  A test holds them to
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from ebbtide.builder import Built, col, exists, fn, source

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)

sensors = source("sensors", alias="s")
temperature = source("temperature", alias="t")
smoke = source("smoke", alias="k")
starts, ends = source("fire_starts", alias="f"), source("fire_ends", alias="e")

hot = temperature.join(sensors, on=col("s.sid") == col("t.sid"))
smoky = smoke.join(sensors, on=col("s.sid") == col("k.sid"))
smoke_in_areas = smoky.select("s.area", "k.value", "k.at").alias("k")


def _other_readings(alias: str) -> Built:
    """The readings of the same sensor."""
    return source("temperature", alias=alias).where(col(f"{alias}.sid") == col("t.sid"))


def _smoke_during(frames: Built, until: str) -> Built:
    """The smoke from the start of a fire to a time, with its area."""
    during = (col("k.at") >= col("f.at")) & (col("k.at") <= col(until))
    return frames.join(smoke, on=during).join(sensors, on=col("s.sid") == col("k.sid"))


def _ended_within(fire: str, since: str, length: timedelta) -> Built:
    """The ends of a fire from a time on, within so long."""
    return ends.where(
        (col("e.fire") == col(fire))
        & (col("e.at") >= col(since))
        & (col("e.at") < col(since) + length)
    )


_LASTING = (col("e.at") >= col("f.at") + MINUTE) & (col("e.at") <= col("f.at") + HOUR)
_UNTIL_BRIGADE = (col("b.at") >= col("f.at")) & (col("b.at") <= col("f.at") + 30 * MINUTE)
_ON_THE_WAY = col("r.received").between(col("f.at"), col("f.at") + 2 * MINUTE)
_SECONDS_LATER = (col("n.at") > col("t.at")) & (col("n.at") <= col("t.at") + 30 * SECOND)
_LONG_BEFORE = (col("b.at") >= col("t.at") - 10 * MINUTE) & (col("b.at") < col("t.at") - MINUTE)
_JUST_BEFORE = (col("n.at") >= col("t.at") - MINUTE) & (col("n.at") < col("t.at"))
_HEAT_AFTER = (col("h.at") >= col("k.at")) & (col("h.at") <= col("k.at") + 30 * SECOND)

RULES: Mapping[str, Built] = {
    "temperatures": hot.select("s.area", col("t.value").named("degrees"), "t.at"),
    "airflows": source("airflow").group(
        "sid", col("at").ceil("20 seconds").named("at"), speed=fn.avg(col("value"))
    ),
    "rises": source("temperature")
    .select("sid", "at", degrees=col("value"), before=fn.lag(col("value")).over("sid", order="at"))
    .alias("t")
    .where(col("degrees") >= col("before") + 8)
    .select("sid", "at", rise=col("degrees") - col("before")),
    "detections": smoky.where(col("k.value") >= 10)
    .select("s.area", "k.at")
    .alias("k")
    .join(
        hot.where(col("t.value") >= 30).select("s.area", "t.at").alias("h"),
        on=(col("h.area") == col("k.area")) & _HEAT_AFTER,
    )
    .group("h.area", fn.greatest(col("k.at"), col("h.at")).named("at")),
    "alarms": starts.where(
        ~exists(source("reports", alias="r").where((col("r.area") == col("f.area")) & _ON_THE_WAY))
    ).select("f.fire", "f.area", "f.at"),
    "failures": temperature.where(~exists(_other_readings("n").where(_SECONDS_LATER))).select(
        "t.sid", at=col("t.at") + 10 * SECOND
    ),
    "recoveries": temperature.where(exists(_other_readings("b").where(_LONG_BEFORE)))
    .where(~exists(_other_readings("n").where(_JUST_BEFORE)))
    .select("t.sid", "t.at"),
    "stuck": source("temperature")
    .group("sid", col("at").ceil("5 minutes").named("at"), value=fn.min(col("value")))
    .where((fn.count() >= 8) & (fn.min(col("value")) == fn.max(col("value")))),
    "threatened": starts.join(
        source("neighbours", alias="n"), on=col("n.area") == col("f.area")
    ).select("f.fire", col("n.beside").named("area"), "f.at"),
    "worst_smoke": _smoke_during(
        starts.join(ends, on=(col("e.fire") == col("f.fire")) & _LASTING), "e.at"
    ).group(
        "f.fire",
        "s.area",
        col("f.at").named("began"),
        col("e.at").named("ended"),
        most=fn.max(col("k.value")),
    ),
    "smoke_until_brigade": _smoke_during(
        starts.join(
            source("brigades", alias="b"), on=(col("b.fire") == col("f.fire")) & _UNTIL_BRIGADE
        ),
        "b.at",
    ).group(
        "f.fire",
        "s.area",
        hidden=("f.at", "b.at"),
        arrived=col("b.at"),
        most=fn.max(col("k.value")),
    ),
    "smoke_around_fires": source("looks", alias="w")
    .join(smoke, on=(col("k.at") >= col("w.begins")) & (col("k.at") <= col("w.ends")))
    .join(sensors, on=col("s.sid") == col("k.sid"))
    .group("s.area", col("w.ends").named("at"), mean=fn.avg(col("k.value"))),
    "so_far": source("fragments").select("fire", "area", "began", "ends", "most"),
    "worst_of_fragments": source("fragments", alias="g")
    .join(
        ends,
        on=(col("e.fire") == col("g.fire"))
        & (col("e.at") >= col("g.ends"))
        & (col("e.at") < col("g.ends") + MINUTE),
    )
    .join(
        smoke_in_areas,
        on=(col("k.area") == col("g.area"))
        & (col("k.at") >= col("g.ends"))
        & (col("k.at") < col("e.at")),
        kind="left",
    )
    .group(
        "g.fire",
        "g.area",
        "g.began",
        col("e.at").named("ended"),
        hidden=("g.most",),
        most=fn.greatest(col("g.most"), fn.max(col("k.value"))),
    ),
}

DERIVED: Mapping[str, tuple[Built, ...]] = {
    "looks": (
        source("fire_starts").select("fire", begins=col("at") - 10 * SECOND, ends=col("at")),
        source("looks", alias="w")
        .where(
            ~exists(
                ends.where(
                    (col("e.fire") == col("w.fire"))
                    & (col("w.ends") <= col("e.at") + 310 * SECOND)
                    & (col("w.ends") > col("e.at") + 5 * MINUTE)
                )
            )
        )
        .select("w.fire", begins=col("w.begins") + SECOND, ends=col("w.ends") + SECOND),
    ),
    "fragments": (
        starts.join(
            smoke_in_areas,
            on=(col("k.at") >= col("f.at")) & (col("k.at") < col("f.at") + MINUTE),
        )
        .where(~exists(_ended_within("f.fire", "f.at", MINUTE)))
        .group(
            "f.fire",
            "k.area",
            col("f.at").named("began"),
            ends=col("f.at") + MINUTE,
            most=fn.max(col("k.value")),
        ),
        source("fragments", alias="g")
        .join(
            smoke_in_areas,
            on=(col("k.area") == col("g.area"))
            & (col("k.at") >= col("g.ends"))
            & (col("k.at") < col("g.ends") + MINUTE),
        )
        .where(~exists(_ended_within("g.fire", "g.ends", MINUTE)))
        .group(
            "g.fire",
            "g.area",
            "g.began",
            hidden=("g.ends", "g.most"),
            ends=col("g.ends") + MINUTE,
            most=fn.greatest(col("g.most"), fn.max(col("k.value"))),
        ),
    ),
}
"""What feeds the streams that read themselves."""
