// Words and numbers in the <config> elements of an instance, and refusals with their place.

#ifndef MJGEAR_PLUGIN_PARSING_H_
#define MJGEAR_PLUGIN_PARSING_H_

#include <mujoco/mujoco.h>
#include <stdint.h>

#include "configuration/config.h"

#define mjgpMAXWORD  100  // longest word that a message repeats
#define mjgpMAXPLACE 300  // longest place of a message

// Returns 1 for the instance of a brake.
int mjgp_isBrake(const mjModel* m, int instance);

// Returns 1 if an instance is a gear of the plugin in slot, or a brake.
int mjgp_isOurs(const mjModel* m, int instance, int slot);

// place in the configuration, for messages
typedef struct mjgpPlace_ {
  const mjModel* m;
  int instance;
  const char* key;
  mjgReport* report;
  int home;  // body below which names are looked up first, 0: none
} mjgpPlace;

// Returns the first home of an instance after a body, 0: none. A home below another is none.
int mjgp_nextHome(const mjModel* m, int instance, int body);
int mjgp_countHomes(const mjModel* m, int instance);

// Returns the name of an object, or "".
const char* mjgp_nameOf(const mjModel* m, int type, int id);

// Write "mjgear.transmission, instance 'x'".
void mjgp_writePlace(char text[mjgpMAXPLACE], const mjModel* m, int instance);

// add "mjgear.transmission, instance 'x', key 'y': ..." to the report and return -1
int mjgp_refuseKey(const mjgpPlace* place, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

// Returns the value of a key, or "".
const char* mjgp_value(const mjgpPlace* place);

// Returns the number of words of a key.
int mjgp_countGiven(const mjModel* m, int instance, const char* key);

// Returns the next word of a list, null at the end; the number of words. White space separates
// words, but not in quotes.
const char* mjgp_nextWord(int* length, const char** text);
int mjgp_countWords(const char* text);

// Returns 1 for the word that means no value.
int mjgp_isNone(const char* word, int length);

// Refuse values of these keys that are only spaces.
void mjgp_refuseBlanks(mjgpPlace* place, const char* const* keys, int n);

// read a finite number from a word; 0, or -1 after a refusal
int mjgp_readNumber(mjtNum* number, const char* word, int length, const mjgpPlace* place);

// Returns the number of a word among n, or -1 after a refusal.
int mjgp_findWord(const char* word, int length, const char* const* words, int n,
                  const mjgpPlace* place);

// read a key that has one value for all n listed joints or one for each, or, n = 0, one
// for the whole model: numbers, or numbers of words among nword (nullable). 1 if given, 0
// if not (value is untouched), -1 if refused
int mjgp_readValues(mjtNum* value, const char* const* words, int nword, int n,
                    const mjgpPlace* place);

// Returns 1 if a key of the core describes the gear, and not only additional friction.
static inline int mjgp_isKind(int key) {
  return key < mjgKEY_COULOMB || key == mjgKEY_MOTOR_STARTING;
}

// Returns the keys that a simulation may change, one bit (1 << mjgKey) each: the instance's keys,
// coefficients, efficiencies, starting torques, additional friction. Quantities of the engine,
// such as armature, are excluded.
uint64_t mjgp_changeableKeys(const mjModel* m, int instance);

#endif  // MJGEAR_PLUGIN_PARSING_H_
