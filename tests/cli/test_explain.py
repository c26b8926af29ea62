"""`ascendsim explain`: every topic that people will ask for has a page, found by any spelling."""

from __future__ import annotations

import pytest

from ascendsim import errors
from ascendsim.observe.checks import CODES
from ascendsim.options import Options
from ascendsim.view import explain
from tests.cli.conftest import Ask

CONCEPTS = (
    "GM UB pipe queue tbuf repeat mask datablock tile block tiling-key double-buffer evidence "
    "options coverage gm-slack overlap compare-count-256 poison rounding flush saturation "
    "vector-core phase tail window barrier token nan recording stepping who-wrote diff "
    "explain-lane compare boundary-values ulp trace bound"
)
ASKED = CONCEPTS.split(" ")


@pytest.mark.parametrize("topic", ASKED)
def test_concepts(ask: Ask, topic: str) -> None:
    document = ask("explain", topic, "--json").json
    assert list(document) == ["name", "kind", "title", "text"]
    assert len(document["text"]) > 100
    assert ask("explain", topic.upper()).out.startswith("# ")


def test_every_error_has_a_page() -> None:
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and kind is not errors.AscendError:
            page = explain.find(name)
            assert page is not None, name
            assert f"Exit code {kind.exit_code}" in page.text


@pytest.mark.parametrize("code", CODES)
def test_every_finding_opens_by_its_code_and_its_bare_name(code: str) -> None:
    full, bare = explain.find(code), explain.find(code.partition(":")[2])
    assert full is not None
    assert bare is not None
    assert (bare.name, bare.kind, bare.title) == (code, "finding", full.title)
    assert bare.text.startswith(full.text)


def test_names_of_more_than_one_page(ask: Ask) -> None:
    finding = ask("explain", "out-of-bounds").out
    option = ask("explain", "out_of_bounds").out
    assert finding.startswith("# Past a buffer")
    assert option.startswith("# Option out_of_bounds")
    for text in (finding, option):
        assert "## BoundsError" in text
        assert "Values: " in text
        assert "Past a buffer" in text


def test_words_that_are_printed_or_known_from_elsewhere(ask: Ask) -> None:
    assert "ended there" in ask("explain", "stopped").out
    assert ask("explain", "illegal_addr_read", "--json").json["name"] == "memcheck:gm-out-of-bounds"


def test_every_option_is_explained() -> None:
    options = explain.find("options")
    assert options is not None
    for name in Options.__dataclass_fields__:
        assert f"**{name}**: " in options.text
        page = explain.find(name)
        assert page is not None
        assert "Values: " in page.text
        assert len(page.text.splitlines()[0]) > 20


def test_rules_and_operators(ask: Ask) -> None:
    assert "assumed" in ask("explain", "exp-bits").out
    page = ask("explain", "hard_swish_grad", "--json").json
    assert page["kind"] == "operator"
    assert page["inputs"] == ["grad", "x"]
    assert "ascend910_93" in ask("explain", "hard_swish_grad").out


def test_instructions(ask: Ask) -> None:
    page = ask("explain", "muls", "--json").json
    assert page["name"] == "Muls"
    assert page["rules"]
    assert page["socs"]["ascend950"]["dtypes"]


def test_list_and_unknown(ask: Ask) -> None:
    assert set(map(str.lower, ASKED)) <= set(ask("explain", "--json").json["topics"])
    answer = ask("explain", "datablok")
    assert answer.code == 2
    assert "datablock" in answer.line


@pytest.mark.parametrize(
    ("topic", "name"),
    [
        ("breakpoint", "stepping"),
        ("PipeBarrier", "barrier"),
        ("backward slice", "who-wrote"),
        ("events", "event-id"),
        ("stale", "poison"),
        ("perfetto", "trace"),
        ("CTRL[48]", "ctrl-48"),
        ("compare tail", "compare_tail"),
        ("compare-mask", "compare-mask"),
        ("MindStudio", "trace"),
        ("qqqqwwww", ""),
    ],
)
def test_other_spellings_and_unknown_words(ask: Ask, topic: str, name: str) -> None:
    answer = ask("explain", topic, "--json")
    if answer.code == 0:
        assert answer.json["name"] == name
    elif name:
        assert f"{name}" in answer.line.partition("did you mean ")[2]
    else:
        assert "nothing is written about 'qqqqwwww'; 'ascendsim explain' lists them" in answer.line


def test_the_list_keeps_errors_apart(ask: Ask) -> None:
    concepts, errors, findings, more = ask("explain").out.split("\n\n")
    assert concepts.startswith("concepts (")
    assert "stepping" in concepts
    assert errors.startswith("errors (")
    assert "queueerror" in errors
    assert findings.startswith("findings (")
    assert "ascendsim explain TOPIC" in more


def test_every_page_is_found_by_each_of_its_keys() -> None:
    for key, page in explain._written().items():
        assert explain.find(key.replace("-", " ")) is not None, key
        assert page.text


def test_no_key_twice() -> None:
    seen: dict[str, str] = {}
    for file in explain._PAGES.glob("*.md"):
        for line in file.read_text().splitlines():
            if line.startswith("## "):
                title, _, keys = line[3:].partition("|")
                for key in keys.split(","):
                    assert seen.setdefault(key.strip(), title) == title, key
