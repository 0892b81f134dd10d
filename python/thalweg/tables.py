"""Tables that pandas, polars, pyarrow and DuckDB take without a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from . import _native

if TYPE_CHECKING:
    import pandas
    import polars


class Table:
    """Columns of equal length, held by Rust. It has Arrow's PyCapsule interface: ``polars.DataFrame(table)``,
    ``pyarrow.table(table)`` and others take it as it is.

    >>> frames = thalweg.run("2Mbps", "gcc").frames
    >>> len(frames), float(frames.column("captured_s")[30])
    (1800, 1.0)
    """

    def __init__(self, native: _native.Table) -> None:
        self._native = native

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self._native.column_names

    def __len__(self) -> int:
        return len(self._native)

    def column(self, name: str) -> numpy.ndarray[Any, Any]:
        """The numbers of a column: a view of the table's memory that cannot be written to. Figures that a row does not
        have are NaN; words and whole numbers with gaps are for :meth:`to_pandas` and :meth:`to_polars`."""
        return numpy.asarray(self._native.column(name))

    def to_pandas(self) -> pandas.DataFrame:
        """As a data frame with Arrow's types; needs pandas and pyarrow (``pip install thalweg[tables]``)."""
        import pandas
        import pyarrow

        frame: pandas.DataFrame = pyarrow.table(self).to_pandas(types_mapper=pandas.ArrowDtype)
        return frame

    def to_polars(self) -> polars.DataFrame:
        """As a data frame of polars."""
        import polars

        return polars.DataFrame(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def __repr__(self) -> str:
        return f"<Table of {len(self)} rows: {', '.join(self.column_names)}>"
