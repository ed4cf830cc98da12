__all__ = ["initials"]


def initials(name: str) -> str:
    """Make the initials of a name.

    Args:
        name:
            - has at least one letter

    Returns:
        letters:
            - the first letter of each word that has one, as a capital, in order

    Raises:
        ValueError: name has no letter
    """
    letters = [next((letter for letter in word if letter.isalpha()), "") for word in name.split()]
    if not any(letters):
        raise ValueError("name has no letter")
    return "".join(letters).upper()
