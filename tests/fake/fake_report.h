/* A scripted report in the place of the emulated driver's: fake_report.c. */
#ifndef FAKE_REPORT_H
#define FAKE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

/* Before the emulated driver is opened. */
void fake_report_begin(void);

/* Whether a report is scripted: then the driver says that it is the emulated one. */
bool fake_report_is_emulated(void);

void fake_report_allocation(uint64_t address);

#endif
