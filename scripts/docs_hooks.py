"""MkDocs hooks: formulas become MathML while the site is built, so that pages need no script; links to
public headers go to their pages of the reference; links to other files outside of docs/ (README, scenes,
examples) become plain text, links to notebooks lead to their pages."""
import html
import re

from latex2mathml.converter import convert

# What pymdownx.arithmatex leaves in generic mode: \( ... \) in a span, \[ ... \] in a div.
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
TAG = re.compile(r"\\tag\{(\w+)\}")


def mathml(match: re.Match) -> str:
    block = match.group(2) == "["
    source = html.unescape(match.group(3))
    number = TAG.search(source)
    source = TAG.sub("", source).replace("\\lvert", "|").replace("\\rvert", "|")
    result = convert(source.strip(), display="block" if block else "inline")
    return result + (f"<p>({number.group(1)})</p>" if number else "")


# A public header has its page of the reference.
HEADER = re.compile(r"\]\(((?:\.\./)*)\.\./include/tribo/(\w+)\.h\)")
OUTSIDE = re.compile(r"\[([^\]]*)\]\((?:\.\./)+(?:README\.md|scenes/|examples/)[^)]*\)")


# Links to notebooks lead to their pages.
NOTEBOOK = re.compile(r"\]\((?:\.\./)*\.\./examples/notebooks/([\w-]+)\.ipynb\)")


def on_page_markdown(markdown: str, page, **_) -> str:
    up = "../" * page.file.src_uri.count("/")
    markdown = NOTEBOOK.sub(rf"]({up}notebooks/\1.md)", markdown)
    return OUTSIDE.sub(r"\1", HEADER.sub(r"](\1reference/\2.md)", markdown))


def on_page_content(content: str, **_) -> str:
    return FORMULA.sub(mathml, content)
