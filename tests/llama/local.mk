# The language model program of examples/llama, with small models that the tests make.

EXTRA_DIST += %D%/small.py %D%/transformers_judge.py
