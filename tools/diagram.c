#include "diagram.h"

#include <math.h>

#define SIZE 360.0  // side of a panel, px
#define LEFT 70.0   // margins
#define TOP  60.0
#define GAP  90.0
#define NROW 360  // rows of the stick region
#define NCOL 720  // samples in a row

// colors
#define STICK "#c9ced6"
#define DRIVE "#2f6db3"
#define BACK  "#c0392b"
#define TEXT  "#333333"


// one panel: a square with axes from low to high in both directions
typedef struct Panel_ {
  FILE* file;
  double x0;
  double low, high;
  int nstep;  // intervals between ticks
} Panel;


static double px(const Panel* p, double x) {
  return p->x0 + SIZE * (x - p->low) / (p->high - p->low);
}


static double py(const Panel* p, double y) {
  return TOP + SIZE * (p->high - y) / (p->high - p->low);
}


static void text(const Panel* p, double x, double y, const char* anchor, const char* words) {
  fprintf(p->file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
          words);
}


static void rectangle(const Panel* p, double x1, double y1, double x2, double y2,
                      const char* color) {
  fprintf(p->file, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n",
          px(p, x1), py(p, y2), px(p, x2) - px(p, x1), py(p, y1) - py(p, y2), color);
}


// line from one point to another, and its mirror image
static void mirroredLine(const Panel* p, double x1, double y1, double x2, double y2,
                         const char* color, const char* dash) {
  for (int sign = -1; sign <= 1; sign += 2) {
    fprintf(p->file,
            "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" "
            "stroke-width=\"2\"%s/>\n",
            px(p, sign * x1), py(p, sign * y1), px(p, sign * x2), py(p, sign * y2), color, dash);
  }
}


// ticks at the ends and in the middle, names of the axes
static void axes(const Panel* p, const char* x_name, const char* y_name) {
  fprintf(p->file,
          "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
          "stroke=\"%s\"/>\n",
          p->x0, TOP, SIZE, SIZE, TEXT);
  for (int i = 0; i <= p->nstep; i++) {
    double value = p->low + (p->high - p->low) * i / p->nstep;
    char number[30];
    snprintf(number, sizeof(number), "%.3g", value);
    fprintf(p->file, "<path d=\"M%.2f %.2fv5M%.2f %.2fh-5\" stroke=\"%s\"/>\n", px(p, value),
            TOP + SIZE, p->x0, py(p, value), TEXT);
    text(p, px(p, value), TOP + SIZE + 19, "middle", number);
    text(p, p->x0 - 9, py(p, value) + 4, "end", number);
  }
  text(p, p->x0 + SIZE / 2, TOP + SIZE + 42, "middle", x_name);
  fprintf(p->file,
          "<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\">%s"
          "</text>\n",
          p->x0 - 46, TOP + SIZE / 2, y_name);
}


//---------------------------------- panels --------------------------------------------------------

// backdrivability in the plane of the coefficients, with this gear's point
static void drawMap(const Panel* p, const mjgFacts* f) {
  // gamma_u + gamma_v < 0 is not drawn: it is the same gear with both signs changed
  rectangle(p, -1, -1, 1, 1, "#e3f1e3");
  rectangle(p, -1, 1, 1, p->high, "#fbe9d5");
  rectangle(p, 1, -1, p->high, 1, "#e5e3f1");
  rectangle(p, 1, 1, p->high, p->high, "#f1dede");
  fprintf(p->file, "<path d=\"M%.2f %.2fL%.2f %.2fL%.2f %.2fZ\" fill=\"#ffffff\"/>\n",
          px(p, p->low), py(p, -p->low), px(p, p->low), py(p, p->low), px(p, -p->low),
          py(p, p->low));
  text(p, px(p, 0.15), py(p, 0.6), "middle", "backdrivable");
  text(p, px(p, 0.15), py(p, 1.5), "middle", "non-backdrivable");
  text(p, px(p, 1.5), py(p, 0.2), "middle", "not forward-");
  text(p, px(p, 1.5), py(p, 0.05), "middle", "drivable");
  text(p, px(p, 1.5), py(p, 1.5), "middle", "neither");

  // from rest to sliding
  const mjgTransmission* t = &f->gear;
  double u = fmin(t->gamma_u, p->high), v = fmin(t->gamma_v, p->high);
  double u_rest = fmin(t->gamma_u + t->gamma_u_stribeck, p->high);
  double v_rest = fmin(t->gamma_v + t->gamma_v_stribeck, p->high);
  fprintf(p->file, "<path d=\"M%.2f %.2fL%.2f %.2f\" stroke=\"%s\" stroke-width=\"2\"/>\n",
          px(p, u_rest), py(p, v_rest), px(p, u), py(p, v), TEXT);
  fprintf(p->file, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"4\" fill=\"white\" stroke=\"%s\"/>\n",
          px(p, u_rest), py(p, v_rest), TEXT);
  fprintf(p->file, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"5\" fill=\"%s\"/>\n", px(p, u), py(p, v),
          TEXT);
  axes(p, "gamma_u", "gamma_v");
  text(p, p->x0, TOP - 12, "start", "this gear, sliding (dot) and at rest (circle)");
}


