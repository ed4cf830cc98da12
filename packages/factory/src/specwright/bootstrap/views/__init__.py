"""Projects as other processes than their driver see them (design: floors, studio)."""
