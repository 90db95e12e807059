# SPDX-License-Identifier: GPL-3.0-or-later
"""Docstrings and comments name what exists: parameters, attributes, exceptions, files, constants, other names.

A rename that forgets prose leaves a name behind that nobody finds.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from fixtures.source_trees import nodes_of

ROOT = Path(__file__).resolve().parent.parent

# folders whose prose names what the product has, and others, whose prose may name what they have themselves
PRODUCT = ("solver", "addon")
OTHERS = ("benchmarks", "scripts", "examples", "demo_blends", "tests")

CAPITALS = {
    # acronyms
    *("ASCII", "BLAS", "FEPR", "HTML", "JSON", "JSONL", "LAPACK", "LLVM", "SIMD", "SPDX", "UTF"),
    # of operating systems and processors
    *("ERROR_DISK_FULL", "ERROR_WRITE_PROTECT", "LZCNT", "M_MMAP_THRESHOLD", "M_TRIM_THRESHOLD"),
    "PF_AVX2_INSTRUCTIONS_AVAILABLE",
    # what stands for a part of a name or of a command
    *("ARGUMENTS", "NNNNNN", "SOMETHING"),
}
# no names of the tree: words of Python, ends of file names, Blender's package of extensions
NAMES = {*keyword.kwlist, *dir(builtins), "jsonl", "bl_ext"}


@cache
def sources(folder: str) -> tuple[Path, ...]:
    return tuple(sorted(path for path in (ROOT / folder).rglob("*.py") if "__pycache__" not in path.parts))


def files_of(folders: tuple[str, ...]) -> list[Path]:
    return [path for folder in folders for path in sources(folder)]


@cache
def names_of(path: Path) -> frozenset[str]:
    """Returns all identifiers of a file, its module and folder, and the words of its strings without a space."""
    names = {path.stem, path.parent.name}
    docstrings = {id(node) for node in docstring_nodes(path)}
    for node in nodes_of(path):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.alias(name=name, asname=other):
                names |= {*name.split("."), other or ""}
            case ast.Constant(value=str(text)) if id(node) not in docstrings and not re.search(r"\s", text):
                names |= set(re.findall(r"[A-Za-z_]\w*", text))
            case _:
                pass
    return frozenset(names)


@cache
def names_in(*folders: str) -> frozenset[str]:
    """Returns all identifiers of the code in these folders."""
    return frozenset().union(*map(names_of, [ROOT / "__init__.py", ROOT / "__main__.py", *files_of(folders)]))


@cache
def definitions() -> frozenset[str]:
    """Returns what any file of the product may name: modules, functions, classes, their members, constants, words."""
    names: set[str] = set()
    for path in [ROOT / "__init__.py", ROOT / "__main__.py", *files_of(PRODUCT)]:
        names |= {path.stem, path.parent.name}
        for node in nodes_of(path):
            match node:
                case ast.FunctionDef(name=name) | ast.Attribute(attr=name):
                    names.add(name)
                case ast.ClassDef(name=name, body=body):
                    names |= {name, *assigned_in(body)}
                case ast.Constant(value=str(text)) if re.fullmatch(r"[A-Za-z_]\w*", text):
                    names.add(text)
                case _:
                    pass
        names |= assigned_in(nodes_of(path)[0].body)
    return frozenset(names)


def assigned_in(body: list[ast.stmt]) -> set[str]:
    """Returns the names that the statements of a module or a class assign."""
    targets = [node.target for node in body if isinstance(node, ast.AnnAssign)]
    targets += [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


@cache
def docstring_nodes(path: Path) -> tuple[ast.Constant, ...]:
    described = [node for node in nodes_of(path) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
    return tuple(node.body[0].value for node in described if ast.get_docstring(node) is not None)


@cache
def prose_of(path: Path) -> tuple[tuple[int, str], ...]:
    """Returns (line, text) of all docstrings and comments of a file."""
    found = [(node.lineno, node.value) for node in docstring_nodes(path)]
    return tuple(sorted([*found, *comments(path)]))


def comments(path: Path) -> Iterator[tuple[int, str]]:
    """Yields (line, text) of comments: from the first # of a line on that is in no string. Tokenizing takes longer."""
    strings = [
        ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
        for node in nodes_of(path)
        if isinstance(node, ast.JoinedStr) or isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    ]
    by_line: dict[int, list] = {}
    for string in strings:
        for line in range(string[0][0], string[1][0] + 1):
            by_line.setdefault(line, []).append(string)
    for line, code in enumerate(path.read_bytes().split(b"\n"), 1):
        for found in re.finditer(b"#", code):
            place = (line, found.start())
            if not any(first <= place < last for first, last in by_line.get(line, ())):
                yield line, code[found.start() :].decode()
                break


