"""
A curve of GRPO
===============

A tiny policy learns to see from rewards alone: it begins with random weights and is never shown an answer.
It is asked for weathers, colours, kinds and places. Beside each of two runs stands a control whose rewards
are shuffled among the replies of a batch. Needs PyTorch and matplotlib, and about two minutes of one
processor.

The loop is our own. A trainer of language models, as in :doc:`grpo_step`, generates its replies token by
token; this policy chooses one of 27 whole replies, and a step takes a hundredth of a second.
"""

import re
from itertools import islice

import torch
from torch import nn

from simtown.gym import Level, Street
from simtown.scenes.weather import WEATHERS

STEPS, TASKS, GROUP, EVERY = 700, 32, 16, 50
level = Level(5, "2", ("weather", "colour", "kind", "where"), WEATHERS, 0, "four families")
held_out = Street(level, seed=1_000).at(range(1_000))
words = sorted({word for task in held_out for word in re.findall(r"\w+", task.question)})
replies = sorted({choice for task in held_out for choice in task.gold.choices})
replies += ["I cannot tell", "red or blue", "a vehicle"]  # these earn nothing


# %%
# The policy
# ----------
# It sees 28 x 28 pixels, reads which words occur, and gives each reply a probability.
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
        features = [self.parts(seen).relu().flatten(1), seen.mean((2, 3)), heard]
        return self.say(torch.cat(features, 1)).log_softmax(1)


# %%
# The loop
# --------
# Each task gets 16 replies. Each reply is worth by how much it earns more than the mean of its group.
earned = {}  # by a reply: the same for all tasks that have the same answers


def earn(task, reply):
    if (task.gold, reply) not in earned:
        earned[task.gold, reply] = task.reward(reply).total
    return earned[task.gold, reply]


def reply_to(policy, tasks, seen):
    """Logarithms of the chances of all replies, the replies of each group, and what they earn."""
    chances = policy(*seen)
    said = torch.multinomial(chances.exp(), GROUP, replacement=True)
    groups = zip(tasks, said.tolist(), strict=True)
    return chances, said, torch.tensor([[earn(task, replies[i]) for i in group] for task, group in groups])


def spread(rewards):
    """The share of groups whose replies do not all earn the same: only these teach."""
    return float((rewards.amax(1) > rewards.amin(1)).float().mean())


def train(seed):
    """The policy, and rows: seed, rewards shuffled or not, step, held-out accuracy, mean reward, spread."""
    torch.manual_seed(seed)
    policies, tasks, rows, shown = [Policy(), Policy()], iter(Street(level, seed)), [], see(held_out)
    optimizers = [torch.optim.Adam(policy.parameters(), 2e-3) for policy in policies]
    for step in range(STEPS + 1):
        batch = list(islice(tasks, TASKS))
        seen = see(batch)
        for shuffled, (policy, optimizer) in enumerate(zip(policies, optimizers, strict=True)):
            chances, said, rewards = reply_to(policy, batch, seen)
            if step % EVERY == 0:
                best = policy(*shown).argmax(1).tolist()
                right = [task.score(replies[i]) for task, i in zip(held_out, best, strict=True)]
                rows.append(
                    (seed, shuffled, step, sum(right) / len(right), float(rewards.mean()), spread(rewards))
                )
                print(*(round(value, 4) for value in rows[-1]), sep=",", flush=True)
            if shuffled:
                rewards = rewards.flatten()[torch.randperm(rewards.numel())].view_as(rewards)
            advantages = rewards - rewards.mean(1, keepdim=True)
            entropy = -(chances * chances.exp()).sum(1).mean()
            optimizer.zero_grad()
            (-(advantages * chances.gather(1, said)).mean() - 0.05 * entropy).backward()
            optimizer.step()
    return policies[0], rows


# %%
# The curves
# ----------
