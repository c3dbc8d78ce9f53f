"""A small policy with every kind of cell, for the tests of explain and of the command line."""

from __future__ import annotations

POLICY = """\
remit: 1
name: small

tools:
  read: {args: {file: path}, does: {read: file}, layer: atomic, category: Files, aliases: [cat]}
  write: {args: {file: path, text: text}, does: {write: file}, tier: 1, layer: atomic, category: Files}
  fetch: {args: {url: url}, does: {network: url}, layer: atomic, category: Web}
  term: {args: {command: shell}, tier: 2}
  ship: {args: {service: text}, does: {deploy: "https://staging.example/**"}}
  wipe: {args: {file: path}, does: {delete: file}, confirm: true, accessible_by: [keeper]}
  log: {args: {text: text}, does: nothing, accessible_by: [everyone]}

toolsets:
  files: [read, write]

roles:
  everyone: {}
  quiet: {may_not: [{effect: network}]}

agents:
  reader:
    roles: [everyone]
    may: [read]
  writer:
    roles: [everyone, quiet]
    may:
      - [read, fetch]
      - write: {path: "docs/**"}
      - term: {shell: {run: [git, {sqlite3: {db: x.db}}]}}
  boss:
    roles: [everyone]
    may: [files, term, ship, fetch]
    must_ask: [{write: {path: "docs/**"}}]
    may_not: [{read: {path: "secrets/**"}}]
  keeper:
    may: []

runners:
  Shipper: {may: [ship]}

reserved:
  shipping: {tools: [ship], runner: Shipper}
"""
