"""Train a tiny vision-language model and an n-gram model, for simtown evaluate --show all.

    OMP_NUM_THREADS=1 python benchmarks/words_and_pictures.py town models [--steps 3000]
    cd models && PYTHONPATH=../benchmarks simtown evaluate python:words_and_pictures:see_and_read ../town \
        --show all --distractors 0 --controls 0 --allow-model words_and_pictures:see_and_read
    ... python:words_and_pictures:count_words, the n-gram model

Both learn questions of yes or no. The first is an LSTM over the words beside convolutions over the picture,
which learns from all four shows in turn; the second is a logistic regression on 1- to 5-grams of text and
question.
"""

import pickle
from functools import cache
from pathlib import Path
from time import process_time

import numpy as np
import torch
from machine import options
from torch import nn

from simtown.datasets.reading.reader import open_dataset
from simtown.vlm.conditions import AskedSplit
from simtown.vlm.shows import context

WIDTH, LONGEST, BATCH = 128, 40, 64


def words_of(text):
    return text.lower().replace(".", " .").replace(",", " ,").replace("?", " ?").split()


class TinyModel(nn.Module):
    """An LSTM reads the words, convolutions see the picture, and both together say yes or no."""

    def __init__(self, vocabulary, side):
        super().__init__()
        self.vocabulary, self.side = vocabulary, side
        self.words = nn.Embedding(len(vocabulary) + 2, 64, padding_idx=0)
        self.reads = nn.LSTM(64, WIDTH, batch_first=True)
        self.sees = nn.Sequential(
            nn.Conv2d(3, 32, 3, 2, 1),
            nn.ReLU(),
            nn.Conv2d(32, 64, 3, 2, 1),
            nn.ReLU(),
            nn.Conv2d(64, 64, 3, 1, 1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(4 * side**2, WIDTH),
        )
        self.head = nn.Sequential(nn.Linear(3 * WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))

    def encode(self, text):
        numbers = [1 + self.vocabulary.get(word, len(self.vocabulary)) for word in words_of(text)]
        return ([0] * LONGEST + numbers)[-LONGEST:]

    def forward(self, words, pictures, shown):
        read = self.reads(self.words(words))[1][0][0]
        seen = self.sees(pictures) * shown[:, None]
        return self.head(torch.cat([read, seen, read * seen], dim=1))[:, 0]


def pixels(pictures):
    return torch.as_tensor(np.asarray(pictures)).permute(0, 3, 1, 2).float() / 127.5 - 1


def grams(text):
    """(m,) places of hashed n-grams."""
    words = words_of(text)
    found = {tuple(words[k : k + n]) for n in range(1, 6) for k in range(len(words) - n + 1)}
    return [hash_of(" ".join(gram)) for gram in found]


@cache
def hash_of(gram):
    return int.from_bytes(gram.encode(), "little") % 1_048_573


def question_of(prompt):
    return prompt.partition(" Answer with")[0]


def see_and_read(prompt, picture, choices):
    """What simtown evaluate calls: the tiny model's score of each answer."""
    model = trained("tiny.pt")
    blank = np.zeros((model.side, model.side, 3), np.uint8)
    shown = pixels([blank if picture is None else picture])
    with torch.inference_mode():
        score = model(
            torch.tensor([model.encode(question_of(prompt))]), shown, torch.tensor([picture is not None])
        )
    return [float(score) if choice == "yes" else 0.0 for choice in choices]


def count_words(prompt, picture, choices):
    """What simtown evaluate calls: the n-gram model's score of each answer."""
    weights, bias = trained("grams.pickle")
    score = bias + sum(weights.get(gram, 0.0) for gram in grams(question_of(prompt)))
    return [score if choice == "yes" else 0.0 for choice in choices]


@cache
def trained(name):
    if name.endswith(".pt"):
        return torch.load(name, weights_only=False).eval()
    return pickle.loads(Path(name).read_bytes())


def train_tiny(texts, questions, pictures, answers, steps):
    vocabulary = {word: place for place, word in enumerate(sorted({w for t in texts for w in words_of(t)}))}
    torch.manual_seed(0)
    luck, model = np.random.default_rng(0), TinyModel(vocabulary, pictures.shape[1])
    both = torch.tensor([model.encode(text) for text in texts])
    alone = torch.tensor([model.encode(text) for text in questions])
    adam = torch.optim.AdamW(model.parameters(), 1e-3)
    for step in range(steps):
        for group in adam.param_groups:
            group["lr"] = 1e-3 * min(1, (step + 1) / 100, (steps - step) / (0.3 * steps))
        rows = luck.integers(0, len(texts), BATCH)
        read, shown = (torch.as_tensor(luck.random(BATCH) < 0.5) for _ in range(2))
        words = torch.where(read[:, None], both[rows], alone[rows])
        loss = nn.functional.binary_cross_entropy_with_logits(
            model(words, pixels(pictures[rows]), shown), answers[rows]
        )
        adam.zero_grad()
        loss.backward()
        adam.step()
        if step % 200 == 199:
            print(f"step {step + 1}, loss {loss.item():.3f}, {process_time():.0f} s", flush=True)
    return model


def train_grams(texts, answers, epochs=10, rate=0.1):
    weights, bias = {}, 0.0
    features, luck = [grams(text) for text in texts], np.random.default_rng(0)
    for _ in range(epochs):
        for place in luck.permutation(len(texts)):
            own = features[place]
            score = bias + sum(weights.get(gram, 0.0) for gram in own)
            change = rate * (answers[place] - 1 / (1 + np.exp(-score))) / len(own) ** 0.5
            bias += change
            for gram in own:
                weights[gram] = weights.get(gram, 0.0) + change
    return weights, bias


def main():
    args = options(__doc__, "town", "out", steps=3_000)
    asked = AskedSplit(open_dataset(args.town), "train")
    questions, texts = [], []
    for number in range(len(asked)):
        question = asked[number].example.question
        questions.append(question)
        texts.append(f"{context(asked[number], 'sentences', 0)} {question}")
    answers = asked.examples.column("answer").astype(np.float32)
    out = Path(args.out)
    out.mkdir(exist_ok=True)
    (out / "grams.pickle").write_bytes(pickle.dumps(train_grams(texts, answers)))
    pictures = asked.examples.images(np.arange(len(asked)))
    model = train_tiny(texts, questions, pictures, torch.tensor(answers), int(args.steps))
    import words_and_pictures  # so that the class is found under this name

    model.__class__ = words_and_pictures.TinyModel
    torch.save(model, out / "tiny.pt")


if __name__ == "__main__":
    main()
