"""Layers that look vectors up by number."""

from __future__ import annotations

from typing import Any

from treadle.base.errors import ArgumentError, ShapeError, explain
from treadle.functions import where
from treadle.nn import functional as f
from treadle.nn import init
from treadle.nn.linear import parameter
from treadle.nn.module import Module
from treadle.nn.parameter import Parameter
from treadle.tensor.creation import arange, zeros
from treadle.tensor.gradients import no_grad
from treadle.tensor.tensor import Tensor


class _Table(Module):
    """What both kinds of tables share: a weight with a row for each number."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    sparse: bool
    weight: Tensor

    def _place(self, padding_idx: int | None) -> int | None:
        if padding_idx is None:
            return None
        if not -self.num_embeddings <= padding_idx < self.num_embeddings:
            facts = {"padding_idx": padding_idx, "num_embeddings": self.num_embeddings}
            raise ArgumentError(explain(type(self).__name__, "there is no such row", **facts))
        return padding_idx % self.num_embeddings

    def _filled(self, given: Tensor | None, device: Any, dtype: Any) -> None:
        what, sizes = type(self).__name__, (self.num_embeddings, self.embedding_dim)
        if given is None:
            self.weight = parameter(what, *sizes, device=device, dtype=dtype)
            self.reset_parameters()
            return
        if given.shape != sizes:
            facts = {"expected": sizes, "got": given.shape}
            raise ShapeError(explain(what, "the weight has another shape", **facts))
        self.weight = given if isinstance(given, Parameter) else Parameter(given)

    def reset_parameters(self) -> None:
        """Draw the values of a new table; the row of padding is 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                rows = arange(self.num_embeddings, device=self.weight.device).reshape(-1, 1)
                kept = where(rows == self.padding_idx, zeros((), dtype=self.weight.dtype,
                             device=self.weight.device), self.weight)  # fmt: skip
                self.weight.assign(kept)

    @classmethod
    def _of(cls, embeddings: Tensor, freeze: bool, **options: Any) -> Any:
        if embeddings.ndim != 2:
            wrong = "a table has two axes: numbers, and the elements of their vectors"
            raise ShapeError(explain("from_pretrained", wrong, shape=embeddings.shape))
        made = cls(*embeddings.shape, _weight=embeddings, **options)  # type: ignore[call-arg]
        made.weight.requires_grad_(not freeze)
        return made

    def extra_repr(self) -> str:
        """Sizes, and what is not the default."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        text += f", norm_type={self.norm_type}" if self.norm_type != 2.0 else ""
        text += ", scale_grad_by_freq=True" if self.scale_grad_by_freq else ""
        return text + (", sparse=True" if self.sparse else "")


class Embedding(_Table):
    """A vector for each of num_embeddings numbers.

    - **padding_idx**: the number whose vector is 0 and stays so
    - **max_norm**, **norm_type**: vectors longer than that are shortened when they are looked up
    - **scale_grad_by_freq**: divide gradients by how often a number is in the batch
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None,
        max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
        sparse: bool = False, _weight: Tensor | None = None, _freeze: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = self._place(padding_idx)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self._filled(_weight, device, dtype)
        if _freeze:
            self.weight.requires_grad_(False)

    def forward(self, input: Tensor) -> Any:
        """The vectors at integer indices."""
        return f.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type,
            self.scale_grad_by_freq,
        )  # fmt: skip

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None,
        max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:  # fmt: skip
        """A table with these vectors."""
        found: Embedding = cls._of(
            embeddings, freeze, padding_idx=padding_idx, max_norm=max_norm, norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq, sparse=sparse,
        )  # fmt: skip
        return found


class EmbeddingBag(_Table):
    """Sums, means or maxima of vectors, one for each bag of numbers.

    Bags are the rows of a matrix of numbers, or begin at `offsets` in one long row.
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "mean",
        sparse: bool = False, _weight: Tensor | None = None, include_last_offset: bool = False,
        padding_idx: int | None = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if mode not in ("sum", "mean", "max"):
            raise ArgumentError(explain("EmbeddingBag", "mode: sum, mean or max", got=repr(mode)))
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = self._place(padding_idx)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.mode, self.sparse = scale_grad_by_freq, mode, sparse
        self.include_last_offset = include_last_offset
        self._filled(_weight, device, dtype)

    def forward(
        self, input: Tensor, offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Any:  # fmt: skip
        """One vector for each bag."""
        return f.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
            self.mode, self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "mean",
        sparse: bool = False, include_last_offset: bool = False, padding_idx: int | None = None,
    ) -> EmbeddingBag:  # fmt: skip
        """A table with these vectors."""
        found: EmbeddingBag = cls._of(
            embeddings, freeze, max_norm=max_norm, norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq, mode=mode, sparse=sparse,
            include_last_offset=include_last_offset, padding_idx=padding_idx,
        )  # fmt: skip
        return found

    def extra_repr(self) -> str:
        """Sizes, and what is not the default."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2.0:
            text += f", norm_type={self.norm_type}"
        text += f", scale_grad_by_freq={self.scale_grad_by_freq}" if self.scale_grad_by_freq else ""
        text += f", mode={self.mode!r}"
        return text + ("" if self.padding_idx is None else f", padding_idx={self.padding_idx}")
