#include <math.h>
#include <string.h>

#include "catalogue/types.h"

static const char* const kNames[mjgNTABLE] = {
    [mjgTABLE_COULOMB_SPEED] = "coulomb_speed",
    [mjgTABLE_COULOMB_TEMPERATURE] = "coulomb_temperature",
    [mjgTABLE_GAMMA_TORQUE] = "gamma_torque",
    [mjgTABLE_GAMMA_SPEED] = "gamma_speed",
    [mjgTABLE_GAMMA_TEMPERATURE] = "gamma_temperature",
};


const char* mjg_tableName(int kind) {
  return kind >= 0 && kind < mjgNTABLE ? kNames[kind] : NULL;
}


int mjg_tableFromName(const char* name) {
  return mjgi_indexOf(name, kNames, sizeof(*kNames), mjgNTABLE);
}


const char* mjgi_tableError(const mjgTable* table, int kind) {
  int thermal = kind == mjgTABLE_COULOMB_TEMPERATURE || kind == mjgTABLE_GAMMA_TEMPERATURE;
  if (table->n < 0 || table->n > mjgMAXPOINT) {
    return "has a number of points that is not between 0 and 8";
  }
  for (int k = 0; k < table->n; k++) {
    if (!isfinite(table->x[k]) || !isfinite(table->factor[k])) {
      return "has a number that is not finite; write finite ones";
    }
    if (table->factor[k] < 0) {
      return "has a negative factor, which would create energy; write factors of at least 0";
    }
    if (table->x[k] < 0 && !thermal) {
      return "begins below 0, but holds in both directions; write speeds and torques as sizes";
    }
    if (k && !(table->x[k] > table->x[k - 1])) {
      return "is not in order; sort its pairs of x and factor by x, each once";
    }
  }
  return NULL;
}


int mjg_readTable(mjgTable* table, mjgReport* report, int kind, const char* text) {
  if (!table || !report || !text || !mjg_tableName(kind)) {
    return mjgERR_ARGUMENT;
  }
  mjgTable read = {0};
  const char *end, *error = NULL;
  int count = 0;
  while (*(text += strspn(text, " \t\n\r,;")) && !error) {
    double value = mjg_readNumber(text, &end);
    int k = count++ / 2;
    if (end == text || !strchr(" \t\n\r,;", *end)) {
      error = "has a word that is no number; write pairs of x and factor, SI, without units";
    } else if (k == mjgMAXPOINT) {
      error = "has more than 8 points; leave out those that lie between others";
    } else {
      *(count % 2 ? read.x + k : read.factor + k) = value;
    }
    text = end;
  }
  read.n = count / 2;
  if (!error) {
    error = count % 2 ? "ends with an x without a factor; write pairs"
            : count   ? mjgi_tableError(&read, kind)
                      : "is empty; write pairs of x and factor";
  }
  if (error) {
    mjg_refuse(report, "table %s %s", mjg_tableName(kind), error);
    return -1;
  }
  *table = read;
  return 0;
}


double mjgi_largestFactor(const mjgTransmission* transmission) {
  double largest = 1;
  for (int kind = mjgTABLE_GAMMA_TORQUE; kind < mjgNTABLE; kind++) {
    const mjgTable* table = transmission->table + kind;
    double most = table->n ? 0 : 1;
    for (int k = 0; k < table->n; k++) {
      most = fmax(most, table->factor[k]);
    }
    largest *= most;
  }
  return largest;
}
