"""A panel of gears for MuJoCo's Studio: state and torques of each gear, and sliders for its efficiency and friction.

    mujoco-studio robot.xml --plugins examples/studio.py

Studio of MuJoCo 4.0 has its window from Python 3.12 on; without a graphics card add --gfx opengl_software.
Sliders change the running simulation; a reset brings back the numbers of the model.
"""

import dataclasses

import mujoco
from mujoco.studio import messages, plugin
from mujoco.studio.dear_imgui import dear_imgui as imgui

import mjgear

SLIDERS = {"eta_forward": (0.05, 1.0), "coulomb": (0.0, 20.0), "half_gap": (0.0, 0.1)}


@dataclasses.dataclass(frozen=True)
class GearValues(messages.Snapshot):
    """From the simulation: of each gear its name, a line about it, and (key, value) for each slider."""

    gears: tuple = ()


@dataclasses.dataclass(frozen=True)
class ChangeGear(messages.Event):
    """From a slider: one number of one gear."""

    name: str
    key: str
    value: float


class GearSim(plugin.SimPlugin):
    """Sends the numbers after each step, and takes those of sliders."""

    gears = None

    @messages.handler()
    def _on_model(self, event: messages.PostModelEvent) -> None:
        try:
            self.gears = mjgear.Gears(event.model, event.data)
        except mjgear.GearError:  # the model has none
            self.gears = None

    @messages.handler()
    def _on_change(self, event: ChangeGear) -> None:
        gear = (self.gears or {}).get(event.name)  # none: a slider of the model before
        if gear is None:
            return
        try:
            if event.key == "eta_forward":  # in place of any other description, such as a lead screw's
                gear.describe(eta_forward=event.value, eta_backward=float(gear.eta_backward))
            else:
                gear.set(**{event.key: event.value})
        except mjgear.GearError as error:
            print(error)

    @messages.handler()
    def _on_step(self, event: messages.PostStepEvent) -> None:
        rows = []
        for name, gear in (self.gears or {}).items():
            sliders = tuple((key, value) for key in SLIDERS if (value := gear[key]) is not None)
            slide = gear.joint < event.model.njnt and event.model.jnt_type[gear.joint] == mujoco.mjtJoint.mjJNT_SLIDE
            line = f"{gear.state}; friction {gear.friction:.3g}, to the link {gear.torque_out:.3g} {'N' if slide else 'N m'}"
            rows.append((name, line, sliders))
        self.handle.send_to_viewer(GearValues(tuple(rows)))


class GearPanel(plugin.ViewerPlugin):
    """Draws the numbers."""

    values = GearValues()

    @messages.handler()
    def _on_values(self, event: GearValues) -> None:
        self.values = event

    @messages.handler()
    def _on_gui(self, event: messages.BuildGuiEvent) -> None:
        if not self.values.gears:
            return
        imgui.Begin("Gears")
        for name, line, sliders in self.values.gears:
            imgui.SeparatorText(name)
            imgui.Text(line)
            for key, value in sliders:
                low, high = SLIDERS[key]
                changed, moved = imgui.SliderFloat(f"{key}##{name}", value, min(low, value), max(high, value))
                if changed:
                    self.viewer.send_to_sim(ChangeGear(name, key, moved))
        imgui.End()
