"""What the factory needs from the outside, as Protocols free of framework types."""
