"""`toolroster schema`: JSON Schemas of the policy files, for editors."""

from __future__ import annotations

import argparse
import sys

from pydantic import BaseModel

from toolroster.canonical import copy_json, write_pretty
from toolroster.cli.output import CLEAN, Verbs
from toolroster.policy import Manifest, Policy, Waivers

_MODELS: dict[str, type[BaseModel]] = {"roster": Policy, "manifest": Manifest, "waivers": Waivers}


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    description = "Print the JSON Schema of a policy file. Editors that know TOML schemas complete and check with it."
    parser = verbs.add_parser("schema", help="print the JSON Schema of a policy file", description=description)
    parser.add_argument("file", choices=tuple(_MODELS), help="policy/<file>.toml")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the schema; return 0."""
    schema = _MODELS[arguments.file].model_json_schema(by_alias=True)
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    sys.stdout.write(write_pretty(copy_json(dialect)).decode())
    return CLEAN
