#include "observe/visualize.h"

#include <math.h>
#include <stdio.h>

#include "observe/sensor.h"
#include "state/gears.h"

#define RING_SEGMENTS 24
#define RING_WIDTH    0.05  // half thickness of the ring, over its radius
#define ARC_LENGTH    5.2   // angle of a full arc, rad
#define STILL         1e-5  // slowest visible motion: rad/s, or extents of the model a second


// cosines and shares that differ by less are equal: round-off does not turn a picture
static const mjtNum kTie = 1e-6;

static const float frictionColor[3] = {0.80f, 0.10f, 0.25f};


// the picture of one gear
typedef struct Picture_ {
  mjvScene* scn;
  mjtNum anchor[3];    // anchor of its joint
  mjtNum axis[3];      // axis of its joint
  mjtNum x[3], y[3];   // unit vectors normal to the axis, the first of them fixed in the body
  mjtNum radius;       // radius of the ring around it
  const float* color;  // colour of its state
  mjtNum share;        // friction, of the largest torque or force of all gears: -1 to 1
  char label[100];     // text of the arrow
} Picture;


// Returns the next free geom of the scene as decoration; null if the scene is full.
static mjvGeom* newGeom(mjvScene* scn, const float rgb[3]) {
  if (scn->ngeom >= scn->maxgeom) {
    scn->status = 1;
    return NULL;
  }
  mjvGeom* geom = scn->geoms + scn->ngeom++;
  const float rgba[4] = {rgb[0], rgb[1], rgb[2], 1};
  mjv_initGeom(geom, mjGEOM_SPHERE, NULL, NULL, NULL, rgba);
  geom->objtype = mjOBJ_UNKNOWN;
  geom->objid = -1;
  geom->category = mjCAT_DECOR;
  geom->segid = scn->ngeom;
  geom->emission = 0.1f;
  geom->specular = 0;
  return geom;
}


// Add a bar of square section, with far fewer triangles than a capsule; up is normal to it.
static void addPiece(mjvScene* scn, const float rgb[3], mjtNum width, const mjtNum from[3],
                     const mjtNum to[3], const mjtNum up[3]) {
  mjvGeom* geom = newGeom(scn, rgb);
  if (!geom) {
    return;
  }
  mjtNum along[3], side[3];
  mju_sub3(along, to, from);
  mjtNum length = mju_normalize3(along);
  mju_cross(side, along, up);
  geom->type = mjGEOM_BOX;
  geom->size[0] = geom->size[1] = (float)width;
  geom->size[2] = (float)(0.5 * length + 0.4 * width);
  for (int k = 0; k < 3; k++) {
    geom->pos[k] = (float)(0.5 * (from[k] + to[k]));
    geom->mat[3 * k] = (float)up[k];
    geom->mat[3 * k + 1] = (float)side[k];
    geom->mat[3 * k + 2] = (float)along[k];
  }
}


// Returns the state to draw: a joint or rotor of invisibly low speed is at rest.
static int visibleState(const mjtNum value[mjgNSENSOR], mjtNum speed) {
  int state = (int)value[mjgSENSOR_STATE];
  int moves =
      state == mjgpGEAR_DRIVING || state == mjgpGEAR_DRIVEN || state == mjgpGEAR_DRIVEN_BY_BOTH;
  return moves && speed <= STILL ? mjgpGEAR_STUCK : state;
}


// Make two unit vectors normal to the axis, the first one fixed in the body.
static void normals(mjtNum x[3], mjtNum y[3], const mjtNum axis[3], const mjtNum xmat[9]) {
  int k = 0;
  mjtNum least = 2;
  for (int i = 0; i < 3; i++) {
    mjtNum cosine = fabs(axis[0] * xmat[i] + axis[1] * xmat[3 + i] + axis[2] * xmat[6 + i]);
    if (cosine < least - kTie) {
      least = cosine;
      k = i;
    }
  }
  const mjtNum column[3] = {xmat[k], xmat[3 + k], xmat[6 + k]};
  mju_addScl3(x, column, axis, -mju_dot3(column, axis));
  mju_normalize3(x);
  mju_cross(y, axis, x);
}


