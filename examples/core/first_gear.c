// The core without MuJoCo: a load that hangs on a worm gear, lifted, held and lowered by its motor.
//
//     cc first_gear.c $(pkg-config --cflags --libs mjgear) -o first_gear && ./first_gear

#include <stdio.h>

#include <mjgear.h>
#include <mjgear_report.h>

int main(void) {
  // a single-start worm: lead angle 5 degrees, pressure angle 20 degrees, friction 0.1
  double gamma_u, gamma_v, eta_f, eta_b;
  int status = mjg_screw(&gamma_u, &gamma_v, 5 * 3.14159265 / 180, 20 * 3.14159265 / 180, 0.1);
  if (status < 0 || mjg_efficiencies(&eta_f, &eta_b, gamma_u, gamma_v) < 0) {
    puts(mjg_statusString(status));
    return 1;
  }
  printf("mjgear %s: forward efficiency %.3f, backward %.3f\n", mjg_version(), eta_f, eta_b);

  // torque that moves it from rest under a load of 10 N m, and load that moves it without its motor
  const double rotor = 0.05, link = 1, load = 10, h = 0.001;
  mjgTransmission gear;
  mjg_defaultTransmission(&gear);
  gear.gamma_u = gamma_u;
  gear.gamma_v = gamma_v;
  printf(
      "the motor raises it from %.4g N m on, lowers it from %.4g N m on; loads alone: from %g N m "
      "on\n",
      mjg_breakawayMotor(&gear, load, 1), mjg_breakawayMotor(&gear, load, -1),
      mjg_breakawayLoad(&gear, 0, -1));

  // one second with each motor torque
  const double motor[] = {25, 0, -3};
  for (int i = 0; i < 3; i++) {
    double v = 0, t;
    for (int k = 0; k < 1000; k++) {
      status = mjg_stepScalar(&v, &t, v, motor[i], load, gamma_u, gamma_v, rotor, link, h);
      if (status < 0) {
        puts(mjg_statusString(status));
        return 1;
      }
    }
    printf("motor %3g N m: %.4g rad/s\n", motor[i], v);
  }
  return 0;
}
