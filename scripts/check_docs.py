#!/usr/bin/env python3
"""Check the documentation; with --cite, rewrite the pages that comments in the code cite.

* Links between pages lead to files and headings that exist.
* Sources that a page names (`src/step/step.c`, `step.c`) exist.
* Every page is in the navigation (mkdocs.yml), and every page of the navigation exists.
* A page of the manual has at most 150 lines.
* A block of code below `<!-- quote FILE -->` stands in that file, line by line.
* Pages and equations that comments in the code cite exist. A comment may still cite a page by its
  old name: docs/moved.txt says where the text of that page is now.
"""
import os
import re
import sys
from pathlib import Path

MANUAL_LINES = 150
CODE = ("include", "src", "cli", "test", "bench", "page", "cmake")
PAGE = r"docs/(?:[a-z]+/)?[a-z-]+\.md"
# "docs/notebook/derivatives.md, eq. 25-27": both ends must be numbered on the page.
CITATION = re.compile(rf"({PAGE})(?:(,? eq\. )(\d+[a-z]?)(?:-(\d+[a-z]?))?)?")
FILE = re.compile(r"`((?:[\w-]+/)*\w+\.[ch])`")
SOURCE = re.compile(r"`((?:src|include|test|bench|page|cli|scripts|scenes|cmake|examples)/[\w./-]+)`")

root = Path(__file__).resolve().parent.parent
os.chdir(root)
pages = [Path("README.md"), Path("CHANGELOG.md"), *sorted(Path("docs").rglob("*.md"))]
text = {str(page): page.read_text() for page in pages}
sources = [str(f) for top in (*CODE, "examples") for f in Path(top).rglob("*.[ch]")]
bad: list[str] = []


def lines_outside_code(page: str):
    """(number, line) of a page without fenced code."""
    code = False
    for number, line in enumerate(text[page].splitlines(), 1):
        if line.startswith("```"):
            code = not code
        elif not code:
            yield number, line


def anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    heading = re.sub(r"\]\([^)]*\)", "", heading).lower()
    return re.sub(r"[^a-z0-9_ -]", "", heading).replace(" ", "-")


def check_links() -> None:
    headings = {
        f"{page}#{anchor(line.lstrip('#')[1:])}"
        for page in text
        for _, line in lines_outside_code(page)
        if re.match(r"#+ ", line)
    }
    for page in text:
        for number, line in lines_outside_code(page):
            for target in re.findall(r"\]\(([^) ]+)\)", line):
                if re.match(r"https?:", target):
                    continue
                name, _, fragment = target.partition("#")
                file = os.path.normpath(Path(page).parent / name) if name else page
                if file.startswith("build/"):
                    continue
                if not Path(file).exists():
                    bad.append(f"{page}:{number}: {target} does not exist")
                elif fragment and file in text and f"{file}#{fragment}" not in headings:
                    bad.append(f"{page}:{number}: {target} has no such heading")
            for source in SOURCE.findall(line):
                if not Path(source).exists():
                    bad.append(f"{page}:{number}: {source} does not exist")
            for source in FILE.findall(line):
                if not any(f"/{name}".endswith(f"/{source}") for name in sources):
                    bad.append(f"{page}:{number}: there is no source {source}")


def check_navigation() -> None:
    listed = set(re.findall(r"[\w/-]+\.md", Path("mkdocs.yml").read_text().partition("\nnav:")[2]))
    present = {str(page.relative_to("docs")) for page in pages if page.parts[0] == "docs"}
    bad.extend(f"docs/{page} is in no navigation (mkdocs.yml)" for page in sorted(present - listed))
    notebooks = {f"notebooks/{path.stem}.md" for path in Path("examples/notebooks").glob("*.ipynb")}
    bad.extend(f"{page}: the notebook is in no navigation (mkdocs.yml)" for page in sorted(notebooks - listed))
    made = notebooks | {"gallery.md"}  # by scripts/docs.sh, as the references are
    for page in sorted(listed - present - made):
        if not page.startswith("reference/"):
            bad.append(f"mkdocs.yml: docs/{page} does not exist")
    for header in sorted(Path("include/tribo").glob("*.h")):
        if f"reference/{header.stem}.md" not in listed:
            bad.append(f"{header} is in no navigation (mkdocs.yml)")
    index = Path("docs/index.md").read_text()
    for page in sorted(present):
        if page != "index.md" and f"({page})" not in index:
            bad.append(f"docs/index.md does not list docs/{page}")


def check_sizes() -> None:
    for page in text:
        count = len(text[page].splitlines())
        if page.startswith("docs/manual/") and count > MANUAL_LINES:
            bad.append(f"{page} has {count} lines, more than {MANUAL_LINES}: measurements and derivations go to docs/notebook")


def check_quotes() -> None:
    for page in text:
        for file, block in re.findall(r"<!-- quote (\S+) -->\n```\w*\n(.*?)```", text[page], re.S):
            if not Path(file).exists():
                bad.append(f"{page}: quotes {file}, which does not exist")
            elif f"\n{block}" not in f"\n{Path(file).read_text()}":
                bad.append(f"{page}: the code quoted from {file} is not there: {block.splitlines()[0]}")
        marks = len(re.findall(r"^<!-- quote ", text[page], re.M))
        if marks != len(re.findall(r"<!-- quote \S+ -->\n```", text[page])):
            bad.append(f"{page}: a quote without its block of code")


def moved_pages() -> dict[str, list[str]]:
    """Old name of a page -> the pages that hold its text now."""
    table = {}
    if Path("docs/moved.txt").exists():
        for line in Path("docs/moved.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                old, *new = line.split()
                table[old] = new
    return table


def has_equation(page: str, number: str) -> bool:
    return f"({number})" in text.get(page, "") or f"\\tag{{{number}}}" in text.get(page, "")


def check_citations(rewrite: bool) -> None:
    moved = moved_pages()
    files = [Path("CMakeLists.txt"), *(f for top in CODE for f in sorted(Path(top).rglob("*")))]
    for file in files:
        if file.suffix not in (".c", ".h", ".txt", ".sh", ".cmake") or not file.is_file():
            continue
        source = file.read_text(errors="replace")

        def resolve(match: re.Match) -> str:
            page, eq, first, last = match.groups()
            candidates = [page] if page in text else moved.get(page, [])
            number = source.count("\n", 0, match.start()) + 1
            if not candidates:
                bad.append(f"{file}:{number}: {page} does not exist")
                return match.group(0)
            wanted = [n for n in (first, last) if n]
            found = [c for c in candidates if all(has_equation(c, n) for n in wanted)]
            if not found:
                bad.append(f"{file}:{number}: {' '.join(candidates)}: no equation {', '.join(wanted)}")
                return match.group(0)
            return found[0] + match.group(0)[len(page):]

        new = CITATION.sub(resolve, source)
        if rewrite and new != source:
            file.write_text(new)


check_links()
check_navigation()
check_sizes()
check_quotes()
check_citations("--cite" in sys.argv[1:])
print("\n".join(bad) if bad else "docs: ok")
sys.exit(1 if bad else 0)
