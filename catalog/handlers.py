"""Every handler of the workbench by its tool's name, so that `handlers:<name>` finds it.

Tools of the catalog that have no function here (they need a language server, a model or a forge) can be shown, and say so
when they are called.
"""

from __future__ import annotations

from .handlers_agent import agent
from .handlers_files import edit_file, list_dir, read_file, write_file
from .handlers_patch import apply_patch
from .handlers_search import file_search, grep_files, project_map
from .handlers_shell import exec_shell, exec_shell_cancel, exec_shell_interact, exec_shell_wait
from .handlers_web import fetch_url
from .handlers_work import handle_read, note, retrieve_tool_result, todo_write, update_plan

__all__ = [
    "agent",
    "apply_patch",
    "edit_file",
    "exec_shell",
    "exec_shell_cancel",
    "exec_shell_interact",
    "exec_shell_wait",
    "fetch_url",
    "file_search",
    "grep_files",
    "handle_read",
    "list_dir",
    "note",
    "project_map",
    "read_file",
    "retrieve_tool_result",
    "todo_write",
    "update_plan",
    "write_file",
]
