#!/usr/bin/env bash
# Every check and benchmark on a graphics card in one command, on a machine that has one:
#
#   benchmarks/gpu.sh                                 all steps, the most valuable first
#   benchmarks/gpu.sh --minutes 9 parity card         some of them (steps: at the end of this file)
#   benchmarks/gpu.sh --rehearse                      the same with small numbers, the models on the processor: whether this file works
#
# --minutes 25 is the limit of all together: a step gets what is left, at most, and one for which nothing is left is not begun.
# --out DIR (benchmarks/results/gpu) takes everything, in a handful of files: log.txt (what the steps printed), summary.csv (how they ended),
# a CSV file a step, written row by row, and grid.tgz. Nothing else in the checkout is written. A step that fails does not stop the others;
# the exit code is 1 if one did.
#
# PYTHON chooses the interpreter (python3). WHEELS names a folder of wheels for a machine without network; what the interpreter
# lacks is taken from there into a folder of its own. To fill it, elsewhere, name what the machine lacks, for example
#   pip download -c constraints.txt -d WHEELS --no-deps --only-binary=:all: --python-version 3.12 trimesh hdf5plugin
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) || exit 2

minutes=25 out= rehearse= wanted=()
while (($#)); do
    case $1 in
        --minutes | --out)
            [[ $# -ge 2 ]] || { echo "gpu.sh: $1 needs a value" >&2; exit 2; }
            [[ $1 == --out ]] && out=$2 || minutes=$2
            shift ;;
        --rehearse) rehearse=1 ;;
        -*) echo "gpu.sh: unknown option $1: use --minutes, --out and --rehearse" >&2; exit 2 ;;
        *) wanted+=("$1") ;;
    esac
    shift
done
[[ $minutes =~ ^[1-9][0-9]*$ ]] || { echo "gpu.sh: --minutes $minutes is no number of minutes: give 25, for example" >&2; exit 2; }
all=(parity card generate stream bytes streaming sanitizer profile training together grid)
for name in "${wanted[@]}"; do
    [[ " ${all[*]} " == *" $name "* ]] || { echo "gpu.sh: there is no step $name: choose from ${all[*]}" >&2; exit 2; }
done
end=$((EPOCHSECONDS + 60 * minutes))
out=$(mkdir -p "${out:-$root/benchmarks/results/gpu}" && cd "${out:-$root/benchmarks/results/gpu}" && pwd) || exit 2
cd "$root" || exit 2

python=${PYTHON:-python3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1 MPLBACKEND=Agg
simtown=("$python" -c 'from simtown.cli import main; main()')

if [[ -n ${WHEELS:-} ]]; then
    export PYTHONPATH="$PYTHONPATH:$scratch/wheels" # behind what is installed
    declare -A packages=([trimesh]=trimesh [hdf5plugin]=hdf5plugin [rich]=rich [cv2]=opencv-python-headless [h5py]=h5py [PIL]=pillow
        [typer]=typer [cuda.core]=cuda-core [cuda.bindings]=cuda-bindings [cuda.pathfinder]=cuda-pathfinder
        [tensorboard]=tensorboard [safetensors]=safetensors [scipy]=scipy [matplotlib]=matplotlib)
    for module in "${!packages[@]}"; do
        "$python" -c "from importlib.util import find_spec as f; exit(f('${module%%.*}') is None or f('$module') is None)" 2>/dev/null && continue
        "$python" -m pip install --quiet --no-index --no-deps --no-compile --find-links "$WHEELS" --target "$scratch/wheels" \
            "${packages[$module]}" || echo "no wheel of ${packages[$module]} in $WHEELS for this Python" >&2
    done
fi

if [[ $rehearse ]]; then
    learns=cpu scenes=7 sizes=32 size=32 resolutions=32,48 launched=8 launches=4 seconds=0.01 examples=40 workers=2 steps=2
    trained=64 batch=8 learned=256 precision=float32 pictures=32x32 beside=32x32 stream_size=32x32
else
    learns=cuda scenes=500 sizes=64,97x64,128,256 size=128 resolutions=128,256,64,512 launched=8192 launches=64,128,256,512,1024 seconds=2 examples=200000 workers=$(env -u OMP_NUM_THREADS nproc) steps=50
    trained=12800 batch=128 learned=8192 precision=bf16 pictures=64x32,128x128 beside=64x32 stream_size=128x128
fi
grids=(paper paper-rule)
if [[ $rehearse ]]; then
    for protocol in patient paper; do
        printf '%s\n' 'version = 1' 'size = "32"' '[data]' 'val = 20' 'test = 20' '[fit]' "protocol = \"$protocol\"" 'min_steps = 2' 'patience = 40' \
            'batch = 2' '[[grid]]' 'entities = [3]' 'distractor = [false]' 'models = ["cnn-lstm"]' 'train_sizes = [4, 64]' 'seeds = [0]' \
            >"$scratch/$protocol.toml"
    done
    grids=("$scratch/patient.toml" "$scratch/paper.toml")
fi

failed=0
: >"$out/log.txt"
echo "step,result,seconds" >"$out/summary.csv"

# step NAME SECONDS COMMAND...: exit code 3 of a command says that what it needs is not on this machine
step() {
    local name=$1 most=$2 begun=$EPOCHSECONDS left=$((end - EPOCHSECONDS)) result code
    shift 2
    [[ -z $rehearse ]] || most=$left # a rehearsal may be slow
    [[ ${#wanted[@]} -eq 0 || " ${wanted[*]} " == *" $name "* ]] || return 0
    if ((left < 10)); then
        echo "$name,no time left,0" | tee -a "$out/summary.csv"
        return 0
    fi
    {
        echo "== $name: $(git rev-parse --short HEAD 2>/dev/null || echo 'no commit'), $(date -u '+%F %T')"
        timeout --signal=INT --kill-after=30 $((left < most ? left : most)) "$@" 2>&1
        echo $? >"$scratch/code"
    } | tee -a "$out/log.txt"
    code=$(cat "$scratch/code")
    case $code in
        0) result=passed ;;
        3) result="not on this machine" ;;
        124) result="time was up" ;;
        *) result="failed with $code" failed=1 ;;
    esac
    echo "$name,$result,$((EPOCHSECONDS - begun))" | tee -a "$out/summary.csv"
}