static void circlePoint(mjtNum point[3], const Picture* p, mjtNum radius, mjtNum angle) {
  mju_addScl3(point, p->anchor, p->x, radius * mju_cos(angle));
  mju_addToScl3(point, p->y, radius * mju_sin(angle));
}


// Draw n pieces of a circle from x on; last: their end. Every other piece is thinner, because
// shadows of coinciding faces flicker.
static void drawArc(mjtNum last[3], const Picture* p, const float* rgb, mjtNum radius,
                    mjtNum length, mjtNum width, int n) {
  mjtNum next[3];
  circlePoint(last, p, radius, 0);
  for (int k = 1; k <= n; k++) {
    circlePoint(next, p, radius, length * k / n);
    addPiece(p->scn, rgb, k % 2 ? width : 0.97 * width, last, next, p->axis);
    mju_copy3(last, next);
  }
}


static void drawArrow(const Picture* p, mjtNum width, const mjtNum from[3], const mjtNum to[3]) {
  mjvGeom* arrow = newGeom(p->scn, frictionColor);
  if (arrow) {
    mjv_connector(arrow, mjGEOM_ARROW, width, from, to);
    snprintf(arrow->label, sizeof(arrow->label), "%s", p->label);
  }
}


// Draw a ring in the colour of the mode, with the arc of the friction torque.
static void drawHinge(const Picture* p) {
  mjtNum last[3], tangent[3], tip[3], radius = p->radius;
  drawArc(last, p, p->color, radius, 2 * mjPI, RING_WIDTH * radius, RING_SEGMENTS);
  if (p->share == 0) {
    return;
  }

  // friction acts on the link against the sign of share; the last piece is the arrow head
  mjtNum length = -ARC_LENGTH * p->share;
  int n = 2 + (int)(RING_SEGMENTS * fabs(p->share));
  drawArc(last, p, frictionColor, 1.2 * radius, length, 0.04 * radius, n);
  mju_scl3(tangent, p->x, -mju_sin(length));
  mju_addToScl3(tangent, p->y, mju_cos(length));
  mju_addScl3(tip, last, tangent, p->share > 0 ? -0.45 * radius : 0.45 * radius);
  drawArrow(p, 0.1 * radius, last, tip);
}


// Draw the gap as two marks, and the rotor as a needle at part, -1 to 1.
static void drawGap(const Picture* p, mjtNum part) {
  static const float gray[3] = {0.75f, 0.75f, 0.75f};
  mjtNum from[3], to[3], radius = p->radius;
  for (int k = 0; k < 3; k++) {
    mjtNum angle = mjPI + mjPI / 6 * (k == 2 ? part : 2 * k - 1);
    circlePoint(from, p, k == 2 ? 0 : 1.1 * radius, angle);
    circlePoint(to, p, k == 2 ? 1.5 * radius : 1.9 * radius, angle);
    addPiece(p->scn, k == 2 ? mjgpStateColor[mjgpGEAR_IN_GAP] : gray,
             (k == 2 ? 0.08 : 0.06) * radius, from, to, p->axis);
  }
}


// Returns the i-th geom of a body; after its own come those of its parent.
static int geomOf(const mjModel* m, int body, int i) {
  int own = m->body_geomnum[body];
  return i < own ? m->body_geomadr[body] + i : m->body_geomadr[m->body_parentid[body]] + i - own;
}


