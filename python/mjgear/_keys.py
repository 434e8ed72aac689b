"""Keys of gears, written by python/write_keys.py from the core's table: change core/catalogue/keys.c and run that."""

from __future__ import annotations

from typing import TypedDict

from mjgear._catalogue import Setting, Value
from mjgear._numbers import Number


class SheetKeys(TypedDict, total=False):
    """Keys of explain(), convert() and plot(): one value each, SI or a text with a unit."""

    type: str
    gamma_u: Value
    gamma_v: Value
    eta_forward: Value
    eta_backward: Value
    starting_forward: Value
    starting_backward: Value
    lead_angle: Value
    lead: Value
    pitch_diameter: Value
    pressure_angle: Value
    mu: Value
    radius_in: Value
    radius_out: Value
    contact: Value
    module: Value
    mesh: Value
    input_angle: Value
    output_angle: Value
    teeth_sun: Value
    teeth_planet: Value
    teeth_ring: Value
    teeth_planet_out: Value
    teeth_ring_out: Value
    mesh_efficiency: Value
    rated_torque: Value
    rated_efficiency: Value
    no_load_torque: Value
    wrap_angle: Value
    mu_avg: Value
    mu_dif: Value
    coulomb: Value
    static_ratio: Value
    presliding_stiffness: Value
    stribeck_friction: Value
    stribeck_velocity: Value
    stribeck_exponent: Value
    curved_friction: Value
    curved_velocity: Value
    curved_exponent: Value
    gamma_u_stribeck: Value
    gamma_v_stribeck: Value
    gamma_u_quadratic: Value
    gamma_v_quadratic: Value
    oneway: Value
    viscous: Value
    armature: Value
    ratio: Value
    motor_starting: Value
    motor_coulomb: Value
    motor_viscous: Value
    motor_inertia: Value
    gear_inertia: Value
    temperature: Value
    tooth_pitch: Value
    tooth_phase: Value
    coulomb_speed: Value
    coulomb_temperature: Value
    gamma_torque: Value
    gamma_speed: Value
    gamma_temperature: Value


