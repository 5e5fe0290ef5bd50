"""Vocabulary of replies: what answers are called, what hedges, and how thinking is marked. Data alone."""

from __future__ import annotations

import re

CANNOT_TELL = "cannot tell"
#: Type of answer, answer, and what may be said for it; kinds and groups are the caller's.
_ANSWERS = """
truth | yes | yeah,yep,yup,true,correct,oui,ja,sí,sì,sim,是,是的,对,對,正确,✅,✔,✓,☑,👍
truth | no | nope,nah,false,incorrect,untrue,wrong,non,nein,não,否,不,不是,不对,不對,错误,❌,✗,✘,✖,👎
colour | black |
colour | blue |
colour | brown |
colour | grey | gray
colour | green |
colour | orange |
colour | pink |
colour | purple | violet
colour | red |
colour | silver |
colour | white |
colour | yellow |
lane | near lane | near,nearer,nearest,closer,closest
lane | parked | parking
lane | far lane | far,farther,further,farthest,furthest
direction | right | rightward,rightwards
direction | left | leftward,leftwards
direction | away | away from the viewer,away from the camera,away from me,away from us
direction | viewer | camera,observer,towards me,toward me,towards us,toward us
weather | clear | sunny
weather | cloudy | overcast,clouds
weather | rain | rainy,raining
weather | fog | foggy,mist,misty
weather | snow | snowy,snowing
weather | dusk | twilight,sunset
weather | night | nighttime
hidden | none of it | none,nothing,not hidden,isn't hidden,not at all,fully visible,completely visible
hidden | less than a third | less than 1/3,less than one third,under a third,below a third,a quarter
hidden | more than a third | more than 1/3,more than one third,over a third,above a third,half,\
most of it,all of it,two thirds,completely hidden
box | left third | left
box | middle third | middle,centre,center,central
box | right third | right
motion | right | rightward,rightwards,to the right
motion | left | leftward,leftwards,to the left
motion | still | stands,stands still,standing still,stationary,not moving,isn't moving,\
does not move,doesn't move
drive | forwards | forward,ahead
drive | backwards | backward,in reverse,reverse,reversing,backing up,backs up
pace | goes on | steady,constant,constant speed,same speed,keeps its speed,no change
pace | speeds up | accelerates,accelerating,speeding up,faster
pace | slows down | slow down,decelerates,decelerating,slowing down,slower,brakes
pace | starts | started,starting,begins to move,starts moving
pace | stops | stopped,stopping,comes to a stop,halts,stops moving
change | nothing | none,no change,nothing changed,unchanged
change | turned | turns,turned around,rotated
change | painted | repainted,changed colour,changed color,another colour,another color
change | moved | moves
change | exchanged | replaced,swapped
change | came | appeared,arrived,added
change | went | disappeared,left,vanished,gone,removed
camera | left | to the left
camera | right | to the right
camera | nearer | closer
camera | farther | further,further away,farther away,away
camera | higher | above,up,upwards,raised
camera | lower | below,down,downwards,lowered
"""
#: By type of answer and answer, what may be said for it beside the answer itself, separated by commas.
WORDS: dict[str, dict[str, str]] = {"count": {}, "kind": {}, "group": {}, "metres": {}}
for _row in _ANSWERS.strip().splitlines():
    _type, _answer, _others = re.split(r" \| ?", _row)
    WORDS.setdefault(_type, {})[_answer] = _others
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight")
_ORDINALS = ("1st", "2nd", "3rd", *(f"{number}th" for number in range(4, 9)))
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
WORDS["picture"] = {
    f"picture {number}": f"{number},{word},picture {word},{place},{short},the {place} picture,image {number}"
    for number, (word, place, short) in enumerate(zip(_NUMBERS, _PLACES, _ORDINALS, strict=True), 1)
}
WORDS["place"] = {
    place: f"{number},{word},the {place},{short},number {number},number {word}"
    for number, (word, place, short) in enumerate(zip(_NUMBERS, _PLACES, _ORDINALS, strict=True), 1)
}
WORDS |= {"seat": WORDS["picture"], "moment": WORDS["truth"]}
#: Capital letters that are an answer alone; options that are asked come first.
LETTERS = {"truth": {"Y": "yes", "N": "no"}}

