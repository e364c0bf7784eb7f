"""Figures and pages: how plots are drawn and HTML is laid out, whatever they show."""
