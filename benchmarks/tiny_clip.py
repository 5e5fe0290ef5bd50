"""Train a tiny CLIP on the questions of a data set, for simtown evaluate clip:DIRECTORY.

    OMP_NUM_THREADS=1 python benchmarks/tiny_clip.py town clips/town [--steps 4000]

Of each question it learns which of its two statements is true of the picture: "a taxi is to the left of a
bus" or its negation and its mirror. Pictures are made square. Writes a directory that transformers opens.
"""

from itertools import chain
from time import process_time

import numpy as np
import torch
import transformers as tf
from machine import options
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from simtown.datasets.reading.reader import open_dataset
from simtown.language.words.statements import statements

SIDE, PATCH, BATCH, WIDTH = 64, 8, 128, 64


def tiny_clip(texts: list[str]) -> tuple[tf.CLIPModel, tf.CLIPProcessor]:
    """A CLIP with random weights, whose tokens are the words of some texts."""
    words = Tokenizer(models.WordLevel(unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["<pad>", "<s>", "</s>", "<unk>"]
    words.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=special, show_progress=False))
    names = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    add_end = tf.PreTrainedTokenizerFast(tokenizer_object=words, model_max_length=32, **names)
    add_end.backend_tokenizer.post_processor = _ended(words)
    sizes = {
        "hidden_size": WIDTH,
        "intermediate_size": 2 * WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "projection_dim": WIDTH,
    }
    ends = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    text = {**sizes, **ends, "vocab_size": len(add_end), "max_position_embeddings": 32}
    vision = {**sizes, "image_size": SIDE, "patch_size": PATCH}
    config = tf.CLIPConfig(text_config=text, vision_config=vision, projection_dim=WIDTH)
    size = {"height": SIDE, "width": SIDE}
    pixels = tf.CLIPImageProcessorPil(size=size, crop_size=size, do_center_crop=False)
    return tf.CLIPModel(config), tf.CLIPProcessor(pixels, add_end)


def _ended(words: Tokenizer) -> object:
    """Puts the token at the end, which a CLIP reads a text's vector from."""
    return processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)])


def main() -> None:
    args = options(__doc__, "town", "out", steps=4_000)
    split, begun = open_dataset(args.town).train, process_time()
    questions = [text.decode() for text in split.column("question")]
    said = {text: statements(text, "truth", ("no", "yes")) for text in dict.fromkeys(questions)}
    texts = list(dict.fromkeys(chain.from_iterable(chain.from_iterable(said.values()))))
    torch.manual_seed(0)
    model, processor = tiny_clip(texts)
    pixels = torch.cat(
        [
            processor.image_processor(images=list(split.images(range(at, min(at + 500, len(split))))),
                                      return_tensors="pt")["pixel_values"].half()
            for at in range(0, len(split), 500)
        ]
    )  # fmt: skip
    answers = torch.from_numpy(split.column("answer").astype(np.int64))
    adam = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(adam, 1e-3, total_steps=args.steps)
    losses, hits = [], []
    for step in range(args.steps):
        rows = torch.randint(len(split), (BATCH,))
        own = [said[questions[row]] for row in rows]
        place = {text: n for n, text in enumerate(dict.fromkeys(t for pair in own for s in pair for t in s))}
        means = torch.zeros(BATCH, 2, len(place))
        for row, pair in enumerate(own):
            for answer, sentences in enumerate(pair):
                means[row, answer, [place[text] for text in sentences]] = 1 / len(sentences)
        tokens = processor.tokenizer(list(place), padding=True, return_tensors="pt")
        similar = model(pixel_values=pixels[rows].float(), **tokens).logits_per_image
        scores = (means * similar[:, None]).sum(dim=2)
        loss = torch.nn.functional.cross_entropy(scores, answers[rows])
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        schedule.step()
        losses.append(loss.item())
        hits.append((scores.argmax(1) == answers[rows]).float().mean().item())
        if step % 200 == 199:
            print(f"step {step + 1:,}: loss {np.mean(losses[-200:]):.3f}, {np.mean(hits[-200:]):.3f} right",
                  flush=True)  # fmt: skip
    model.save_pretrained(args.out)
    processor.save_pretrained(args.out)
    print(f"{args.out}: {process_time() - begun:.0f} s of one processor")


if __name__ == "__main__":
    main()
