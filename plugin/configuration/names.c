#include "configuration/names.h"

#include <stdio.h>
#include <string.h>


//---------------------------------- homes ---------------------------------------------------------

// Returns 1 if an instance may come from another model, whose elements reference it.
static int isReferenced(const mjModel* m, int instance) {
  int found = mjgp_countHomes(m, instance);
  for (int s = 0; s < m->nsensor && !found; s++) {
    found = m->sensor_plugin[s] == instance;
  }
  return found;
}


// Returns the body of a joint, of a tendon's first dof or of an actuator's target; 0: none.
static int bodyOf(const mjModel* m, int type, int id) {
  if (type == mjOBJ_ACTUATOR) {
    int kind = m->actuator_trntype[id], site = kind == mjTRN_SITE || kind == mjTRN_SLIDERCRANK ||
                                               m->actuator_trnid[2 * id + 1] >= 0;
    type = kind == mjTRN_TENDON ? mjOBJ_TENDON : mjOBJ_JOINT;
    id = m->actuator_trnid[2 * id];
    if (site || kind == mjTRN_BODY) {
      return site ? m->site_bodyid[id] : id;
    }
  }
  if (type == mjOBJ_JOINT) {
    return m->jnt_bodyid[id];
  }
  return m->ten_J_rownnz[id] ? m->dof_bodyid[m->ten_J_colind[m->ten_J_rowadr[id]]] : 0;
}


static int isBelow(const mjModel* m, int body, int type, int id) {
  int b = bodyOf(m, type, id);
  while (b > 0 && b != body) {
    b = m->body_parentid[b];
  }
  return b == body;
}


int mjgp_homeOf(const mjModel* m, const mjgpJoint* joint) {
  int id, type = mjgp_objectOf(&id, joint), home = 0;
  do {
    home = mjgp_nextHome(m, joint->instance, home);
  } while (home && !isBelow(m, home, type, id));
  return home;
}


//---------------------------------- names ---------------------------------------------------------

// prefix and suffix around a word in a name
typedef struct Around_ {
  const char* name;
  size_t prefix, suffix;  // lengths
} Around;


// Returns 1 if another name has this prefix and suffix too.
static int isAround(const Around* a, const char* name) {
  size_t n = strlen(name);
  return a->prefix + a->suffix < n && !strncmp(name, a->name, a->prefix) &&
         !strcmp(name + n - a->suffix, a->name + strlen(a->name) - a->suffix);
}


// Find prefix and suffix around a word in a name that the instance's has too. Returns their length,
// -1.
static int findAround(Around* a, const char* name, const char* word, size_t length,
                      const char* instance) {
  size_t n = strlen(name);
  for (size_t prefix = 0; prefix + length <= n; prefix++) {
    *a = (Around){name, prefix, n - prefix - length};
    if (!strncmp(name + prefix, word, length) && isAround(a, instance)) {
      return (int)(a->prefix + a->suffix);
    }
  }
  return -1;
}


// Returns 1 if an object's name is the word with this prefix and suffix.
static int hasAround(const Around* a, const mjModel* m, int type, const char* word, int length) {
  char name[1000];
  snprintf(name, sizeof(name), "%.*s%.*s%s", (int)a->prefix, a->name, length, word,
           a->name + strlen(a->name) - a->suffix);
  return mj_name2id(m, type, name) >= 0;
}


