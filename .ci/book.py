"""Additions to mkdocs for the book: a folder in the navigation stands for its pages, a list may follow a paragraph without an
empty line as on GitHub, the README's table of roles stands in docs/index.md too, and a link out of docs/ to a file of the repository is checked and leads to the repository. A warning fails the build (`make book`)."""
import logging
import pathlib
import re

log = logging.getLogger("mkdocs.hooks.book")
# A link or an image: its text, its target, and what follows a `#`.
LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)\s]*)?(\))")
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.S)
FENCE = re.compile(r"(^```.*?^```)", re.S | re.M)
# The README's table of roles, and the place for it in a page below docs/.
ROLES = re.compile(r"<!-- roles -->\n+(.*?)\n+<!-- end of roles -->", re.S)
PLACE = "<!-- roles of ../README.md -->"
# A line of a paragraph before the first item of a list.
LIST = re.compile(r"^(?![*-] |\d+\. |#)(\S[^\n]*)\n(?=[*-] |1\. )", re.M)


def pages(docs, folder):
    """README first, then the others by name."""
    found = sorted((docs / folder).glob("*.md"), key=lambda page: (page.name != "README.md", page.name))
    return [page.relative_to(docs).as_posix() for page in found]


def expand(docs, entries):
    for entry in entries:
        if isinstance(entry, str) and entry.endswith("/"):
            yield from pages(docs, entry)
        elif isinstance(entry, dict):
            ((title, below),) = entry.items()
            yield {title: list(expand(docs, [below] if isinstance(below, str) else below))}
        else:
            yield f"{entry}.md"


def on_config(config):
    config.nav = list(expand(pathlib.Path(config.docs_dir), config.nav))
    return config


def roles(docs):
    """The README's table, its links as from docs/."""
    table = ROLES.search((docs.parent / "README.md").read_text())[1]
    return LINK.sub(r"\1../\2\3\4", table).replace("](../docs/", "](")


def on_page_markdown(markdown, page, config, **_):
    docs = pathlib.Path(config.docs_dir).resolve()
    here = (docs / page.file.src_uri).parent

    def outside(link):
        target = (here / link[2]).resolve()
        if "://" in link[2] or link[2].startswith("mailto:") or target.is_relative_to(docs) and not target.is_dir():
            return link[0]
        if not target.exists():
            log.warning("%s: there is no %s", page.file.src_uri, link[2])
        if target.is_relative_to(docs):
            index = target / "README.md"
            return f"{link[1]}{link[2].rstrip('/')}/{index.name}{link[3] or ''}{link[4]}" if index.exists() else link[0]
        kind = "tree" if target.is_dir() else "blob"
        return f"{link[1]}{config.repo_url.rstrip('/')}/{kind}/main/{target.relative_to(docs.parent)}{link[3] or ''}{link[4]}"

    if PLACE in markdown:
        markdown = markdown.replace(PLACE, roles(docs))
    parts = FENCE.split(markdown)
    markdown = "".join(part if odd % 2 else LIST.sub(r"\1\n\n", part) for odd, part in enumerate(parts))
    parts = CODE.split(markdown)
    return "".join(part if odd % 2 else LINK.sub(outside, part) for odd, part in enumerate(parts))
