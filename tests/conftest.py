"""What all tests share: how hard properties try.

A failing property prints a blob that reproduces it. Nothing is derandomised (Hypothesis would do so
where it sees CI), so every run tries something new. `EBBTIDE_PROFILE` chooses: `quick` (make unit),
`ci` (make test), `long` (make properties).
"""

from hypothesis import settings

from ebbtide.config import Config

for name, examples in (("quick", 25), ("ci", 200), ("long", 5000)):
    settings.register_profile(
        name, max_examples=examples, deadline=None, print_blob=True, derandomize=False
    )
settings.load_profile(Config.from_environment().profile)
