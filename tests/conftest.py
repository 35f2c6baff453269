"""What all tests share: how hard properties try.

A failing property prints a blob that reproduces it. `EBBTIDE_PROFILE` chooses: `quick` (make unit)
and `ci` (make test) try the same examples on every run, so that a change is judged by what it
changes; `long` (make properties) tries something new each time.
"""

from hypothesis import settings

from ebbtide.config import Config

for name, examples in (("quick", 10), ("ci", 25), ("long", 1000)):
    settings.register_profile(
        name, max_examples=examples, deadline=None, print_blob=True, derandomize=name != "long"
    )
settings.load_profile(Config.from_environment().profile)
