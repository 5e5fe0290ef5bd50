"""What Tables 1 to 6, 9 and 11 of Zhang et al. (2022) print: texts by row, in the order of the columns.

ρ, standard deviations and accuracies are times 100. Tables 3, 5, 6 and 9 have ρ and Acc@1 of color, shape,
material and, but for Table 6, co-occurrence.
"""

from simtown.core.tables import parse_cells


def _rows(table: str) -> dict[str, tuple[str, ...]]:
    """{name: cells} of lines of a name and cells with | between; - stands for a cell without a number."""
    return {name: tuple("" if cell == "-" else cell for cell in cells) for name, *cells in parse_cells(table)}


#: Classes and pairs.
TABLE1 = _rows("""
    color          |   12 | 2877
    shape          |   12 |  706
    material       |   18 | 1423
    size (smaller) |  107 | 2000
    size (larger)  |  107 | 2000
    co-occurrence  | 5939 | 2108
    """)
#: ρ, subjects, mean occurrences, those of the five subjects with the highest and the lowest ρ, Acc@1.
TABLE2 = _rows("""
    VG, all           | 64.3 ± 23.9 | 355 | 1252.6 |   64.6 |  308.6 |    -
    VG, single        | 62.2 ± 24.0 | 131 |  494.9 |   64.6 | 1181.6 | 80.2
    VG, multi         | 69.3 ± 20.7 | 136 | 1156.1 | 2062.2 |  347.0 |    -
    VG, any           | 58.4 ± 27.1 |  88 | 2529.6 | 8452.4 | 1213.4 |    -
    Wikipedia, all    | 33.4 ± 30.6 | 302 |  543.6 | 1758.0 |   49.8 |    -
    Wikipedia, single | 29.6 ± 29.9 | 110 |  352.2 |  345.8 |   35.0 | 35.5
    Wikipedia, multi  | 33.9 ± 30.9 | 119 |  500.8 | 1242.0 |   27.6 |    -
    Wikipedia, any    | 38.2 ± 30.4 |  73 |  902.0 | 3000.2 |  161.2 |    -
    """)
#: Models of Tables 3 and 4 by their names in the released results, as printed.
MODELS = {"bert-base": "BERT base", "oscar-base": "Oscar base", "distil_bert-base": "Distilled"}
MODELS |= {"bert-large": "BERT large", "oscar-large": "Oscar large"}
#: Columns of Tables 3, 5 and 9 by their names in the release.
COLUMNS = ("color", "shape", "material", "cooccur")
#: By "model, N" before tuning and "model, Y" after it. * where BERT base and Oscar base are printed as not
#: different (p > 0.05).
TABLE3 = _rows("""
    bert-base, N        | 26.1 ± 31.0* | 11.7 |  38.7 ± 15.1 |  6.7 | 33.7 ± 19.6 | 30.0 |   4.7 ± 3.5
    oscar-base, N       | 26.4 ± 30.7* | 24.0 |  45.9 ± 14.1 | 53.0 | 38.6 ± 17.5 | 43.3 |   9.8 ± 6.9
    distil_bert-base, N |  34.8 ± 27.3 | 27.5 |  46.2 ± 14.2 | 37.3 | 36.1 ± 20.2 | 37.7 |  10.1 ± 7.5
    bert-large, N       |  37.6 ± 30.3 | 30.3 |  42.7 ± 17.1 | 28.4 | 36.6 ± 19.1 | 35.7 |   5.2 ± 3.8
    oscar-large, N      |  31.8 ± 28.3 | 17.1 |  40.0 ± 16.9 | 38.1 | 39.2 ± 17.1 | 40.5 |   9.7 ± 6.7
    bert-base, Y        |  48.0 ± 22.9 | 47.4 | 49.2 ± 12.7* | 76.1 | 41.2 ± 15.3 | 45.2 |  11.3 ± 7.9
    oscar-base, Y       |  58.1 ± 21.1 | 67.9 | 50.4 ± 11.5* | 81.3 | 45.3 ± 14.3 | 66.2 |  12.7 ± 9.3
    distil_bert-base, Y |  57.1 ± 21.9 | 64.6 |  50.5 ± 12.3 | 82.8 | 45.4 ± 14.8 | 66.2 | 13.0 ± 10.1
    bert-large, Y       |  37.6 ± 30.3 | 30.3 |  49.2 ± 12.6 | 78.4 | 43.7 ± 15.1 | 53.3 |  11.4 ± 8.0
    oscar-large, Y      |  57.6 ± 21.6 | 65.3 |  50.1 ± 12.2 | 81.3 | 45.2 ± 15.2 | 65.8 |  12.8 ± 9.6
    """)
