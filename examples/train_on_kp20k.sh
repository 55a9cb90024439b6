#!/bin/sh
# The paper's network on KP20k with the paper's settings: sh train_on_kp20k.sh TRAIN VALID OUT [OPTIONS of phraseloom train]
# TRAIN and VALID are files of KP20k in any form; killed, the same command goes on.
set -e
train=$1 valid=$2 out=$3
shift 3
data=$out-data width=${WIDTH:-300}
phraseloom prepare "$train" --out "$data/train"
phraseloom prepare "$valid" --out "$data/valid"
phraseloom vectors "$data/train" --out "$data/vectors.safetensors" --width "$width" --min-count "${MIN_COUNT:-5}" --buckets "${BUCKETS:-200000}"
phraseloom train "$(dirname "$0")/../configs/paper.toml" --out "$out" \
  --set "data.train=['$data/train']" --set "data.valid=['$data/valid']" --set "data.vectors=$data/vectors.safetensors" --set "model.word_width=$width" "$@"
