"""Fit a model to a collection that someone has tagged: one call from documents to a model."""
