#include "json.h"

#include <math.h>
#include <stdlib.h>


// text in quotes
static void quote(FILE* file, const char* text) {
  fputc('"', file);
  for (const char* c = text; *c; c++) {
    if (*c == '"' || *c == '\\') {
      fprintf(file, "\\%c", *c);
    } else if ((unsigned char)*c < 0x20) {
      fprintf(file, "\\u%04x", *c);
    } else {
      fputc(*c, file);
    }
  }
  fputc('"', file);
}


// comma, indentation and key of the next item
static void item(Json* json, const char* key) {
  if (json->depth > 0) {
    fprintf(json->file, "%s\n%*s", json->count[json->depth]++ ? "," : "", 2 * json->depth, "");
  }
  if (key) {
    quote(json->file, key);
    fputs(": ", json->file);
  }
}


void json_start(Json* json, FILE* file) {
  json->file = file;
  json->depth = 0;
}


void json_open(Json* json, const char* key, char bracket) {
  item(json, key);
  fputc(bracket, json->file);
  if (json->depth < JSON_DEPTH - 1) {
    json->depth++;
  }
  json->count[json->depth] = 0;
}


void json_close(Json* json, char bracket) {
  int empty = json->count[json->depth] == 0;
  json->depth--;
  if (!empty) {
    fprintf(json->file, "\n%*s", 2 * json->depth, "");
  }
  fputc(bracket, json->file);
  if (json->depth == 0) {
    fputc('\n', json->file);
  }
}


void json_text(Json* json, const char* key, const char* value) {
  item(json, key);
  quote(json->file, value);
}


void json_number(Json* json, const char* key, double value) {
  item(json, key);
  if (!isfinite(value)) {
    fputs("null", json->file);
    return;
  }

  // as few digits as say which number it is
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof(text), "%.*g", digits, value);
    if (strtod(text, NULL) == value) {
      break;
    }
  }
  fputs(text, json->file);
}


void json_flag(Json* json, const char* key, int value) {
  item(json, key);
  fputs(value ? "true" : "false", json->file);
}
