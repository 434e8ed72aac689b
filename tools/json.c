#include "json.h"

#include <math.h>
#include <stdlib.h>


// bytes of the character of UTF-8 that text begins with; 0 if there is none
static int character(const unsigned char* text) {
  int n = text[0] < 0x80 ? 1 : text[0] >= 0xc2 && text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
  int code = text[0] & (0x7f >> n);
  if (n == 1) {
    return 1;
  }
  if (text[0] < 0xc2 || text[0] > 0xf4) {
    return 0;
  }
  for (int i = 1; i < n; i++) {
    if ((text[i] & 0xc0) != 0x80) {
      return 0;
    }
    code = code << 6 | (text[i] & 0x3f);
  }

  // neither longer than it must be, nor half of a pair, nor beyond the last one
  int flg_valid = n == 2 || (n == 3 && code >= 0x800 && (code < 0xd800 || code > 0xdfff)) ||
                  (n == 4 && code >= 0x10000 && code <= 0x10ffff);
  return flg_valid ? n : 0;
}


// text in quotes; an invalid byte of UTF-8, of the name of a file for instance, becomes U+FFFD
static void quote(FILE* file, const char* text) {
  fputc('"', file);
  while (*text) {
    int n = character((const unsigned char*)text);
    if (n == 0) {
      fputs("\\ufffd", file);
    } else if (*text == '"' || *text == '\\') {
      fprintf(file, "\\%c", *text);
    } else if ((unsigned char)*text < 0x20) {
      fprintf(file, "\\u%04x", *text);
    } else {
      fwrite(text, 1, (size_t)n, file);
    }
    text += n ? n : 1;
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

  // the fewest digits that identify the number
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
