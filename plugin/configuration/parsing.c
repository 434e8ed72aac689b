#include "configuration/parsing.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// largest number of a key; a larger one overflows in a step
#define mjgpMOST 1e100


//---------------------------------- instances -----------------------------------------------------

static int isNamed(const mjModel* m, int instance, const char* name) {
  const mjpPlugin* plugin = mjp_getPluginAtSlot(m->plugin[instance]);
  return plugin && !strcmp(plugin->name, name);
}


int mjgp_isBrake(const mjModel* m, int instance) {
  return isNamed(m, instance, mjgpBRAKE) || isNamed(m, instance, mjgpCHECKED_BRAKE);
}


int mjgp_isOurs(const mjModel* m, int instance, int slot) {
  return m->plugin[instance] == slot || mjgp_isBrake(m, instance) || isNamed(m, instance, mjgpNAME);
}


// Returns the first actuator that is this brake, or -1.
static int brakeActuator(const mjModel* m, int instance) {
  int i = 0;
  while (i < m->nactuator && m->actuator_plugin[i] != instance) {
    i++;
  }
  return i < m->nactuator ? i : -1;
}


//---------------------------------- homes ---------------------------------------------------------

int mjgp_nextHome(const mjModel* m, int instance, int body) {
  for (int b = body + 1; b < m->nbody; b++) {
    if (m->body_plugin[b] == instance) {
      int above = m->body_parentid[b];
      while (above > 0 && m->body_plugin[above] != instance) {
        above = m->body_parentid[above];
      }
      if (above == 0) {
        return b;
      }
    }
  }
  return 0;
}


int mjgp_countHomes(const mjModel* m, int instance) {
  int n = 0;
  for (int b = 0; (b = mjgp_nextHome(m, instance, b));) {
    n++;
  }
  return n;
}


//---------------------------------- messages and words --------------------------------------------

const char* mjgp_nameOf(const mjModel* m, int type, int id) {
  const char* name = mj_id2name(m, type, id);
  return name ? name : "";
}


void mjgp_writePlace(char text[mjgpMAXPLACE], const mjModel* m, int instance) {
  const char* name = mjgp_nameOf(m, mjOBJ_PLUGIN, instance);
  int brake = mjgp_isBrake(m, instance) ? brakeActuator(m, instance) : -1;
  int home = mjgp_nextHome(m, instance, 0);
  if (brake >= 0) {
    int kind = m->actuator_trntype[brake], type = kind == mjTRN_TENDON ? mjOBJ_TENDON : mjOBJ_JOINT;
    int named = kind == mjTRN_TENDON || kind == mjTRN_JOINT || kind == mjTRN_JOINTINPARENT;
    snprintf(text, mjgpMAXPLACE, mjgpBRAKE ", actuator '%.*s'%s%s%.*s%s", mjgpMAXWORD,
             mjgp_nameOf(m, mjOBJ_ACTUATOR, brake), named ? " of " : "",
             !named                 ? ""
             : type == mjOBJ_TENDON ? "tendon '"
                                    : "joint '",
             mjgpMAXWORD, named ? mjgp_nameOf(m, type, m->actuator_trnid[2 * brake]) : "",
             named ? "'" : "");
  } else if (name[0]) {
    snprintf(text, mjgpMAXPLACE, mjgpNAME ", instance '%.*s'", mjgpMAXWORD, name);
  } else if (home) {
    snprintf(text, mjgpMAXPLACE, mjgpNAME ", instance %d of body '%.*s'", instance, mjgpMAXWORD,
             mjgp_nameOf(m, mjOBJ_BODY, home));
  } else {
    snprintf(text, mjgpMAXPLACE, mjgpNAME ", instance %d", instance);
  }
}


int mjgp_refuseKey(const mjgpPlace* place, const char* format, ...) {
  char where[mjgpMAXPLACE], key[mjgpMAXPLACE + mjgpMAXWORD];
  const char* before = place->report->where;
  mjgp_writePlace(where, place->m, place->instance);
  snprintf(key, sizeof(key), "%s: key '%s'", where, place->key);
  va_list args;
  va_start(args, format);
  place->report->where = key;
  mjg_vrefuse(place->report, format, args);
  place->report->where = before;
  va_end(args);
  return -1;
}


const char* mjgp_value(const mjgpPlace* place) {
  const char* value = mj_getPluginConfig(place->m, place->instance, place->key);
  return value ? value : "";
}


