"""Digests, as an agent gets them."""

from __future__ import annotations

from collections.abc import Mapping


class Digest(bytes):
    """The bytes of a digest, with the values of the fields that the program put into it.

    ``digest.fields["ipv4.src"]`` is a number; ``fields`` is empty if the program has two digests of this length, which their bytes
    do not tell apart.
    """

    fields: dict[str, int]
    """Values by the names of the program's fields. Some bits of a field are ``m.slot[7:0]``; a field that the digest has twice is
    ``m.slot`` and ``m.slot#2``."""

    def __new__(cls, data: bytes, fields: Mapping[str, int]) -> Digest:
        """Make a digest of bytes and fields."""
        made = super().__new__(cls, data)
        made.fields = dict(fields)
        return made

    def __getnewargs__(self) -> tuple[bytes, dict[str, int]]:  # type: ignore[override]
        return bytes(self), self.fields

    def __repr__(self) -> str:
        named = ", ".join(f"{name}={value:#x}" for name, value in self.fields.items())
        return f"Digest({named or bytes(self).hex()})"
