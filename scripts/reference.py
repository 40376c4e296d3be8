#!/usr/bin/env python3
"""Write a reference of the public headers, one page per header, from their comments.

  reference.py OUTPUT_FOLDER

A comment belongs to the declaration that follows it without a blank line. A comment followed by a
blank line stands by itself. Lists of fields (X-macros) become tables.
"""
import re
import sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent
headers = sorted((root / "include/tribo").glob("*.h"))
COLUMNS = {  # by number of arguments of X
    "TB_OPTION_FIELDS": ["type", "name", "count", "default", "allowed", "unit", "meaning"],
    7: ["kind", "name", "least", "most", "initial", "words", "meaning"],
    6: ["type", "name", "rows", "columns", "unit", "meaning"],
    5: ["type", "name", "default", "allowed", "meaning"],
    4: ["type", "name", "value", "meaning"],
    3: ["type", "name", "meaning"],
    2: ["name", "meaning"],
}


def arguments(text: str) -> list[str]:
    """Split the arguments of a macro call at commas outside parentheses and strings."""
    found, depth, quoted, start = [], 0, False, 0
    for i, c in enumerate(text):
        if c == '"' and text[i - 1] != "\\":
            quoted = not quoted
        elif not quoted and c in "([{":
            depth += 1
        elif not quoted and c in ")]}":
            depth -= 1
        elif not quoted and c == "," and depth == 0:
            found.append(text[start:i].strip())
            start = i + 1
    found.append(text[start:].strip())
    return found


def plain(argument: str) -> str:
    """A string literal without its quotes (pieces joined), anything else as it stands."""
    if argument.startswith('"'):
        argument = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', argument)).replace('\\"', '"')
    return argument.replace("|", "\\|")


def calls(body: str):
    """("X", arguments) of every X(...) and ("title", text) of every comment of a macro's body."""
    i = 0
    while i < len(body):
        if body.startswith("/*", i):
            end = body.index("*/", i)
            yield "title", [body[i + 2 : end].strip()]
            i = end + 2
        elif body.startswith("X(", i):
            depth, quoted, k = 0, False, i + 1
            while True:
                if body[k] == '"' and body[k - 1] != "\\":
                    quoted = not quoted
                depth += (not quoted) * ((body[k] == "(") - (body[k] == ")"))
                k += 1
                if depth == 0:
                    break
            yield "X", arguments(body[i + 2 : k - 1])
            i = k
        else:
            i += 1


