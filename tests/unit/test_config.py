"""Settings: what holds when nothing is set, what is read, and what is refused."""

import pytest

from ebbtide.config import Config
from ebbtide.errors import UnsupportedError


def test_an_empty_environment_gives_the_defaults() -> None:
    assert Config.from_environment({}) == Config(time_zone="UTC", profile="ci")
    assert Config.from_environment({"EBBTIDE_PROFILE": "", "EBBTIDE_TIME_ZONE": ""}) == Config()


def test_the_environment_is_read() -> None:
    environment = {"EBBTIDE_PROFILE": "long", "EBBTIDE_TIME_ZONE": "America/New_York"}
    assert Config.from_environment(environment) == Config("America/New_York", "long")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("EBBTIDE_PROFILE", "fast"),
        ("EBBTIDE_TIME_ZONE", "Mars/Olympus"),
        ("EBBTIDE_TIME_ZONE", "../UTC"),
        ("EBBTIDE_TIME_ZONE", "/etc/localtime"),
    ],
)
def test_a_value_that_is_not_known_is_refused_with_a_hint_that_works(name: str, value: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        Config.from_environment({name: value})
    assert caught.value.code == "unknown-setting"
    assert f'"{value}"' in caught.value.message
    assert caught.value.hint is not None
    hinted_name, hinted_value = caught.value.hint.split("=")
    assert hinted_name == name
    Config.from_environment({hinted_name: hinted_value})
