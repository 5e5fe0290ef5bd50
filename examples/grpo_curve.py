"""
A curve of GRPO
===============

A tiny policy learns to see from rewards alone: its weights are random at first, and no answer is shown to it.
Beside each of two runs stands a control whose rewards are shuffled among the replies of a batch. Needs
PyTorch and matplotlib, and two minutes of one processor. The loop is our own: a trainer of language models,
as in :doc:`grpo_step`, generates replies token by token, and this policy chooses one of 27 whole replies.
"""

import re
from collections import Counter
from functools import cache
from itertools import islice

import matplotlib.pyplot as plt
import torch
from torch import nn

from simtown.gym import Level, Street
from simtown.gym.rewards import reward_reply
from simtown.scenes.weather import WEATHERS

STEPS, TASKS, GROUP, EVERY = 700, 32, 16, 50
level = Level(5, "2", ("weather", "colour", "kind", "where"), WEATHERS, 0, "four families")
held_out = Street(level, seed=1_000).at(range(1_000))
words = sorted({word for task in held_out for word in re.findall(r"\w+", task.question)})
replies = sorted({choice for task in held_out for choice in task.gold.choices})
replies += ["I cannot tell", "red or blue", "a vehicle"]  # these earn nothing


# %%
# The policy sees 28 x 28 pixels, reads which words occur, and gives each reply a probability.
def see(tasks):
    pictures = torch.stack([torch.from_numpy(task.picture[1::4, 1::4].copy()) for task in tasks])
    pictures = nn.functional.avg_pool2d(pictures.permute(0, 3, 1, 2) / 128 - 1, 2)
    places = torch.stack(torch.meshgrid(2 * [torch.linspace(-1, 1, 28)], indexing="ij"))
    asked = torch.tensor([[float(word in task.question) for word in words] for task in tasks])
    return torch.cat([pictures, places.expand(len(tasks), -1, -1, -1)], 1), asked


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.eye = nn.Sequential(nn.Conv2d(5, 16, 4, 2), nn.ReLU(), nn.Conv2d(16, 16, 3, 2), nn.ReLU())
        self.ear, self.parts = nn.Linear(len(words), 32), nn.Conv2d(16, 8, 1)
        self.say = nn.Sequential(nn.Linear(8 * 36 + 16 + 32, 64), nn.ReLU(), nn.Linear(64, len(replies)))

    def forward(self, pictures, asked):
        heard = self.ear(asked)
        scale, shift = heard[:, :, None, None].chunk(2, 1)
        seen = torch.relu(self.eye(pictures) * (1 + scale) + shift)
        seen = torch.cat([self.parts(seen).relu().flatten(1), seen.mean((2, 3)), heard], 1)
        return self.say(seen).log_softmax(1)


# %%
# Each task gets 16 replies. Each reply is worth by how much it earns more than the mean of its group.
@cache
def earn(gold, reply):
    return reward_reply(reply, gold).total  # what task.reward(reply).total is for all tasks of this answer


def train(seed):
    """The policy, and rows: seed, whether shuffled, step, accuracy, mean reward, groups that teach."""
    torch.manual_seed(seed)
    policies, tasks, rows, shown = [Policy(), Policy()], iter(Street(level, seed)), [], see(held_out)
    optimizers = [torch.optim.Adam(policy.parameters(), 2e-3) for policy in policies]
    for step in range(STEPS + 1):
        seen = see(batch := list(islice(tasks, TASKS)))
        for shuffled, (policy, optimizer) in enumerate(zip(policies, optimizers, strict=True)):
            chances = policy(*seen)
            said = torch.multinomial(chances.exp(), GROUP, replacement=True)
            groups = zip(batch, said.tolist(), strict=True)
            rewards = torch.tensor([[earn(task.gold, replies[i]) for i in group] for task, group in groups])
            if step % EVERY == 0:
                best = policy(*shown).argmax(1).tolist()
                right = [task.score(replies[i]) for task, i in zip(held_out, best, strict=True)]
                spread = (rewards.amax(1) > rewards.amin(1)).float().mean()
                means = sum(right) / len(right), float(rewards.mean()), float(spread)
                rows.append((seed, shuffled, step, *(round(mean, 3) for mean in means)))
                print(*rows[-1], sep=",", flush=True)
            if shuffled:
                rewards = rewards.flatten()[torch.randperm(rewards.numel())].view_as(rewards)
            advantages = rewards - rewards.mean(1, keepdim=True)
            entropy = -(chances * chances.exp()).sum(1).mean()
            optimizer.zero_grad()
            (-(advantages * chances.gather(1, said)).mean() - 0.05 * entropy).backward()
            optimizer.step()
    return policies[0], rows


# %%
# Without a look at the picture, the best answer to each family reaches the grey line.
pairs = Counter((task.metadata["family"], task.answer) for task in held_out)
blind = sum(max(n for (own, _), n in pairs.items() if own == family) for family in level.questions)
plt.figure(figsize=(7, 4.2), layout="constrained")
plt.axhline(blind / len(held_out), color="grey", label="without the picture")
print("seed,shuffled,step,accuracy,reward,groups_that_teach")
curves = []
for seed in (1, 2):
    policy, rows = train(seed)
    curves += rows
    for shuffled, name in enumerate(("rewards", "shuffled rewards")):
        own = [(step, accuracy) for _, kind, step, accuracy, *_ in rows if kind == shuffled]
        plt.plot(*zip(*own, strict=True), "-:"[shuffled], color=f"C{seed}", label=f"{name}, seed {seed}")
plt.gca().set(xlabel="steps", ylabel="accuracy on 1,000 tasks of another seed", ylim=(0, 1))
plt.legend()
plt.show()
