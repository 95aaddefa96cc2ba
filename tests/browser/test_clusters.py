"""Clusters and Columns: `cluster` and `reduce` as pages, with linked pictures."""

import json
import shlex
import shutil

import numpy as np
import pytest
from tests.forks import by_command
from tests.workbench.started import check_accessible, opened

from lyceum import datasets
from lyceum.studies import cluster_table
from lyceum.workflows import reduce_table

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="module")
def workbench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clusters")
    shutil.copy(datasets.path("penguins"), folder / "penguins.csv")
    with opened(folder) as workbench:
        yield workbench


def command_of(page, workbench):
    page.get_by_role("button", name="as command").click()
    command = shlex.split(page.locator(".code pre").inner_text())
    printed = by_command([*command, "--json"], workbench.folder)
    return json.loads(printed)


def test_clusters_are_those_of_the_library_and_linked(workbench, page):
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/clusters")
    page.get_by_role("link", name="penguins.csv").click()
    chosen = cluster_table(workbench.folder / "penguins.csv")
    page.get_by_text(f"clusters: {chosen.choice.k}").wait_for()
    page.get_by_role("spinbutton", name="Clusters").fill("3")
    page.keyboard.press("Tab")
    clusters = cluster_table(workbench.folder / "penguins.csv", clusters=3)
    counts = np.bincount(clusters.labels)
    sizes = page.get_by_role("table", name="Clusters", exact=True)
    for cluster, count in enumerate(counts.tolist()):
        line = sizes.get_by_role("row").nth(cluster + 1)
        expect(line).to_contain_text(str(count))
    points = page.locator("svg circle.point")
    expect(points).to_have_count(len(clusters.labels))
    # a cluster that is picked is lit in the other pictures
    page.get_by_role("button", name="cluster 1").click()
    expect(page.locator("svg circle.point:not(.dim)")).to_have_count(int(counts[1]))
    expect(page.locator("svg .bar.dim")).to_have_count(2)
    profile = page.get_by_role("table", name="What every cluster is like")
    expect(profile.locator("th.picked")).to_have_text("cluster 1")
    page.get_by_label("Across").select_option("body_mass_g")
    page.locator("svg .label", has_text="body_mass_g").wait_for()
    points.first.dispatch_event("click")
    row = page.get_by_role("table", name="Row 0")
    expect(row.get_by_role("row", name="species")).to_contain_text("Adelie")
    check_accessible(page)
    shown = command_of(page, workbench)
    assert shown["tables"][0] == clusters.as_dict()["tables"][0]


def test_columns_are_those_of_the_library_and_linked(workbench, page):
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/columns?file=penguins.csv&target=species")
    reduction = reduce_table(workbench.folder / "penguins.csv", "species")
    shares = reduction.model.explained_variance_ratio_
    picture = page.get_by_role("figure").filter(has_text="Proportion of the variance")
    expect(picture.locator(".bar").nth(1)).to_contain_text(f"{100 * shares[1]:.1f} %")
    made_of = page.get_by_role("figure").filter(has_text="What pc1 is made of")
    weights = reduction.model.components_[0]
    largest = weights[np.abs(weights).argmax()]
    expect(made_of.locator(".bar").first).to_contain_text(f"{largest:.3g}")
    picture.locator(".bar").nth(1).dispatch_event("click")
    made_of = page.get_by_role("figure").filter(has_text="What pc2 is made of")
    weights = reduction.model.components_[1]
    largest = weights[np.abs(weights).argmax()]
    expect(made_of.locator(".bar").first).to_contain_text(f"{largest:.3g}")
    expect(page.locator("circle.series-2")).to_have_count(124)  # Gentoo
    page.get_by_role("combobox", name="Method").select_option("ranking")
    best = reduce_table(workbench.folder / "penguins.csv", "species", method="ranking")
    merits = page.get_by_role("figure").filter(has_text="Merit of the columns")
    expect(merits.locator(".bar").first).to_contain_text("island")
    expect(merits.locator(".bar").first).to_contain_text(
        f"{best.model.scores_.max():.3g}"
    )
    shown = command_of(page, workbench)
    assert shown["summary"]["tables"] == best.as_dict()["summary"]["tables"]
    check_accessible(page)


def test_a_method_without_its_target_is_a_sentence(workbench, page):
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/columns?file=penguins.csv&method=fisher")
    expect(page.get_by_role("alert")).to_contain_text("name one with target=")
    page.get_by_role("combobox", name="Method").select_option("svd")
    page.get_by_role("figure").first.wait_for()
    page.complaints.clear()  # the browser's own note on status 422


@pytest.mark.parametrize("address", ["clusters?cluster=0&row=3", "columns?method=mds"])
def test_clusters_and_columns_in_the_dark_and_on_a_phone(workbench, page, address):
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 375, "height": 800})
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/{address}&file=penguins.csv")
    page.locator("circle.point").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    check_accessible(page)
