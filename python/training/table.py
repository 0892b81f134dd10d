"""Writes the tables of a policy into docs/learning.md: `python table.py [POLICY]`, else of the one of the repository.

Beside `gcc` and `thalweg`, over the test set of docs/tuning/thalweg.toml with the encoder model; figures, ratios and
intervals as in docs/thalweg.md, by the code of .ci/thalweg-results. The recordings are those of `thalweg data fetch`,
or THALWEG_DATA. Ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import importlib.machinery
import importlib.util
import pathlib
import re
from typing import Any

import thalweg

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/learning.md"
OTHERS = ["gcc", "thalweg", "thalweg:conventional"]


def code() -> Any:
    """The functions of .ci/thalweg-results."""
    loader = importlib.machinery.SourceFileLoader("thalweg_results", str(ROOT / ".ci/thalweg-results"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def play(schemes: list[str], links: list[str], seeds: list[int], duration: str) -> dict[Any, dict[str, Any]]:
    """The summaries of runs by scheme, link and seed."""
    runs = {}
    for link in links:
        for run in thalweg.compare(thalweg.scenario(link=link, duration=duration), schemes, seeds=seeds):
            runs[run.scheme, link, run.seed] = run.summary
    return runs


def write(page: pathlib.Path, name: str, table: str) -> None:
    """Replaces a table between its two marks."""
    block = f"<!-- {name} -->\n\n{table}\n\n<!-- end of {name} -->"
    text, found = re.subn(rf"<!-- {name} -->.*<!-- end of {name} -->", lambda _: block, page.read_text(), flags=re.S)
    assert found, f"{page} has no place for the table {name}"
    page.write_text(text)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("policy", type=pathlib.Path, nargs="?", default=ROOT / "python/training/policy.onnx")
    words.add_argument("--set", default="test", choices=["test", "tuning"], dest="which")
    words.add_argument("--seeds", type=int, help="so many, instead of all")
    words.add_argument("--print", action="store_true", dest="only_print")
    chosen = words.parse_args()
    results = code()
    of = results.TUNING[chosen.which]
    policy = f"onnx:{chosen.policy}"
    runs = play([policy, *OTHERS], of["links"], of["seeds"][: chosen.seeds], of["duration"])
    lines = [results.HEAD, "|---|" + "---|" * 7]
    for scheme, name in [
        (policy, "the policy"),
        ("thalweg", "`thalweg`"),
        ("thalweg:conventional", "`thalweg:conventional`"),
    ]:
        lines.append(results.row(name, results.against(runs, runs, scheme)))
    lines.append("| `gcc` | 1 | 1 | 1 | 1 | 0 | | |")
    links = ["| link | bits | P95 | mean latency | distinct fps | on-screen SSIM, dB |", "|---|" + "---|" * 5]
    for link, figures in results.against(runs, runs, policy).items():
        cells = [results.figure(*figures[key], is_ratio) for key, is_ratio, _ in results.FIGURES]
        links.append(f"| {link} | " + " | ".join(cells) + " |")
    if chosen.only_print:
        print("\n".join([*lines, "", *links]))
        return
    write(PAGE, "policy", "\n".join(lines))
    write(PAGE, "policy by link", "\n".join(links))


if __name__ == "__main__":
    main()
