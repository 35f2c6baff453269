"""The JVM is set for short starts, unless the user has chosen something about the same."""

import pytest

from ebbtide.spark import session
from ebbtide.spark.jvm_options import jvm_options

QUICK, COLLECTOR = "-XX:TieredStopAtLevel=1", "-XX:+UseParallelGC"


@pytest.mark.parametrize(
    ("chosen", "ours"),
    [
        ("", f"{QUICK} {COLLECTOR}"),
        ("-Xmx8g -Dname=value", f"{QUICK} {COLLECTOR}"),
        ("-XX:+UseG1GC", QUICK),
        ("-XX:-UseParallelGC", QUICK),
        ("-XX:+UseZGC -XX:TieredStopAtLevel=4", ""),
        ("-XX:-TieredCompilation", COLLECTOR),
        ("-XX:+UseGCOverheadLimit", f"{QUICK} {COLLECTOR}"),
    ],
)
def test_what_the_user_has_chosen_stays(chosen: str, ours: str) -> None:
    assert jvm_options(chosen) == ours


def test_options_of_a_session_come_after_ours_and_those_of_the_environment_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EBBTIDE_CACHE", "off")
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:+UseSerialGC")
    quiet, *others = session._java_options("-Xss8m", None).split()
    assert quiet.startswith("-Dlog4j2.configurationFile=file:")
    assert others == [QUICK, "-Xss8m"]
