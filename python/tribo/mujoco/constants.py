"""MuJoCo's constants, and the words of its flags."""

import math

import numpy as np

# Sizes of parameter vectors; mjNEQDATA and mjNFLUID are those of Tribo's arrays.
mjNREF, mjNIMP, mjNDYN, mjNGAIN, mjNBIAS, mjNSENS, mjNPOLY = 2, 5, 10, 10, 10, 3, 2
mjNEQDATA, mjNFLUID, mjNGROUP, mjNISLAND, mjNSOLVER = 11, 12, 6, 20, 200
mjMINVAL, mjMAXVAL, mjMINMU, mjMINIMP, mjMAXIMP, mjPI = 1e-15, 1e10, 1e-5, 0.0001, 0.9999, math.pi
mjMAXCONPAIR, mjMAXTREEDEPTH, mjMINAWAKE = 50, 50, 10
mjMAXLINE, mjMAXLINEPNT, mjMAXOVERLAY, mjMAXPLANEGRID, mjMAXLIGHT = 100, 1001, 500, 200, 100
mjVERSION_HEADER = 4000000
MJTNUM_BYTES = 8
MJTNUM_DTYPE = np.float64

mjDISABLESTRING = (
    "Constraint",
    "Equality",
    "Frictionloss",
    "Limit",
    "Contact",
    "Spring",
    "Damper",
    "Gravity",
    "Clampctrl",
    "Warmstart",
    "Filterparent",
    "Actuation",
    "Refsafe",
    "Sensor",
    "Midphase",
    "Eulerdamp",
    "AutoReset",
    "NativeCCD",
    "Island",
    "MultiCCD",
)
mjENABLESTRING = ("Override", "Energy", "Fwdinv", "InvDiscrete", "Sleep", "DiagExact", "IPC", "Speculative")
mjTIMERSTRING = (
    "step",
    "forward",
    "inverse",
    "position",
    "velocity",
    "actuation",
    "constraint",
    "advance",
    "pos_kinematics",
    "pos_inertia",
    "pos_collision",
    "pos_make",
    "pos_project",
    "col_broadphase",
    "col_narrowphase",
)
mjLABELSTRING = (
    "None",
    "Body",
    "Joint",
    "Geom",
    "Site",
    "Camera",
    "Light",
    "Tendon",
    "Actuator",
    "Constraint",
    "Flex",
    "Skin",
    "Selection",
    "SelPoint",
    "Contact",
    "ContactForce",
    "Island",
)
mjFRAMESTRING = ("None", "Body", "Geom", "Site", "Camera", "Light", "Contact", "World")
# Name, initial value and key of each flag of a viewer.
mjVISSTRING = (
    ("Convex Hull", "0", "H"),
    ("Texture", "1", "X"),
    ("Joint", "0", "J"),
    ("Camera", "0", "Q"),
    ("Actuator", "0", "U"),
    ("Activation", "0", ","),
    ("Light", "0", "Z"),
    ("Tendon", "1", "V"),
    ("Range Finder", "1", "Y"),
    ("Equality", "0", "E"),
    ("Inertia", "0", "I"),
    ("Scale Inertia", "0", "'"),
    ("Perturb Force", "0", "B"),
    ("Perturb Object", "1", "O"),
    ("Contact Point", "0", "C"),
    ("Island", "0", "N"),
    ("Contact Force", "0", "F"),
    ("Contact Split", "0", "P"),
    ("Transparent", "0", "T"),
    ("Auto Connect", "0", "A"),
    ("Center of Mass", "0", "M"),
    ("Select Point", "0", ""),
    ("Static Body", "1", "D"),
    ("Skin", "1", ";"),
    ("Flex Vert", "0", ""),
    ("Flex Edge", "1", ""),
    ("Flex Face", "0", ""),
    ("Flex Skin", "1", ""),
    ("Body Tree", "0", "`"),
    ("Mesh Tree", "0", "\\"),
    ("SDF iters", "0", ""),
)
mjRNDSTRING = (
    ("Shadow", "1", "S"),
    ("Wireframe", "0", "W"),
    ("Reflection", "1", "R"),
    ("Additive", "0", "L"),
    ("Skybox", "1", "K"),
    ("Fog", "0", "G"),
    ("Haze", "1", "/"),
    ("Depth", "0", ""),
    ("Segment", "0", ","),
    ("Id Color", "0", ""),
    ("Cull Face", "1", ""),
    ("Post Processing", "1", ""),
)

__all__ = [name for name in dir() if name.startswith("mj") or name.startswith("MJ")]