// Returns 1 if an object may have been renamed with the instance: all names in its keys, its
// sensors and the object's body have this prefix and suffix.
static int isRenamed(const mjgpPlace* place, int type, int id, const char* word, int length) {
  static const struct {
    const char* key;
    int type;
  } lists[] = {{"joint", mjOBJ_JOINT},
               {"tendon", mjOBJ_TENDON},
               {"motor_joint", mjOBJ_JOINT},
               {"motor", mjOBJ_ACTUATOR}};
  const mjModel* m = place->m;
  Around a;
  int alike = findAround(&a, mjgp_nameOf(m, type, id), word, (size_t)length,
                         mjgp_nameOf(m, mjOBJ_PLUGIN, place->instance)) >= 0;
  for (int k = 0; k < 4 && alike; k++) {
    mjgpPlace list = *place;
    list.key = lists[k].key;
    int n;
    const char *text = mjgp_value(&list), *item;
    while ((item = mjgp_nextWord(&n, &text))) {
      alike &= mjgp_isNone(item, n) || hasAround(&a, m, lists[k].type, item, n);
    }
  }
  for (int s = 0; s < m->nsensor && alike; s++) {
    const char* name = mjgp_nameOf(m, mjOBJ_SENSOR, s);
    alike &= m->sensor_plugin[s] != place->instance || !name[0] || isAround(&a, name);
  }
  const char* body = mjgp_nameOf(m, mjOBJ_BODY, bodyOf(m, type, id));
  return alike && (!body[0] || isAround(&a, body));
}


// Find matches at home or elsewhere, -1: none. exact: object of this name; renamed: object with the
// longest prefix and suffix that the instance or its home shares.
static void findMatches(int* exact, int* renamed, int type, const char* word, size_t length,
                        const mjgpPlace* place, int flg_home) {
  const mjModel* m = place->m;
  const char* instance = mjgp_nameOf(m, mjOBJ_PLUGIN, place->instance);
  const char* body = place->home ? mjgp_nameOf(m, mjOBJ_BODY, place->home) : "";
  int longest = 0, n = (int)(type == mjOBJ_JOINT    ? m->njnt
                             : type == mjOBJ_TENDON ? m->ntendon
                                                    : m->nactuator);
  *exact = *renamed = -1;
  for (int id = 0; id < n; id++) {
    int home = place->home && isBelow(m, place->home, type, id);
    if (home != flg_home) {
      continue;
    }
    const char* name = mjgp_nameOf(m, type, id);
    if (strlen(name) == length && !strncmp(name, word, length)) {
      *exact = id;
      continue;
    }
    Around a;
    int around = findAround(&a, name, word, length, instance);
    around = mjMAX(around, findAround(&a, name, word, length, body));
    if (around > longest) {
      longest = around;
      *renamed = id;
    }
  }
}


static int isAtHome(const char* word, int length, int type, const mjgpPlace* place) {
  int exact, renamed;
  findMatches(&exact, &renamed, type, word, (size_t)length, place, 1);
  return exact >= 0 || renamed >= 0;
}


int mjgp_isPlaceOf(const char* word, int length, int type, const mjgpPlace* place) {
  mjgpPlace other = *place;
  if (!place->home || isAtHome(word, length, type, place)) {
    return 1;
  }
  for (other.home = 0; (other.home = mjgp_nextHome(place->m, place->instance, other.home));) {
    if (isAtHome(word, length, type, &other)) {
      return 0;
    }
  }
  return place->home == mjgp_nextHome(place->m, place->instance, 0);
}


// Returns the object of a name, -1 if there is none, -2 after a refusal.
static int findObject(int type, const char* word, int length, const mjgpPlace* place) {
  const mjModel* m = place->m;
  int exact, renamed;
  findMatches(&exact, &renamed, type, word, (size_t)length, place, 1);
  if (exact >= 0 || renamed >= 0) {
    return exact >= 0 ? exact : renamed;
  }
  findMatches(&exact, &renamed, type, word, (size_t)length, place, 0);
  if (exact >= 0 && renamed >= 0 && isReferenced(m, place->instance) &&
      isRenamed(place, type, renamed, word, length)) {
    mjgp_refuseKey(place,
                   "'%s' or '%s' may be meant, as the model may be part of another; write <plugin "
                   "plugin=\"%s\" instance=\"%s\"/> in the body above the joints of this gear",
                   mjgp_nameOf(m, type, exact), mjgp_nameOf(m, type, renamed), mjgpNAME,
                   mjgp_nameOf(m, mjOBJ_PLUGIN, place->instance));
    return -2;
  }
  return exact >= 0 ? exact : renamed;
}


