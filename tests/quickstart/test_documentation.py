"""What the documents promise exists: files behind links, commands, models, the output shown."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import yaml

from allocator.catalog import list_entries
from allocator.cli.root import COMMANDS
from allocator.instance import instance_from_dict, load_instance
from allocator.model import list_models, load_model
from allocator.model.families import Family, GoalId
from allocator.report.summary import summarize
from allocator.solve import solve

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("instances/*/README.md"), ROOT / "models/README.md"]
)
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`[^`]*`|^    .*$", re.MULTILINE)
PYTHON_PATH = re.compile(r"`((?:allocator|tests|docs|models|instances|scripts)/[A-Za-z0-9_./-]*[A-Za-z0-9_/])`")


def identify(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=identify)
def test_every_link_leads_to_a_file(page: Path) -> None:
    for target in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
        if "://" not in target and not target.startswith("#"):
            assert (page.parent / target.split("#")[0]).exists(), target


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/how-to/*.md")), ids=identify)
def test_every_place_named_in_a_how_to_exists(page: Path) -> None:
    named = PYTHON_PATH.findall(page.read_text(encoding="utf-8"))
    assert len(named) >= 4
    for path in named:
        assert "NAME" in path or (ROOT / path).exists(), path


def test_every_page_is_in_the_index() -> None:
    """Notes by their folder."""
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / target).resolve() for target in LINK.findall(index.read_text(encoding="utf-8"))}
    pages = {page.resolve() for page in ROOT.glob("docs/**/*.md") if "notes" not in page.parts} - {index.resolve()}
    assert (ROOT / "docs" / "notes") in linked
    assert pages <= linked, sorted(map(identify, pages - linked))


def test_the_two_commands_can_be_run() -> None:
    for name in ("quickstart", "run-tests"):
        assert f"    ./{name} " in README
        assert os.access(ROOT / name, os.X_OK)


def test_the_readme_shows_what_the_quickstart_prints() -> None:
    """The sections that do not depend on which of several equally good plans is found, nor on the machine."""
    instance = load_instance(ROOT / "instances/quickstart/quickstart.yaml")
    printed = summarize(solve(instance, time_limit=120), instance)
    shown = "\n".join(line.removeprefix("    ") for line in README.splitlines())
    sections = {section.split()[0]: section for section in printed.split("\n\n")}
    for title in ("quickstart:", "Goals", "Classes", "Members", "Teams", "Headroom"):
        assert sections[title].strip("\n") in shown


def test_models_named_in_the_readme_exist() -> None:
    rows = re.findall(r"^\| .* \| (`.*) \|$", README, flags=re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([a-z-]+)`", row)]
    assert len(named) >= 8
    assert set(named) <= set(list_models())


def test_every_command_is_described() -> None:
    guide = (ROOT / "docs/guide/command-line.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"allocator {name}" in guide


def test_the_model_guide_shows_a_model_and_names_every_goal() -> None:
    guide = (ROOT / "docs/guide/model-file.md").read_text(encoding="utf-8")
    shown = "".join(line.removeprefix("    ") + "\n" for line in guide.split("\n\n")[1].splitlines())
    assert shown == (ROOT / "models/place-close.yaml").read_text(encoding="utf-8")
    for goal in GoalId:
        assert f"`{goal.value}`" in guide
    level = load_model({"name": "m", "goals": [{"goals": {"traffic": 1}, "slack": "2 %"}, {"cost": 1, "power": "0.1"}]})
    assert len(level.levels) == 2


def test_the_instance_guide_shows_an_instance_and_rules_that_can_be_written() -> None:
    guide = (ROOT / "docs/guide/instance-file.md").read_text(encoding="utf-8")
    example = guide.split("## An example")[1].split("## ")[0]
    shown = "\n".join(line[4:] for line in example.splitlines() if line.startswith("    "))
    document = yaml.safe_load(shown)
    assert solve(instance_from_dict(document), time_limit=60).plan is not None

    written = [yaml.safe_load(text) for text in re.findall(r"^\| `([a-z_]+: [^`]+)` \|", guide, flags=re.MULTILINE)]
    rules = {key: value for entry in written for key, value in entry.items()}
    settings = {key: rules.pop(key) for key in ("reserve", "moves", "balance", "distances")}
    assert {rules.pop("current"), *rules.pop("tables").values()} == {"plan.json", "costs.csv"}
    assert len(rules) == 8
    three = [{"level": "node", "name": "m", "count": 3}]
    costs = {"format": "allocator/v1", "topology": three, "workloads": [], "moves": settings["moves"]}
    assert len(instance_from_dict(costs).moves.machine_cost) == 6
    settings["moves"] = {"weights": {"machine": 1}}
    nodes = {"level": "node", "name": "srv", "count": 4, "capacity": {"cpu": 32, "memory": "128 GiB"}}
    racks = {"level": "rack", "name": "rack", "count": 2, "children": [nodes]}
    document = {
        "format": "allocator/v1",
        "topology": [{"level": "supernode", "name": "super0"}, racks],
        "workloads": [{"class": "cache"}, {"class": "web", "count": 4, "requests": {"cpu": 1}, "placement": rules}],
        **settings,
    }
    instance = instance_from_dict(document)
    assert instance.conflicts
    assert instance.spreads
    assert instance.dependencies
    assert instance.reserves


def test_the_catalog_guide_shows_what_can_be_written() -> None:
    guide = (ROOT / "docs/guide/catalog.md").read_text(encoding="utf-8")
    names = re.findall(r"profile: ([a-z0-9-]+)[,}]", guide)
    assert set(names) <= {entry.name for entry in list_entries()}
    topology = [
        {"profile": "cpu-rack-384", "name": "rack0", "set": {"sled.count": 8, "node.capacity.memory": "1 TiB"}},
        {"profile": "supernode-16", "name": "super0", "set": {"node.profile": "h200-sxm"}},
        {"profile": "epyc-9965", "name": "spare", "count": 2},
    ]
    document = {"format": "allocator/v1", "name": "x", "topology": topology, "workloads": []}
    assert len(instance_from_dict(document).nodes) == 8 * 4 + 16 + 2


def test_every_family_is_in_the_changelog() -> None:
    words = " ".join((ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split()).lower().replace(" ", "_")
    for family in set(Family) - {Family.SLO}:
        assert family.value in words
