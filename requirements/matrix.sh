#!/usr/bin/env bash
# Runs the tests against the built wheel on every supported Python that this machine has: with the lock's newest
# dependencies, and on 3.11 also with the oldest ones that pyproject.toml allows. `make matrix` calls it, because the
# wheel is built by .venv. Its own environments are kept in .venvs/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly VERSIONS="3.11 3.12 3.13 3.14"
readonly OLDEST_VERSION="3.11"

passed=()
failed=()
missing=()

# Prints the command of Python $1 (such as 3.12), on PATH first, then pyenv's; fails if there is none.
find_python() {
  local version=$1 candidate
  for candidate in "python$version" python3 "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python3; do
    if "$candidate" - "$version" >/dev/null 2>&1 <<'PYTHON'
import sys, sysconfig
found = "{}.{}".format(*sys.version_info[:2])
sys.exit(found != sys.argv[1] or bool(sysconfig.get_config_var("Py_GIL_DISABLED")))
PYTHON
    then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
  return 1
}

install_quietly() {
  local venv=$1
  shift
  "$venv/bin/python" -m pip --disable-pip-version-check install --quiet --quiet "$@"
}

# The MCP SDK, a development tool, needs a newer pydantic than the oldest that we allow: its tests are left out there.
# Makes the environment $1 with the Python $2: the lock, then the requirements file $3 if any, then the wheel.
# Called from an `if`, where `set -e` is off: so each command says for itself that its failure ends the function.
install() {
  local venv=$1 python=$2 over=${3:-}
  local stamp=$venv/.locked
  if [[ ! -e $stamp || requirements/dev.txt -nt $stamp || requirements/oldest.txt -nt $stamp ]]; then
    "$python" -m venv --clear "$venv" || return
    install_quietly "$venv" --require-hashes -r requirements/dev.txt || return
    if [[ -n $over ]]; then
      # Development tools ask for newer packages than ours; that they run the tests is enough.
      install_quietly "$venv" --no-warn-conflicts -r "$over" || return
    fi
    touch "$stamp" || return
  fi
  # A module or data file that the wheel lacks fails here, not on a user's machine.
  install_quietly "$venv" --no-deps --force-reinstall .venvs/wheel/*.whl
}

run() {
  local label=$1 venv=$2 python=$3 over=${4:-}
  printf '==> matrix: %s\n' "$label"
  if install "$venv" "$python" "$over" && "$venv/bin/python" -m pytest --no-header -n auto -m 'not slow' ${over:+--deselect tests/reference/test_servers.py}; then
    passed+=("$label")
  else
    failed+=("$label")
  fi
}

rm -rf .venvs/wheel
.venv/bin/python -m pip --disable-pip-version-check wheel --quiet --quiet --no-build-isolation --no-deps \
  --wheel-dir .venvs/wheel .

for version in $VERSIONS; do
  if ! python=$(find_python "$version"); then
    missing+=("$version")
    continue
  fi
  run "Python $version, newest dependencies" ".venvs/$version" "$python"
  if [[ $version == "$OLDEST_VERSION" ]]; then
    run "Python $version, oldest dependencies" ".venvs/$version-oldest" "$python" requirements/oldest.txt
  fi
done

printf '==> matrix: summary\n'
# An empty array is an unset variable to macOS's bash.
for label in ${passed[@]+"${passed[@]}"}; do printf 'passed     %s\n' "$label"; done
for label in ${failed[@]+"${failed[@]}"}; do printf 'FAILED     %s\n' "$label"; done
for version in ${missing[@]+"${missing[@]}"}; do
  printf 'NOT FOUND  Python %s: neither on PATH nor in pyenv, so not tested\n' "$version"
done
[[ ${#failed[@]} -eq 0 && ${#passed[@]} -gt 0 ]]