#: How models mark thinking: what opens it, and what closes it.
_THOUGHT = (
    r"(?:[a-z]+:)?"
    r"(?:\w*(?:think|thought|reason|monologue)\w*|cot|reflection|analysis|scratchpad|rationale)"
)
_ENDS = r"/|end|\w*end\|"
_THINKING = {
    rf"<{_THOUGHT}(?:\s[^<>]{{0,40}})?>": rf"</{_THOUGHT}\s*>",
    rf"\[{_THOUGHT}\]": rf"\[/{_THOUGHT}\]|\[(?:final )?(?:answer|response)\]",
    rf"<\|(?!{_ENDS}){_THOUGHT}\|>": rf"<\|(?={_ENDS})/?{_THOUGHT}\|>",
    "◁think▷": "◁/think▷",
    r"<\|im_start\|>think(?:ing)?": r"<\|im_start\|>answer",
    r"<\|channel>thought": r"<channel\|>",
    "<unused94>(?:thought)?": "<unused95>",
    r"<\|inner_prefix\|>": r"<\|inner_suffix\|>",
    r"<\|channel\|>(?:analysis|commentary)": r"<\|channel\|>final(?:<\|message\|>)?",
    r"\Aanalysis(?=[a-z])": "assistantfinal",  # the same without special tokens
}


def pattern(expression: str) -> re.Pattern[str]:
    """Compile an expression that ignores case."""
    return re.compile(expression, re.IGNORECASE)


def _before(expression: str) -> re.Pattern[str]:
    """Compile what may stand directly before an answer."""
    return pattern(rf"(?:{expression}) ?$")


THINKING_BEGINS = pattern("|".join(_THINKING))
THINKING_ENDS = pattern("|".join(_THINKING.values()))

#: Opens what was in a box.
BOX = "⟦"

#: Expressions that are replaced in turn, before and after compatibility forms are (Unicode's NFKC).
SPELLINGS = {
    r"(\S.{0,40}?\+\s?)\1{99,}": "2 × ",  # a loop in which a model got caught; of a sum it has no result
    r"(\S.{0,40}?[\s!?;|])\1{99,}": r"\1\1",
    r"(?<=\d)['’](?=\d{3}(?!\d))": "",  # between thousands
    "[²³¹⁰-⁹]": r"^\g<0>",
    "′": "'",
    "″": '"',
    "[¼-¾⅐-⅞]": r" \g<0>",
}
MARKUP = {
    "’": "'",
    "⁄": "/",
    r"\+/?-|\bplus or minus\b": "±",
    "[‒―]": "–",
    r"[〜⁓]|(?<=\d) ?\\(?:sim|approx) ?(?=\d)": "~",
    "⋯": "...",
    "[≃≅≒]": "≈",
    "(?![√∼≈−∅≤≥≠∓∕∗∙⋅∴∵])[∀-⋿⨀-⫿]": "≥",  # a sign that is not read
    "(?<=[㐀-鿿])(?=[a-z0-9])|(?<=[a-z0-9])(?=[㐀-鿿])": " ",
    r"(?<=\d)( ?)\*\1(?=\d)": "×",
    r"<\|begin_of_box\|>": "⟦",
    r"<\|end_of_box\|>": "⟧",
    r"<[a-z/|!][^<>\n]{0,40}>": " ",
    "<=": "≤",
    ">=": "≥",
    r"(?<!\d)[\"“]([^\"“”\n]*)[\"”]": r" \1 ",
    r"(?<!\w)'([^'\n]*)'(?!\w)": r" \1 ",
    r"(\d) ?(?:[\"”]|in\b\.?(?= *(?:$|[),;=/\n])))": r"\1 inches ",
    r"[*`#\"“”|_]": " ",
    r"\\+": r"\\",
    r"\b(approx|ca|max|min|vs)\.": r"\1",
    r"\\(?:approx|sim)\b": "about ",
    r"(\d) ?(?:'|(?:ft|foot|feet)\b\.?)[ -]?(\d+)(?: ?in(?:ch(?:es)?)?)?\b": r"\1 feet \2 inches",
    r"\\[dt]?frac *\{(\d+)\} *\{(\d+)\}": r" \1/\2",
    r"\\(?:(?:text|math|[bf]*box|left|right|q?quad|n)[a-z]* ?|[()\[\],;!: ])|\$": " ",
    r"\\[a-z]+": "√",  # LaTeX that may calculate
    "[{}]": "",
    r"\b(?:square root of|(?:sqrt|hypot|abs|exp|log|pow|sum|len|min|max|round|floor|ceil) ?\()|√ ?\(": "√",
    r"(?<!\d)(?<!\d )[~∼≈] ?(?=\d)": "about ",
    r"~(?! ?\d)|\\": " ",
    r"[^\S\n]+": " ",
}

