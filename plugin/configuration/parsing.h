// Words and numbers in the <config> elements of an instance, and refusals that say where
// they stand.

#ifndef MJGEAR_PLUGIN_PARSING_H_
#define MJGEAR_PLUGIN_PARSING_H_

#include <mujoco/mujoco.h>
#include <stdint.h>

#include "configuration/config.h"

#define mjgpMAXWORD  100  // longest word that a message repeats
#define mjgpMAXPLACE 300  // longest text that says of what a message is

// is this the instance of a brake
int mjgp_isBrake(const mjModel* m, int instance);

// the first actuator that is this brake, -1: there is none
int mjgp_brakeActuator(const mjModel* m, int instance);

// does an instance belong to the gears of the plugin in slot: is it one of them, or a
// brake
int mjgp_isOurs(const mjModel* m, int instance, int slot);

// where in the configuration we are, for messages
typedef struct mjgpPlace_ {
  const mjModel* m;
  int instance;
  const char* key;
  mjgReport* report;
  int home;  // body below which names are looked up first, 0: none
} mjgpPlace;

// first home of an instance behind a body, 0: none. A home below another does not count
int mjgp_nextHome(const mjModel* m, int instance, int body);
int mjgp_countHomes(const mjModel* m, int instance);

// name of an object of the model, "" if it has none
const char* mjgp_nameOf(const mjModel* m, int type, int id);

// write "mjgear.transmission, instance 'x'"
void mjgp_writePlace(char text[mjgpMAXPLACE], const mjModel* m, int instance);

// add "mjgear.transmission, instance 'x', key 'y': ..." to the report and return -1
int mjgp_refuseKey(const mjgpPlace* place, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

// value of a key, "" if it is not given
const char* mjgp_value(const mjgpPlace* place);

// number of words that an instance gives for a key
int mjgp_countGiven(const mjModel* m, int instance, const char* key);

// next word of a list separated by white space, null at the end; a word in quotes may
// hold spaces. Number of words
const char* mjgp_nextWord(int* length, const char** text);
int mjgp_countWords(const char* text);

// is a word the one that says nothing
int mjgp_isNone(const char* word, int length);

// refuse values of these keys that are nothing but spaces: the key is given, and says nothing
void mjgp_refuseBlanks(mjgpPlace* place, const char* const* keys, int n);

// read a finite number from a word; 0, or -1 after a refusal
int mjgp_readNumber(mjtNum* number, const char* word, int length, const mjgpPlace* place);

// number of the word among n words, or -1 after a refusal
int mjgp_findWord(const char* word, int length, const char* const* words, int n,
                  const mjgpPlace* place);

// read a key that has one value for all n listed joints or one for each, or, n = 0, one
// for the whole model: numbers, or numbers of words among nword (nullable). 1 if given, 0
// if not (value is untouched), -1 if refused
int mjgp_readValues(mjtNum* value, const char* const* words, int nword, int n,
                    const mjgpPlace* place);

// the same for the whole model: a number, or one of n words
int mjgp_readSetting(mjtNum* number, const mjgpPlace* place);
int mjgp_readWord(int* choice, const char* const* words, int n, const mjgpPlace* place);

// does a key of the core say what the gear is, and not only how it rubs besides
static inline int mjgp_isKind(int key) {
  // all keys before those of friction besides
  return key < mjgKEY_COULOMB || key == mjgKEY_MOTOR_STARTING;
}

// keys that a simulation may change, one bit (1 << mjgKey) each: those that the instance
// gives, and those that describe any gear: coefficients, efficiencies, starting torques,
// friction besides. What the engine has, such as armature, is not among them
uint64_t mjgp_changeableKeys(const mjModel* m, int instance);

#endif  // MJGEAR_PLUGIN_PARSING_H_
