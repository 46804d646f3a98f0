/* The steps of random sequences that ask, and that work without a driver. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "sequences.h"

#define HEADER ".version 8.0\n.target sm_90\n.address_size 64\n"
#define BODY                                                                                       \
    "{\n    .reg .b64 %a, %b, %t;\n    .reg .b32 %v, %i;\n    ld.param.u64 %a, [in];\n    "        \
    "ld.param.u64 %b, [out];\n"                                                                    \
    "    mov.u32 %i, %tid.x;\n    mul.wide.u32 %t, %i, 4;\n    add.u64 %a, %a, %t;\n    add.u64 "  \
    "%b, %b, %t;\n"

const char *const ptx_texts[] = {
    HEADER ".visible .entry step(.param .u64 in, .param .u64 out)\n" BODY
           "    griddepcontrol.launch_dependents;\n"
           "    griddepcontrol.wait;\n    ld.global.u32 %v, [%a];\n    add.u32 %v, %v, 1;\n    "
           "st.global.u32 [%b], %v;\n"
           "    ret;\n}\n.visible .entry leave(.param .u64 in, .param .u64 out)\n" BODY
           "    griddepcontrol.wait;\n    exit;\n}\n",
    "// requires:\n//   in % 4 == 0\n// extent:\n//   in: u32[1]\n" HEADER
    ".visible .global .attribute(.managed) .u32 count = 3;\n.visible .entry quiet(.param .u64 "
    "in)\n{\n    .reg .b64 "
    "%a;\n"
    "    ld.param.u64 %a, [in];\n    st.global.u32 [%a], 7;\n    ret;\n}\n",
    HEADER ".visible .entry broken(.param .u64 in\n{\n    ret;\n}\n",
    "\177ELF and no more",
    "nothing that anybody knows",
};
const uint32_t ptx_text_count = sizeof ptx_texts / sizeof *ptx_texts;

/* ---- what is static ---- */

/* A cubin with one kernel: its header, three sections, a symbol, names; no code. */
static void ask_image(actor *by)
{
    struct {
        Elf64_Ehdr header;
        Elf64_Shdr sections[3];
        Elf64_Sym symbols[1];
        char names[8];
    } cubin = {.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                          .e_type = ET_EXEC,
                          .e_machine = 190,
                          .e_flags = 90,
                          .e_shoff = sizeof(Elf64_Ehdr),
                          .e_shentsize = sizeof(Elf64_Shdr),
                          .e_shnum = 3,
                          .e_shstrndx = 2},
               .symbols = {{.st_name = 1, .st_info = STT_FUNC, .st_other = 0x10, .st_shndx = 1}},
               .names = "\0k"};
    griddep_image *image = NULL;
    griddep_image_info info = {.size = sizeof info};
    griddep_image_part part = {.size = sizeof part};
    griddep_image_kernel kernel = {.size = sizeof kernel};
    const uint64_t symbols_at = sizeof cubin.header + sizeof cubin.sections;

    cubin.sections[1] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                     .sh_offset = symbols_at,
                                     .sh_size = sizeof cubin.symbols,
                                     .sh_link = 2};
    cubin.sections[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                     .sh_offset = symbols_at + sizeof cubin.symbols,
                                     .sh_size = sizeof cubin.names};
    CHECK(griddep_image_open, &cubin, one_in(by, 3) ? below(by, sizeof cubin) : sizeof cubin,
          "image", &image, E);
    CHECK(griddep_image_get_info, image, &info, E);
    CHECK(griddep_image_get_part, image, below(by, 3), &part, E);
    CHECK(griddep_image_get_kernel, image, below(by, 2), below(by, 2), &kernel, E);
    USE(griddep_image_destroy)(image);
}

