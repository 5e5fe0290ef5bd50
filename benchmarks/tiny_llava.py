"""Train a tiny LLaVA on questions of `simtown check`, so that a real server can be checked with it.

    OMP_NUM_THREADS=1 python benchmarks/tiny_llava.py llavas/tiny [--steps 800]

It sees whether a vehicle is there, in which half, its colour and its direction, in one picture. Writes a
directory that transformers opens: `transformers serve llavas/tiny`, or `hf:llavas/tiny`.
"""

from dataclasses import replace
from random import Random
from time import process_time

import torch
import transformers as tf
from machine import options
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from simtown.assets.entities import ENTITIES
from simtown.vlm.check_probes import EmptyStreet, colour, left_right, quarter_turn, sight, up_down, words

SIDE, PATCH, BATCH, WIDTH = 64, 16, 32, 64
_TEMPLATE = (
    "{% for m in messages %}<user> {% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for c in m['content'] %}{% if c['type'] == 'text' %}{{ c['text'] }}{% else %}<image>{% endif %} "
    "{% endfor %}{% endif %}{% endfor %}{% if add_generation_prompt %}<bot>{% endif %}"
)
_PADDED = {"padding_side": "left", "return_tensors": "pt"}
_PROBES = (sight, left_right, up_down, colour, quarter_turn)


class MovingStreet(EmptyStreet):
    """An empty street whose vehicles stand up to so many sides from where a probe wants them."""

    def shown(self, u=0.5, v=0.5, **how):
        luck = Random(f"{self.number} {u} {v}")
        near = 0.15 if (u, v) == (0.5, 0.5) else 0.06
        u, v = (share + luck.uniform(-near, near) for share in (u, v))
        return super().shown(u, v, **how)


def tiny_llava(texts: list[str]) -> tuple[tf.LlavaForConditionalGeneration, tf.LlavaProcessor]:
    """A LLaVA with random weights, whose tokens are the words of some texts."""
    own = Tokenizer(models.WordLevel(unk_token="<unk>"))
    own.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["<pad>", "<s>", "</s>", "<unk>", "<user>", "<bot>", "<image>"]
    own.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=special, show_progress=False))
    names = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    tokens = tf.PreTrainedTokenizerFast(tokenizer_object=own, model_max_length=512, **names)
    sizes = {
        "hidden_size": WIDTH,
        "intermediate_size": 2 * WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
    }
    ends = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    text = tf.LlamaConfig(**sizes, **ends, vocab_size=len(tokens), max_position_embeddings=512)
    vision = tf.CLIPVisionConfig(**sizes, image_size=SIDE, patch_size=PATCH)
    image = tokens.convert_tokens_to_ids("<image>")
    config = tf.LlavaConfig(
        vision_config=vision, text_config=text, image_token_id=image, vision_feature_layer=-1
    )
    size = {"height": SIDE, "width": SIDE}
    pixels = tf.CLIPImageProcessorPil(size=size, crop_size=size, do_center_crop=False)
    how = {"patch_size": PATCH, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1}
    processor = tf.LlavaProcessor(pixels, tokens, chat_template=_TEMPLATE, **how)
    return tf.LlavaForConditionalGeneration(config), processor


def questions(number):
    """The questions of all pairs about a street."""
    stage = MovingStreet(number, 2 * SIDE)
    in_words = words(replace(stage, number=number % len(ENTITIES)))
    return [*in_words, *(query for probe in _PROBES for query in probe(stage))]


def prompt(processor, query):
    parts = [*[{"type": "image"}] * len(query.pictures), {"type": "text", "text": query.text}]
    chat = [{"role": "user", "content": parts}]
    text = processor.apply_chat_template(chat, add_generation_prompt=True)
    return text.replace("<image>", "<image>" * (SIDE // PATCH) ** 2) + f" {query.gold.answer} </s>"


def main() -> None:
    args = options(__doc__, "out", steps=800)
    begun, luck = process_time(), Random(0)
    every = [query for number in range(100, 500) for query in questions(number)]
    torch.manual_seed(0)
    model, processor = tiny_llava([query.text + " " + query.gold.answer for query in every])
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=args.steps)
    pixels = {
        query.key: processor.image_processor(Image.fromarray(query.picture), return_tensors="pt")
        for query in every
        if query.pictures
    }
    groups = [query for query in every if query.pictures], [query for query in every if not query.pictures]
    for step in range(args.steps):
        batch = luck.sample(groups[luck.random() < 0.1], BATCH)
        tokens = processor.tokenizer([prompt(processor, query) for query in batch], padding=True, **_PADDED)
        inputs = {name: tokens[name] for name in ("input_ids", "attention_mask")}
        if batch[0].pictures:
            inputs["pixel_values"] = torch.cat([pixels[query.key]["pixel_values"] for query in batch])
        labels = inputs["input_ids"].clone()
        labels[:, :-2] = -100
        loss = model(**inputs, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 0:
            print(f"step {step}, loss {loss.item():.3f}, {process_time() - begun:.0f} s", flush=True)
    model.save_pretrained(args.out)
    processor.save_pretrained(args.out)


if __name__ == "__main__":
    main()
