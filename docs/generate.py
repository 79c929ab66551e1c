"""Writes docs/rules/ from the rule book: `make docs`. A test fails while the committed pages differ."""

from __future__ import annotations

from pathlib import Path

from toolroster.report import render_rule_index, render_rule_page
from toolroster.rules import RULES


def main() -> None:
    """Write a page a rule and the index, and delete the pages of rules that are no more."""
    folder = Path(__file__).parent / "rules"
    folder.mkdir(exist_ok=True)
    pages = {f"{code}.md": render_rule_page(registered) for code, registered in RULES.items()}
    pages["index.md"] = render_rule_index(RULES.values())
    for path in folder.iterdir():
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
