// Writing JSON: objects, arrays, numbers and text to a file, commas and quotes taken care of.

#ifndef TOOLS_JSON_H_
#define TOOLS_JSON_H_

#include <stdio.h>

#define JSON_DEPTH 16  // deepest nesting

typedef struct Json_ {
  FILE* file;
  int depth;
  int count[JSON_DEPTH];  // items written at each depth
} Json;

void json_start(Json* json, FILE* file);

// key is null inside an array and outside of everything
void json_open(Json* json, const char* key, char bracket);  // '{' or '['
void json_close(Json* json, char bracket);                  // '}' or ']'
void json_text(Json* json, const char* key, const char* value);
void json_number(Json* json, const char* key, double value);  // null if not finite
void json_flag(Json* json, const char* key, int value);

#endif  // TOOLS_JSON_H_