// Find the direction normal to the axis in which slide and guide are thinnest. Returns their
// extent.
static mjtNum thinSide(mjtNum side[3], const Picture* p, const mjModel* m, const mjData* d,
                       int body) {
  mjtNum least = mjMAXVAL;
  for (int k = 0; k < 4; k++) {
    mjtNum direction[3], most = 0;
    mju_scl3(direction, k % 2 ? p->y : p->x, k < 2 ? -1 : 1);
    int parent = m->body_parentid[body];
    for (int i = 0; i < m->body_geomnum[body] + (parent ? m->body_geomnum[parent] : 0); i++) {
      int geom = geomOf(m, body, i);
      const mjtNum *center = m->geom_aabb + 6 * geom, *size = center + 3;
      mjtNum offset[3], local[3];
      mju_sub3(offset, d->geom_xpos + 3 * geom, p->anchor);
      mju_mulMatTVec3(local, d->geom_xmat + 9 * geom, direction);
      mjtNum reach = mju_dot3(offset, direction) + mju_dot3(center, local);
      for (int j = 0; j < 3; j++) {
        reach += size[j] * mju_abs(local[j]);
      }
      most = mju_max(most, reach);
    }
    if (most < 0.99 * least) {
      least = most;
      mju_copy3(side, direction);
    }
  }
  return least;
}


// Draw a rod beside the link in the colour of the mode, and the arrow of the friction force.
static void drawSlide(const Picture* p, const mjtNum side[3], mjtNum reach) {
  mjtNum beside[3], from[3], to[3], radius = p->radius;
  mjtNum away = mju_max(0.7 * radius, mju_min(reach + 0.2 * radius, 4 * radius));
  mju_addScl3(beside, p->anchor, side, away);
  mju_addScl3(from, beside, p->axis, -2 * radius);
  mju_addScl3(to, beside, p->axis, 2 * radius);
  addPiece(p->scn, p->color, 0.12 * radius, from, to, side);
  if (p->share != 0) {
    mju_addScl3(from, p->anchor, side, away + 0.4 * radius);
    mju_addScl3(to, from, p->axis, -4 * radius * p->share);
    drawArrow(p, 0.16 * radius, from, to);
  }
}


// Returns the middle one of a geom's half-sizes.
static mjtNum thickness(const mjModel* m, int geom) {
  const mjtNum* size = m->geom_aabb + 6 * geom + 3;
  mjtNum middle = mju_min(mju_max(size[0], size[1]), size[2]);
  return mju_max(mju_min(size[0], size[1]), middle);
}


// Returns the radius of a ring around the axis that encloses a geom; 0 if the point lies outside
// it.
static mjtNum radiusAround(const mjModel* m, const mjData* d, int geom, const mjtNum point[3],
                           const mjtNum axis[3]) {
  if (m->geom_type[geom] == mjGEOM_PLANE || m->geom_type[geom] == mjGEOM_HFIELD) {
    return 0;
  }
  const mjtNum *center = m->geom_aabb + 6 * geom, *size = center + 3;
  mjtNum offset[3], local[3], along[3];
  mju_sub3(offset, point, d->geom_xpos + 3 * geom);
  mju_mulMatTVec3(local, d->geom_xmat + 9 * geom, offset);
  mju_mulMatTVec3(along, d->geom_xmat + 9 * geom, axis);
  int k = 0;
  for (int i = 0; i < 3; i++) {
    if (mju_abs(local[i] - center[i]) > 1.01 * size[i]) {
      return 0;
    }
    k = mju_abs(along[i]) > mju_abs(along[k]) + kTie ? i : k;
  }
  mjtNum width = mju_min(size[(k + 1) % 3], size[(k + 2) % 3]);
  return m->geom_type[geom] == mjGEOM_BOX ? 1.6 * width : 1.25 * width;
}


// Returns the radius of the ring, a little larger than link and bearing.
static mjtNum ringRadius(const mjModel* m, const mjData* d, int joint) {
  if (m->jnt_type[joint] == mjJNT_SLIDE) {
    return 0.05 * m->stat.extent * m->vis.scale.jointlength;
  }
  int body = m->jnt_bodyid[joint], parent = m->body_parentid[body];
  mjtNum radius = 0.06 * m->stat.extent;
  for (int k = 0; k < m->body_geomnum[body]; k++) {
    mjtNum link = thickness(m, m->body_geomadr[body] + k);
    radius = link > 0 ? mju_min(radius, 1.4 * link) : radius;
  }
  radius = mju_max(radius, 0.045 * m->stat.extent);

  // drums and bearings would hide it
  for (int k = 0; k < m->body_geomnum[body] + m->body_geomnum[parent]; k++) {
    mjtNum around =
        radiusAround(m, d, geomOf(m, body, k), d->xanchor + 3 * joint, d->xaxis + 3 * joint);
    radius = mju_max(radius, mju_min(around, 0.2 * m->stat.extent));
  }
  return radius * m->vis.scale.jointlength;
}


