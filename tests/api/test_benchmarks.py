"""The benchmarks measure what the examples offer: no choice of constants is theirs alone."""

from __future__ import annotations

import pytest

from benchmarks import aligned_load_store, flash_attention_fp32, rows, transpose
from benchmarks.tuning import Study, dry

STUDIES = [
    *(study for _, study, _ in aligned_load_store.COPIES),
    *flash_attention_fp32.studies(every=False),
    rows.SOFTMAX,
    rows.RMS_NORM,
    rows.LAYER_NORM,
    rows.ROW_SUM,
    transpose.STUDY,
]


@pytest.mark.parametrize("study", STUDIES, ids=lambda s: f"{s.kernel}-{len(s.without)}")
def test_choices_are_the_examples(study: Study) -> None:
    handles = study.handles("sm_90a")
    assert len({tuple(h.constants.items()) for h in handles}) == len(handles) > 1
    assert all(h.meaning.attributes.aligned == () for h in handles[:1]) or not study.without


def test_a_choice_that_the_example_does_not_list_is_refused() -> None:
    with pytest.raises(ValueError, match=r"COLS in \[999\] is not among the example's"):
        Study("softmax.ph", "softmax", {"COLS": [999]}).handles("sm_90a")


def test_without_a_gpu_choices_are_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    dry([Study("transpose.ph", "transpose_fp32", {"T": [32]})], "sm_80")
    assert "transpose_fp32 T=32: " in (said := capsys.readouterr().out)
    assert ", 0 bytes spilled, 4096 bytes of shared memory" in said
