"""Loops to machine: one folder per kind of device."""