// Set the torque and force of a full arc or arrow: the largest at any gear of that kind.
static void findScale(mjtNum full[2], const mjgpGears* g, const mjModel* m, const mjData* d) {
  full[0] = full[1] = mjMINVAL;
  for (int i = 0; i < g->config->n; i++) {
    mjtNum value[mjgNSENSOR];
    int joint = g->config->joint[i].joint;
    if (joint >= 0) {
      mjgp_measure(value, g, m, d, i);
      mjtNum* most = full + (m->jnt_type[joint] == mjJNT_SLIDE);
      *most = mju_max(*most, mju_abs(value[mjgSENSOR_TORQUE_IN]));
      *most = mju_max(*most, mju_abs(value[mjgSENSOR_TORQUE_OUT]));
    }
  }
}


// Draw gear i. full: torque and force of full arcs and arrows.
static void drawGear(const mjgpGears* g, const mjModel* m, const mjData* d, const mjvOption* opt,
                     mjvScene* scn, int i, const mjtNum full[2]) {
  int joint = g->config->joint[i].joint, body = m->jnt_bodyid[joint], adr = m->jnt_qposadr[joint];
  int slide = m->jnt_type[joint] == mjJNT_SLIDE;
  mjtNum value[mjgNSENSOR], side[3];
  mjgp_measure(value, g, m, d, i);
  mjtNum t = value[mjgSENSOR_FRICTION], share = mju_clip(t / full[slide], -1, 1);
  mjtNum speed =
      mju_max(mju_abs(d->qvel[m->jnt_dofadr[joint]]), mju_abs(value[mjgSENSOR_ROTOR_VELOCITY]));
  Picture p = {.scn = scn, .radius = ringRadius(m, d, joint)};
  p.color = mjgpStateColor[visibleState(value, slide ? speed / m->stat.extent : speed)];
  p.share = mju_abs(share) < 0.01 ? 0 : share;
  if (opt->label == mjLABEL_JOINT) {
    snprintf(p.label, sizeof(p.label), "%.3g %s", t, slide ? "N" : "N m");
  }

  // the engine leaves a slide's anchor at its reference; move it with the joint
  mju_copy3(p.axis, d->xaxis + 3 * joint);
  mju_addScl3(p.anchor, d->xanchor + 3 * joint, p.axis, slide ? d->qpos[adr] - m->qpos0[adr] : 0);
  normals(p.x, p.y, p.axis, d->xmat + 9 * body);
  mjtNum half_gap = g->in.joint[i]->backlash.half_gap;
  if (!slide && mjgp_hasGap(g->config->joint + i) && half_gap > 0) {
    drawGap(&p, mju_clip(value[mjgSENSOR_GAP] / half_gap, -1, 1));
  }
  if (slide) {
    mjtNum reach = thinSide(side, &p, m, d, body);
    drawSlide(&p, side, reach);
  } else {
    drawHinge(&p);
  }
}


void mjgp_visualize(const mjModel* m, mjData* d, const mjvOption* opt, mjvScene* scn,
                    int instance) {
  // the leader draws for all instances
  if (instance != mjgp_leader(m, m->plugin[instance])) {
    return;
  }
  mjgpGears* g = mjgp_gearsOf(m, d, instance);
  mjgp_checkModel(g, m);
  mjtNum full[2];
  findScale(full, g, m, d);
  for (int i = 0; i < g->config->n; i++) {
    // a tendon has no axis to draw at
    int joint = g->config->joint[i].joint;
    if (joint >= 0 && opt->jointgroup[mjMAX(0, mjMIN(mjNGROUP - 1, m->jnt_group[joint]))]) {
      drawGear(g, m, d, opt, scn, i, full);
    }
  }
}
