"""Networks: evidence by clicks, interventions, paths, the working, learning and drawing."""

import shlex
import shutil

import pytest
from tests.forks import by_command
from tests.workbench.started import check_accessible, opened

from lyceum import datasets
from lyceum.bayesnets import read_bif
from lyceum.workflows import check_independence, learn_network, query_network

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="module")
def workbench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("networks")
    shutil.copy(datasets.path("weather"), folder / "weather.csv")
    with opened(folder) as workbench:
        yield workbench


def state(page, variable, name):
    return page.get_by_role("button", name=f"{variable} = {name}:")


def check_posteriors(page, evidence=None, do=None):
    """Every state shows the library's probability."""
    answers = query_network("asia", evidence=evidence, do=do)
    for variable, posterior in answers.items():
        if variable in {**(evidence or {}), **(do or {})}:
            continue
        share = f"{100 * posterior['yes']:.1f} %"
        expect(state(page, variable, "yes")).to_contain_text(share)


def test_evidence_and_interventions_move_the_posteriors(workbench, page):
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/networks")
    page.get_by_role("link", name="asia").click()
    check_posteriors(page)
    state(page, "xray", "yes").click()
    expect(state(page, "xray", "yes")).to_have_attribute("aria-pressed", "true")
    check_posteriors(page, {"xray": "yes"})
    page.get_by_label("sets it from outside").check()
    state(page, "smoke", "no").click()
    check_posteriors(page, {"xray": "yes"}, {"smoke": "no"})
    network = page.get_by_role("region", name="The network")
    network.get_by_text("Given do(smoke = no), xray = yes").wait_for()
    network.get_by_role("button", name="as command").click()
    command = shlex.split(network.locator(".code pre").inner_text())
    assert command[:4] == ["lyceum", "bayesnet", "query", "asia"]
    printed = by_command(command)
    answer = query_network("asia", "lung", evidence={"xray": "yes"}, do={"smoke": "no"})
    assert f"{answer['yes']:.4f}"[:6] in printed
    page.get_by_role("button", name="Undo").click()
    check_posteriors(page, {"xray": "yes"})
    state(page, "xray", "yes").click()
    check_posteriors(page)


def test_paths_are_lit_and_the_working_goes_step_by_step(workbench, page):
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/networks?net=asia&evidence=dysp=yes")
    page.get_by_role("combobox", name="One", exact=True).select_option("asia")
    page.get_by_role("combobox", name="The other").select_option("smoke")
    verdict = check_independence("asia", "asia", "smoke", ["dysp"])
    expect(page.get_by_text(verdict.statement)).to_be_visible()
    path = verdict.paths[0]
    expect(page.locator(".edge.lit")).to_have_count(len(path.nodes) - 1)
    for name in path.nodes:
        box = page.get_by_role("group", name=name, exact=True)
        expect(box).to_have_class(
            "node observed lit" if name == "dysp" else "node  lit"
        )
    page.get_by_role("combobox", name="Variable").select_option("lung")
    working = query_network("asia", "lung", evidence={"dysp": "yes"}, explain=True)
    steps = page.get_by_role("region", name="How a posterior is found")
    for number in range(1, len(working.steps) + 1):
        steps.get_by_text(f"Step {number} of {len(working.steps)}").wait_for()
        rule = working.steps[number - 1].rule
        expect(steps.get_by_role("listitem").nth(number - 1)).to_contain_text(rule)
        if number < len(working.steps):
            steps.get_by_role("button", name="Next step").click()
    steps.get_by_text(f"lung = yes: {100 * working.posterior['yes']:.1f} %").wait_for()
    steps.get_by_role("button", name="Back").click()
    steps.get_by_text(f"Step {len(working.steps) - 1} of").wait_for()
    check_accessible(page)


def test_a_network_is_learned_drawn_and_uploaded(workbench, page, tmp_path):
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/networks?file=weather.csv")
    page.get_by_label("Cause").select_option("outlook")
    page.get_by_label("Effect").select_option("play")
    page.get_by_role("button", name="Add this edge").click()
    page.get_by_role("button", name="Remove the edge outlook to play").wait_for()
    page.get_by_role("button", name="Learn the tables of this graph").click()
    page.get_by_role("heading", name="Network weather-drawn.bif").wait_for()
    net = read_bif(workbench.folder / "weather-drawn.bif")
    wanted = learn_network(
        workbench.folder / "weather.csv", edges=[("outlook", "play")]
    )
    assert net.edges == wanted.net.edges == [("outlook", "play")]
    share = f"{100 * wanted.net.posterior('play')['yes']:.1f} %"
    expect(state(page, "play", "yes")).to_contain_text(share)
    page.goto(f"{workbench.origin}/networks?file=weather.csv&method=chow_liu")
    page.get_by_role("button", name="Learn the network").click()
    page.get_by_role("heading", name="Network weather-learned.bif").wait_for()
    tree = read_bif(workbench.folder / "weather-learned.bif")
    assert len(tree.edges) == len(tree.names) - 1
    shutil.copy(datasets.path("asia"), tmp_path / "mine.bif")
    page.goto(f"{workbench.origin}/networks")
    page.get_by_label("A BIF file").set_input_files(tmp_path / "mine.bif")
    page.get_by_role("heading", name="Network mine.bif").wait_for()


