"""Tiny models with random weights, and tokenizers trained on a few sentences, saved as the hub keeps them."""

from pathlib import Path

import numpy as np
import torch
import transformers as tf
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from simtown.probes.lm.lstm import LSTMConfig, LSTMForCausalLM

SENTENCES = [
    "the banana is yellow.",
    "the sky is blue and the grass is green.",
    "a turquoise car stands behind the red bus.",
    "people wait at the unhappiest bus stop of the town.",
    "he bought a yellowish, worn-out coat.",
]
SMALL = {
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "hidden_size": 16,
    "intermediate_size": 24,
    "max_position_embeddings": 40,
}


#: The rest of the sentences' words falls into letters. Written down: training WordPiece does not give the
#: same every time.
_WORDS = (
    "the banana is yellow sky blue and grass green a car stands behind red bus at stop of he coat out un tur"
)
WHOLE = _WORDS.split()
INSIDE = ("ish", "happi", "est", "quoise", "or")


def _wordpiece() -> tf.PreTrainedTokenizerFast:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = sorted(set("".join(SENTENCES)) - {" "})
    pieces = dict.fromkeys(
        [
            *special,
            *letters,
            *(f"##{letter}" for letter in letters),
            *WHOLE,
            *(f"##{piece}" for piece in INSIDE),
        ]
    )
    tokenizer = Tokenizer(
        models.WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tf.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=40,
    )


def _bytes(*, masked: bool) -> tf.PreTrainedTokenizerFast:
    """GPT-2's tokenizer, or RoBERTa's, whose mask takes the space before it along."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    mask = AddedToken("<mask>", lstrip=True, special=True)
    special = ["<s>", "<pad>", "</s>", "<unk>", mask] if masked else ["<|endoftext|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=special,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    if not masked:
        return tf.PreTrainedTokenizerFast(
            tokenizer_object=tokenizer,
            bos_token="<|endoftext|>",
            eos_token="<|endoftext|>",
            model_max_length=40,
        )
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return tf.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        pad_token="<pad>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        unk_token="<unk>",
        mask_token=mask,
        model_max_length=36,
    )


def _words() -> tf.PreTrainedTokenizerFast:
    from simtown.probes.lm.architectures import ARCHITECTURES

    return ARCHITECTURES["lstm"].tokenizer(SENTENCES, 60)


def _model(kind: str, size: int) -> torch.nn.Module:
    if kind == "bert":
        return tf.BertForMaskedLM(tf.BertConfig(vocab_size=size, **SMALL))
    if kind == "roberta":
        return tf.RobertaForMaskedLM(
            tf.RobertaConfig(vocab_size=size, pad_token_id=1, bos_token_id=0, eos_token_id=2, **SMALL)
        )
    if kind == "fnet":  # it mixes all positions, padding too
        return tf.FNetForMaskedLM(
            tf.FNetConfig(vocab_size=size, pad_token_id=0, **{k: SMALL[k] for k in SMALL if "heads" not in k})
        )
    if kind == "mobilebert":  # its embeddings are made of three neighbours
        sizes = dict.fromkeys(("embedding_size", "intra_bottleneck_size", "true_hidden_size"), 16)
        return tf.MobileBertForMaskedLM(tf.MobileBertConfig(vocab_size=size, **sizes, **SMALL))
    if kind == "perceiver":  # it has states of its own, none of the tokens
        sizes = dict.fromkeys(("d_model", "d_latents", "qk_channels", "v_channels"), 16)
        return tf.PerceiverForMaskedLM(
            tf.PerceiverConfig(
                vocab_size=size,
                num_latents=4,
                num_blocks=1,
                num_self_attends_per_block=1,
                num_self_attention_heads=2,
                num_cross_attention_heads=2,
                max_position_embeddings=40,
                **sizes,
            )
        )
    if kind == "distilbert":
        return tf.DistilBertForMaskedLM(
            tf.DistilBertConfig(vocab_size=size, dim=16, hidden_dim=24, n_layers=2, n_heads=2)
        )
    if kind == "albert":
        return tf.AlbertForMaskedLM(tf.AlbertConfig(vocab_size=size, embedding_size=8, **SMALL))
    if kind == "gpt2":
        return tf.GPT2LMHeadModel(
            tf.GPT2Config(
                vocab_size=size,
                n_embd=16,
                n_layer=2,
                n_head=2,
                n_positions=40,
                bos_token_id=0,
                eos_token_id=0,
            )
        )
    if kind == "llama":
        small = {**SMALL, "num_key_value_heads": 1}
        return tf.LlamaForCausalLM(tf.LlamaConfig(vocab_size=size, bos_token_id=0, eos_token_id=0, **small))
    tokens = {"vocab_size": size, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
    if kind == "opt":  # it calls a part of its tower, as BART's decoder does
        return tf.OPTForCausalLM(
            tf.OPTConfig(
                hidden_size=16,
                word_embed_proj_dim=16,
                num_hidden_layers=2,
                num_attention_heads=2,
                ffn_dim=24,
                max_position_embeddings=40,
                **tokens,
            )
        )
    if kind == "bart":
        return tf.BartForCausalLM(
            tf.BartConfig(
                d_model=16,
                decoder_layers=2,
                decoder_attention_heads=2,
                decoder_ffn_dim=24,
                max_position_embeddings=40,
                **tokens,
            )
        )
    if kind == "lstm":
        return LSTMForCausalLM(
            LSTMConfig(vocab_size=size, embedding_size=12, hidden_size=14, num_hidden_layers=2)
        )
    if kind == "looking ahead":  # BERT's head for a causal model, but not is_decoder
        return tf.BertLMHeadModel(tf.BertConfig(vocab_size=size, **SMALL))
    if kind == "xlm":
        return tf.XLMWithLMHeadModel(
            tf.XLMConfig(vocab_size=size, emb_dim=16, n_layers=2, n_heads=2, pad_index=0, mask_index=4)
        )
    if kind in ("xlnet", "xlnet encoder"):
        sizes = {"d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 24}
        made = tf.XLNetLMHeadModel if kind == "xlnet" else tf.XLNetModel
        return made(tf.XLNetConfig(vocab_size=size, **sizes))
    if kind == "encoder":
        return tf.BertModel(tf.BertConfig(vocab_size=size, **SMALL))
    assert kind == "clip"
    text = {
        **SMALL,
        "vocab_size": size,
        "projection_dim": 10,
        "bos_token_id": 2,
        "eos_token_id": 3,
        "pad_token_id": 0,
    }
    picture = {
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "image_size": 8,
        "patch_size": 4,
    }
    return tf.CLIPModel(tf.CLIPConfig(text_config=text, vision_config=picture, projection_dim=10))


def redrawn(model: torch.nn.Module, seed: int, deviation: float) -> torch.nn.Module:
    """The model with other matrices:

    NumPy draws the same on every processor, torch does not. Its vectors stay as they were made.
    """
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

MASKED = ("bert", "roberta", "distilbert", "albert")
#: Masked models whose tokens see the padding.
MIXING = ("fnet", "mobilebert")
CAUSAL = ("gpt2", "llama", "lstm", "opt", "bart")


def build(kind: str, directory: Path) -> Path:
    """Save a model of a kind; its weights are far enough from 0 that every position tells."""
    if kind in ("gpt2", "llama", "opt", "bart", "roberta"):
        tokenizer = _bytes(masked=kind == "roberta")
    else:
        tokenizer = _words() if kind == "lstm" else _wordpiece()
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = redrawn(_model(kind, len(tokenizer)), 1, 0.3)
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    return directory
