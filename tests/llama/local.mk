# The language model program of examples/llama, with small models that the tests make.

script_tests += %D%/llama.sh
EXTRA_DIST += %D%/llama.sh %D%/small.py %D%/transformers_judge.py