def section(docstring: str, title: str) -> list[str]:
    """Returns the names that a section of a docstring explains, one or several to an entry: `a, b: …`."""
    lines = docstring.splitlines()
    if title not in [line.strip() for line in lines]:
        return []
    at = next(i for i, line in enumerate(lines) if line.strip() == title)
    indent = len(lines[at]) - len(lines[at].lstrip())
    body = []
    for line in lines[at + 1 :]:
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            break
        body.append(line)
    entries = [line.strip() for line in body if len(line) - len(line.lstrip()) == indent + 4]
    heads = [head for head, colon, _ in (entry.partition(":") for entry in entries) if colon]
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


def pages() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def page_text(page: Path) -> str:
    """Returns a page without its blocks of code."""
    return re.sub(r"(?s)```.*?```", "", page.read_text(encoding="utf-8"))


@cache
def classes() -> dict[str, list[ast.ClassDef]]:
    result: dict[str, list[ast.ClassDef]] = {}
    for path in files_of(PRODUCT):
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                result.setdefault(node.name, []).append(node)
    return result


def members(node: ast.ClassDef, known: dict[str, list[ast.ClassDef]]) -> set[str]:
    """Returns the fields, properties, methods and assigned attributes of a class and of its bases."""
    names = assigned_in(node.body) | {inner.name for inner in node.body if isinstance(inner, ast.FunctionDef)}
    for inner in ast.walk(node):
        match inner:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                names.add(name)
            case _:
                pass
    for other in bases(node, known):
        names |= members(other, known)
    return names


def bases(node: ast.ClassDef, known: dict[str, list[ast.ClassDef]]) -> list[ast.ClassDef]:
    """Returns the classes that a class inherits from, `Base` and `Base[…]`; of the same name, all."""
    names = [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases]
    return [other for name in names for other in known.get(name, []) if other is not node]


def init_parameters(node: ast.ClassDef, known: dict[str, list[ast.ClassDef]]) -> set[str]:
    """Returns the parameters of a class's own __init__, or of those that it inherits."""
    own = [inner for inner in node.body if isinstance(inner, ast.FunctionDef) and inner.name == "__init__"]
    if own:
        return parameters(own[0])
    return {name for base in bases(node, known) for name in init_parameters(base, known)}


def parameters(node: ast.FunctionDef) -> set[str]:
    args = node.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, [args.vararg, args.kwarg])]
    return {arg.arg for arg in every}


def test_attributes_are_members_of_their_class():
    known = classes()
    wrong, count = [], 0
    for path in files_of(PRODUCT):
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                names = section(ast.get_docstring(node) or "", "Attributes:")
                count += len(names)
                gone = [name for name in names if name not in members(node, known)]
                wrong += [f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has no {name}" for name in gone]
    assert count > 500 and not wrong, f"{count}\n" + "\n".join(wrong)


def test_arguments_are_parameters():
    known = classes()
    wrong, count = [], 0
    for path in files_of(PRODUCT):
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef):
                may = parameters(node)
            elif isinstance(node, ast.ClassDef):
                may = init_parameters(node, known) or members(node, known)
            else:
                continue
            names = section(ast.get_docstring(node) or "", "Args:")
            count += len(names)
            gone = [name for name in names if name not in may]
            wrong += [f"{path.relative_to(ROOT)}:{node.lineno} {node.name} takes no {name}" for name in gone]
    assert count > 500 and not wrong, f"{count}\n" + "\n".join(wrong)


def test_exceptions_exist():
    """What `Raises:` lists."""
    known = {*classes(), *dir(builtins)}
    wrong, count = [], 0
    for path in files_of(PRODUCT):
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef):
                names = section(ast.get_docstring(node) or "", "Raises:")
                count += len(names)
                gone = [name for name in names if name not in known]
                wrong += [f"{path.relative_to(ROOT)}:{node.lineno} {node.name} raises no {name}" for name in gone]
    assert count > 200 and not wrong, f"{count}\n" + "\n".join(wrong)


