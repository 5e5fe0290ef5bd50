#!/usr/bin/env bash
# Every benchmark of training on a graphics card, on a machine that has one:
#
#   benchmarks/gpu.sh                    all steps, one after the other
#   benchmarks/gpu.sh stream training    some of them (steps: see below)
#
# A step that fails does not stop the others; the exit code is 1 if one did. What a step printed is kept, under the machine's name,
# in benchmarks/results/gpu/STEP.txt, its CSV and pictures beside it or in benchmarks/results/, and summary.txt tells how all ended.
#
# PYTHON chooses the interpreter (python3). WHEELS names a folder of wheels for a machine without network; what the interpreter
# lacks is taken from there into a folder of its own. To fill it, elsewhere:
#   pip download -c constraints.txt -d WHEELS --no-deps --only-binary=:all: --python-version 3.12 trimesh hdf5plugin rich \
#       opencv-python-headless h5py pillow typer tensorboard safetensors scipy matplotlib pytest
# SECONDS_A_STEP is the limit of a step (540); SWEEP_SECONDS that of the paper's grid (SECONDS_A_STEP), of which it takes three quarters, and
# the same grid with the paper's literal stopping rule what is left. They take hours, and count as well when their time is up: their finished
# runs are kept as small files in benchmarks/results/gpu/paper and paper-rule, from which the next call goes on, on whatever machine.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2

python=${PYTHON:-python3}
limit=${SECONDS_A_STEP:-540}
results=benchmarks/results/gpu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$results"
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}" MPLBACKEND=Agg
simtown=("$python" -c 'from simtown.cli import main; main()')

if [[ -n ${WHEELS:-} ]]; then
    export PYTHONPATH="$PYTHONPATH:$scratch/wheels" # behind what is installed
    declare -A modules=([trimesh]=trimesh [hdf5plugin]=hdf5plugin [rich]=rich [cv2]=opencv_python_headless [h5py]=h5py [PIL]=pillow
        [typer]=typer [tensorboard]=tensorboard [safetensors]=safetensors [scipy]=scipy [matplotlib]=matplotlib [pytest]=pytest)
    for module in "${!modules[@]}"; do
        "$python" -c "import $module" 2>/dev/null && continue
        "$python" -m pip install --quiet --no-index --no-deps --target "$scratch/wheels" "$WHEELS/${modules[$module]}"-*.whl ||
            echo "no wheel of ${modules[$module]} in $WHEELS" >&2
    done
fi

machine() {
    nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit --format=csv,noheader 2>/dev/null || echo "no nvidia-smi"
    "$python" - <<'PY'
import sys
from importlib.metadata import version, PackageNotFoundError
sys.path.insert(0, "benchmarks")
from machine import machine
told = [machine()]
for name in ("numba", "numpy", "torch", "h5py", "hdf5plugin"):
    try:
        told.append(f"{name} {version(name)}")
    except PackageNotFoundError:
        told.append(f"no {name}")
print(", ".join(told))
PY
}

failed=0
wanted=("$@")
where=$(machine)
: >"$scratch/summary"

# step NAME SECONDS COMMAND...
step() {
    local name=$1 seconds=$2 begun=$SECONDS code
    shift 2
    [[ ${#wanted[@]} -eq 0 || " ${wanted[*]} " == *" $name "* ]] || return 0
    echo "== $name"
    {
        echo "# $where"
        echo "# $(git rev-parse --short HEAD 2>/dev/null || echo 'no commit'), $(date -u +%F), $*"
        timeout --signal=INT --kill-after=30 "$seconds" "$@" 2>&1
        echo $? >"$scratch/code"
    } | tee "$results/$name.txt"
    code=$(cat "$scratch/code")
    [[ $code -eq 124 && $name == sweep* ]] && code=0
    [[ $code -eq 0 ]] || failed=1
    printf '%-12s %-8s %5d s\n' "$name" "$([[ $code -eq 0 ]] && echo passed || echo "FAILED $code")" $((SECONDS - begun)) | tee -a "$scratch/summary"
}

stream() { # a run that trains on the card on a stream, which the processor draws
    "${simtown[@]}" generate --entities 20 --n 200 --val 500 --test 500 --out "$scratch/small" &&
        "${simtown[@]}" fit "$scratch/small" --stream --train-size 12800 --max-steps 500 --device auto --out "$scratch/run" &&
        tail -n 3 "$scratch/run/metrics.jsonl"
}
export -f stream
export python scratch
declare -p simtown >"$scratch/simtown" # arrays cannot be exported

within() { # a function of this file, under a limit of time
    bash -c "source '$scratch/simtown'; $1"
}
export -f within

step streaming "$limit" "$python" benchmarks/streaming.py --device cuda
step stream "$limit" bash -c 'within stream'
step training "$limit" "$python" benchmarks/training.py --device cuda --together
sweep_seconds=${SWEEP_SECONDS:-$limit}
sweep_begun=$SECONDS

paper() { # paper STEP PRESET SECONDS: the runs of a preset that fit into so many seconds
    step "$1" "$3" "${simtown[@]}" sweep --preset "$2" --device cuda --out "out/sweep-$2" --resume-from "$results/$2"
}

paper sweep paper $((sweep_seconds * 3 / 4))
left=$((sweep_seconds - (SECONDS - sweep_begun)))
paper sweep-rule paper-rule $((left > 0 ? left : 1)) # timeout takes 0 for no limit

{ echo "# $where"; cat "$scratch/summary"; } | tee "$results/summary.txt"
exit $failed