// Where the gear slides, in balance: u - x = |gamma_u u + gamma_v x| + c forward, and its mirror image. Each side
// begins where the internal force gamma_u u + gamma_v x has its sign.
static void drawSliding(const Panel* p, const mjgFacts* f) {
  const mjgTransmission* t = &f->gear;
  double c = t->coulomb, shift_x = c / (1 + t->gamma_v), shift_u = c / (1 + t->gamma_u);

  // the motor drives: x = eta_f u - shift_x
  double share = t->gamma_u + t->gamma_v * f->eta_f;
  double u = share > 0 ? t->gamma_v * shift_x / share : 0;
  double far = p->high * 4;  // behind the edge, for any slope
  mirroredLine(p, u, f->eta_f * u - shift_x, far, f->eta_f * far - shift_x, DRIVE, "");

  // the load drives: u = eta_b x - shift_u
  share = t->gamma_u * f->eta_b + t->gamma_v;
  double x = share > 0 ? t->gamma_u * shift_u / share : 0;
  mirroredLine(p, f->eta_b * x - shift_u, x, f->eta_b * far - shift_u, far, BACK, "");
}


// a line's equation: y = slope x - shift
static void equation(char* text, size_t size, const char* words, const char* y, const char* x,
                     double slope, double shift) {
  int n = snprintf(text, size, "%s: %s = %.4g %s", words, y, slope, x);
  if (shift != 0) {
    snprintf(text + n, size - (size_t)n, " %c %.4g", shift > 0 ? '-' : '+', fabs(shift));
  }
}


// region of rest
static void drawStick(const Panel* p, const mjgFacts* f) {
  // row by row: runs of points at which it sticks, as one path
  double size = p->high - p->low;
  fprintf(p->file, "<path fill=\"%s\" shape-rendering=\"crispEdges\" d=\"", STICK);
  for (int row = 0; row < NROW; row++) {
    double f_v = p->low + size * (row + 0.5) / NROW;
    for (int col = 0; col < NCOL;) {
      int first = col;
      while (col < NCOL && mjg_sticks(&f->gear, p->low + size * (col + 0.5) / NCOL, f_v)) {
        col++;
      }
      if (col > first) {
        fprintf(p->file, "M%.2f %.2fh%.2fv%.2fh%.2fz", p->x0 + SIZE * first / NCOL,
                TOP + SIZE * (NROW - 1 - row) / NROW, SIZE * (col - first) / NCOL, SIZE / NROW,
                -SIZE * (col - first) / NCOL);
      } else {
        col++;
      }
    }
  }
  fprintf(p->file, "\"/>\n<g clip-path=\"url(#stick)\">\n");

  mirroredLine(p, 0, 0, p->high, p->high, "#888888", " stroke-dasharray=\"2 4\"");
  drawSliding(p, f);
  fputs("</g>\n", p->file);
  axes(p, "motor torque f_u", "load torque f_v");
  char line[120];
  const mjgTransmission* t = &f->gear;
  equation(line, sizeof(line), "driving", "f_v", "f_u", f->eta_f, t->coulomb / (1 + t->gamma_v));
  fprintf(p->file, "<g fill=\"%s\">", DRIVE);
  text(p, p->x0, TOP - 28, "start", line);
  fprintf(p->file, "</g><g fill=\"%s\">", BACK);
  equation(line, sizeof(line), "being driven", "f_u", "f_v", f->eta_b,
           t->coulomb / (1 + t->gamma_u));
  text(p, p->x0, TOP - 12, "start", line);
  fputs("</g>\n", p->file);
  text(p, p->x0 + SIZE, TOP - 12, "end", "grey: stands still");
}


int drawDiagram(FILE* file, const mjgFacts* facts, const char* title, double limit) {
  double width = 2 * SIZE + 2 * LEFT + GAP - 30, height = SIZE + TOP + 60;
  fprintf(file,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
          "height=\"%.0f\" font-family=\"sans-serif\" font-size=\"13\" fill=\"%s\">\n",
          width, height, width, height, TEXT);
  Panel map = {file, LEFT, -1, 2, 6};
  Panel stick = {file, LEFT + SIZE + GAP, -limit, limit, 4};
  fprintf(file,
          "<clipPath id=\"stick\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>"
          "</clipPath>\n<rect width=\"%.0f\" height=\"%.0f\" fill=\"white\"/>\n",
          stick.x0, TOP, SIZE, SIZE, width, height);
  fprintf(file, "<text x=\"%.1f\" y=\"22\" font-size=\"16\">", LEFT);
  for (const char* c = title; *c; c++) {
    fputs(*c == '<' ? "&lt;" : *c == '&' ? "&amp;" : (const char[]){*c, 0}, file);
  }
  fputs("</text>\n", file);
  drawMap(&map, facts);
  drawStick(&stick, facts);
  fputs("</svg>\n", file);
  return ferror(file) ? -1 : 0;
}
