__all__ = ["initials"]


def initials(name: str, separator: str = "") -> str:
    letters = [next((letter for letter in word if letter.isalpha()), "") for word in name.split()]
    if not any(letters):
        raise ValueError("name has no letter")
    if len(separator) > 1:
        raise ValueError("separator has more than one character")
    return separator.join(letter.upper() for letter in letters if letter)