# How an answer is announced, and where a sentence ends.
STATED = pattern(
    r"⟦\s*|(?:\b(?:answer|ans|option|choice|réponse|antwort|respuesta|risposta|resposta)"
    r"(?: to (?:the|this|your) question)?|答案|回答)[^\w\n]{0,4}?"
    r"(?:\s*(?:(?:is|would be|should be|must be|est|ist|es|è|é)\b|[是为為])[ :]*|\s*(?:[:–—]|=|"
    r"->|=>|- ))\s*"
)
STOP = re.compile(r"(?<![.!?;])[.!?;]+(?=\s|$)|(?=⟦)|[。⟧\n]")
LIST_ITEM = re.compile(r"^ *\d+[.)] +(?=[^\W\d])", re.M)
LETTER = re.compile(
    r"(?:\(([A-Za-z])\)|(?<![\w'(-])([B-HJ-Z])(?![\w'-])|(?:\b(?:option|choice)|[选選]) ([A-Za-z])(?![\w'])|"
    r"(?<![\w'(-])([AI])(?= ?(?:[().:,;/&]|$|(?:and|or|is|because|since|as|which|while)\b|[㐀-鿿]))|"
    r"^\W*([a-z])\W*$)(?!\)? (?:is (?:not|wrong|incorrect|false|ruled out)|isn't)\b)"  # which deny it
)

# What makes a reply none, or the answer "cannot tell".
REFUSES = pattern(
    r"\bas an ai\b|\b(?:can't|cannot|can not|(?:un|not )able to|don't|do not) (?:\w+ly )?(?:see|view|process|"
    r"analy[sz]e|access|assist|help|answer|have)\b(?! (?:enough|sufficient))|"
    r"\bno (?:image|picture|photo)|\bplease (?:provide|upload)"
)
MAYBE = pattern(r"\b(?:maybe|perhaps|possibly|might|could be|either|would be\b.{0,60}? if|otherwise)\b")
_TOLD = "(?:information|info|details?|context|evidence|data)"
UNSURE = (
    r"(?:can't|cannot|can not|couldn't|could not|(?:not |\w+n't |un)able to|(?:not |\w+n't |im)possible to|"
    r"(?:hard|difficult) to)(?: be)?(?: \w+ly)? (?:tell|told|say|determined?|discern(?:ed)?|judged?|be sure|"
    r"ascertain(?:ed)?|infer(?:red)?|identify|identified|make out)|"
    r"not sure|can't be sure|not certain|unsure|uncertain|don't know|do not know|no idea|unknown|unclear|"
    r"ambiguous|undetermined|indeterminate|inconclusive|(?:not |un|in)determinable|n/a|"
    r"too close to (?:say|call|tell)|"
    rf"(?:(?:not|\w+n't)(?: \w+){{0,3}} (?:enough|sufficient)|insufficient)(?: \w+)? {_TOLD}|"
    rf"{_TOLD}[\w ]{{0,40}} (?:(?:is|are)(?: not|n't) (?:enough|sufficient)|(?:is|are) insufficient)|"
    r"no (?:reliable |real |good )?way (?:to|of) (?:tell|know|say|determin|judg|find)(?:e|ing)?(?: out)?|"
    r"无法(?:判断|确定|得知)|不能确定|不确定|不知道"
)

