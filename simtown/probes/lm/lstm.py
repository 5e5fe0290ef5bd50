"""Our LSTM language model (Ghanimifard and Dobnik 2019, section 3), kept as Hugging Face's models are."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutputWithPast, CausalLMOutputWithPast


class LSTMConfig(PreTrainedConfig):
    """Sizes of the vocabulary, of an embedding and a hidden state; layers; the share that dropout drops."""

    model_type = "simtown-lstm"

    vocab_size: int = 5_000
    embedding_size: int = 300
    hidden_size: int = 300
    num_hidden_layers: int = 1
    dropout: float = 0.2


@dataclass
class LSTMState:
    """What the layers remember: for each a pair of (1, n, d), hidden state and cell."""

    layers: list[tuple[torch.Tensor, torch.Tensor]]

    def batch_repeat_interleave(self, repeats: int) -> None:
        """Every row `repeats` times, as transformers' caches do it."""
        repeated = ([part.repeat_interleave(repeats, 1) for part in layer] for layer in self.layers)
        self.layers = [(hidden, cell) for hidden, cell in repeated]


class LSTMModel(PreTrainedModel):
    """Embeddings and LSTM layers, with dropout before each and after the last."""

    config_class = LSTMConfig

    def __init__(self, config: LSTMConfig) -> None:
        super().__init__(config)
        sizes = [config.embedding_size] + [config.hidden_size] * config.num_hidden_layers
        self.embeddings = nn.Embedding(config.vocab_size, config.embedding_size)
        self.layers = nn.ModuleList(nn.LSTM(a, b, batch_first=True) for a, b in pairwise(sizes))
        self.dropout = nn.Dropout(config.dropout)
        self.post_init()

    def get_input_embeddings(self) -> nn.Module:
        return self.embeddings

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        past_key_values: LSTMState | None = None,
        use_cache: bool = False,
        output_hidden_states: bool = False,
    ) -> BaseModelOutputWithPast:
        """(n, t) int64 to (n, t, d) hidden states.

        Rows are filled up on the right, so that the mask changes nothing that counts.
        """
        states = [self.embeddings(input_ids)]
        kept = []
        for i, layer in enumerate(self.layers):
            before = past_key_values.layers[i] if past_key_values else None
            output, state = layer(self.dropout(states[-1]), before)
            states.append(output)
            kept.append(state)
        return BaseModelOutputWithPast(
            last_hidden_state=self.dropout(states[-1]),
            past_key_values=LSTMState(kept) if use_cache else None,
            hidden_states=tuple(states) if output_hidden_states else None,
        )


class LSTMForCausalLM(PreTrainedModel):
    """The LSTM with a projection to the vocabulary."""

    config_class = LSTMConfig
    base_model_prefix = "lstm"

    def __init__(self, config: LSTMConfig) -> None:
        super().__init__(config)
        self.lstm = LSTMModel(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size)
        self.post_init()

    def get_input_embeddings(self) -> nn.Module:
        return self.lstm.embeddings

    def forward(self, input_ids: torch.Tensor, **more: Any) -> CausalLMOutputWithPast:
        """(n, t) int64 to (n, t, v) logits of the next tokens. See :meth:`LSTMModel.forward`."""
        output = self.lstm(input_ids, **more)
        logits = self.lm_head(output.last_hidden_state)
        kept = {"past_key_values": output.past_key_values, "hidden_states": output.hidden_states}
        return CausalLMOutputWithPast(logits=logits, **kept)


AutoConfig.register(LSTMConfig.model_type, LSTMConfig, exist_ok=True)
AutoModelForCausalLM.register(LSTMConfig, LSTMForCausalLM, exist_ok=True)
