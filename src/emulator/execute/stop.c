/* What holds up lanes and what ends a CTA: waits, and faults with their words. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/format.h"
#include "base/text.h"
#include "emulator/execute/program.h"
#include "emulator/execute/sweep.h"

/* ---- waits ---- */

uint32_t gd_code_index(const gd_warp *warp, const gd_code *code)
{
    return (uint32_t)(code - warp->cta->image->code);
}

void gd_warp_choose(gd_warp *warp)
{
    if (warp->active)
        warp->cta->sweeps->put(warp->pcs, warp->active, warp->pc);
    warp->active = 0;
    warp->limit = 0;
}

void gd_warp_hold(gd_warp *warp, const gd_code *code, uint32_t mask, uint32_t *waiting)
{
    uint32_t index = gd_code_index(warp, code);

    warp->cta->sweeps->put(warp->pcs, mask, index);
    warp->active &= ~mask;
    warp->ready &= ~mask;
    *waiting |= mask;
    gd_warp_choose(warp);
}

void gd_warp_wake(gd_warp *warp, uint32_t mask, uint32_t *waiting, bool behind)
{
    mask &= *waiting;
    *waiting &= ~mask;
    warp->ready |= mask;
    if (behind)
        warp->cta->sweeps->step(warp->pcs, mask);
    gd_warp_choose(warp);
}

void gd_warp_yield(gd_warp *warp)
{
    warp->yields = true;
    warp->deferred |= warp->active;
    warp->cta->polls++;
    gd_warp_choose(warp);
}

/* ---- faults ---- */

void gd_thread_position(const gd_warp *warp, uint32_t lane, uint32_t thread[3])
{
    const uint32_t *block = warp->cta->view->block;
    uint32_t number = warp->index * GD_LANES + lane;

    thread[0] = number % block[0];
    thread[1] = number / block[0] % block[1];
    thread[2] = number / block[0] / block[1];
}

static void describe_allocation(gd_text *text, const gd_allocation *item)
{
    if (item->name)
        gd_text_format(text, "variable %s, ", item->name);
    gd_text_format(text, "%" PRIu64 " bytes at 0x%" PRIx64, item->bytes, item->start);
}

/* The nearest allocation that starts below an address, within some distance. */
static const gd_allocation *find_below(gd_memory *memory, uint64_t address)
{
    for (uint64_t back = 1; back <= UINT64_C(1) << 40 && back < address; back *= 2) {
        const gd_allocation *item = gd_memory_find(memory, address - back);
        if (item)
            return item;
    }
    return NULL;
}

static void describe_address(gd_text *text, gd_memory *memory, const gd_owner *who,
                             uint64_t address)
{
    const gd_allocation *item = gd_memory_find(memory, address);

    if (item && !gd_memory_reaches(who, item)) {
        gd_text_string(text, "; it lies in ");
        describe_allocation(text, item);
        gd_text_format(text,
                       " of device %" PRIu32 ", and the kernel runs on device %" PRIu32
                       ", whose context has no access to it (%s)",
                       item->bank->device, who->bank->device,
                       item->kind == GD_MEMORY_MAPPED ? "cuMemSetAccess" : "cuCtxEnablePeerAccess");
    } else if (item && item->freed) {
        gd_text_format(text,
                       "; it lies in memory that was freed (%" PRIu64 " bytes at 0x%" PRIx64 ")",
                       item->bytes, item->start);
    } else if (item) {
        gd_text_string(text, "; it lies in ");
        describe_allocation(text, item);
    } else if (address < 4096) {
        gd_text_string(text, "; it is next to null");
    } else if ((item = find_below(memory, address))) {
        const uint64_t past = address - item->start - item->bytes;
        if (past)
            gd_text_format(text, "; it lies %" PRIu64 " byte%s past the end of ", past,
                           past == 1 ? "" : "s");
        else
            gd_text_string(text, "; it lies right past the end of ");
        describe_allocation(text, item);
        gd_text_string(text, item->freed ? ", which was freed" : "");
    } else {
        gd_text_string(text, "; nothing is allocated there");
    }
}

void gd_cta_fail(gd_warp *warp, const gd_code *code, uint32_t lane, gd_fault_kind kind,
                 uint64_t address, uint32_t bytes, bool write, const char *format, ...)
{
    gd_cta *cta = warp->cta;
    gd_fault *fault = &cta->fault;
    const gd_ptx_module *module = cta->image->entry.program->module;
    gd_text text = {0};
    va_list list;

    if (fault->kind != GD_FAULT_NONE)
        return;
    *fault = (gd_fault){.kind = kind,
                        .instruction = code->instruction,
                        .address = address,
                        .bytes = bytes,
                        .write = write};
    memcpy(fault->cta, cta->position, sizeof fault->cta);
    gd_thread_position(warp, lane, fault->thread);
    gd_ptx_token_position(module, module->instructions[code->instruction].opcode, &fault->line,
                          &fault->column);
    va_start(list, format);
    gd_text_format_list(&text, format, list);
    va_end(list);
    if (kind == GD_FAULT_ADDRESS || kind == GD_FAULT_READ_ONLY)
        describe_address(&text, cta->view->memory, cta->view->owner, address);
    const gd_allocation *item =
        kind == GD_FAULT_ADDRESS ? gd_memory_find(cta->view->memory, address) : NULL;
    if (item && item->freed && !item->heap)
        gd_cta_miss(cta, "an event, or a synchronization, between this kernel and what frees the "
                         "memory (cuMemFreeAsync, cuMemFree, cuMemUnmap)");
    snprintf(fault->text, sizeof fault->text, "%s", gd_text_get(&text));
    gd_text_free(&text);
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        gd_warp_choose(&cta->warps[i]);
        cta->warps[i].ready = 0;
    }
}

void gd_cta_miss(gd_cta *cta, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    if (!*cta->fault.missing)
        gd_format_list(cta->fault.missing, sizeof cta->fault.missing, format, list);
    va_end(list);
}
