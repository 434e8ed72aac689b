// Command lines of the programs: getopt_long, with the same messages for all.

#ifndef SCENES_COMMAND_LINE_H_
#define SCENES_COMMAND_LINE_H_

#include <getopt.h>
#include <stddef.h>

#define mjgWRONG_OPTION (-2)

// The next option of a command line: its val in `known`, whose last row is zero; its value is in
// optarg. -h is --help where that is known. -1: no option left; the words from argv[optind] on are
// arguments, which may stand before and between options. mjgWRONG_OPTION: one line in error
int mjg_nextOption(char* error, size_t error_size, int argc, char** argv, const struct option* known);

#endif  // SCENES_COMMAND_LINE_H_
