#include "mjcf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// part of a text
typedef struct mjgSpan_ {
  const char* begin;
  const char* end;
} mjgSpan;

// the first tag at or after p, from '<' to behind '>'; comments are passed over; begin null: none
static mjgSpan nextTag(const char* p) {
  while ((p = strchr(p, '<')) && !strncmp(p, "<!--", 4)) {
    p = strstr(p, "-->");
    if (!p) {
      break;
    }
  }
  if (!p) {
    return (mjgSpan){NULL, NULL};
  }

  // a '>' inside quotes does not end the tag
  char quote = 0;
  for (const char* end = p; *end; end++) {
    if (quote) {
      quote = *end == quote ? 0 : quote;
    } else if (*end == '"' || *end == '\'') {
      quote = *end;
    } else if (*end == '>') {
      return (mjgSpan){p, end + 1};
    }
  }
  return (mjgSpan){NULL, NULL};
}

// returns 1 if a tag is of this kind, for example "config" or "/instance"
static int isTag(mjgSpan tag, const char* kind) {
  size_t n = strlen(kind);
  return !strncmp(tag.begin + 1, kind, n) && strchr(" \t\r\n/>", tag.begin[1 + n]) != NULL;
}

// text between the quotes of an attribute; begin null: the tag has no such attribute
static mjgSpan attribute(mjgSpan tag, const char* name) {
  size_t n = strlen(name);
  for (const char* p = tag.begin + 1; p < tag.end; p++) {
    // values are skipped, so that a name within one is not found
    if (*p == '"' || *p == '\'') {
      p = strchr(p + 1, *p);
      continue;
    }
    if (strchr(" \t\r\n", *p) && !strncmp(p + 1, name, n)) {
      const char* q = p + 1 + n;
      q += strspn(q, " \t\r\n");
      if (*q != '=') {
        continue;
      }
      q += 1 + strspn(q + 1, " \t\r\n");
      return (mjgSpan){q + 1, strchr(q + 1, *q)};
    }
  }
  return (mjgSpan){NULL, NULL};
}

static int equals(mjgSpan span, const char* text) {
  size_t n = strlen(text);
  return span.begin && (size_t)(span.end - span.begin) == n && !strncmp(span.begin, text, n);
}

// copy of the text with one part of it replaced by before, middle and after
static char* replace(const char* text, mjgSpan part, const char* before, const char* middle, const char* after) {
  size_t head = (size_t)(part.begin - text);
  size_t size = strlen(text) + strlen(before) + strlen(middle) + strlen(after) + 1;
  char* copy = malloc(size);
  if (copy) {
    memcpy(copy, text, head);
    snprintf(copy + head, size - head, "%s%s%s%s", before, middle, after, part.end);
  }
  return copy;
}

char* mjg_setConfig(const char* text, const mjgSetting* setting, char* error, int error_sz) {
  if (strpbrk(setting->value, "\"<&") || strpbrk(setting->key, "\"<&")) {
    snprintf(error, (size_t)error_sz, "setting %s.%s=%s: \" < & cannot be part of it", setting->instance, setting->key,
             setting->value);
    return NULL;
  }

  // entries of the instance
  int inside = 0;
  for (mjgSpan tag = nextTag(text); tag.begin; tag = nextTag(tag.end)) {
    if (isTag(tag, "instance") && tag.end[-2] != '/') {
      inside = equals(attribute(tag, "name"), setting->instance);
    }

    // an entry with that key
    else if (inside && isTag(tag, "config") && equals(attribute(tag, "key"), setting->key)) {
      mjgSpan value = attribute(tag, "value");
      if (value.begin) {
        return replace(text, value, "", setting->value, "");
      }
    }

    // none: add it
    else if (inside && isTag(tag, "/instance")) {
      char before[128];
      int n = snprintf(before, sizeof before, "<config key=\"%s\" value=\"", setting->key);
      if (n < 0 || n >= (int)sizeof before) {
        break;
      }
      return replace(text, (mjgSpan){tag.begin, tag.begin}, before, setting->value, "\"/>");
    }
  }

  // no instance: an attribute of the first element of that kind, or of that kind and name
  char kind[64], before[128];
  size_t n = strcspn(setting->instance, ":");
  const char* name = setting->instance[n] ? setting->instance + n + 1 : NULL;
  snprintf(kind, sizeof kind, "%.*s", (int)n, setting->instance);
  snprintf(before, sizeof before, " %s=\"", setting->key);
  for (mjgSpan tag = nextTag(text); tag.begin; tag = nextTag(tag.end)) {
    if (isTag(tag, kind) && (!name || equals(attribute(tag, "name"), name))) {
      mjgSpan value = attribute(tag, setting->key), end = {tag.begin + 1 + n, tag.begin + 1 + n};
      return value.begin ? replace(text, value, "", setting->value, "")
                         : replace(text, end, before, setting->value, "\"");
    }
  }
  snprintf(error, (size_t)error_sz, "setting %s.%s=%s: the file has no plugin instance and no element '%s'",
           setting->instance, setting->key, setting->value, setting->instance);
  return NULL;
}

const char* mjg_nextInclude(const char* text, char* file, int file_sz) {
  for (mjgSpan tag = nextTag(text); tag.begin; tag = nextTag(tag.end)) {
    mjgSpan name = isTag(tag, "include") ? attribute(tag, "file") : (mjgSpan){NULL, NULL};
    if (name.begin && name.end && name.end - name.begin < file_sz) {
      snprintf(file, (size_t)file_sz, "%.*s", (int)(name.end - name.begin), name.begin);
      return tag.end;
    }
  }
  return NULL;
}
