"""Which kinds a reader calls by a noun, over the whole catalogue."""

from simtown.assets.catalogue import BODIES, ENTITIES, NAMED_BY_COLOUR, PROPS
from simtown.assets.palette import COLOUR_WORDS
from simtown.language.meaning.nouns import NOUNS, called_by, kinds_meant, perhaps_called_by
from tests.every import for_every

KINDS = (*ENTITIES, *PROPS)


@for_every((*NOUNS, *KINDS))
def test_every_noun_calls_its_own_kinds_and_those_whose_name_ends_in_it(noun):
    called, perhaps = {*called_by(noun)}, {*perhaps_called_by(noun)}
    ends = {kind for kind in KINDS if kind.partition(" with ")[0].endswith(f" {noun}")}
    assert ends | {*kinds_meant(noun)} <= called
    assert called | perhaps <= {*KINDS}
    assert not called & perhaps
    assert [*called_by(noun)] == [kind for kind in KINDS if kind in called]


@for_every(sorted(NAMED_BY_COLOUR))
def test_a_colour_and_a_noun_call_all_kinds_of_that_colour(name):
    colour, _, noun = name.partition(" ")
    assert {*called_by(name)} == {k for k in called_by(noun) if BODIES[k] in COLOUR_WORDS[colour]}
    assert not {*perhaps_called_by(name)} - {*called_by(noun)}


#: A noun: kinds that every reader calls so / that only some readers do / that none does.
CALLED = """
woman: grandmother, woman with black hair / jogger, gardener / man, child
man: postman, man with black hair, elder with cane / person with pram / grandmother, woman
scooter: kick scooter, delivery scooter / / motorcycle, tricycle
bicycle: tandem bicycle, cargo bike / / motorcycle, quad bike, tricycle
motorcycle: police motorcycle, sidecar motorcycle / scooter / bicycle, kick scooter
fire engine: fire truck / / red truck, fire chief car, fire station
red truck: fire truck, red pickup / / tow truck, red bus, red car
red car: fire chief car / / red bus, taxi
car: hearse, taxi / / car carrier, tram
town house: blue town house / / town hall
mailbox: pillar box / / mail van, phone box
oak: oak bare / / birch
bus: minibus, red bus / / bus stop, bus shelter, tram
school: / / school bus
"""


@for_every(CALLED.strip().splitlines())
def test_readers_would_agree(line):
    noun, _, kinds = line.partition(":")
    sure, doubtful, not_so = ({*filter(None, part.strip().split(", "))} for part in kinds.split("/"))
    assert sure <= {*called_by(noun)}
    assert doubtful <= {*perhaps_called_by(noun)}
    assert not not_so & {*called_by(noun), *perhaps_called_by(noun)}


def test_an_unknown_word_calls_nothing():
    assert called_by("unicorn") == perhaps_called_by("unicorn") == ()