machine() { # what this is, and whether the card answers
    nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit --format=csv,noheader 2>/dev/null || echo "no nvidia-smi"
    "$python" - <<'PY'
import sys
sys.path.append("benchmarks")
from machine import machine
print(machine("numpy", "cuda-core", "cuda-bindings", "nvidia-cuda-nvrtc", "torch", "h5py", "hdf5plugin"))
PY
}

stream() { # models that train on a stream which the card draws
    "${simtown[@]}" generate --entities 20 --n 200 --val 100 --test 100 --out "$scratch/small" &&
        "${simtown[@]}" fit "$scratch/small" --stream --train-size "$trained" --max-steps $((10 * steps)) --device $learns --out "$scratch/run" &&
        tail -n 3 "$scratch/run/metrics.jsonl"
}

bytes() { # a data set drawn on the card is the one drawn on the processor, shard by shard
    local device n=$((examples < 4000 ? examples : 4000))
    for device in cuda cpu; do
        "${simtown[@]}" generate --n $n --val 0 --test 0 --size $size --masks --depth --workers "$workers" --device $device \
            --out "$scratch/set-$device" || return 1
    done
    "$python" - "$scratch/set-cuda" "$scratch/set-cpu" <<'PY'
import json, pathlib, sys
one, other = (json.loads((pathlib.Path(p) / "manifest.json").read_text())["shards"] for p in sys.argv[1:])
differ = [name for name in one if one[name]["sha256"] != other[name]["sha256"]]
print(f"{len(one) - len(differ)} of {len(one)} shards have the same bytes", *differ)
sys.exit(bool(differ))
PY
}

tool() { # tool NAME: where a tool of CUDA is
    command -v "$1" || compgen -G "/usr/local/cuda*/bin/$1" | head -n 1
}

sanitizer() { # every tool of compute-sanitizer on a few streets in every weather
    local sanitizer code=0 check
    sanitizer=$(tool compute-sanitizer) && [[ $sanitizer ]] || { echo "compute-sanitizer is not on this machine"; return 3; }
    for check in memcheck racecheck synccheck initcheck; do
        echo "-- $check"
        "$sanitizer" --tool $check --error-exitcode 9 "$python" benchmarks/parity.py --scenes 7 --sizes 64 --runs 1 --out "$scratch/parity.csv" ||
            code=1
    done
    return $code
}

profile() { # where the cycles of a launch go, by Nsight Compute
    local ncu
    ncu=$(tool ncu) && [[ $ncu ]] || { echo "ncu is not on this machine"; return 3; }
    "$ncu" --set basic --section WarpStateStats --section SchedulerStats --section MemoryWorkloadAnalysis --launch-skip 5 --launch-count 5 \
        "$python" benchmarks/parity.py --scenes 256 --sizes 128 --runs 1 --out "$scratch/parity.csv"
}

grid() { # the paper's grid, then the same under its stopping rule, for the time that is left; the next call goes on from the finished runs
    local preset kept left code failed=0
    [[ ! -e $out/grid.tgz ]] || tar xzf "$out/grid.tgz" -C "$scratch" || return 1
    for preset in "${grids[@]}"; do
        kept=$scratch/grid/$(basename "$preset" .toml)
        mkdir -p "$kept"
        left=$((end - EPOCHSECONDS - 20))
        timeout --signal=INT --kill-after=30 $((left > 1 ? left : 1)) "${simtown[@]}" sweep --preset "$preset" --device $learns \
            --out "$kept-sweep" --resume-from "$kept"
        code=$?
        ((code != 124)) || break
        ((code == 0)) || failed=1
    done
    tar czf "$out/grid.tgz" -C "$scratch" --exclude='*-sweep' grid && ((!failed))
}

{ # the functions as a command of their own, so that `timeout` can run them
    declare -p simtown python scratch out end learns size examples workers steps trained grids
    declare -f stream bytes tool sanitizer profile grid
    echo '"$1"'
} >"$scratch/function"

machine | tee -a "$out/log.txt"
step parity 240 "$python" benchmarks/parity.py --scenes $scenes --sizes $sizes --out "$out/parity.csv"
step card 240 "$python" benchmarks/card.py --scenes $launched --sizes ${resolutions} --launches $launches --seconds $seconds --out "$out/card.csv"
step generate 240 "$python" benchmarks/generate.py --device cuda --n $examples --sizes $size --workers "$workers" --repeats 1 --out "$out/generate.csv"
step stream 180 bash "$scratch/function" stream
step bytes 180 bash "$scratch/function" bytes
step streaming 120 "$python" benchmarks/training.py --stream --device $learns --batch $batch --n $((batch * steps)) --sizes $stream_size --out "$out/streaming.csv"
step sanitizer 180 bash "$scratch/function" sanitizer
step profile 120 bash "$scratch/function" profile
step training 240 "$python" benchmarks/training.py --device $learns --precision $precision --n $learned --sizes $pictures --out "$out/training.csv"
step together 180 "$python" benchmarks/training.py --together --device $learns --precision $precision --sizes $beside --out "$out/together.csv"
step grid $((60 * minutes)) bash "$scratch/function" grid
column -s, -t "$out/summary.csv" 2>/dev/null
exit $failed