# What stands before or behind an answer and changes what it says.
NOT = _before(
    r"(?:\b(?:not|no|never|neither|nor|without|rather than|instead of|anything but|far from|hardly|barely|"
    r"scarcely|unlike|similar to|used to be|formerly|previously|lack(?:s|ing)?)|n't)"
    r"(?: (?:an?|the|in|on|to|facing|\w+ly|longer|quite|just|even|single|say|be|is|it))*"
)
BESIDE = _before(
    r"\b(?:(?<!type )(?<!kind )(?<!sort )of|"
    r"behind|besides?|than|between|from|to|by|near|past|with|against|before|after|opposite|under|"
    r"above|below|beyond|alongside) (?:(?:the|an?|this|that|its|other|nearest) )*"
)
JOINED = pattern(r" ?(?:,|and|or|, and) (?:(?:the|an?) )?")
CLAUSE = pattern(r"\b(?:because|since|as|which|while|whereas|although|though|whether|if)\b")
PLACED = pattern(r" (?:of|the|to|an?|behind|next|in front|beside|that|view|edge)\b")
#: Joins two answers, of which both or none is to be known.
OR = pattern(
    r"(?<=[\w)])(?:[ ,(–—-]{1,3}(?:or(?! so\b)|ou|oder|vs\.?|versus)[ -]| ?(?:/|或者?) ?)"
    r"(?:(?:an?|the|in|on|to|about) )*(?=[\w(])"
)
#: Signs beside which no number is an answer, as in > 3 or √9.
_SIGNS = "[<>≤≥≪≫≲≳⩽⩾≮≯≠±∓√∛×÷·−+^*/]"
LIMIT = _before(
    rf"(?<![-=]){_SIGNS}|\d ?(?:[-–~]|to)|"
    r"(?:\b(?:at (?:the very )?(?:least|most)|up to|(?:more|less|fewer) than|over|under|between|"
    r"above|below|within|"
    r"exceed(?:s|ing)|beyond|upwards of|in excess of|short of|minus|negative|twice|thrice|double|triple|"
    r"(?:half|thirds?|quarters?|percent|%)(?: of)?|"
    r"(?:min|max)(?:imum)?(?: of)?\.?|(?:many|few|much|little) as|au (?:moins|plus)|plus de|"
    r"moins de|mindestens|höchstens|mehr als|weniger als|entre|zwischen|al menos|como m[aá]ximo|m[aá]s de|"
    r"menos de)|"
    r"至少|至多|最多|超过|不到|多于|少于)(?: about)?"
)
LIMIT_BEHIND = pattern(
    rf" ?{_SIGNS}|"
    r"-?ish\b| (?:more|less|fewer|extra|longer|shorter|closer|nearer|farther|further)\b|"
    r" \d+ ?(?:$|[^\w\s%°/'.])|"
    r"[ -](?:(?:and an? )?(?:hundred|thousand|million|dozen|pair|half|quarter|third)s?|times|squared|"
    r"cubed|sq|per|s|an? (?:second|minute|hour)|at (?:the very )?(?:least|most)|"
    r"(?:min|max)(?:imum)?|tops|plus|and (?:counting|more|up|upwards|above|over)|doubled|tripled|halved)\b|"
    r"(?: [a-z]+)? \(?(?:(?:at (?:an? |the )?)?(?:min|max)(?:imum)?|at (?:least|most))\b|"
    r",? (?:give or take|plus-minus) (?=\w)|"
    r" ?[辆輛个個台米]? ?(?:以上|以下|左右|多)"
)
#: Before a number that names one of several pictures: it counts and measures nothing.
NUMBERED = _before(r"(?<!the )(?<!this )\b(?:picture|image|frame|photo|pic|option|step) #?")
#: What stands before and behind one in an order, and makes it another.
SINCE = _before(r"\b(?:after|before|until|till|since|from|later than|earlier than) (?:the )?")
_ONWARDS = r" (?:on|onwards?|at the (?:latest|earliest)|or (?:later|earlier))\b"
_SEVERAL = (
    r" (?:pictures|images|frames|photos|seconds|times)\b|[ -](?:(?:to|from)[ -])?(?:the )?last\b|-hand\b"
)
_EARLIER = r" (?:later|ago|before|after|earlier)\b"
#: By type of answer what stands behind one and makes it another, as in "turned red", "first the bus".
OTHERWISE = {
    "picture": pattern(f"{_ONWARDS}|{_SEVERAL}"),
    "place": pattern(
        rf"{_SEVERAL}|{_EARLIER}|,?(?: comes| came| is| was)? (?:the|an?) | (?:picture|image|frame|photo)\b"
    ),
    "pace": pattern(r" (?:to (?!move|drive|a\b)|slowing|speeding|braking|on an? )"),
    "change": pattern(
        rf"(?<!painted) (?:but|except|besides|other than|into|from|{'|'.join(WORDS['colour'])}|gray)\b"
    ),
}
OTHERWISE["seat"] = OTHERWISE["picture"]
#: Before what is so in part alone, or near another, as in "yellowish green".
PARTLY = _before(
    r"ish\b-?|(?:\b(?:almost|nearly|close to|part(?:ly|ially)|half)|"
    r"(?:\bnot|n't) (?:necessarily|entirely|completely|fully|wholly|quite))(?: an?| the)?"
)
ABOUT = _before(
    r"\b(?:about|around|in the ballpark of|approx(?:imately)?|roughly|ca|circa|some|nearly|almost|environ|"
    r"close to|more or less|etwa|ungefähr|unos|aproximadamente)(?: the)?|[约約]"
)
#: Behind an answer that holds under a condition.
CONDITION = pattern(
    r"[ ,(]+(?:unless|provided|assuming|if not)\b|[ (]+if\b| in (?:one|a|some) (?:sense|way)\b"
)
#: Before a number of things of which others are counted.
WHOLE = _before(r"\b(?:of|among)(?: the| these| those)?")
#: Between two parts of a count, and a line that is one.
PARTED = pattern(r".*[a-z].*?(?:[,;&]|\band\b)")
PART = pattern(r"(?m)^(\W*(?!(?:answer|total|count|final|number)\b)[a-z][a-z -]*:) *\d+(?=\W*$)")
#: A reply that is one question.
ASKS = pattern(r"[^.!?\n]*\?")
#: Begins a sentence that takes back what was said.
REVISES = pattern(
    r"\W*(?:wait|sorry|correction|hmm|actually|oops|scratch that|no, wait|my mistake|on second thought|"
    r"(?:but )?(?:look|check)ing (?:again|closer)|i mean)\b"
)
#: What may stand around an answer in a sentence that says nothing else.
AROUND = pattern(
    r"\W*(?:(?:an?|the|it|it's|its|is|that|that's|this|there|they|are|in|on|at|to|towards?|facing|faces|answer|"
    r"option|choice|actually|wait|meant?|or|and|sorry|correction|rather|oh|hmm|well|so|i|think|believe|would|say|"
    r"exactly|only|just|final|my|vehicles?|colou?r|probably|definitely|instead|be|no|yes|lane)\b\W*)*"
)
#: What follows "no" where it means "not any", as in "no taxi".
ANY = pattern(
    r" (?!(?:it|it's|its|there|the[ny]?|th[ai][st]|i|we|you|and|or|yes|because|as|since|but|not|for|an?|is|"
    r"no|in|on|at|if|by|with|when|while|otherwise)\b)[a-z]"
)

