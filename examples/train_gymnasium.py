"""Train a policy by REINFORCE on one generated web, and try it on another it has never seen.

Only numpy and the Gymnasium interface are used: any library's agent could stand here.
"""
# ruff: noqa: T201

import argparse

import gymnasium
import numpy as np

from honeyguide.integrations.gymnasium import register

GAMMA = 0.9
RATE = 0.3  # step size
GOAL = {"topic": "geology", "judge": "label:geology", "seeds": ["geology"]}


def web(number, budget, pages):
    """A generated web as an environment."""
    world = f"synthetic:pages={pages},seed={number}"
    return gymnasium.make("honeyguide/Crawl-v0", world=world, budget=budget, **GOAL)


def chances(weights, rows, mask):
    """How likely each offered link is: a softmax over the rows' scores."""
    scores = np.where(mask == 1, rows @ weights, -np.inf)
    likely = np.exp(scores - scores.max())
    return likely / likely.sum()


def play(env, weights, rng, seed):
    """One crawl: its rewards, and how each choice would have been made likelier."""
    observation, info = env.reset(seed=seed)
    rewards, pushes, over = [], [], False
    while not over:
        rows = observation["links"]
        likely = chances(weights, rows, info["action_mask"])
        action = rng.choice(len(likely), p=likely)
        pushes.append(rows[action] - likely @ rows)
        observation, reward, terminated, truncated, info = env.step(action)
        rewards.append(reward)
        over = terminated or truncated
    return np.array(rewards), np.array(pushes)


def returns(rewards):
    """What came after each choice, later rewards counting less."""
    total, after = 0.0, np.zeros(len(rewards))
    for step in range(len(rewards) - 1, -1, -1):
        after[step] = total = rewards[step] + GAMMA * total
    return after


def train(env, episodes, rng):
    """Weights of a linear policy."""
    weights = np.zeros(env.observation_space["links"].shape[1])
    for episode in range(episodes):
        rewards, pushes = play(env, weights, rng, seed=episode)
        after = returns(rewards)
        advantage = (after - after.mean()) / (after.std() + 1e-9)
        weights += RATE * advantage @ pushes / np.sqrt(len(pushes))
    return weights


def mean_reward(env, weights, rng, episodes=5):
    """Relevant pages in a crawl, on average."""
    return np.mean([play(env, weights, rng, seed)[0].sum() for seed in range(episodes)])


def oracle_reward(env):
    """What a crawl brings that sees through every link."""
    _, info = env.reset(seed=0)
    total, over = 0.0, False
    while not over:
        _, reward, terminated, truncated, info = env.step(info["oracle"])
        total += reward
        over = terminated or truncated
    return total


def main():
    """Say how much better than chance the trained policy is on the other web."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=40)
    parser.add_argument("--budget", type=int, default=150)
    parser.add_argument("--pages", type=int, default=5000)
    settings = parser.parse_args()
    register()
    rng = np.random.default_rng(0)
    school, elsewhere = (web(number, settings.budget, settings.pages) for number in (1, 2))
    untrained = np.zeros(school.observation_space["links"].shape[1])
    before = mean_reward(elsewhere, untrained, rng)
    weights = train(school, settings.episodes, rng)
    after = mean_reward(elsewhere, weights, rng)
    print(f"mean reward: {before:.1f} before, {after:.1f} after training")
    print(f"the oracle's: {oracle_reward(elsewhere):.1f}")


if __name__ == "__main__":
    main()
