"""Protocols, types, errors and checks that every other layer builds on."""
