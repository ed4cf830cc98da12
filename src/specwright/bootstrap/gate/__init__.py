"""The gate without a project: of directories, of packages, of what is adopted; and as the settings of a project want it
(design: ship-gate)."""