void ask_static(actor *by)
{
    int32_t value = 0;
    griddep_shelf_info shelf = {.size = sizeof shelf};
    uint64_t bytes = 0;
    char buffer[64];

    USE(griddep_version)();
    USE(griddep_version_text)();
    CHECK(griddep_constant_find, one_in(by, 2) ? "GRIDDEP_PDL_AUTO" : "GRIDDEP_NOTHING", &value, E);
    USE(griddep_constant_name)(below(by, 400), &value);
    USE(griddep_status_name)((int32_t)below(by, 30) - 28);
    USE(griddep_text)(GRIDDEP_TEXT_STATUS, (int32_t)below(by, 30) - 28);
    USE(griddep_error_init)(&by->error);
    USE(griddep_text)(GRIDDEP_TEXT_REASON, (int32_t)below(by, 30));
    USE(griddep_text)(GRIDDEP_TEXT_MODE, (int32_t)below(by, 6));
    CHECK(griddep_mode_find, one_in(by, 2) ? "graph" : "none", &value, E);
    USE(griddep_text)(GRIDDEP_TEXT_OVERLAP, (int32_t)below(by, 5) - 1);
    USE(griddep_text)(GRIDDEP_TEXT_TUNE_OUTCOME, (int32_t)below(by, 10));
    ask_image(by);
    by->error.status = GRIDDEP_OK;
    CHECK(griddep_shelf_get, below(by, 80), &shelf, E);
    CHECK(griddep_shelf_find, one_in(by, 2) ? "vector_add" : "no_such", 90, &shelf, E);
    griddep_launch_config suggested = {.size = sizeof suggested};
    griddep_runtime_info device = {.size = one_in(by, 8) ? 0 : sizeof device,
                                   .multiprocessors = 4,
                                   .shared_bytes_per_multiprocessor = 102400,
                                   .shared_bytes_per_block = 101376};
    griddep_argument given[3] = {{.bytes = 8}, {.bytes = 8}, {.bytes = 4, .value = 100}};
    CHECK(griddep_shelf_suggest, one_in(by, 4) ? "no_such" : "argmax_f32", &device, given, 3,
          &suggested, E);
    CHECK(griddep_shelf_field, "// purpose: none\n", 17, one_in(by, 2) ? "purpose" : "pdl", buffer,
          sizeof buffer, &bytes, E);
}

/* ---- attributes ---- */

void make_attributes(actor *by, griddep_attribute *attributes, uint32_t *count)
{
    item *event = pick(by, ITEM_EVENT, false), *memory = pick(by, ITEM_MEMORY, false);
    uint32_t wanted = 1 + below(by, 2);

    *count = 0;
    for (uint32_t i = 0; i < wanted; i++) {
        griddep_attribute *at = &attributes[i];
        int64_t values[6] = {below(by, 5), below(by, 3), 1 + below(by, 2), 1, 0, 0};
        int32_t id = (int32_t)below(by, 18), status;
        uint32_t numbers = id == GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW ? 5 : 1 + below(by, 3);
        if (id == GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW) {
            values[0] = memory ? (int64_t)memory->address : 0;
            values[1] = 256;
            values[2] = 500000;
        } else if (id == GRIDDEP_ATTRIBUTE_PROGRAMMATIC_EVENT ||
                   id == GRIDDEP_ATTRIBUTE_LAUNCH_COMPLETION_EVENT) {
            values[0] = event ? (intptr_t)event->handle : 0;
        } else if (id == GRIDDEP_ATTRIBUTE_DEVICE_UPDATABLE_NODE) {
            values[1] = 0;
        }
        status = CHECK(griddep_attribute_set, at, id, values, numbers, E);
        if (status)
            return;
        ++*count;
    }
}

/* ---- what is asked of objects ---- */

static void ask_kernel(actor *by)
{
    item *kernel = pick(by, ITEM_KERNEL, false);
    griddep_kernel_info info = {.size = one_in(by, 20) ? 3 : sizeof info};
    griddep_parameter_info parameter = {.size = sizeof parameter};

    if (!kernel)
        return;
    CHECK(griddep_kernel_get_info, kernel->handle, &info, E);
    CHECK(griddep_kernel_get_parameter, kernel->handle, below(by, 3), &parameter, E);
    CHECK(griddep_kernel_state_traits, kernel->handle,
          one_in(by, 2) ? below(by, 16)
                        : info.traits & (GRIDDEP_TRAIT_WAITS | GRIDDEP_TRAIT_WAITS_ALWAYS |
                                         GRIDDEP_TRAIT_TRIGGERS),
          E);
}

static void ask_module(actor *by)
{
    item *module = pick(by, ITEM_MODULE, false);
    griddep_module_info info = {.size = sizeof info};
    griddep_runtime_info about = {.size = sizeof about};
    uint64_t address = 0, bytes = 0;
    void *memory = NULL;

    if (module) {
        CHECK(griddep_module_get_managed, module->handle, "count", &memory, &bytes, E);
        CHECK(griddep_module_get_info, module->handle, &info, E);
        CHECK(griddep_module_get_global, module->handle, "count", &address, &bytes, E);
    }
    item *runtime = pick(by, ITEM_RUNTIME, false);
    if (runtime)
        CHECK(griddep_runtime_get_info, runtime->handle, &about, E);
}