def test_files_exist():
    """`name.py`, `folder/name.py`: ends of paths; `solver/folder`: paths from the root."""
    python = [*ROOT.glob("*.py"), *files_of((*PRODUCT, *OTHERS))]
    parts = [path.relative_to(ROOT).parts for path in python]
    ends = {"/".join(each[n:]) for each in parts for n in range(len(each))}
    prose = [(path, line, text) for path in python if path != Path(__file__) for line, text in prose_of(path)]
    prose += [(page, 1, page_text(page)) for page in pages()]
    wrong, count = [], 0
    for path, line, text in prose:
        names = re.findall(r"(?<![\w/.*])[a-z_0-9/]+\.py\b", text)
        gone = [name for name in names if name not in ends]
        paths = re.findall(rf"(?<![\w/.])(?:{'|'.join((*PRODUCT, *OTHERS))})/[\w/]*\w(?!\w*[*.])", text)
        gone += [name for name in paths if not (ROOT / name).exists()]
        count += len(names) + len(paths)
        wrong += [f"{path.relative_to(ROOT)}:{line} {name}" for name in gone]
    assert count > 300 and not wrong, f"{count}\n" + "\n".join(wrong)


def test_constants_exist():
    """Words in capitals with an underscore; in the product also those of four letters and more. F_T is a symbol."""
    wrong, count = [], 0
    for path in files_of((*PRODUCT, *OTHERS)):
        is_product = path.relative_to(ROOT).parts[0] in PRODUCT
        known = names_in(*PRODUCT, *(() if is_product else OTHERS))
        pattern = r"(?<![\w.])(?:[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+" + (r"|[A-Z]{4,})\b" if is_product else r")\b")
        for line, text in prose_of(path):
            words = re.findall(pattern, re.sub(r"(?m)^ *python3? .*", "", text))
            count += len(words)
            wrong += [f"{path.relative_to(ROOT)}:{line} {word}" for word in {*words} - CAPITALS - known]
    assert count > 300 and not wrong, f"{count}\n" + "\n".join(wrong)


def test_names_exist():
    """`name`, `Class.name`, `module.name`, `name()` in back-quotes, and snake_case words anywhere; x_a is a symbol.

    In the product they are parameters and variables of their own file, or definitions of any.
    """
    wrong, count = [], 0
    for path in files_of((*PRODUCT, *OTHERS)):
        is_product = path.relative_to(ROOT).parts[0] in PRODUCT
        tops = PRODUCT if is_product else (*PRODUCT, *OTHERS)
        near = names_of(path) if is_product else names_in(*tops)
        for line, text in prose_of(path):
            found = re.findall(r"`((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:\(\))?`", text)
            found += re.findall(r"(?<![\w./])[a-z]{2,}\d*(?:_[a-z0-9]{2,})+\b(?!\.\w)", text)
            found = [name for name in found if not name.endswith(".py") and path != Path(__file__)]
            count += len(found)
            unknown = [name for name in found if {*name.split(".")} - NAMES - near - definitions()]
            gone = [*unknown, *(name for name in found if name not in unknown and not has_member(name, tops))]
            wrong += [f"{path.relative_to(ROOT)}:{line} {name}" for name in gone]
    assert count > 1000 and not wrong, f"{count}\n" + "\n".join(wrong)


def has_member(name: str, tops: tuple[str, ...]) -> bool:
    """Returns whether the last word belongs to the class or the module before it, where a folder has that one."""
    owner, _, member = name.rpartition(".")
    owner = owner.rpartition(".")[2]
    known = classes()
    if owner in known and name != "Scene.sinew":  # Blender's Scene
        return any(member in members(node, known) for node in known[owner])
    modules = modules_by_name(tops).get(owner, [])
    return owner in folder_names() or not modules or any(member in names_of(path) for path in modules)


@cache
def modules_by_name(folders: tuple[str, ...]) -> dict[str, list[Path]]:
    result: dict[str, list[Path]] = {}
    for path in files_of(folders):
        result.setdefault(path.stem, []).append(path)
    return result


@cache
def folder_names() -> frozenset[str]:
    return frozenset(path.parent.name for path in files_of(PRODUCT))


def test_pages_name_what_exists():
    """Words in back-quotes; docs/settings.md, which a test compares with the settings, joins names of its own."""
    known = NAMES | definitions() | names_in(*PRODUCT, *OTHERS)
    wrong, count = [], 0
    for page in pages():
        if page.name != "settings.md":
            found = re.findall(r"`((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:\(.*?\))?`", page_text(page))
            found = [name for name in found if not name.endswith(".py")]
            count += len(found)
            wrong += [f"{page.name} {name}" for name in found if {*name.split(".")} - known]
    assert count > 100 and not wrong, f"{count}\n" + "\n".join(wrong)
