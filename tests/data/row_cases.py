"""How many rows the tests of Rows read, and a reduction that remembers their order."""

from dataclasses import dataclass

N = 5000


@dataclass(frozen=True)
class Order:
    """The rows that a reduction saw, in the order in which they were merged."""

    starts: tuple[int, ...]
    n_rows: int

    @classmethod
    def of(cls, block):
        return cls((block.start,), len(block))

    def merge(self, other):
        return Order(self.starts + other.starts, self.n_rows + other.n_rows)
