"""Vendored patch scripts against another release's source: read, not run."""

from __future__ import annotations

import time

import pytest

from bot.catalog import read_catalog
from bot.learn.source import SourceTree
from bot.tree import MemoryTree
from bot.upstream.overlays import (
    Script,
    check_overlays,
    check_script,
    check_scripts,
    modules_of,
    outdated,
    read_scripts,
    scripts_of,
)
from bot.upstream.replacements import plain_text, python_edits

FILE = "vllm/v1/core/manager.py"
STOCK = "class Manager:\n    def hit(self, drop):\n        length = self.longest()\n        return length\n"
OLD = "        return length\n"
NEW = "        return length - int(drop)\n"
FIXED = STOCK.replace(OLD, NEW)
TWICE = STOCK + "\n    def other(self, length):\n" + OLD
REWRITTEN = "class Manager:\n    def hit(self, drop):\n        return self.longest(drop)\n"

LITERAL = f"""
from pathlib import Path
TARGET = Path("/usr/lib/python3/dist-packages/vllm/v1/core/manager.py")
OLD = {OLD!r}
NEW = {NEW!r}
text = TARGET.read_text()
if NEW in text:
    raise SystemExit(0)
if text.count(OLD) != 1:
    raise SystemExit("drift")
TARGET.write_text(text.replace(OLD, NEW, 1))
"""
JOINED = f"""
import os, vllm
path = os.path.join(os.path.dirname(vllm.__file__), "v1", "core", "manager.py")
s = open(path).read()
s = s.replace(
    "        return " + "length\\n",
    {NEW!r})
open(path, "w").write(s)
"""
DIVIDED = f"""
import importlib.util
from pathlib import Path
root = Path(importlib.util.find_spec("vllm").origin).parent
f = root / "v1" / "core/manager.py"
f.write_text(f.read_text().replace({OLD!r}, {NEW!r}))
"""
LISTED = f"""
# for vllm
EDITS = [
    ("v1/core/manager.py", {OLD!r}, {NEW!r}),
]
for file, old, new in EDITS:
    s = open(file).read()
    open(file, "w").write(s.replace(old, new))
"""
RECORDS = f"""
TARGET = "vllm/v1/core/manager.py"
@dataclass
class Edit: old: str; new: str
EDITS = [Edit(old={OLD!r}, new={NEW!r})]
for edit in EDITS:
    s = s.replace(edit.old, edit.new)
"""
HEREDOC = f"set -e\npython3 - <<'PY'\n{LITERAL}\nPY\n"
SED = "sed -i 's/return length$/x/; ' a.py\n"
DIFF = f"""\
diff --git a/{FILE} b/{FILE}
--- a/{FILE}
+++ b/{FILE}
@@ -2,3 +2,3 @@ class Manager:
     def hit(self, drop):
         length = self.longest()
-        return length
+        return length - int(drop)
"""
SCRIPTS = {
    "p/a.py": LITERAL,
    "p/b.py": JOINED,
    "p/c.py": DIVIDED,
    "p/d.py": LISTED,
    "p/e.py": RECORDS,
    "p/f.sh": HEREDOC,
    "p/g.patch": DIFF,
    "p/h.sh": f"sed -i 's/        return length/        return length - int(drop)/' /usr/lib/{FILE}\n",
}


def source(text: str | None) -> SourceTree:
    return SourceTree(({FILE: text} if text is not None else {}).get)


@pytest.mark.parametrize("path", SCRIPTS)
@pytest.mark.parametrize(
    ("text", "state"), [(STOCK, "present"), (FIXED, "applied"), (REWRITTEN, "gone"), (None, "target-gone")]
)
def test_an_anchor(path: str, text: str | None, state: str) -> None:
    (check,) = check_script(path, SCRIPTS[path], source(text))
    assert (check.state, check.target.endswith("v1/core/manager.py")) == (state, True), check


def test_an_anchor_that_stands_twice() -> None:
    (check,) = check_script("p/a.py", LITERAL, source(TWICE))
    assert check.state == "ambiguous"


def test_the_line_of_an_edit() -> None:
    (check,) = check_script("p/a.py", LITERAL, source(STOCK))
    assert LITERAL.split("\n")[check.line - 1].startswith("TARGET.write_text")
    (check,) = check_script("p/f.sh", HEREDOC, source(STOCK))
    assert HEREDOC.split("\n")[check.line - 1].startswith("TARGET.write_text")


def test_a_later_edit_may_build_on_an_earlier_one() -> None:
    script = (
        f'p = "vllm/v1/core/manager.py"\ns = s.replace({OLD!r}, "        found = length\\n        return found\\n")\n'
        's = s.replace("        return found\\n", "        return found - 1\\n")\n'
    )
    assert [check.state for check in check_script("p/a.py", script, source(STOCK))] == ["present", "present"]


