"""What links in a review lead to: a file as it was at a commit, and what a commit changed."""

from __future__ import annotations

from html import escape
from string import Template

from bot.sandbox.github import RepositoryHandle
from bot.sandbox.page.hunks import hunk
from bot.sandbox.page.parts import plural

_PAGE = Template(
    """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title · Seamguard sandbox</title>
<link rel="stylesheet" href="/assets/page.css">
<link rel="icon" href="data:,">
</head>
<body>
<div class="banner"><b>Seamguard sandbox</b> <span><a href="$back">Back to the pull request</a></span></div>
<div class="page"><header id="title"><h1>$title</h1><p>$about</p></header><main>$content</main></div>
</body>
</html>
"""
)


def file_page(repository: RepositoryHandle, sha: str, path: str, back: str) -> str | None:
    """A file with its lines, each with an id (`L7`) that a link can name; None where there is no such text."""
    store = repository.record.store
    content = store.read(sha, path) if store.kind(sha) == "commit" and "\n" not in path else None
    if content is None:
        return None
    rows = "".join(
        f'<tr class="same" id="L{number}"><td class="n">{number}</td><td class="c">{escape(line)}</td></tr>'
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1)
    )
    table = f'<div class="diff"><table>{rows}</table></div>'
    about = f"as it was at <code>{escape(sha[:7])}</code>"
    return _PAGE.substitute(title=escape(path), about=about, back=escape(back), content=table)


def commit_page(repository: RepositoryHandle, sha: str, back: str) -> str | None:
    """What a commit changed; None where there is no such commit."""
    store = repository.record.store
    if store.kind(sha) != "commit":
        return None
    commit = store.describe(sha)
    files = store.diff(commit.parents[0], sha) if commit.parents else ()
    shown = "".join(f"<h3>{escape(file.path)}</h3>{hunk(file.patch, None) if file.patch else ''}" for file in files)
    title = escape(commit.message.partition("\n")[0])
    about = f"<b>{escape(commit.author)}</b>, <code>{escape(sha[:7])}</code>, {plural(len(files), 'file')}"
    return _PAGE.substitute(title=title, about=about, back=escape(back), content=shown)
