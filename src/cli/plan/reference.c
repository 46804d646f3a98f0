/* Finding references. What the kernels compute is in reference_<family>.c, in double arithmetic:
 * each function checks its arguments against the kernel's parameters, then works element by
 * element, so that an output may be an input where the kernel allows that. */
#include "cli/plan/reference.h"

#include <stddef.h>
#include <string.h>

#include "cli/plan/reference_family.h"

static const gd_reference *const families[] = {
    gd_reference_attention, gd_reference_elementwise, gd_reference_embedding, gd_reference_gemm,
    gd_reference_linear,    gd_reference_norm,        gd_reference_sampling,  gd_reference_softmax};

const gd_reference *gd_reference_find(const char *kernel)
{
    for (size_t i = 0; kernel != NULL && i < sizeof families / sizeof families[0]; i++) {
        for (const gd_reference *reference = families[i]; reference->kernel != NULL; reference++) {
            if (strcmp(reference->kernel, kernel) == 0)
                return reference;
        }
    }
    return NULL;
}
