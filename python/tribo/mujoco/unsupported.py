"""What MuJoCo has and Tribo does not: each name with the reason and what to use."""

from typing import Any

_CONSTRAINT = "constraints are internal to each law: use mj_forward, contact[i], mj_contactForce"
_DRAW = "pictures are drawn without OpenGL: use Renderer, or tribo.Renderer"
_CACHE = "Tribo does not cache assets"
_PLUGIN = "Tribo has no plugins: use callbacks (set_mjcb_control, set_mjcb_passive)"
_PARTS = "Tribo's integrators are internal: use mj_step"
_DELAY = "Tribo has no delays of actuators and sensors: keep a queue of your own"
_FLEX = "Tribo has no deformable bodies"
_VIEW = "the interactive viewer of Tribo has controls of its own"

_ABSENT = {
    _CONSTRAINT: "mj_constraintUpdate mj_makeConstraint mj_projectConstraint mj_referenceConstraint mj_island "
    "mj_mulJacVec mj_mulJacTVec mj_compareFwdInv mj_invConstraint mj_invPosition mj_invVelocity",
    _PARTS: "mj_RungeKutta mj_implicit mj_mulM2 mj_solveM2",
    _FLEX: "mj_flex mj_rayFlex mjv_updateSkin MjsFlex MjsSkin",
    _DELAY: "mj_readCtrl mj_readSensor mj_initCtrlHistory mj_initSensorHistory",
    _PLUGIN: "mj_loadPluginLibrary mj_loadAllPluginLibraries MjsPlugin",
    _CACHE: "mj_getCache mj_getCacheSize mj_getCacheCapacity mj_setCacheCapacity mj_clearCache",
    _DRAW: "MjrContext MjrRendererInfo MjrVertexAttribute mjr_addAux mjr_blitAux mjr_blitBuffer mjr_changeFont "
    "mjr_drawPixels mjr_figure mjr_findRect mjr_finish mjr_getError mjr_label mjr_maxViewport mjr_overlay "
    "mjr_readPixels mjr_rectangle mjr_render mjr_resizeOffscreen mjr_restoreBuffer mjr_setAux mjr_setBuffer "
    "mjr_text mjr_uploadHField mjr_uploadMesh mjr_uploadTexture mjv_addGeoms mjv_makeLights "
    "mjv_connector GLContext",
    _VIEW: "mjv_alignToCamera mjv_applyPerturbForce mjv_applyPerturbPose mjv_averageCamera mjv_camera2GLCamera "
    "mjv_cameraFrame mjv_cameraFrustum mjv_cameraInModel mjv_cameraInRoom mjv_frustumHeight mjv_initPerturb "
    "mjv_model2room mjv_moveCamera mjv_moveModel mjv_movePerturb mjv_room2model mjv_select "
    "mjv_updateCamera",
    "textures are not kept: geoms have colours (geom_rgba)": "mj_loadTexture MjsTexture MjsMaterial",
    "pass files as `assets`, a dict of bytes by name": "mj_embedAssets",
    "use d.qpos ... and numpy's own printing": "mj_printFormattedData mj_printFormattedModel "
    "mj_printFormattedScene mj_printScene mju_printMatSparse",
    "an actuator has one control": "mj_actuatorInputName",
    "use tribo's log of warnings: warnings.filterwarnings": "MjLogConfig MjLogMessage mju_writeLog",
    "use mj_ray": "mj_rayHfield mj_rayMesh",
    "muscles are evaluated by mj_forward": "mju_muscleBias mju_muscleDynamics mju_muscleGain",
    "contacts are detected by mj_forward and mj_collision": "MjPreContact",
    "numpy does it": "mju_sym2dense mju_writeNumBytes",
}
WHY = {name: why for why, names in _ABSENT.items() for name in names.split()}


class _Absent:
    """Stands for something that is not there: using it raises, naming it and what to use."""

    def __init__(self, name: str, why: str) -> None:
        self.__name__ = name
        self._why = why
        self.__doc__ = f"Not in Tribo: {why}."

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"mujoco.{self.__name__}: {self._why}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotImplementedError(f"mujoco.{self.__name__}: {self._why}")

    def __repr__(self) -> str:
        return f"<{self.__name__}: {self.__doc__}>"

    def __mro_entries__(self, bases: Any) -> Any:
        raise NotImplementedError(f"mujoco.{self.__name__}: {self._why}")


def absent(name: str) -> Any:
    """The stand-in of a name; None if MuJoCo does not have it either."""
    why = WHY.get(name)
    return None if why is None else _Absent(name, why)
