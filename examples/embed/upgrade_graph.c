/* A graph, upgraded: plain edges between kernels become programmatic ones where that is safe.
 *
 *     cc -o upgrade_graph upgrade_graph.c $(pkg-config --cflags --libs griddep)
 *
 * Here the edges are plain, as code makes them that knows nothing of dependent launch. A CUgraph
 * from elsewhere, captured or made by hand, is taken over with griddep_graph_adopt. Launches that
 * say GRIDDEP_PDL_OFF stay as they are, also when they were captured.
 */
#include <griddep.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1024, LAUNCHES = 3 };

static griddep_error error;

static void check(int32_t status)
{
    if (status) {
        fprintf(stderr, "%s: %s\n", griddep_status_name(status), error.text);
        exit(1);
    }
}

static void tell(const griddep_graph *graph)
{
    for (uint32_t i = 0; i < griddep_graph_edge_count(graph); i++) {
        griddep_graph_edge_info edge = {.size = sizeof edge};
        check(griddep_graph_get_edge(graph, i, &edge, &error));
        printf("edge %u -> %u: %s: %s\n", edge.from, edge.to,
               griddep_text(GRIDDEP_TEXT_OVERLAP, edge.overlap),
               griddep_text(GRIDDEP_TEXT_REASON, edge.reason));
    }
}

static griddep_graph *build(griddep_runtime *runtime, griddep_kernel *kernel, uint64_t x)
{
    griddep_graph *graph;
    griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {256}};
    griddep_argument arguments[] = {{.bytes = 8, .value = x},
                                    {.bytes = 8, .value = x},
                                    {.bytes = 8, .value = x},
                                    {.bytes = 4, .value = COUNT}};
    uint32_t node;

    check(griddep_graph_create(runtime, &graph, &error));
    for (int i = 0; i < LAUNCHES; i++) {
        check(griddep_graph_add_kernel(graph, kernel, &config, arguments, 4, &node, &error));
        if (i)
            check(griddep_graph_add_edge(graph, node - 1, node, GRIDDEP_PORT_DEFAULT,
                                         GRIDDEP_EDGE_DEFAULT, &error));
    }
    return graph;
}

int main(void)
{
    griddep_runtime *runtime;
    griddep_module *module;
    griddep_kernel *kernel;
    void *stream;
    uint64_t x;
    uint32_t upgraded;
    static float host[COUNT];

    for (int i = 0; i < COUNT; i++)
        host[i] = (float)i;
    griddep_error_init(&error);
    check(griddep_runtime_open(NULL, &runtime, &error));
    check(griddep_module_load_shelf(runtime, "vector_add", NULL, &module, &error));
    check(griddep_module_find_kernel(module, NULL, &kernel, &error));
    check(griddep_stream_create(runtime, NULL, &stream, &error));
    check(griddep_memory_allocate(runtime, sizeof host, &x, &error));
    check(griddep_memory_write(runtime, x, host, sizeof host, stream, &error));

    griddep_graph *graph = build(runtime, kernel, x);
    tell(graph);
    check(griddep_graph_upgrade(graph, &upgraded, &error));
    printf("upgraded: %u\n", upgraded);
    tell(graph);
    check(griddep_graph_launch(graph, stream, &error));
    check(griddep_memory_read(runtime, host, x, sizeof host, stream, &error));
    printf("%d * %d = %.0f\n", 1 << LAUNCHES, COUNT - 1, (double)host[COUNT - 1]);

    griddep_graph_destroy(graph);
    check(griddep_memory_free(runtime, x, &error));
    check(griddep_stream_destroy(runtime, stream, &error));
    griddep_module_unload(module);
    griddep_runtime_close(runtime);
    return 0;
}
