"""The gate without a project: of directories; and as the settings of a project want it
(design: ship-gate)."""
