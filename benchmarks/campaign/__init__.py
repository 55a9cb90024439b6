"""A standing attack: texts, files, options, models, HTTP, kills and a soak, with fixed seeds."""
