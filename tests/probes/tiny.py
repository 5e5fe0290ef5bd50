"""Tiny models with random weights, and tokenizers trained on a few sentences, saved as the hub keeps them."""

from pathlib import Path

import numpy as np
import torch
import transformers as tf
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, processors, trainers
from tokenizers import pre_tokenizers as splitters

from simtown.probes.lm.architectures import ARCHITECTURES
from simtown.probes.lm.lstm import LSTMForCausalLM

SENTENCES = [
    "the banana is yellow.",
    "the sky is blue and the grass is green.",
    "a turquoise car stands behind the red bus.",
    "people wait at the unhappiest bus stop of the town.",
    "he bought a yellowish, worn-out coat.",
]
LAYERS = {"num_hidden_layers": 2, "num_attention_heads": 2}
SMALL = {**LAYERS, "hidden_size": 16, "intermediate_size": 24, "max_position_embeddings": 40}

#: The rest of the sentences' words falls into letters. Written down: training WordPiece varies.
_WORDS = (
    "the banana is yellow sky blue and grass green a car stands behind red bus at stop of he coat out un tur"
)
WHOLE = _WORDS.split()
INSIDE = ("ish", "happi", "est", "quoise", "or")


def _wordpiece() -> tf.PreTrainedTokenizerFast:
    special = {name: f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    letters = sorted(set("".join(SENTENCES)) - {" "})
    inside, parts = ([f"##{piece}" for piece in pieces] for pieces in (letters, INSIDE))
    pieces = dict.fromkeys([*special.values(), *letters, *inside, *WHOLE, *parts])
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = splitters.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokens = {f"{name}_token": token for name, token in special.items()}
    return tf.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=40, **tokens)


