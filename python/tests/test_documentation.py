import doctest
import importlib
import pkgutil
import re

import pytest

import thalweg

MODULES = [module.name for module in pkgutil.iter_modules(thalweg.__path__)]


@pytest.mark.parametrize("name", ["__init__", *MODULES])
def test_the_examples_of_docstrings_do_what_they_say(name):
    module = thalweg if name == "__init__" else importlib.import_module(f"thalweg.{name}")
    failed, _ = doctest.testmod(module, globs={"thalweg": thalweg}, optionflags=doctest.ELLIPSIS, report=True)
    assert failed == 0


def test_everything_of_the_package_is_documented():
    undocumented = [
        name for name in thalweg.__all__ if callable(getattr(thalweg, name)) and not getattr(thalweg, name).__doc__
    ]
    assert not undocumented


@pytest.mark.parametrize(("page", "least"), [("docs/python.md", 12), ("docs/learning.md", 1), ("python/README.md", 1)])
def test_the_examples_of_a_page_run(page, least, root, tmp_path, monkeypatch):
    blocks = re.findall(r"^```python\n(.*?)^```", (root / page).read_text(), re.S | re.M)
    assert len(blocks) >= least
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    names = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