static void ask_graph(actor *by)
{
    item *graph = pick(by, ITEM_GRAPH, true);
    griddep_graph_node_info node = {.size = sizeof node};
    griddep_graph_edge_info edge = {.size = sizeof edge};
    uint64_t bytes = 0;
    char buffer[256];

    if (!graph || !take_graph(by, graph))
        return;
    uint32_t nodes = USE(griddep_graph_node_count)(graph->handle),
             edges = USE(griddep_graph_edge_count)(graph->handle);
    CHECK(griddep_graph_get_node, graph->handle, below(by, nodes + 1), &node, E);
    CHECK(griddep_graph_get_edge, graph->handle, below(by, edges + 1), &edge, E);
    CHECK(griddep_graph_print, graph->handle, (int32_t)below(by, 3), buffer, sizeof buffer, &bytes,
          E);
}

static void ask_explanation(actor *by)
{
    item *explanation = pick(by, ITEM_EXPLANATION, true), *findings = pick(by, ITEM_FINDINGS, true);
    griddep_condition condition = {.size = sizeof condition};
    griddep_explanation_info info = {.size = sizeof info};
    griddep_finding finding = {.size = sizeof finding};
    griddep_edit edit = {.size = sizeof edit};
    griddep_related related = {.size = sizeof related};

    if (explanation) {
        CHECK(griddep_explanation_get_info, explanation->handle, &info, E);
        CHECK(griddep_explanation_get, explanation->handle, below(by, info.condition_count + 1),
              &condition, E);
    }
    if (findings) {
        uint32_t count = USE(griddep_findings_count)(findings->handle);
        CHECK(griddep_findings_get, findings->handle, below(by, count + 1), &finding, E);
        for (uint32_t i = 0; i <= count; i++) {
            CHECK(griddep_findings_get_edit, findings->handle, i, below(by, 2), &edit, E);
            CHECK(griddep_findings_get_related, findings->handle, i, below(by, 2), &related, E);
        }
    }
}

static void make_maps(actor *by)
{
    item *runtime = pick(by, ITEM_RUNTIME, false), *memory = pick(by, ITEM_MEMORY, false);
    griddep_tensor_options options = {.size = sizeof options,
                                      .type = (int32_t)below(by, 18),
                                      .rank = 1 + below(by, 4),
                                      .address = memory ? memory->address : 8,
                                      .dimensions = {64, 4, 2, 1, 0},
                                      .strides = {256, 1024, 2048, 0},
                                      .box = {16, 1, 1, 1, 0}};
    griddep_tensor_map map;

    if (!runtime)
        return;
    CHECK(griddep_tensor_map_encode, runtime->handle, &options, &map, E);
    memset(options.box, 0, sizeof options.box);
    options.channels = 16;
    options.pixels = 8;
    options.im2col = 1 + one_in(by, 8);
    CHECK(griddep_tensor_map_encode, runtime->handle, &options, &map, E);
}

void ask_about(actor *by)
{
    void (*const ways[])(actor *) = {ask_kernel, ask_module, ask_graph, ask_explanation, make_maps};

    ways[below(by, 5)](by);
}

/* ---- PTX ---- */

static void ask_ptx(actor *by, const griddep_ptx *ptx)
{
    griddep_ptx_info info = {.size = sizeof info};
    griddep_ptx_entry_info entry = {.size = sizeof entry};
    griddep_parameter_info parameter = {.size = sizeof parameter};
    griddep_requirement_info requirement = {.size = sizeof requirement};
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    const griddep_argument arguments[2] = {{.bytes = 8, .value = 256}, {.bytes = 8, .value = 256}};
    uint32_t index = below(by, 3), of = below(by, 2);
    uint64_t bytes = 0;
    char buffer[128];

    CHECK(griddep_ptx_get_info, ptx, &info, E);
    CHECK(griddep_ptx_get_entry, ptx, of, &entry, E);
    uint32_t count = entry.parameter_count < 2 ? entry.parameter_count : 2;
    CHECK(griddep_ptx_get_parameter, ptx, of, index, &parameter, E);
    CHECK(griddep_ptx_get_requirement, ptx, of, index, &requirement, E);
    CHECK(griddep_ptx_print, ptx, buffer, sizeof buffer, &bytes, E);
    CHECK(griddep_ptx_check_launch, ptx, of, &config, arguments, count, E);
    CHECK(griddep_ptx_get_extent, ptx, of, &config, arguments, count, 0, &bytes, E);
}