@pytest.mark.parametrize(
    ("path", "script"),
    [
        ("p/a.py", "import re\np = 'vllm/v1/core/manager.py'\ns = re.sub('return.*', 'x', s)"),
        ("p/a.py", "p = 'vllm/v1/core/manager.py'\ns = s.replace(read('old'), read('new'))"),
        ("p/a.py", "p = 'vllm/v1/core/manager.py'\nopen(p, 'w').write(made())"),
        ("p/a.py", f"s = s.replace({OLD!r}, {NEW!r})"),
        ("p/a.py", f"OLD = {OLD!r}\nif x: OLD = 'other'\np = 'vllm/v1/core/manager.py'\ns = s.replace(OLD, 'b')"),
        ("p/a.py", "def ("),
        ("p/a.sh", f"sed -i 's/return .*/x/' /usr/lib/{FILE}"),
        ("p/a.sh", f"cp manager.py /usr/lib/{FILE}"),
        ("p/a.sh", "sed -i 's/unclosed"),
        ("patches/x/vllm/v1/core/manager.py", REWRITTEN),
        ("p/a.py", "p = 'srt/manager.py'\ns = s.replace('return length', 'x')"),
        ("p/a.patch", f"--- /dev/null\n+++ b/{FILE}\n@@ -0,0 +1,1 @@\n+x\n"),
    ],
)
def test_what_is_not_understood_is_unknown(path: str, script: str) -> None:
    assert {check.state for check in check_script(path, script, source(STOCK))} == {"unknown"}


@pytest.mark.parametrize(
    ("path", "script"),
    [
        ("p/a.py", "print(name.replace('-', '_'))"),
        ("p/a.sh", "echo hello\ngrep x y\nsed 's/a/b/' z"),
        ("p/a.patch", ""),
    ],
)
def test_what_edits_nothing_has_no_check(path: str, script: str) -> None:
    assert check_script(path, script, source(STOCK)) == ()


def test_a_whole_file() -> None:
    path = f"patches/x/{FILE}"
    assert check_script(path, STOCK, source(STOCK))[0].state == "applied"
    assert check_script(path, STOCK, source(None))[0].state == "target-gone"


@pytest.mark.parametrize(
    ("path", "script"),
    [
        ("p/a.py", "x = " + "(" * 5000),
        ("p/a.py", "x = " + "-" * 50_000 + "1"),
        ("p/a.py", "A = A + A\ns.replace(A, 'b')"),
        ("p/a.sh", "python <<PY\n" * 3000),
        ("p/a.patch", "@@ -1,999999999 +1,999999999 @@\n" * 2000),
        ("p/a.py", "x" * 600_000),
        ("p/a.py", "A = 'aaaaaaa'\n" * 9000 + "s.replace(B, 'bbbb')\n" * 3000),
        ("p/a.py", "\n".join(f"p{n} = 'vllm/m{n}.py'" for n in range(6000)) + "\ns.replace(x, 'b')"),
    ],
)
def test_hostile_scripts_end(path: str, script: str) -> None:
    assert all(check.state == "unknown" for check in check_script(path, script, source(STOCK)))


def test_the_scripts_of_a_repository() -> None:
    patches = "patches:\n  - id: x\n    files: [tools/fix.py]\n    load_bearing_when: []\n"
    files = {"patches.yml": patches, "tools/fix.py": LITERAL, "tools/other.py": LITERAL, "a/patches/b/c.patch": DIFF}
    tree = MemoryTree(files)
    checks = check_overlays(tree, read_catalog(tree), source(REWRITTEN))
    assert [(check.script, check.state) for check in checks] == [
        ("a/patches/b/c.patch", "gone"),
        ("tools/fix.py", "gone"),
    ]


def test_the_scripts_that_a_service_mounts() -> None:
    tree = MemoryTree({"tools/fix.py": LITERAL, "tools/more/other.py": LITERAL, "lib/third.py": LITERAL})
    assert scripts_of(tree, read_catalog(tree)) == ()
    assert scripts_of(tree, read_catalog(tree), ["tools", "."]) == ("tools/fix.py", "tools/more/other.py")


@pytest.mark.parametrize("path", SCRIPTS)
def test_the_modules_that_a_check_asks_for(path: str) -> None:
    assert FILE in modules_of([Script(path, SCRIPTS[path])])


def test_a_file_in_the_place_of_a_module_asks_for_that() -> None:
    assert modules_of([Script(f"patches/x/{FILE}", STOCK)]) == {FILE}


def test_an_unreadable_script_is_unknown() -> None:
    (check,) = check_scripts([Script("p/a.py", None, "the file is binary")], source(STOCK))
    assert (check.state, check.why) == ("unknown", "the file is binary")


