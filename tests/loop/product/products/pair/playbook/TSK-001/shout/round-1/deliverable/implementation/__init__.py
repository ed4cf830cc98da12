__all__ = ["shout"]


def shout(name: str) -> str:
    """Write a name in capitals.

    Args:
        name:
            - has at least one letter

    Returns:
        shouted:
            - name in capitals, without the spaces around it

    Raises:
        ValueError: name has no letter
    """
    if not any(letter.isalpha() for letter in name):
        raise ValueError("name has no letter")
    return name.strip().upper()
