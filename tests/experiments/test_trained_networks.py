"""Networks that are trained before they are measured, in miniature."""

from dataclasses import replace

from experiments import trained_networks
from experiments.friar2017_prices import is_recorded, priced_walk
from experiments.friar2017_walks import rewards_and_held_out
from experiments.harness.experiment import Entry, Task, Trial, find_experiment
from experiments.harness.webs import Webs
from experiments.honeyguide_v1 import DEVELOPMENT

WORLD = "synthetic:pages=2000,seed=1"
TASK = Task(name="geology", web=WORLD, topic="geology", seeds=("geology",), budget=40)


def test_the_network_is_trained_then_tested_on_the_same_task():
    entry = Entry(name="dqn_outputs", agent="dqn_outputs:pages=50", cosine=True)
    trial = Trial(part="network", task=TASK, entry=entry, function=trained_networks.REHEARSED)
    found = trained_networks.rehearsed(trial, WORLD, 0)
    assert found["pages"] == 40
    assert found["relevant"] == found["curve"][-1] <= 40
    assert 0 <= found["training"] <= 40


def test_lessons_are_of_the_same_web_and_never_the_task_itself():
    for part in find_experiment("honeyguide-v1").parts:
        if part.name == "dqn":
            trials = part.trials(False)
    for trial in trials:
        lessons = trained_networks.lessons(trial.task)
        assert lessons
        assert {lesson.web for lesson in lessons} == {trial.task.web}
        assert trial.task.topic not in {lesson.topic for lesson in lessons}
    assert trained_networks.lessons(DEVELOPMENT[0])[0].name != DEVELOPMENT[0].name


def test_a_taught_network_is_not_the_one_it_began_as():
    lesson = replace(TASK, name="chess", topic="chess", seeds=("chess",), judge="label:topic:chess")
    once = trained_networks.taught("dqn", (lesson,), WORLD)
    again = trained_networks.taught.__wrapped__("dqn", (lesson,), WORLD)
    assert (once["network"]["block"] == again["network"]["block"]).all()
    other = trained_networks.taught("dqn", (replace(lesson, budget=20),), WORLD)
    assert (once["network"]["block"] != other["network"]["block"]).any()


def test_every_component_of_dqn_is_left_out_once():
    agents = {entry.agent for entry in trained_networks.ABLATION}
    assert agents == {f"dqn:{name}=false" for name in ("dueling", "double", "replay", "target")}


def test_a_priced_walk_spends_no_more_than_its_seconds(tmp_path):
    web = "links of synthetic:pages=5000,seed=1"
    task = Task(
        name="price",
        web=web,
        topic="geology",
        judge="targets:" + ",".join(rewards_and_held_out(5000)[0]),
        seeds=("50 random pages",),
        budget=400,
    )
    entry = Entry(name="dear", agent="url_linear_q:epsilon_steps=50 at 0.5")
    found = priced_walk(
        Trial(part="price", task=task, entry=entry), Webs(None, tmp_path).world(web), 0
    )
    assert found["simulated_seconds"] <= 50
    assert 0 < found["recorded_share"] <= 1
    assert found["rewards_an_hour"] * found["simulated_seconds"] / 3600 <= found["relevant"] + 1e-6


def test_about_half_of_all_hosts_are_recorded():
    share = sum(is_recorded(f"http://h{n}.example/") for n in range(2000)) / 2000
    assert 0.45 < share < 0.55
