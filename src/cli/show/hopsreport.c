/* The report on hops, as text and as JSON. */
#include "cli/show/hopsreport.h"

#include <stdio.h>

#include "cli/io/device.h"
#include "cli/io/output.h"

static const char *carrier_of(const gd_hops *hops, const gd_hops_size *size)
{
    return size->bytes >= hops->nccl_bytes ? "NCCL" : "inbox";
}

static void print_sizes(const gd_hops *hops)
{
    gd_columns columns = {.column_count = 4, .left = 1U << 3, .titled = true};
    static const char *const titles[] = {"bytes", "inbox us", "NCCL us", "chosen"};
    for (size_t i = 0; i < 4; i++)
        gd_columns_add(&columns, "%s", titles[i]);
    for (size_t i = 0; i < hops->size_count; i++) {
        const gd_hops_size *size = &hops->sizes[i];
        gd_columns_add(&columns, "%llu", (unsigned long long)size->bytes);
        gd_columns_add(&columns, "%.2f", size->inbox_us);
        gd_columns_add(&columns, "%.2f", size->nccl_us);
        gd_columns_add(&columns, "%s", carrier_of(hops, size));
    }
    gd_columns_print(&columns);
    gd_columns_free(&columns);
}

void gd_hopsreport_print(const gd_hopsreport *report)
{
    const gd_hops *hops = report->hops;
    const griddep_runtime_info *devices = report->devices;
    gd_device_print(&devices[0]);
    gd_output_print("a hop between devices %d and %d: all_reduce of bf16, mode graph-pdl\n",
                    devices[0].device, devices[1].device);
    puts("");
    print_sizes(hops);
    puts("");
    if (hops->nccl_bytes == UINT64_MAX)
        gd_output_print("NCCL is not faster at the largest size: it carries out no hop\n");
    else
        gd_output_print("NCCL carries out hops of %llu bytes and more\n",
                        (unsigned long long)hops->nccl_bytes);
    if (devices[0].emulated)
        gd_output_print(
            "these are the emulated driver's model times: a GPU may choose otherwise\n");
    puts(report->remembered ? "remembered for groups on such devices and this driver"
                            : "not remembered");
}

void gd_hopsreport_print_json(const gd_hopsreport *report)
{
    const gd_hops *hops = report->hops;
    json_t *devices = json_array(), *sizes = json_array();
    for (size_t i = 0; i < 2; i++)
        gd_output_append(devices, gd_device_json(&report->devices[i]));
    for (size_t i = 0; i < hops->size_count; i++) {
        const gd_hops_size *size = &hops->sizes[i];
        gd_output_append(sizes, GD_OBJECT({"bytes", json_integer((json_int_t)size->bytes)},
                                          {"inbox_us", gd_output_real(size->inbox_us)},
                                          {"nccl_us", gd_output_real(size->nccl_us)},
                                          {"chosen", gd_output_string(carrier_of(hops, size))}));
    }
    gd_output_write(GD_OBJECT(
        {"griddep", gd_output_string(griddep_version_text())},
        {"driver", gd_device_driver_json(&report->devices[0])}, {"devices", devices},
        {"clock", gd_output_string(report->devices[0].emulated ? "model" : "device")},
        {"sizes", sizes},
        {"nccl_bytes",
         hops->nccl_bytes != UINT64_MAX ? json_integer((json_int_t)hops->nccl_bytes) : json_null()},
        {"remembered", json_boolean(report->remembered)}));
}