# What only counts have around them.
ZERO = pattern(
    r"\b(?:none|aucune?|keine?n?|ning[uú]n[oa]?)\b|(?:\bnot|n't) (?:have |see )?any\b|没有|"
    r"\bno(?= [a-z])(?! (?:way|doubt|idea|image|picture|information|one|more|less|fewer|longer)\b)"
)
# What stands before "of which" is asked if all parts are named behind it.
REASON = pattern(r"\b(?:because|since|as|(?<!of )which|excluding)\b|因为|\bof which(?=[^.]*\d[^.]*\d)")
RESULT = pattern(
    r"\W{0,9}\b(?<!okay, )(?<!ok, )(?<!alright, )(?<!well, )"  # which begins a thought, and ends none
    r"(?:so(?!,? let)|therefore|thus|hence|in conclusion|overall|in summary|making|makes|altogether)\b"
    "(?! far)|所以|因此|[共总]"
)
WORD = pattern("[a-z]+")
TOTAL = _before(r"\btotal(?: of| de|:| is| number is)?")
IN_TOTAL = pattern(r"[\w -]{0,60} in total")
#: Behind a number of things beside one more, "2 cars and a bus", or behind a guess; before such a number.
AND_ONE = pattern(
    r" [\w-]+(?: [\w-]+)? and an? |,? (?:approx|approximately|roughly|or so|give or take|more or less)\b"
)
ONE_AND = _before(r"\ban? [\w-]+(?: [\w-]+)? and")
#: Behind a total that is one of several: "a total of 2 cars and 1 bus".
TOTAL_GOES_ON = pattern(r"[\w' -]{0,60}?(?:(?:,|,? and|&) ?[\d∅]| and an? )")

# What only lengths and shares have behind them.
UNITLESS = pattern(r" ?(?:$|[^\w\s%°/']|(?:away|apart)\b)")
PERCENT = pattern(" ?(?:%|percent)")