/* A text that is made of another one takes a place of its own. */
static void rewrite(actor *by, const griddep_ptx *ptx, item *into, item *notes_into)
{
    const griddep_rewrite_options options = {
        .size = sizeof options, .wait = (int32_t)below(by, 6), .trigger = (int32_t)below(by, 10)};
    griddep_ptx *made = NULL;
    griddep_findings *notes = NULL;

    CHECK(griddep_ptx_rewrite, ptx, &options, &made, notes_into ? &notes : NULL, E);
    into->handle = made;
    if (notes_into)
        notes_into->handle = notes;
}

/* A chain of two entries, whose text ends before it or after it. */
static griddep_findings *check_entries(actor *by, const griddep_ptx *ptx)
{
    const griddep_launch_config config = {
        .size = sizeof config, .grid = {1}, .block = {32}, .lane = below(by, 3)};
    const griddep_argument arguments[2] = {{.bytes = 8, .value = 4096},
                                           {.bytes = 8, .value = 4096 + below(by, 8)}};
    griddep_use use = {.size = sizeof use, .buffer = below(by, 3), .access = (int32_t)below(by, 6)};
    griddep_findings *findings = NULL;
    griddep_chain *chain = NULL;

    if (CHECK(griddep_chain_create, NULL, &chain, E))
        return NULL;
    for (uint32_t i = 0; i < 3; i++)
        CHECK(griddep_chain_add_ptx, chain, one_in(by, 3) ? NULL : ptx, "step", &config,
              one_in(by, 2) ? arguments : NULL, below(by, 3), E);
    CHECK(griddep_chain_depend, chain, 1, 0, E);
    CHECK(griddep_chain_set_name, chain, below(by, 4), one_in(by, 4) ? NULL : "named", E);
    CHECK(griddep_chain_add_buffer, chain, 4096 + below(by, 8), below(by, 8), E);
    CHECK(griddep_chain_set_traits, chain, below(by, 4), below(by, 300), E);
    CHECK(griddep_chain_set_use, chain, below(by, 3), below(by, 3), &use, E);
    CHECK(griddep_chain_set_reach, chain, below(by, 3), &use, below(by, 2), E);
    CHECK(griddep_chain_check, chain, &findings, E);
    USE(griddep_chain_destroy)(chain);
    return findings;
}

/* A text with misspelt names, each with an edit and the place of its declaration. */
static const char broken_text[] =
    HEADER ".visible .entry step()\n{\n    .reg .u32 %count;\n    mov.u32 %cuont, 1;\n"
           "    mov.u32 %cuont, 2;\n    mov.u32 %cuont, 3;\n    ret;\n}\n";

static void check_texts(actor *by, const griddep_ptx *ptx, item *into)
{
    const char *text = one_in(by, 2) ? broken_text : ptx_texts[below(by, ptx_text_count)];
    griddep_findings *findings = NULL;

    if (one_in(by, 2) || !ptx)
        CHECK(griddep_ptx_check, text, strlen(text), "text", NULL, &findings, E);
    else
        findings = check_entries(by, ptx);
    into->handle = findings;
}

void work_on_ptx(actor *by)
{
    item *ptx = pick(by, ITEM_PTX, false), *into = place(by, ITEM_PTX),
         *findings = place(by, ITEM_FINDINGS);
    const char *text = ptx_texts[below(by, ptx_text_count)];
    griddep_ptx *made = NULL;

    if (into && (!ptx || one_in(by, 3))) {
        CHECK(griddep_ptx_parse, text, strlen(text), one_in(by, 2) ? "text" : NULL, &made, E);
        into->handle = made;
    } else if (ptx && into && one_in(by, 2)) {
        rewrite(by, ptx->handle, into, findings);
    } else if (findings && one_in(by, 2)) {
        check_texts(by, ptx ? ptx->handle : NULL, findings);
    } else if (ptx) {
        ask_ptx(by, ptx->handle);
    }
}
