"""Cursor: from its documentation of November 2026; never run against the program."""

from remit.adapters.hosts.cursor.hook import Cursor

HOST = Cursor()