#: Per cent correct with the "larger" and with the "smaller" templates.
TABLE4 = _rows("""
    bert-base, N        | 80.0 | 67.1
    oscar-base, N       | 79.5 | 67.7
    distil_bert-base, N | 84.6 | 60.7
    bert-large, N       | 80.9 | 66.1
    oscar-large, N      | 79.4 | 70.7
    bert-base, Y        | 69.9 | 55.7
    oscar-base, Y       | 70.6 | 57.3
    distil_bert-base, Y | 70.6 | 57.3
    bert-large, Y       | 70.0 | 55.7
    oscar-large, Y      | 70.6 | 57.3
    """)
#: In the order of the release's file-cls.csv.
TABLE5 = _rows("""
    BERT base  | 48.0 ± 21.6 | 51.4 | 53.2 ± 13.4 | 78.4 | 41.3 ± 15.6 | 51.1 | 30.2 ± 11.7 | -
    Oscar base | 52.5 ± 20.8 | 63.1 | 54.4 ± 14.8 | 80.6 | 43.2 ± 14.4 | 63.0 | 31.2 ± 12.1 | -
    CLIP       | 51.9 ± 20.8 | 63.8 | 54.5 ± 13.9 | 79.9 | 42.9 ± 15.0 | 63.0 | 31.3 ± 11.6 | -
    """)
#: In the order of the release's file-cls-groups.csv.
TABLE6 = _rows("""
    single, BERT base  | 36.8 ± 19.0 | 54.8 | 48.3 ± 12.3 | 83.0 | 35.9 ± 14.3 | 51.6
    single, Oscar base | 39.9 ± 15.3 | 60.3 | 49.3 ± 11.6 | 87.0 | 38.5 ± 12.8 | 65.1
    single, CLIP       | 41.0 ± 15.2 | 66.3 | 49.2 ± 14.5 | 90.0 | 38.1 ± 12.8 | 64.1
    multi, BERT base   | 49.7 ± 21.2 | 42.3 | 65.9 ± 16.9 | 59.5 | 53.8 ± 16.2 | 51.3
    multi, Oscar base  | 51.2 ± 19.9 | 50.6 | 65.2 ± 17.4 | 64.9 | 56.2 ± 13.0 | 53.9
    multi, CLIP        | 50.5 ± 21.1 | 55.4 | 64.6 ± 18.9 | 67.6 | 56.2 ± 14.3 | 59.2
    any, BERT base     | 56.5 ± 19.5 | 46.1 | 100.0 ± 0.0 |    - | 58.7 ± 15.2 | 35.7
    any, Oscar base    | 62.5 ± 18.9 | 58.4 | 100.0 ± 0.0 |    - | 60.4 ± 17.1 | 35.7
    any, CLIP          | 60.3 ± 18.2 | 55.8 | 100.0 ± 0.0 |    - | 63.5 ± 20.5 | 21.4
    """)
#: Best template, in the order of the release's heatmap_data.csv.
TABLE9 = _rows("""
    BERT base    | 47.5 ± 21.6 | 41.8 | 48.2 ± 12.0 | 64.3 | 41.9 ± 15.4 | 55.3 |  6.1 ± 4.0 | -
    Oscar base   | 50.0 ± 19.8 | 59.8 | 52.7 ± 10.0 | 89.3 | 46.5 ± 13.7 | 74.6 | 10.1 ± 7.2 | -
    Distilled    | 53.7 ± 21.3 | 57.7 | 51.4 ± 11.1 | 74.3 | 46.0 ± 13.6 | 74.6 | 10.4 ± 7.8 | -
    RoBERTa base | 44.8 ± 19.8 | 41.6 | 45.4 ± 12.4 | 69.3 | 33.0 ± 15.5 | 39.1 |  1.1 ± 1.4 | -
    ALBERT base  | 20.2 ± 24.8 | 13.4 | 29.8 ± 15.7 | 13.6 | 25.0 ± 17.9 | 27.8 |  6.6 ± 5.1 | -
    Vokenization | 47.6 ± 20.9 | 51.6 | 49.8 ± 13.1 | 72.9 | 39.4 ± 16.0 | 52.5 |  6.0 ± 3.7 | -
    """)
#: Subjects with high ρ of BERT base and of Oscar base, with low ρ of both.
TABLE11 = _rows("""
    color | lace, jacket, design | balloon, jacket, apple | flush, water faucet, muffler | hinge, leg, slack
    shape | mirror, vase, container | chair, pizza, vase | connector, log, knot | banana, toast, phone
    material | wall, tray, board | fence, wall, shelf | sheep, fabric, patch | elephant, rug, patch
    """)