def test_networks_in_the_dark_and_on_a_phone(workbench, page):
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 375, "height": 800})
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/networks?net=alarm")
    page.get_by_role("group", name="CVP").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    check_accessible(page)
    page.goto(f"{workbench.origin}/networks?file=weather.csv")
    page.get_by_role("button", name="Learn the network").wait_for()
    check_accessible(page)


def middle(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def pull(page, start, end):
    """Drag from the middle of one element to that of another."""
    page.mouse.move(*middle(start))
    page.mouse.down()
    page.mouse.move(*middle(end), steps=5)
    page.mouse.up()


def test_edges_are_drawn_by_pointer_and_by_keys(workbench, page):
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/networks?file=weather.csv")
    graph = page.get_by_role("region", name="The graph that is drawn")
    node = graph.get_by_role("group", name="play", exact=True)
    node.wait_for()
    pull(page, graph.get_by_role("button", name="Edge from outlook", exact=True), node)
    edge = graph.get_by_role("button", name="Edge from outlook to play: remove it")
    edge.wait_for()
    # by keys: Enter on an arrow, Enter on the other name
    graph.get_by_role("button", name="Edge from humidity", exact=True).press("Enter")
    graph.get_by_role("button", name="play: end the edge here").press("Enter")
    graph.get_by_role("button", name="Edge from humidity to play").wait_for()
    graph.get_by_role("button", name="Edge from play", exact=True).press("Enter")
    graph.get_by_role("button", name="outlook: end the edge here").press("Enter")
    page.get_by_text("would close a circle").first.wait_for()
    # an edge, a column
    edge.press("Delete")
    expect(edge).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    edge.wait_for()
    graph.get_by_role("button", name="Leave windy out").click()
    page.get_by_text("windy is left out").wait_for()
    expect(graph.get_by_role("group", name="windy")).to_have_count(0)
    check_accessible(page)
    # a name is moved, by the pointer and by keys
    name = graph.get_by_role("button", name="play: move it")
    before = middle(name)
    page.mouse.move(*before)
    page.mouse.down()
    page.mouse.move(before[0] + 100, before[1] + 60, steps=4)
    page.mouse.up()
    page.wait_for_url("**at=play**")
    assert middle(name) == pytest.approx((before[0] + 100, before[1] + 60), abs=2)
    name.press("ArrowDown")
    expect(name).to_be_focused()
    assert middle(name)[1] == pytest.approx(before[1] + 80, abs=2)
    # what was drawn is learned, by the shown command too
    page.get_by_role("button", name="as command").click()
    command = shlex.split(page.locator(".code pre").inner_text())
    page.get_by_role("button", name="Learn the tables of this graph").click()
    page.get_by_role("heading", name="Network weather-drawn.bif").wait_for()
    learned = (workbench.folder / "weather-drawn.bif").read_bytes()
    net = read_bif(workbench.folder / "weather-drawn.bif")
    assert set(net.edges) == {("outlook", "play"), ("humidity", "play")}
    assert "windy" not in net.names
    by_command(command, workbench.folder)
    assert (workbench.folder / "weather-drawn.bif").read_bytes() == learned
    # and drawn anew
    page.get_by_role("link", name="Draw its edges anew").click()
    graph.get_by_role("button", name="Edge from humidity to play").wait_for()


def test_nodes_of_a_network_are_moved_with_their_edges(workbench, page):
    page.goto(workbench.address)
    page.goto(f"{workbench.origin}/networks?net=asia")
    head = page.get_by_role("button", name="smoke", exact=True)
    before = middle(head)
    lines = page.locator(".edge polyline").evaluate_all(
        "all => all.map(one => one.getAttribute('points'))"
    )
    page.mouse.move(*before)
    page.mouse.down()
    page.mouse.move(before[0] + 40, before[1] + 30, steps=4)
    page.mouse.up()
    page.wait_for_url("**at=smoke**")
    assert middle(head) == pytest.approx((before[0] + 40, before[1] + 30), abs=2)
    moved = page.locator(".edge polyline").evaluate_all(
        "all => all.map(one => one.getAttribute('points'))"
    )
    # two arrows begin at smoke
    assert sum(a != b for a, b in zip(lines, moved)) == 2
    page.get_by_role("button", name="Undo").click()
    expect(head).to_be_visible()
    assert middle(head) == pytest.approx(before, abs=2)
