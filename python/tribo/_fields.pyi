"""Written by python/stubs.py."""

import numpy
import numpy.typing

from tribo._core import _Batch

__all__ = ["FIELDS", "BatchFields"]

FIELDS: tuple[str, ...]

class BatchFields(_Batch):
    """The compiled batch with live arrays, a row per world."""

    @property
    def qpos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Configuration: a row per world, live."""
    @qpos.setter
    def qpos(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qvel(self) -> numpy.typing.NDArray[numpy.float64]:
        """Velocity: a row per world, live."""
    @qvel.setter
    def qvel(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def act(self) -> numpy.typing.NDArray[numpy.float64]:
        """Activation: a row per world, live."""
    @act.setter
    def act(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def mocap_pos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Mocap positions: a row per world, live."""
    @mocap_pos.setter
    def mocap_pos(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def mocap_quat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Mocap orientations: a row per world, live."""
    @mocap_quat.setter
    def mocap_quat(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qacc_warmstart(self) -> numpy.typing.NDArray[numpy.float64]:
        """Last acceleration, where soft solvers start: a row per world, live."""
    @qacc_warmstart.setter
    def qacc_warmstart(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def eq_active(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if the equality constraint is active: a row per world, live."""
    @eq_active.setter
    def eq_active(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def eq_load(self) -> numpy.typing.NDArray[numpy.float64]:
        """Pull on its two bodies, where it counts as tension: a row per world, live."""
    @eq_load.setter
    def eq_load(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def ten_load(self) -> numpy.typing.NDArray[numpy.float64]:
        """Force along it, where it counts as tension: a row per world, live."""
    @ten_load.setter
    def ten_load(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def userdata(self) -> numpy.typing.NDArray[numpy.float64]:
        """User values: a row per world, live."""
    @userdata.setter
    def userdata(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def ctrl(self) -> numpy.typing.NDArray[numpy.float64]:
        """Control: a row per world, live."""
    @ctrl.setter
    def ctrl(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qfrc_applied(self) -> numpy.typing.NDArray[numpy.float64]:
        """Applied generalised force: a row per world, live."""
    @qfrc_applied.setter
    def qfrc_applied(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def xfrc_applied(self) -> numpy.typing.NDArray[numpy.float64]:
        """Applied force, torque at the body's centre of mass, world axes: a row per world, live."""
    @xfrc_applied.setter
    def xfrc_applied(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def time(self) -> numpy.typing.NDArray[numpy.float64]:
        """Time, s: a row per world, live."""
    @time.setter
    def time(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def sensordata(self) -> numpy.typing.NDArray[numpy.float64]:
        """Sensor values: a row per world, live."""
    @sensordata.setter
    def sensordata(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def status(self) -> numpy.typing.NDArray[numpy.int32]:
        """Result of the last step: 0, or why it failed and the state was kept: a row per world, live."""
    @status.setter
    def status(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def ncon(self) -> numpy.typing.NDArray[numpy.int32]:
        """Contacts of the last step: a row per world, live."""
    @ncon.setter
    def ncon(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def residual_exact(self) -> numpy.typing.NDArray[numpy.float64]:
        """Relative residual of the exact law; NaN: not computed: a row per world, live."""
    @residual_exact.setter
    def residual_exact(self, value: numpy.typing.ArrayLike, /) -> None: ...
