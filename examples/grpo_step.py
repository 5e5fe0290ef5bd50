"""
One step of GRPO
================

The gym deals endless questions about streets, each with an exact verifier: a reward for reinforcement
learning. Here TRL's GRPO takes one step with a tiny vision-language model that is built in place, so that
nothing is downloaded. Put the name of a real model in its place. Needs the extra ``gym`` and matplotlib.
"""

import tempfile
from itertools import islice
from textwrap import fill

import matplotlib.pyplot as plt
import torch
import transformers as tf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from trl import GRPOConfig, GRPOTrainer

from simtown.gym import Street
from simtown.gym.adapters.trl import prompts, right_reply

# %%
# The tasks
# ---------
tasks = Street(level=2, seed=3)
figure, pictures = plt.subplots(1, 3, figsize=(8, 3.5), layout="constrained")
for picture, task in zip(pictures, islice(tasks, 3), strict=True):
    picture.imshow(task.picture)
    question = fill(task.prompt.partition("?")[0] + "?", 24)
    picture.set_title(f"{question}\n{task.answer}", fontsize=9)
    picture.axis("off")
plt.show()

# %%
# A tiny vision-language model
# ----------------------------
# Two layers see, two layers speak; its words are bytes. With a real model these lines become its name.
SPECIAL = ["<pad>", "<s>", "</s>", "<image>"]
letters = Tokenizer(models.BPE())
letters.pre_tokenizer, letters.decoder = (
    pre_tokenizers.ByteLevel(add_prefix_space=False),
    decoders.ByteLevel(),
)
alphabet = pre_tokenizers.ByteLevel.alphabet()
trainer = trainers.BpeTrainer(
    vocab_size=300, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
)
letters.train_from_iterator([" yes no" * 9], trainer)
words = tf.PreTrainedTokenizerFast(
    tokenizer_object=letters, pad_token="<pad>", bos_token="<s>", eos_token="</s>", model_max_length=512
)
small = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
torch.manual_seed(1)
model = tf.LlavaForConditionalGeneration(
    tf.LlavaConfig(
        vision_config=tf.CLIPVisionConfig(**small, image_size=32, patch_size=8),
        text_config=tf.LlamaConfig(
            **small, vocab_size=len(words), pad_token_id=0, bos_token_id=1, eos_token_id=2
        ),
        image_token_id=words.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
    )
)
template = (
    "{% for m in messages %}{% for c in m['content'] %}"
    "{{ '<image>' if c['type'] == 'image' else c['text'] }}{% endfor %}{% endfor %}"
)
size = {"height": 32, "width": 32}
processor = tf.LlavaProcessor(
    tf.CLIPImageProcessorPil(size=size, crop_size=size), words, chat_template=template, patch_size=8,
    vision_feature_select_strategy="default", num_additional_image_tokens=1,
)  # fmt: skip

# %%
# One step
# --------
# Eight replies of one token to the first question. The model may say yes or no; a real one says anything.
yes, no = (words.encode(f" {word}")[0] for word in ("yes", "no"))
row = next(iter(prompts(tasks)))


def chances():
    text = processor.apply_chat_template(row["prompt"])
    inputs = processor(images=row["image"], text=text, return_tensors="pt")
    with torch.no_grad():
        return model.eval()(**inputs).logits[0, -1, [yes, no]].softmax(0).tolist()


before, others = chances(), [i for i in range(len(words)) if i not in (yes, no)]
config = GRPOConfig(
    output_dir=tempfile.mkdtemp(), max_steps=1, per_device_train_batch_size=8, num_generations=8,
    max_completion_length=1, shuffle_dataset=False, learning_rate=1e-2, use_cpu=True, bf16=False,
    generation_kwargs={"suppress_tokens": others}, report_to=[], save_strategy="no",
)  # fmt: skip
grpo = GRPOTrainer(model, right_reply, args=config, train_dataset=prompts(tasks), processing_class=processor)
grpo.train()
print(f"mean reward of the eight replies: {grpo.state.log_history[0]['reward']:.3f}")
place = ("yes", "no").index(row["gold"]["answer"])
print(f"chance of the right reply: {before[place]:.3f} before, {chances()[place]:.3f} after the step")
