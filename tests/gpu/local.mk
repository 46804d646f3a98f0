# On a GPU. test_failures is one of long_programs.

gpu_tests += %D%/test_completion %D%/test_gpu %D%/test_graph %D%/test_group %D%/test_questions