def _bytes(*, masked: bool) -> tf.PreTrainedTokenizerFast:
    """GPT-2's tokenizer, or RoBERTa's, whose mask takes the space before it along."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = splitters.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    mask = AddedToken("<mask>", lstrip=True, special=True)
    special = ["<s>", "<pad>", "</s>", "<unk>", mask] if masked else ["<|endoftext|>"]
    how = {"initial_alphabet": splitters.ByteLevel.alphabet(), "show_progress": False}
    tokenizer.train_from_iterator(
        SENTENCES, trainers.BpeTrainer(vocab_size=330, special_tokens=special, **how)
    )
    tokens = dict.fromkeys(("bos_token", "eos_token"), "<|endoftext|>")
    if masked:
        ends = ("</s>", 2), ("<s>", 0)
        tokenizer.post_processor = processors.RobertaProcessing(*ends, add_prefix_space=False)
        names = ("cls_token", "pad_token", "sep_token", "unk_token", "mask_token")
        tokens = dict(zip(names, special, strict=True), bos_token="<s>", eos_token="</s>")
    longest = 36 if masked else 40
    return tf.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=longest, **tokens)


def _metaspace(*, masked: bool) -> tf.PreTrainedTokenizerFast:
    """SentencePiece's tokenizer, as of Llama and XLM-R: a piece of a word's beginning has the space in it."""
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    letters = dict.fromkeys(["▁", *sorted(set("".join(SENTENCES) + '"()') - {" "})], -9.0)
    words = {piece: -5.0 for word in (*WHOLE, *INSIDE) for piece in (word, f"▁{word}")}
    pieces = dict.fromkeys(special, 0.0) | letters | words
    tokenizer = Tokenizer(models.Unigram(list(pieces.items()), unk_id=3))
    tokenizer.pre_tokenizer = splitters.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens([*special[:4], AddedToken("<mask>", lstrip=True, special=True)])
    names = ("bos_token", "pad_token", "eos_token", "unk_token", "mask_token")
    tokens = dict(zip(names, special, strict=True))
    if masked:
        ends = {"single": "<s> $A </s>", "special_tokens": [("<s>", 0), ("</s>", 2)]}
        tokenizer.post_processor = processors.TemplateProcessing(**ends)
    return tf.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=36, **tokens)


#: The models' classes and the settings of their configurations; numbers of tokens are added.
_ZERO = {"bos_token_id": 0, "eos_token_id": 0}
_DECODER = {"max_position_embeddings": 40, "pad_token_id": 0, **_ZERO}
_WIDTHS = dict.fromkeys(("d_model", "d_latents", "qk_channels", "v_channels"), 16)
_BLOCKS = {"num_blocks": 1, "num_self_attends_per_block": 1, "num_latents": 4, "max_position_embeddings": 40}
_HEADS = {"num_self_attention_heads": 2, "num_cross_attention_heads": 2}
_OPT = {"hidden_size": 16, "word_embed_proj_dim": 16, "ffn_dim": 24, **_DECODER}
_BART = {"d_model": 16, "decoder_layers": 2, "decoder_attention_heads": 2, "decoder_ffn_dim": 24, **_DECODER}
_BOTTLENECK = {"embedding_size": 8, "intra_bottleneck_size": 16, "true_hidden_size": 16}
_XLM = {"emb_dim": 16, "n_layers": 2, "n_heads": 2, "pad_index": 0, "mask_index": 4}
_XLNET = {"d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 24}
_HEADLESS = {name: value for name, value in SMALL.items() if "heads" not in name}
_KINDS: dict[str, tuple[type, dict[str, object]]] = {
    "bert": (tf.BertForMaskedLM, SMALL),
    "roberta": (tf.RobertaForMaskedLM, {**SMALL, "pad_token_id": 1, "bos_token_id": 0}),
    "xlm-roberta": (tf.XLMRobertaForMaskedLM, {**SMALL, "pad_token_id": 1, "bos_token_id": 0}),
    # it mixes all positions, padding too
    "fnet": (tf.FNetForMaskedLM, {**_HEADLESS, "pad_token_id": 0}),
    # its embeddings are made of three neighbours
    "mobilebert": (tf.MobileBertForMaskedLM, {**SMALL, **_BOTTLENECK}),
    # it has states of its own, none of the tokens
    "perceiver": (tf.PerceiverForMaskedLM, {**_WIDTHS, **_BLOCKS, **_HEADS}),
    "distilbert": (tf.DistilBertForMaskedLM, {"dim": 16, "hidden_dim": 24, "n_layers": 2, "n_heads": 2}),
    "albert": (tf.AlbertForMaskedLM, {**SMALL, "embedding_size": 8}),
    "gpt2": (tf.GPT2LMHeadModel, {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 40, **_ZERO}),
    "llama": (tf.LlamaForCausalLM, {**SMALL, "num_key_value_heads": 1, **_ZERO}),
    # it calls a part of its tower, as BART's decoder does
    "opt": (tf.OPTForCausalLM, {**LAYERS, **_OPT}),
    "bart": (tf.BartForCausalLM, _BART),
    "lstm": (LSTMForCausalLM, {"embedding_size": 12, "hidden_size": 14, "num_hidden_layers": 2}),
    # BERT's head for a causal model, but not is_decoder
    "looking ahead": (tf.BertLMHeadModel, SMALL),
    "xlm": (tf.XLMWithLMHeadModel, _XLM),
    "xlnet": (tf.XLNetLMHeadModel, _XLNET),
    "xlnet encoder": (tf.XLNetModel, _XLNET),
    "encoder": (tf.BertModel, SMALL),
}


def _model(kind: str, size: int) -> torch.nn.Module:
    if kind == "clip":
        tokens = {"bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 0}
        text = {**SMALL, **tokens, "vocab_size": size, "projection_dim": 10}
        picture = {**SMALL, "num_hidden_layers": 1, "image_size": 8, "patch_size": 4}
        return tf.CLIPModel(tf.CLIPConfig(text_config=text, vision_config=picture, projection_dim=10))
    made, settings = _KINDS[kind]
    return made(made.config_class(vocab_size=size, **settings))


def redrawn(model: torch.nn.Module, seed: int, deviation: float) -> torch.nn.Module:
    """The model with other matrices, drawn by NumPy: alike on every processor, which torch's are not."""
    generator = np.random.default_rng(seed)
    with torch.no_grad():
        for weights in model.parameters():
            if weights.ndim > 1:
                weights.copy_(torch.from_numpy(generator.normal(0, deviation, tuple(weights.shape))))
    return model


#: Numbers that a tiny model computes in float32 two ways (in batches or alone, from a kept state or anew) are
#: this close: their sums have a few hundred terms of up to 10, each rounded to 1e-7 of itself. Another policy
#: moves them by more than 0.01.
CLOSE = {"rtol": 1e-4, "atol": 2e-4}

MASKED = ("bert", "roberta", "xlm-roberta", "distilbert", "albert")
#: Masked models whose tokens see the padding.
MIXING = ("fnet", "mobilebert")
CAUSAL = ("gpt2", "llama", "lstm", "opt", "bart")


def build(kind: str, directory: Path) -> Path:
    """Save a model of a kind; its weights are far enough from 0 that every position tells."""
    if kind in ("llama", "xlm-roberta"):
        tokenizer = _metaspace(masked=kind != "llama")
    elif kind in ("gpt2", "opt", "bart", "roberta"):
        tokenizer = _bytes(masked=kind == "roberta")
    else:
        tokenizer = ARCHITECTURES["lstm"].tokenizer(SENTENCES, 60) if kind == "lstm" else _wordpiece()
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = redrawn(_model(kind, len(tokenizer)), 1, 0.3)
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    return directory
