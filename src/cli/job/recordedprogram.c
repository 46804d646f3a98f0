/* The folder is removed however the command ends, as the library's one beside the program is. */
#include "cli/job/recordedprogram.h"

#include <stdlib.h>

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/outputfile.h"
#include "cli/io/temporary.h"
#include "cli/job/attach.h"
#include "cli/job/programspans.h"
#include "cli/job/recordedchain.h"

static void tell_messages(const gd_attached_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const gd_attached_file *file = &set->files[i];
        for (uint32_t j = 0; j < file->counts[GD_ATTACHED_MESSAGE]; j++) {
            const gd_attached_message *message = gd_attached_get(file, GD_ATTACHED_MESSAGE, j);
            gd_message_warning("%s", message->text);
        }
    }
}

int gd_recordedprogram_make(gd_recordedprogram *request, const gd_device_choice *device,
                            char **program)
{
    gd_attach attach = {.driver = device->driver,
                        .first = request->first,
                        .launches = request->plain ? 0 : request->launches,
                        .times = request->times || request->plain ? "each" : NULL,
                        .speaks_on_stderr = true};
    gd_attached_set set = {0};
    int ended = 0;
    int code = gd_emulation_apply(&device->emulation, &attach.driver);
    if (code == 0)
        code = gd_outputfile_check();
    if (code == 0)
        code = gd_attach_run(&attach, program, &set, &ended);
    if (code == 0) {
        tell_messages(&set);
        if (ended != 0)
            gd_message_warning("the program ended with exit code %d", ended);
        request->spans = gd_programspans_read(&set, gd_recordedchain_name(program[0]));
    }
    if (code == 0 && !request->plain) {
        request->folder = gd_temporary_make_folder();
        code = request->folder == NULL ? GD_EXIT_REFUSED
                                       : gd_recordedchain_write(&set, program[0], request->folder);
    }
    if (code == 0 && !request->plain)
        request->path = gd_heap_format("%s/chain.yaml", request->folder);
    gd_attached_free(&set);
    return code;
}

void gd_recordedprogram_end(gd_recordedprogram *request)
{
    gd_spanview_free(&request->spans);
    free(request->path);
    if (request->folder != NULL)
        gd_temporary_remove(request->folder);
    request->path = request->folder = NULL;
}
