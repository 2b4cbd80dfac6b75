"""The pages for people: what this server is, and what each rule is about."""

from __future__ import annotations

from html import escape

from markdown_it import MarkdownIt

from bot import __version__
from bot.hazards import Rule, Rules

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
}

_STYLE = """
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent);
  --accent: light-dark(#0b5cad, #7ab8ff); }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
nav { display: flex; gap: 1.25rem; border-bottom: 1px solid var(--line); padding-bottom: .75rem; margin-bottom: 2rem; }
a { color: var(--accent); } h1 { line-height: 1.25; } h2 { margin-top: 2rem; }
code { font: .9em ui-monospace, monospace; background: var(--line); border-radius: .3em; padding: .1em .3em; }
pre { overflow-x: auto; border: 1px solid var(--line); border-radius: .5em; padding: .75rem 1rem; }
pre code { background: none; padding: 0; }
table { border-collapse: collapse; width: 100%; } td, th { border-bottom: 1px solid var(--line); padding: .45rem .6rem;
  text-align: left; vertical-align: top; }
.level { font-size: .8em; border: 1px solid var(--line); border-radius: 1em; padding: .05em .6em; white-space: nowrap; }
.ok::before { content: "●"; color: light-dark(#1a7f37, #3fb950); margin-right: .4em; }
.bad::before { content: "●"; color: light-dark(#cf222e, #f85149); margin-right: .4em; }
"""

_markdown = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")


def page(title: str, body: str) -> str:
    """A whole page around a body of HTML."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        '<nav><a href="/"><strong>Seamguard</strong></a><a href="/hazards">Hazards</a></nav>'
        f"<main>{body}</main></body></html>"
    )


def rendered(markdown: str) -> str:
    """Markdown as HTML. HTML inside is shown, not used; links lead to http, https and mail alone."""
    return str(_markdown.render(markdown))


def status_page(problems: list[str], rules: Rules, *, sandbox: bool) -> str:
    """What runs here, and what is wrong with it."""
    state = (
        "".join(f'<p class="bad">{escape(problem)}</p>' for problem in problems)
        if problems
        else '<p class="ok">Ready to receive webhooks.</p>'
    )
    note = "<p>No credentials are set: this is a sandbox with a simulated GitHub.</p>" if sandbox else ""
    return page(
        "Seamguard",
        "<h1>Seamguard</h1><p>Reviews what a pull request does to the vLLM engines that a repository ships as Docker "
        f"Compose files.</p>{state}{note}"
        f'<p>Version {escape(__version__)}, with <a href="/hazards">{len(rules.rules)} hazard rules</a>.</p>',
    )


def hazards_page(rules: Rules) -> str:
    """All rules."""
    rows = "".join(_row(rule) for rule in sorted(rules.rules, key=lambda rule: rule.id))
    return page("Hazards", f"<h1>Hazards</h1><table><tbody>{rows}</tbody></table>")


def _row(rule: Rule) -> str:
    return (
        f'<tr><td><a href="/hazards/{escape(rule.id)}"><code>{escape(rule.id)}</code></a></td>'
        f"<td>{escape(rule.title)}</td>"
        f'<td><span class="level">{escape(rule.level)}</span></td></tr>'
    )


def hazard_page(rules: Rules, identity: str) -> str | None:
    """The page of one rule; None when there is no such rule."""
    if identity not in rules.ids:
        return None
    return page(rules.named[identity].title, rendered(rules.page(identity)))
