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

// an option with a value, and what reads it: 1 if it takes the text
typedef struct mjgValue_ {
  const char* name;
  int (*read)(const struct mjgValue_* value, char* word);
  void* data;
  double least, most;  // of a number
} mjgValue;

// of a char*, a double, an int, and an mjgSettingList
int mjg_readText(const mjgValue* value, char* word);
int mjg_readReal(const mjgValue* value, char* word);
int mjg_readWhole(const mjgValue* value, char* word);
int mjg_readSettings(const mjgValue* value, char* word);

// one configuration entry of a plugin instance, or attribute of an element, in place of or in addition to the MJCF's
typedef struct mjgSetting_ {
  const char* instance;  // name of the instance, kind of the element ("option"), or its kind and name ("joint:elbow")
  const char* key;
  const char* value;
} mjgSetting;

// Split INSTANCE.KEY=VALUE in place; the setting points into the text. 0: done
int mjg_readSetting(mjgSetting* setting, char* text);

#define mjgMAXSETTING 64
typedef struct mjgSettingList_ {
  mjgSetting setting[mjgMAXSETTING];
  int n;
} mjgSettingList;

// Reads all options: those with values, and flags that set an int (last row zero). -1: all are read; the val of a flag
// without an int, which is above nvalue; mjgWRONG_OPTION: one line in error
int mjg_readOptions(char* error, size_t error_size, int argc, char** argv, const mjgValue* value, int nvalue,
                    const struct option* flags);

#endif  // SCENES_COMMAND_LINE_H_
