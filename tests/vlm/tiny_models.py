"""Tiny vision-language models of several families, with random weights, saved as the hub keeps them."""

import numpy as np
import torch
import transformers as tf
from tokenizers import Tokenizer, decoders, models, trainers
from tokenizers import pre_tokenizers as splitters

#: Pixels of a side of the pictures that the models take, and of a patch.
SIDE, PATCH = 32, 8
_SIZES = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
_VISION = {**_SIZES, "image_size": SIDE, "patch_size": PATCH}
_TEMPLATE = (
    "{% for m in messages %}<user>{% for c in m['content'] %}{% if c['type'] == 'image' %}IMAGE{% else %}"
    "{{ c['text'] }}{% endif %}{% endfor %}{% endfor %}{% if add_generation_prompt %}<bot>{% endif %}"
)
_TEXTS = [
    "Is a sedan left of a fire truck? Answer with yes or no. Yes No yes no",
    "a fire truck is not to the right of a sedan",
]


def tokenizer(*special):
    """A byte-level tokenizer, with more special tokens."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = splitters.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    tokens = ["<pad>", "<s>", "</s>", "<user>", "<bot>", *special]
    letters = {"initial_alphabet": splitters.ByteLevel.alphabet(), "show_progress": False}
    made.train_from_iterator(_TEXTS, trainers.BpeTrainer(vocab_size=400, special_tokens=tokens, **letters))
    names = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
    return tf.PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=256, **names)


def _text(tokens, heads=2):
    ends = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    return {
        **_SIZES,
        **ends,
        "num_key_value_heads": heads,
        "vocab_size": len(tokens),
        "max_position_embeddings": 256,
    }


def _pixels(kind):
    size = {"height": SIDE, "width": SIDE}
    return kind(size=size, crop_size=size, do_center_crop=False)


def llava():
    tokens = tokenizer("<image>")
    text, vision = tf.LlamaConfig(**_text(tokens)), tf.CLIPVisionConfig(**_VISION)
    config = tf.LlavaConfig(
        vision_config=vision,
        text_config=text,
        image_token_id=tokens.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
    )
    template = _TEMPLATE.replace("IMAGE", "<image>")
    how = {"patch_size": PATCH, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1}
    processor = tf.LlavaProcessor(_pixels(tf.CLIPImageProcessorPil), tokens, chat_template=template, **how)
    return tf.LlavaForConditionalGeneration(config), processor


def idefics3():
    """The architecture of SmolVLM, whose own processor needs torchvision."""
    tokens = tokenizer("<image>", "<fake_token_around_image>", "<global-img>", "<end_of_utterance>")
    text = tf.LlamaConfig(**_text(tokens))
    vision = tf.models.idefics3.Idefics3VisionConfig(**_VISION)
    config = tf.Idefics3Config(
        text_config=text, vision_config=vision, scale_factor=2,
        image_token_id=tokens.convert_tokens_to_ids("<image>"), pad_token_id=0,
    )  # fmt: skip
    edge = {"longest_edge": SIDE}
    pixels = tf.Idefics3ImageProcessorPil(size=edge, max_image_size=edge, do_image_splitting=False)
    template = _TEMPLATE.replace("IMAGE", "<image>")
    seen = (SIDE // PATCH // 2) ** 2
    return tf.Idefics3ForConditionalGeneration(config), tf.Idefics3Processor(
        pixels, tokens, image_seq_len=seen, chat_template=template
    )


def qwen2_vl():
    tokens = tokenizer("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
    number = tokens.convert_tokens_to_ids
    text = {**_text(tokens), "rope_parameters": {"rope_type": "default", "mrope_section": [2, 3, 3]}}
    vision = {
        "depth": 2,
        "embed_dim": 32,
        "hidden_size": 32,
        "num_heads": 2,
        "patch_size": PATCH,
        "mlp_ratio": 1,
    }
    config = tf.Qwen2VLConfig(
        text_config=text, vision_config=vision,
        image_token_id=number("<|image_pad|>"), video_token_id=number("<|video_pad|>"),
        vision_start_token_id=number("<|vision_start|>"), vision_end_token_id=number("<|vision_end|>"),
    )  # fmt: skip
    pixels = tf.Qwen2VLImageProcessorPil(patch_size=PATCH, min_pixels=SIDE**2, max_pixels=SIDE**2)
    template = _TEMPLATE.replace("IMAGE", "<|vision_start|><|image_pad|><|vision_end|>")
    processor = tf.Qwen2VLProcessor(pixels, tokens, tf.Qwen2VLVideoProcessor(), chat_template=template)
    return tf.Qwen2VLForConditionalGeneration(config), processor


def clip():
    tokens = tokenizer()
    text = {**_text(tokens), "projection_dim": 16}
    config = tf.CLIPConfig(
        text_config=text, vision_config=_VISION | {"projection_dim": 16}, projection_dim=16
    )
    return tf.CLIPModel(config), tf.CLIPProcessor(_pixels(tf.CLIPImageProcessorPil), tokens)


def siglip():
    tokens = tokenizer()
    text = {**_text(tokens), "max_position_embeddings": 64, "projection_size": 32}
    tokens.model_max_length = 64
    config = tf.SiglipConfig(text_config=text, vision_config=_VISION)
    size = {"height": SIDE, "width": SIDE}
    return tf.SiglipModel(config), tf.SiglipProcessor(tf.SiglipImageProcessorPil(size=size), tokens)


def llama():
    """Sees no picture."""
    tokens = tokenizer()
    tokens.chat_template = "{% for m in messages %}<user>{{ m['content'] }}{% endfor %}<bot>"
    return tf.LlamaForCausalLM(tf.LlamaConfig(**_text(tokens))), tokens


FAMILIES = {"llava": llava, "idefics3": idefics3, "qwen2-vl": qwen2_vl, "clip": clip, "siglip": siglip}


def build(family, directory):
    """Save a model of a family, whose weights are far enough from 0 that every pixel tells."""
    model, processor = llama() if family == "llama" else FAMILIES[family]()
    generator = np.random.default_rng(1)
    with torch.no_grad():
        for weights in model.parameters():
            if weights.ndim > 1:
                weights.copy_(torch.from_numpy(generator.normal(0, 0.1, tuple(weights.shape))))
    model.save_pretrained(directory)
    processor.save_pretrained(directory)
    return directory