int mjgp_findGeared(int type, const char* word, int length, const mjgpPlace* place) {
  static const char* const type_names[] = {"free", "ball", "slide", "hinge"};
  const mjModel* m = place->m;
  int id = findObject(type, word, length, place), joint = type == mjOBJ_JOINT;
  if (id == -1) {
    return mjgp_refuseKey(place, "%s '%.*s' is not in the model; use the name of %s",
                          mju_type2Str(type), mjMIN(length, mjgpMAXWORD), word,
                          joint ? "a hinge or slide joint, in quotes if it has spaces; if it was "
                                  "deleted, mjgear.remove in Python takes its gear off"
                          : type == mjOBJ_TENDON ? "a tendon"
                                                 : "an actuator");
  }
  if (id >= 0 && joint && m->jnt_type[id] != mjJNT_SLIDE && m->jnt_type[id] != mjJNT_HINGE) {
    return mjgp_refuseKey(place, "joint '%s' is a %s joint; a gear drives a hinge or a slide joint",
                          mjgp_nameOf(m, mjOBJ_JOINT, id), type_names[m->jnt_type[id]]);
  }
  return id < 0 ? -1 : id;
}


//---------------------------------- items of a list -----------------------------------------------

// Returns the joint that a fixed tendon equals (one joint, coefficient 1), or -1.
static int jointOf(const mjModel* m, int tendon) {
  int k = m->tendon_adr[tendon];
  int one = m->tendon_num[tendon] == 1 && m->wrap_type[k] == mjWRAP_JOINT && m->wrap_prm[k] == 1;
  return one ? m->wrap_objid[k] : -1;
}


int mjgp_gearNumber(const mjModel* m, int type, int id) {
  return id < 0 || type == mjOBJ_JOINT ? id : (int)m->njnt + id;
}


int mjgp_gearObject(int* id, const mjModel* m, int number) {
  int njnt = m ? (int)m->njnt : 0, ntendon = m ? (int)m->ntendon : 0;
  *id = number < njnt ? number : number - njnt;
  return number < 0 || number - njnt >= ntendon ? mjOBJ_UNKNOWN
         : number < njnt                        ? mjOBJ_JOINT
                                                : mjOBJ_TENDON;
}


mjgpJoint mjgp_makeGeared(const mjgpPlace* place, int type, int id, int index, int item) {
  const mjModel* m = place->m;
  int tendon = type == mjOBJ_TENDON, joint = tendon ? jointOf(m, id) : id;
  return (mjgpJoint){.number = mjgp_gearNumber(m, type, id),
                     .instance = place->instance,
                     .index = index,
                     .item = item,
                     .kind = tendon ? mjgpTRN_TENDON : mjgpTRN_JOINT,
                     .joint = tendon ? -1 : id,
                     .type = joint < 0 ? -1 : m->jnt_type[joint],
                     .dof = joint < 0 ? -1 : m->jnt_dofadr[joint],
                     .qpos = joint < 0 ? -1 : m->jnt_qposadr[joint],
                     .tendon = tendon ? id : -1,
                     .keys = mjgp_changeableKeys(m, place->instance),
                     .brake = {.actuator = -1},
                     .partner = -1};
}


const char* mjgp_gearName(const mjModel* m, const mjgpJoint* joint) {
  int id, type = mjgp_objectOf(&id, joint);
  return mjgp_nameOf(m, type, id);
}


const char* mjgp_gearKind(const mjgpJoint* joint) {
  return joint->kind == mjgpTRN_TENDON ? "tendon" : "joint";
}


int mjgp_isLength(const mjModel* m, const mjgpJoint* joint) {
  if (joint->type >= 0) {
    return joint->type == mjJNT_SLIDE;
  }
  int k = m->tendon_adr[joint->tendon];
  return m->wrap_type[k] != mjWRAP_JOINT || m->jnt_type[m->wrap_objid[k]] == mjJNT_SLIDE;
}
