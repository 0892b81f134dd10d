"""The number in the corners of a picture: what crates/video/src/barcode.rs draws."""

COLUMNS, ROWS, SIDE = 80, 45, 8
BLACK, WHITE = 16, 235
INVERTED = 0x3A6C9D17E28B54C9
CLEAR = 0.35


def brightness(luma, stride, width, height, column, row):
    """The mean of a cell's middle, -1 for black and 1 for white."""

    def middle(length, cells, at):
        begin, end = round((at + 0.25) * length / cells), round((at + 0.75) * length / cells)
        return range(begin, max(end, begin + 1))

    rows, columns = middle(height, ROWS, row), middle(width, COLUMNS, column)
    total = sum(sum(luma[y * stride + columns.start : y * stride + columns.stop]) for y in rows)
    mean = total / (len(rows) * len(columns))
    return max(-1.0, min(1.0, (mean - BLACK) / (WHITE - BLACK) * 2 - 1))


def read(luma, stride, width, height):
    """The number, or None where none is clear; `luma` are bytes, `stride` to a row."""
    gray = 0
    for bit in range(64):
        major, minor = divmod(bit, SIDE)
        first = brightness(luma, stride, width, height, minor, major)
        second = brightness(luma, stride, width, height, COLUMNS - 1 - major, ROWS - 1 - minor)
        both = (first + (-second if INVERTED >> bit & 1 else second)) / 2
        if abs(both) < CLEAR:
            return None
        gray |= (both > 0) << bit
    for shift in (1, 2, 4, 8, 16, 32):
        gray ^= gray >> shift
    return gray