def field_table(name: str, body: str) -> list[str]:
    out, columns = [], None
    for kind, args in calls(body.replace("\\\n", "\n")):
        if kind == "title":
            out += ["", f"**{args[0]}**", ""]
            columns = None
            continue
        if columns is None:
            columns = COLUMNS.get(name) or COLUMNS.get(len(args), [""] * len(args))
            out += ["", "| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
        cells = [plain(a) for a in args]
        cells = [f"`{c}`" if columns[i] in ("type", "name", "allowed", "default") and c else c for i, c in enumerate(cells)]
        out.append("| " + " | ".join(cells) + " |")
    return out


def prose(comment: list[str]) -> list[str]:
    """Comment lines as markdown: lists stay lists, other indented lines stay verbatim, a ruled line
    ("---- text ----") becomes a section."""
    out, in_list = [], False
    for line in comment:
        text = line[3:] if line.startswith("// ") else line[2:]
        ruled = re.match(r"-{3,} (.*?) -{3,}$", text)
        if ruled:
            out += ["## " + ruled.group(1)[0].upper() + ruled.group(1)[1:], ""]
            continue
        safe = text.strip().replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
        item = re.match(r" *(\d+\.|-) ", text)
        indented = text.startswith("  ")
        if item:
            if not in_list:
                out.append("")
            in_list = True
            out.append(safe)
        elif indented and in_list:
            out.append("    " + safe)
        elif indented:
            if out and out[-1] and not out[-1].startswith("    "):
                out.append("")
            out.append("    " + text.strip())
        else:
            if out and out[-1].startswith("    "):
                out.append("")
            in_list = False
            out.append(safe)
    return out


def title_of(declaration: str) -> str:
    """The name that a declaration declares, as a heading."""
    first = " ".join(declaration.split())
    for pattern, word in (
        (r"#define (\w+)", "macro"),
        (r"typedef (?:struct|enum)\b.*\} (\w+);$", "type"),
        (r"typedef (?:struct|enum) \w+ (\w+);$", "type"),
        (r"typedef .*?(\w+);$", "type"),
        (r"(?:struct|enum) (\w+) \{", "type"),
        (r".*?(\w+) ?\(", "function"),
    ):
        match = re.match(pattern, first)
        if match:
            return match.group(1) if word != "function" else match.group(1) + "()"
    return ""


def declarations(lines: list[str]):
    """(comment lines, declaration text) in order; the declaration may be empty."""
    comment: list[str] = []
    i = 0
    while i < len(lines):
        line = lines[i]
        if line.startswith("//"):
            comment.append(line)
            i += 1
            continue
        if not line.strip():
            if comment:
                yield comment, ""
                comment = []
            i += 1
            continue
        if re.match(r"#(ifndef|ifdef|if|endif|else|elif|include|undef)|TB_EXTERN_C_|extern \"C\"|#define TRIBO_\w+_H_", line):
            i += 1
            continue
        text = [line]
        if line.startswith("#define"):
            while text[-1].endswith("\\"):
                i += 1
                text.append(lines[i])
        else:
            while not ("".join(text).count("{") == "".join(text).count("}") and re.search(r"[;}]\s*(//.*)?$", text[-1])):
                i += 1
                if i == len(lines):
                    break
                text.append(lines[i])
        i += 1
        yield comment, "\n".join(text)
        comment = []
    if comment:
        yield comment, ""


def unexported(text: str) -> str:
    """A declaration without TB_API, its further lines aligned as before."""
    if not text.startswith("TB_API "):
        return text
    lines = text[7:].splitlines()
    return "\n".join([lines[0], *(line[7:] if line.startswith(" " * 7) else line for line in lines[1:])])


def page(header: Path) -> str:
    out = [f"# tribo/{header.name}", ""]
    for comment, text in declarations(header.read_text().splitlines()):
        fields = re.match(r"#define (\w+)\(X\)", text)
        name = title_of(text)
        if name:
            out += [f"## {name}", ""]
        out += prose(comment) + [""]
        if fields:
            out += field_table(fields.group(1), text) + [""]
        elif text:
            out += ["```c", unexported(text), "```", ""]
    return "\n".join(out)


def string(argument: str, macros: dict[str, str]) -> str:
    """String literals and macros of string literals, joined."""
    pieces = re.findall(r'"((?:[^"\\]|\\.)*)"|(\w+)', argument)
    return "".join(text if not name else string(macros.get(name, ""), macros) for text, name in pieces)


def macros_of(*files: str) -> dict[str, tuple[str, str]]:
    """Macros of headers: name to (parameters, body)."""
    found = {}
    for file in files:
        text = (root / file).read_text().replace("\\\n", " ")
        for name, parameters, body in re.findall(r"^#define (\w+)(\([\w, ]*\))?[ \t]*(.*)$", text, re.M):
            found[name] = (parameters, body)
    return found


def rows(name: str, macros: dict[str, tuple[str, str]]) -> list[list[str]]:
    """The arguments of every X(...) of a list, with the lists in it."""
    body, out = macros[name][1], []
    body = re.sub(r"TB_SPEC_ORIENTATION\(X\)", lambda _: macros["TB_SPEC_ORIENTATION"][1], body)
    for call in re.finditer(r"TB_SPEC_ACTUATORS\(X, (\"\w+\"), (\"[^\"]*\")\)", body):
        inner = macros["TB_SPEC_ACTUATORS"][1].replace("parent", call.group(1)).replace("own", call.group(2))
        body = body.replace(call.group(0), inner)
    for kind, args in calls(body):
        if kind == "X":
            out.append(args)
    return out


def elements_of_mjcf() -> str:
    """A table of the elements and attributes that are read, from the lists that reading uses."""
    macros = macros_of("include/tribo/spec_fields.h", "src/io/spec_elements.h")
    texts = {name: body for name, (parameters, body) in macros.items() if not parameters}
    out = ["# Elements of MJCF", "", "What is read, and what an edit of a [spec](../manual/spec.md) may set. Attributes in",
           "parentheses are known, but not used. Sensors and their targets are on [their page](../manual/sensors.md).", "",
           "| in | element | attributes |", "|---|---|---|"]
    fields = {}
    for parent, tag, _, listed, others, names, what in rows("TB_SPEC_ELEMENTS", macros):
        words = string(names, texts).split()
        for sign, group in (("*", listed), ("+", others)):
            if sign not in words:
                continue
            at = words.index(sign)
            if group == "flag":
                words[at : at + 1] = [args[0] for args in rows("TB_SPEC_FLAGS", macros)]
                continue
            list_name = "TB_SPEC_TEXTFIELD" if group == "text" else f"TB_SPEC_{group.upper()}"
            words[at : at + 1] = [f"({a[1]})" if a[0] == "SKIP" else a[1] for a in rows(list_name, macros)]
            fields[group] = list_name
        tag, note = string(tag, texts), string(what, texts)
        attributes = " ".join(f"`{w}`" if not w.startswith("(") else f"(`{w[1:-1]}`)" for w in words)
        attributes = "" if words == ["any"] else attributes
        out.append(f"| `{string(parent, texts)}` | `<{tag}>` | {attributes}{'; ' if attributes and note else ''}{note} |")
    out += ["", "## Attributes", "", "`0 0` of a list: any number of values; the default is that of the flat spec.", ""]
    for group, list_name in sorted(fields.items()):
        out += [f"**{group}**", "", "| attribute | values | default | meaning |", "|---|---|---|---|"]
        for kind, name, least, most, initial, words, what in rows(list_name, macros):
            if kind == "SKIP":
                continue
            form = {"TEXT": "text", "LIST": "numbers", "ENUM": "a word"}.get(kind, "whole" if kind == "INT" else "number")
            count = "" if kind in ("TEXT", "LIST", "ENUM") else (least if least == most else f"{least} to {most}")
            initial = texts.get(initial, initial) if group != "option" else ""
            out.append(f"| `{name}` | {count} {form} | {plain(initial)} | {plain(string(what, texts))} |")
        out.append("")
    return "\n".join(out)


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: reference.py OUTPUT_FOLDER")
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    index = ["# Reference", "", "The public headers. `tribo/tribo.h` includes all of them.", ""]
    for header in headers:
        (out / f"{header.stem}.md").write_text(page(header))
        first = next((line[3:] for line in header.read_text().splitlines() if line.startswith("// ")), "")
        index.append(f"* [tribo/{header.name}]({header.stem}.md): {first}")
    (out / "mjcf.md").write_text(elements_of_mjcf() + "\n")
    index.append("* [Elements of MJCF](mjcf.md): elements and attributes that are read")
    (out / "index.md").write_text("\n".join(index) + "\n")


main()
