"""An executor of CLEVR's functions by what their authors document (Johnson et al., 2017, and the release's
metadata.json): sets of objects, one object, whole numbers, words, yes or no. It knows nothing of simtown.
"""


def run(program, scene):
    """What a program gives on a scene; AssertionError or ValueError if it is no program for it."""
    objects, results = scene["objects"], []
    for step in program:
        inputs, (verb, _, attribute) = [results[i] for i in step["inputs"]], step["function"].partition("_")
        (value,) = step["value_inputs"] or [None]
        assert (value is None) == (verb not in ("filter", "relate"))
        match verb, inputs:
            case "scene", []:
                result = set(range(len(objects)))
            case "filter", [set() as found]:  # a word of a list, or a part of a word
                result = {i for i in found if value in objects[i][attribute]}
            case "unique", [set() as found]:
                (result,) = [objects[i] for i in found]
            case "relate", [dict() as thing]:
                result = set(scene["relationships"][value][objects.index(thing)])
            case "same", [dict() as thing]:
                alike = {i for i, other in enumerate(objects) if other[attribute] == thing[attribute]}
                result = alike - {objects.index(thing)}
            case "union" | "intersect", [set() as one, set() as other]:
                result = one | other if verb == "union" else one & other
            case "exist" | "count", [set() as found]:
                result = bool(found) if verb == "exist" else len(found)
            case "query", [dict() as thing]:
                result = thing[attribute]
            case "equal" | "less" | "greater", [int() as one, int() as other]:
                result = {"equal": one == other, "less": one < other, "greater": one > other}[verb]
            case _:
                raise ValueError(f"{step} on {inputs}")
        results.append(result)
    return in_words(results[-1])


def in_words(result):
    """An answer as the release has it: "yes", "3", "taxi"."""
    return ("no", "yes")[result] if isinstance(result, bool) else str(result)
