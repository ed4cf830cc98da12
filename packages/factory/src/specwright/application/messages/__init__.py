"""What the roles are asked: requests as text (design: role-access)."""