int mjgp_countGiven(const mjModel* m, int instance, const char* key) {
  const mjgpPlace place = {m, instance, key, NULL, 0};
  return mjgp_countWords(mjgp_value(&place));
}


const char* mjgp_nextWord(int* length, const char** text) {
  const char* space = " \t\r\n";
  const char* word = *text + strspn(*text, space);
  if (*word == '\'' || *word == '"') {
    const char quote[2] = {*word++, 0};
    *length = (int)strcspn(word, quote);
    *text = word + *length + (word[*length] != 0);
    return word;
  }
  *length = (int)strcspn(word, space);
  *text = word + *length;
  return *length ? word : NULL;
}


int mjgp_countWords(const char* text) {
  int n = 0, length;
  while (mjgp_nextWord(&length, &text)) {
    n++;
  }
  return n;
}


int mjgp_isNone(const char* word, int length) {
  return length == 4 && !strncmp(word, "none", 4);
}


void mjgp_refuseBlanks(mjgpPlace* place, const char* const* keys, int n) {
  for (int k = 0; k < n; k++) {
    place->key = keys[k];
    const char* value = mjgp_value(place);
    if (value[0] && !mjgp_countWords(value)) {
      mjgp_refuseKey(place, "the value is blank; write one, or leave the key out");
    }
  }
}


//---------------------------------- values of a key -----------------------------------------------

int mjgp_readNumber(mjtNum* number, const char* word, int length, const mjgpPlace* place) {
  char copy[64];
  const char* end;
  if (length >= (int)sizeof(copy)) {
    return mjgp_refuseKey(place, "'%.40s...' is not a number; write one such as 0.5 or 1e-3", word);
  }
  memcpy(copy, word, (size_t)length);
  copy[length] = 0;
  *number = mjg_readNumber(copy, &end);
  if (end == copy || *end) {
    return mjgp_refuseKey(place, "'%s' is not a number; write one such as 0.5 or 1e-3", copy);
  }
  if (!isfinite(*number)) {
    return mjgp_refuseKey(place, "'%s' is not finite; write a finite number", copy);
  }
  if (mju_abs(*number) > mjgpMOST) {
    return mjgp_refuseKey(place, "'%s' is more than any gear has; check its unit", copy);
  }
  return 0;
}


int mjgp_findWord(const char* word, int length, const char* const* words, int n,
                  const mjgpPlace* place) {
  char list[200] = "";
  for (int i = 0; i < n; i++) {
    if ((int)strlen(words[i]) == length && !strncmp(words[i], word, (size_t)length)) {
      return i;
    }
    snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "", words[i]);
  }
  return mjgp_refuseKey(place, "'%.*s' is unknown; choose one of: %s",
                        length < mjgpMAXWORD ? length : mjgpMAXWORD, word, list);
}


int mjgp_readValues(mjtNum* value, const char* const* words, int nword, int n,
                    const mjgpPlace* place) {
  const char* text = mjgp_value(place);
  int length, given = mjgp_countWords(text);
  if (given > 1 && !n) {
    return mjgp_refuseKey(place, "it has %d values; give one for the whole model", given);
  }
  if (given > 1 && given != n) {
    return mjgp_refuseKey(
        place, "it has %d values for %d joint%s; give one value for all joints or one per joint",
        given, n, n == 1 ? "" : "s");
  }
  for (int i = 0; i < given; i++) {
    const char* word = mjgp_nextWord(&length, &text);
    int choice = words ? mjgp_findWord(word, length, words, nword, place) : 0;
    if (choice < 0 || (!words && mjgp_readNumber(value + i, word, length, place))) {
      return -1;
    }
    value[i] = words ? choice : value[i];
  }
  for (int i = given; i < n && given; i++) {
    value[i] = value[0];
  }
  return given > 0;
}


uint64_t mjgp_changeableKeys(const mjModel* m, int instance) {
  uint64_t keys = 0;
  for (int key = 0; key < mjgNKEY; key++) {
    const mjgKeyInfo* info = mjg_keyInfo(key);
    int any = key <= mjgKEY_STARTING_BACKWARD || !mjgp_isKind(key);
    if (!info->engine && (any || mjgp_countGiven(m, instance, info->name))) {
      keys |= (uint64_t)1 << key;
    }
  }
  return keys;
}
