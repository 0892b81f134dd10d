import html.parser

import matplotlib
import pytest

import thalweg

matplotlib.use("Agg")
SCENARIO = thalweg.scenario("2Mbps/500kbps@10s", duration="20s")


@pytest.fixture(scope="module")
def comparison():
    return thalweg.compare(SCENARIO, ["gcc", "vidaptive"], seeds=[1, 2])


def test_threads_play_what_one_thread_plays(comparison):
    alone = thalweg.compare(SCENARIO, ["gcc", "vidaptive"], seeds=[1, 2], workers=1)
    assert [run.fingerprint for run in alone] == [run.fingerprint for run in comparison]
    assert [(run.scheme, run.seed) for run in comparison] == [
        ("gcc", 1),
        ("gcc", 2),
        ("vidaptive", 1),
        ("vidaptive", 2),
    ]
    assert comparison[0].summary == thalweg.run(SCENARIO, "gcc").summary


def test_a_comparison_is_a_table_a_frame_and_a_report(comparison, tmp_path):
    lines = comparison.table().splitlines()
    assert len(lines) == 7 and lines[0].startswith("scheme") and "latency p95 ms" in lines[0]
    assert "vidaptive, mean of 2" in lines[4] and "±" in lines[4] and "vidaptive, seed 2" in lines[6]
    frame = comparison.to_pandas()
    assert list(frame["scheme"]) == ["gcc", "gcc", "vidaptive", "vidaptive"] and frame["latency_p95_ms"].min() > 30
    comparison.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "2 schemes over 2Mbps/500kbps@10s" in page and 'src="http' not in page


def test_notebooks_show_figures_and_escape_names(comparison):
    class Page(html.parser.HTMLParser):
        cells = []

        def handle_data(self, data):
            self.cells.append(data)

    evil = thalweg.run(thalweg.scenario(SCENARIO, name="<script>"), "gcc")
    for shown in (comparison, evil):
        page = Page()
        page.feed(shown._repr_html_())
        assert "PSNR dB" in page.cells and any("gcc" in cell for cell in page.cells)
        assert "<script>" not in shown._repr_html_()
    assert "gcc over <script>: video Mbps" in repr(evil)
    bare = thalweg.compare(SCENARIO, ["gcc", "copa"], keep="none")
    assert repr(bare).splitlines() == [f"<Run of {run.scheme}: {run.fingerprint}>" for run in bare]
    assert bare[0].fingerprint in bare._repr_html_()


def test_progress_counts_runs():
    said = []
    thalweg.compare(SCENARIO, ["gcc", "copa"], progress=lambda done, total: said.append((done, total)))
    assert said == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"schemes": "gcc"}, TypeError, "must be a list"),
        ({"schemes": []}, ValueError, "nothing to play"),
        ({"schemes": ["gcc"], "seeds": []}, ValueError, "nothing to play"),
        ({"schemes": ["gcc"], "workers": 0}, ValueError, "workers is 0"),
        ({"schemes": ["gcc", "quic"]}, thalweg.SchemeError, "'quic'"),
    ],
)
def test_what_cannot_be_compared_is_said(options, error, words):
    with pytest.raises(error, match=words):
        thalweg.compare(SCENARIO, **options)


def test_a_chart_shows_capacity_rate_latency_and_quality(comparison):
    for shown, lines in ((comparison, 2), (comparison[0], 1)):
        figure = shown.plot()
        rate, latency, quality = figure.axes
        assert [len(axes.lines) for axes in figure.axes] == [lines] * 3
        assert len(rate.collections) == 1, "the capacity is an area"
        seconds, sent = rate.lines[0].get_data()
        assert sent.mean() * 1e6 == pytest.approx(comparison[0].summary["wire_bitrate_bps"], rel=0.01)
        assert latency.lines[0].get_ydata().mean() == pytest.approx(comparison[0].summary["latency_mean_ms"], rel=0.05)
        assert 20 < quality.lines[0].get_ydata().mean() < 60
        assert len(figure.legends[0].get_texts()) == lines + 1
        assert (latency.get_yscale(), latency.get_ylabel()) == ("log", "latency, ms")
        matplotlib.pyplot.close(figure)


def test_a_chart_is_of_one_seed(comparison):
    figure = comparison.plot(seed=2)
    assert figure.axes[0].get_title("left") == "2Mbps/500kbps@10s, seed 2"
    matplotlib.pyplot.close(figure)
    with pytest.raises(ValueError, match=r"seed is 3: there are runs of \[1, 2\]"):
        comparison.plot(seed=3)


def test_a_chart_without_quality_or_capacity_says_so():
    traffic = thalweg.scenario(SCENARIO, codec={"traffic": {}})
    traffic["forward"]["hops"] = [hop for hop in traffic["forward"]["hops"] if "delay" in hop]
    figure = thalweg.run(traffic, "gcc").plot()
    rate, _, quality = figure.axes
    assert not rate.collections and "not measured" in quality.texts[0].get_text()
    matplotlib.pyplot.close(figure)
