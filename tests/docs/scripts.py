"""The scripts of the project, as modules."""

from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

from docs import ROOT


def script(name: str) -> ModuleType:
    """A script below scripts/."""
    spec = spec_from_file_location(name, ROOT / f"scripts/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