REASSIGNED = f"""\
VLLM=/usr/local/lib/python3.12/dist-packages/vllm
python3 - "$VLLM/v1/core/manager.py" <<'PY'
import sys
from pathlib import Path
p = Path(sys.argv[1])
s = p.read_text()
old = "class Manager:\\n"
new = "class Manager:  # ours\\n"
if old not in s:
    raise SystemExit(1)
s = s.replace(old, new, 1)
old = {OLD!r}
new = {NEW!r}
p.write_text(s.replace(old, new, 1))
PY
"""
PATTERN = f"""
import re
from pathlib import Path
import vllm
target = Path(vllm.__file__).resolve().parent / "v1" / "core" / "manager.py"
BLOCK = re.compile(r"^        length = self\\.longest\\(\\)\\n", re.MULTILINE)
target.write_text(BLOCK.sub({NEW!r}, target.read_text(), count=1))
"""
MADE = f"""
import importlib.util
from pathlib import Path
NAME = "ours"
ANCHOR = ({OLD!r})
INSERT = f"        # {{NAME}}\\n"
path = Path(importlib.util.find_spec("vllm").origin).parent / Path("v1/core/manager.py")
text = path.read_text()
path.write_text(text.replace(ANCHOR, ANCHOR + INSERT, 1))
"""
SLICED = f"""
from pathlib import Path
target = Path("/usr/lib/python3/dist-packages/vllm/v1/core/manager.py")
text = target.read_text()
at = text.index({OLD!r})
target.write_text(text[:at] + "        drop = 0\\n" + text[at:])
"""


@pytest.mark.parametrize(
    ("path", "script", "there", "gone"),
    [
        ("p/a.sh", REASSIGNED, ["present", "present"], ["present", "gone"]),
        ("p/a.py", PATTERN, ["present"], ["gone"]),
        ("p/a.py", MADE, ["present"], ["gone"]),
        ("p/a.py", SLICED, ["present"], ["gone"]),
    ],
)
def test_scripts_as_people_write_them(path: str, script: str, there: list[str], gone: list[str]) -> None:
    assert [check.state for check in check_script(path, script, source(STOCK))] == there
    assert [check.state for check in check_script(path, script, source(REWRITTEN))] == gone


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^(        N, H = query\.shape\n)", "        N, H = query.shape\n"),
        (r"a\{b\}\t", "a{b}\t"),
        (r"^( *)self", None),
        (r"\1 x", None),
        (r"a|b", None),
        (r"a\d", None),
        ("a\\", None),
        ("", ""),
    ],
)
def test_a_pattern_that_is_one_text(pattern: str, text: str | None) -> None:
    assert plain_text(pattern) == text


def test_a_folder_of_patches_below_a_folder_of_that_name() -> None:
    path = "models/x/vllm/patches/fix.py"
    assert [check.state for check in check_script(path, LITERAL, source(STOCK))] == ["present"]
    whole = "models/x/vllm/patches/rebased/v1/core/manager.py"
    (check,) = check_script(whole, REWRITTEN, source(STOCK))
    assert (check.target, check.state, check.whole) == (FILE, "unknown", True)
    assert check_script(whole, "x = 1\n", source(None)) == ()


@pytest.mark.parametrize(
    ("place", "module"),
    [
        ("/usr/lib/python3/dist-packages/vllm", "vllm/a/b.py"),
        ("/dist-packages/vllm/", "vllm/a/b.py"),
        ("/x/dist-packages/vllm/y/site-packages/vllm", "vllm/a/b.py"),
        ("/usr/lib/python3/dist-packages/other", ""),
        ("vllm", ""),
        ("/site-packages/vllm/x y", ""),
        ("/site-packages/vllm/a" * 50_000, "vllm/a/a/b.py"),
    ],
)
def test_what_is_mounted_over_the_package(place: str, module: str) -> None:
    """Also where the place is a megabyte long."""
    (script,) = read_scripts(MemoryTree({"ours/a/b.py": "x = 1\n"}), ["ours/a/b.py"], {"ours": place})
    assert script.over == module


def test_a_module_that_a_mount_lays_over_another() -> None:
    tree = MemoryTree({"ours/manager.py": REWRITTEN})
    mounted = {"ours": "/usr/local/lib/python3.12/dist-packages/vllm/v1/core"}
    (script,) = read_scripts(tree, ["ours/manager.py"], mounted)
    assert script.over == FILE
    (check,) = check_scripts([script], source(STOCK))
    assert outdated(check, source(STOCK), source(STOCK)).state == "unknown"
    assert outdated(check, source(STOCK), source(FIXED)).state == "outdated"
    assert check_scripts([script], source(None))[0].state == "target-gone"


def test_a_hunk_that_fits_with_less_context_is_not_gone() -> None:
    moved = STOCK.replace("        return length\n", "        return length\n\n    def more(self):\n        pass\n")
    moved = moved.replace("    def hit(self, drop):\n", "    def hit(self, drop, more):\n")
    (check,) = check_script("p/g.patch", DIFF, source(moved))
    assert (check.state, "context" in check.why) == ("unknown", True)


def test_names_that_stand_for_each_other_many_times_end() -> None:
    many = [f"{name} = ''.join([{f'{of}, ' * 400}])\n" for name, of in ("ba", "cb", "dc")]
    start = time.process_time()
    (edit,) = python_edits(f"a = ''\n{''.join(many)}s.replace(d, '')\n", 1)
    assert time.process_time() - start < 2
    assert edit.old is None


@pytest.mark.parametrize("line", ["python " + "/a" * 100_000 + " <<X\nX", "python " * 30_000, "cp " + "/a" * 100_000])
def test_an_endless_line_of_a_script_ends(line: str) -> None:
    start = time.process_time()
    check_script("p/a.sh", line, source(STOCK))
    assert time.process_time() - start < 5