class GearKeys(TypedDict, total=False):
    """Keys of add() and add_robot_gears(): one value, or one for each joint."""

    type: str | list[str]
    """how the gear is described: auto, efficiency, worm and so on."""
    backlash: str | list[str]
    """model of the gap."""
    motor_joint: str | list[str]
    """joint of the motor in front of the gap."""
    encoder: str | list[str]
    """what servos measure where a rotor is behind a gap: rotor or joint."""
    solver: str | list[str]
    """solver of the friction problem."""
    gamma_u: Setting
    """input-side asymmetry coefficient."""
    gamma_v: Setting
    """output-side asymmetry coefficient; >= 1: non-backdrivable."""
    eta_forward: Setting
    """efficiency when the motor drives."""
    eta_backward: Setting
    """efficiency when the load drives; <= 0: non-backdrivable; without it 2 - 1/eta_forward, that is gamma_u = 0."""
    starting_forward: Setting
    """motor torque that just starts the unloaded joint (N m)."""
    starting_backward: Setting
    """load torque that just drives the joint with the motor off (N m)."""
    lead_angle: Setting
    """lead angle of the thread at the pitch diameter (rad)."""
    lead: Setting
    """travel of the thread in one turn, with pitch_diameter instead of lead_angle (m)."""
    pitch_diameter: Setting
    """pitch diameter of the thread (m)."""
    pressure_angle: Setting
    """angle of the flank, for a thread half the thread angle (rad)."""
    mu: Setting
    """friction coefficient of the flanks."""
    radius_in: Setting
    """pitch radius of the input gear (m)."""
    radius_out: Setting
    """pitch radius of the output gear (m)."""
    contact: Setting
    """length of the path of contact of a pair of teeth, half of it on either side of the pitch point (m)."""
    module: Setting
    """module of full-depth teeth (addendum = module), which gives the path of contact instead of contact (m)."""
    mesh: Setting
    """1: coefficients follow the teeth as the joint turns; 0: their mean over the mesh cycle."""
    input_angle: Setting
    """angle of the input's motion to the surface of contact (rad)."""
    output_angle: Setting
    """angle of the output's motion to the surface of contact (rad)."""
    teeth_sun: Setting
    """teeth of the sun, which the motor turns."""
    teeth_planet: Setting
    """teeth of a planet where it meshes with the sun; (teeth_ring - teeth_sun)/2 if not given."""
    teeth_ring: Setting
    """teeth of the ring that stands."""
    teeth_planet_out: Setting
    """teeth of a second gear on each planet, for the output ring or, without one, the standing ring."""
    teeth_ring_out: Setting
    """teeth of a ring that is the output (3K); without it the carrier is."""
    mesh_efficiency: Setting
    """efficiency of each mesh, seen from the carrier."""
    rated_torque: Setting
    """torque of the output at which rated_efficiency holds (N m)."""
    rated_efficiency: Setting
    """efficiency at rated_torque, motor driving."""
    no_load_torque: Setting
    """motor torque that keeps the unloaded gear running, measured at the motor (N m)."""
    wrap_angle: Setting
    """angle over which the rope or belt lies on what it slides on (rad)."""
    mu_avg: Setting
    """share of the torque into the gear that it loses, mean of both directions."""
    mu_dif: Setting
    """what it loses more when the motor drives, and less when the load does."""
    coulomb: Setting
    """load-independent sliding friction (N m)."""
    static_ratio: Setting
    """static to sliding friction."""
    presliding_stiffness: Setting
    """stiffness with which a stuck joint yields below break-away; without it it does not (N m/rad)."""
    stribeck_friction: Setting
    """what coulomb gains at rest (N m)."""
    stribeck_velocity: Setting
    """velocity at which the gain has fallen to 1/e (rad/s)."""
    stribeck_exponent: Setting
    """exponent of that fall; 2 if not given."""
    curved_friction: Setting
    """viscous friction that bends: what it is at curved_velocity (N m)."""
    curved_velocity: Setting
    """velocity at which friction has grown by curved_friction; 1 if not given (rad/s)."""
    curved_exponent: Setting
    """exponent of that growth; 2 if not given."""
    gamma_u_stribeck: Setting
    """what gamma_u gains at rest."""
    gamma_v_stribeck: Setting
    """what gamma_v gains at rest."""
    gamma_u_quadratic: Setting
    """what gamma_u gains at rest for each unit of motor torque while the load drives (1/(N m))."""
    gamma_v_quadratic: Setting
    """what gamma_v gains at rest for each unit of load torque while the motor drives (1/(N m))."""
    oneway: Setting
    """1: turns forward only, -1: backward only, 0: both; a backstop or freewheel holds it exactly."""
    viscous: Setting
    """viscous friction (N m/(rad/s))."""
    ratio: Setting
    """motor motion for a unit of output motion."""
    motor_starting: Setting
    """starting_forward, measured at the motor (N m)."""
    motor_coulomb: Setting
    """coulomb, measured at the motor (N m)."""
    motor_viscous: Setting
    """viscous, measured at the motor (N m/(rad/s))."""
    motor_inertia: Setting
    """rotor inertia at the motor shaft (kg m2)."""
    gear_inertia: Setting
    """inertia of the gear itself at the motor shaft, besides motor_inertia (kg m2)."""
    temperature: Setting
    """temperature at which coulomb_temperature and gamma_temperature are read; 20 if not given (degC)."""
    tooth_pitch: Setting
    """of oneway: from tooth to tooth of a ratchet; the joint may fall back to the tooth that it passed last (rad)."""
    tooth_phase: Setting
    """position of one of these teeth; 0 if not given (rad)."""
    half_gap: Setting
    """half of the catalogue's backlash, which is the total gap (rad)."""
    stiffness: Setting
    """of the shaft behind the gap; of torsion up to torque_1 (N m/rad)."""
    damping: Setting
    """of the shaft behind the gap (N m/(rad/s))."""
    rubber: Setting
    """width of the soft band in the gap (rad)."""
    shaft_inertia: Setting
    """inertia in the shaft (kg m2)."""
    exponent: Setting
    """of the contact force."""
    restitution: Setting
    """loss at impact (s/rad)."""
    stiffness_2: Setting
    """of torsion above torque_1 (N m/rad)."""
    stiffness_3: Setting
    """of torsion above torque_2 (N m/rad)."""
    torque_1: Setting
    """above which stiffness_2 counts (N m)."""
    torque_2: Setting
    """above which stiffness_3 counts (N m)."""
    hysteresis: Setting
    """of torsion: angle between loading and unloading, without load (rad)."""
    slip_torque: Setting
    """of torsion: most that it carries, above which it slips (N m)."""
    freewheel: Setting
    """of torsion: 1: the motor drives forward only, -1: backward only, 0: both."""
    rotor_inertia: Setting
    """inertia of the rotor in front of the gap, instead of armature (kg m2)."""
    tolerance: float
    maxiter: int
    coulomb_speed: Setting | list[list[float]]
    """a table: rows of x and factor."""
    coulomb_temperature: Setting | list[list[float]]
    """a table: rows of x and factor."""
    gamma_torque: Setting | list[list[float]]
    """a table: rows of x and factor."""
    gamma_speed: Setting | list[list[float]]
    """a table: rows of x and factor."""
    gamma_temperature: Setting | list[list[float]]
    """a table: rows of x and factor."""


class Numbers:
    """The numbers of a gear as attributes."""

    gamma_u = Number()
    gamma_v = Number()
    eta_forward = Number()
    eta_backward = Number()
    starting_forward = Number()
    starting_backward = Number()
    lead_angle = Number()
    lead = Number()
    pitch_diameter = Number()
    pressure_angle = Number()
    mu = Number()
    radius_in = Number()
    radius_out = Number()
    contact = Number()
    module = Number()
    mesh = Number()
    input_angle = Number()
    output_angle = Number()
    teeth_sun = Number()
    teeth_planet = Number()
    teeth_ring = Number()
    teeth_planet_out = Number()
    teeth_ring_out = Number()
    mesh_efficiency = Number()
    rated_torque = Number()
    rated_efficiency = Number()
    no_load_torque = Number()
    wrap_angle = Number()
    mu_avg = Number()
    mu_dif = Number()
    coulomb = Number()
    static_ratio = Number()
    presliding_stiffness = Number()
    stribeck_friction = Number()
    stribeck_velocity = Number()
    stribeck_exponent = Number()
    curved_friction = Number()
    curved_velocity = Number()
    curved_exponent = Number()
    gamma_u_stribeck = Number()
    gamma_v_stribeck = Number()
    gamma_u_quadratic = Number()
    gamma_v_quadratic = Number()
    oneway = Number()
    ratio = Number()
    motor_starting = Number()
    motor_coulomb = Number()
    temperature = Number()
    tooth_pitch = Number()
    tooth_phase = Number()
    half_gap = Number()
    stiffness = Number()
    damping = Number()
    rubber = Number()
    shaft_inertia = Number()
    exponent = Number()
    restitution = Number()
    stiffness_2 = Number()
    stiffness_3 = Number()
    torque_1 = Number()
    torque_2 = Number()
    hysteresis = Number()
    slip_torque = Number()
    freewheel = Number()
    rotor_inertia = Number()
