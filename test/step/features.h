// Models that use every feature of a step which MuJoCo 2.2.2 has, for comparisons with it.
#ifndef TRIBO_TEST_STEP_FEATURES_H_
#define TRIBO_TEST_STEP_FEATURES_H_

static const char FLUID[] =
    "<mujoco><option density='1.3' viscosity='0.02' wind='0.3 -0.2 0.1' timestep='0.002'/>"
    "<worldbody>"
    "<body pos='0 0 1'><freejoint/><geom type='ellipsoid' size='.2 .1 .05' fluidshape='ellipsoid'/>"
    "</body>"
    "<body pos='1 0 1'><freejoint/><geom type='box' size='.2 .1 .02' fluidshape='ellipsoid' "
    "fluidcoef='.4 .3 1.1 .7 .9'/><geom type='sphere' size='.05' pos='0 0 .1' "
    "fluidshape='ellipsoid'/><geom type='capsule' size='.03 .1' pos='.2 0 0'/></body>"
    "<body pos='2 0 1'><freejoint/><geom type='capsule' size='.05 .2' fluidshape='ellipsoid'/>"
    "</body>"
    "<body pos='3 0 1'><freejoint/><geom type='cylinder' size='.05 .2' fluidshape='ellipsoid'/>"
    "</body>"
    "<body pos='4 0 1'><freejoint/><geom type='box' size='.2 .1 .05'/></body>"
    "</worldbody></mujoco>";

// Contacts push within `margin` in both; they are seen within `seen` by MuJoCo 2.2.2, within
// margin + gap by newer ones.
#define ADHESION_TEXT(margin1, gap1, margin2, gap2)                                           \
  "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='5 5 .1'/>"           \
  "<body name='a' pos='0 0 .099'><freejoint/><geom type='box' size='.1 .1 .1' mass='1' "      \
  "margin='" margin1 "' gap='" gap1                                                           \
  "'/></body>"                                                                                \
  "<body name='b' pos='0 0 .297'><freejoint/><geom type='sphere' size='.1' mass='1'/></body>" \
  "<body name='c' pos='1 0 .101'><freejoint/><geom type='box' size='.1 .1 .1' mass='1' "      \
  "margin='" margin2 "' gap='" gap2                                                           \
  "' condim='1'/></body></worldbody><actuator>"                                               \
  "<adhesion body='a' ctrlrange='0 1' gain='30'/><adhesion body='b' ctrlrange='0 1' "         \
  "gain='20'/>"                                                                               \
  "<adhesion body='c' ctrlrange='0 1' gain='5'/></actuator></mujoco>"

static const char ADHESION_OLD[] = ADHESION_TEXT(".01", ".01", ".02", ".015");
static const char ADHESION[] = ADHESION_TEXT("0", ".01", ".005", ".015");

static const char MECHANISM[] =
    "<mujoco><compiler angle='radian'/><option timestep='0.002'/><worldbody>"
    "<geom type='plane' size='5 5 .1'/><site name='world_site' pos='.1 .4 1.2'/>"
    "<geom name='wrap' type='cylinder' size='.06 .2' pos='.1 0 1' euler='1.57 0 0' contype='0' "
    "conaffinity='0'/>"
    "<body name='arm' pos='0 0 1'><joint name='shoulder' axis='0 1 0' damping='.3' "
    "stiffness='2' springref='.2' frictionloss='.1' limited='true' range='-1 1'/>"
    "<geom type='capsule' fromto='0 0 0 .4 0 0' size='.04' mass='1'/><site name='s1' pos='.2 0 "
    ".08' "
    "euler='.1 .2 .3'/>"
    "<body name='hand' pos='.4 0 0'><joint name='elbow' axis='0 1 0' armature='.02' "
    "damping='.1'/><geom type='capsule' fromto='0 0 0 .3 0 0' size='.03' mass='.5'/><site "
    "name='s2' "
    "pos='.25 0 .05'/><site name='tip' pos='.3 0 0' size='.05'/></body></body>"
    "<body name='crank' pos='0 .4 1'><joint name='crank' axis='0 1 0' damping='.05'/><geom "
    "type='capsule' fromto='0 0 0 0 0 .2' size='.02' mass='.3'/><site name='pin' pos='0 0 .2'/>"
    "</body>"
    "<body name='slide' pos='.5 .4 1'><joint name='slide' type='slide' axis='1 0 0' "
    "damping='1'/><geom type='box' size='.03 .03 .03' mass='.4'/><site name='rail' euler='0 1.57 "
    "0'/></body>"
    "<body name='ball' pos='0 -.5 1'><joint name='ball' type='ball' damping='.1' stiffness='1' "
    "limited='true' range='0 1.2'/><geom type='capsule' fromto='0 0 0 0 0 -.3' size='.03' "
    "mass='.5'/><body name='pend' pos='0 0 -.3'><joint name='pend' axis='1 0 0' damping='.05'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -.2' size='.03' mass='.2'/></body></body>"
    "<body name='free1' pos='1 0 .2'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/>"
    "<site name='f1' pos='.05 0 0'/></body>"
    "<body name='free2' pos='1.3 0 .3'><freejoint/><geom type='sphere' size='.1' mass='1'/></body>"
    "</worldbody><tendon>"
    "<fixed name='fixed' stiffness='3' damping='.2' springlength='.1'><joint joint='shoulder' "
    "coef='.5'/><joint joint='elbow' coef='-.3'/></fixed>"
    "<spatial name='path' stiffness='20' damping='1' frictionloss='.2' limited='true' range='0 "
    ".75'><site site='world_site'/><geom geom='wrap'/><site site='s1'/><site site='s2'/></spatial>"
    "<fixed name='other'><joint joint='crank' coef='1'/></fixed></tendon>"
    "<equality><connect body1='ball' body2='world' anchor='0 0 -.1' active='false'/>"
    "<connect body1='free1' body2='free2' anchor='.1 0 .1'/><joint joint1='pend' joint2='crank' "
    "polycoef='0 .5 .1 0 "
    "0'/><tendon tendon1='other' tendon2='fixed' polycoef='0 1 0 0 0'/></equality>"
    "<actuator><motor name='m0' joint='shoulder' gear='2' ctrllimited='true' ctrlrange='-1 1'/>"
    "<position joint='elbow' kp='5' forcelimited='true' forcerange='-2 2'/>"
    "<velocity joint='crank' kv='.5'/>"
    "<general cranksite='pin' slidersite='rail' cranklength='.6' gear='1.5'/>"
    "<motor site='tip' gear='1 0 .5 0 .2 0'/><motor jointinparent='ball' gear='.1 .2 .3'/>"
    "<damper joint='slide' kv='2' ctrlrange='0 1'/>"
    "<general joint='pend' dyntype='filter' dynprm='.1' "
    "gainprm='1.5' biastype='affine' biasprm='.1 -.5 -.2'/><general tendon='fixed' "
    "dyntype='integrator' gainprm='1' actlimited='true' actrange='-1 1'/>"
    "<cylinder joint='slide' timeconst='.2' area='.01' bias='.1 -.2 -.1'/><muscle tendon='path' "
    "lengthrange='.3 .9' force='20' ctrllimited='true' ctrlrange='0 1'/>"
    "<intvelocity joint='elbow' kp='2' actrange='-1 1'/></actuator>"
    "<sensor><touch site='tip'/><accelerometer site='s1'/><velocimeter site='s2'/><gyro site='s1'/>"
    "<force site='s1'/><torque site='s2'/><magnetometer site='tip'/><rangefinder site='tip'/>"
    "<jointpos joint='shoulder'/><jointvel joint='elbow'/><tendonpos tendon='path'/><tendonvel "
    "tendon='path'/><actuatorpos actuator='m0'/><actuatorvel actuator='m0'/><actuatorfrc "
    "actuator='m0'/><ballquat joint='ball'/><ballangvel joint='ball'/><jointlimitpos "
    "joint='shoulder'/><jointlimitvel joint='shoulder'/><jointlimitfrc joint='shoulder'/>"
    "<tendonlimitpos tendon='path'/><tendonlimitvel tendon='path'/><tendonlimitfrc tendon='path'/>"
    "<framepos objtype='site' objname='tip'/><framequat objtype='body' objname='hand'/><framexaxis "
    "objtype='geom' objname='wrap'/><frameyaxis objtype='site' objname='s1'/><framezaxis "
    "objtype='xbody' objname='hand'/><framelinvel objtype='site' objname='tip'/><frameangvel "
    "objtype='body' objname='hand'/><framelinacc objtype='site' objname='tip'/><frameangacc "
    "objtype='xbody' objname='hand'/><framepos objtype='site' objname='tip' reftype='xbody' "
    "refname='free1'/><framequat objtype='xbody' objname='hand' reftype='xbody' refname='free1'/>"
    "<framelinvel objtype='site' objname='tip' reftype='xbody' refname='free1'/><frameangvel "
    "objtype='site' objname='tip' reftype='xbody' refname='free1'/><subtreecom body='arm'/>"
    "<subtreelinvel body='arm'/><subtreeangmom body='arm'/><clock/><accelerometer site='f1'/>"
    "<force site='f1'/><jointpos joint='slide' cutoff='.01'/></sensor></mujoco>";

// Features that are newer than MuJoCo 2.2.2: gravity compensation as actuation, site equalities,
// welds by rotation, armature of tendons, activation with limits of joints.
static const char NEWER[] =
    "<mujoco><compiler angle='radian'/><option timestep='0.002'/><worldbody>"
    "<geom type='plane' size='5 5 .1'/>"
    "<body name='arm' pos='0 0 1' gravcomp='.6'><joint name='shoulder' axis='0 1 0' damping='.3' "
    "actuatorgravcomp='true' actuatorfrcrange='-3 3'/><geom type='capsule' fromto='0 0 0 .4 0 0' "
    "size='.04' mass='1'/><body name='hand' pos='.4 0 0' gravcomp='1'><joint name='elbow' axis='0 "
    "1 "
    "0' damping='.1'/><geom type='capsule' fromto='0 0 0 .3 0 0' size='.03' mass='.5'/><site "
    "name='tip' pos='.3 0 0'/></body></body>"
    "<body name='a' pos='1 0 .3'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/><site "
    "name='sa' pos='.1 0 0'/></body><body name='b' pos='1.3 0 .3'><freejoint/><geom type='sphere' "
    "size='.08' mass='1'/></body>"
    "<body name='c' pos='2 0 .3'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
    "<body name='d' pos='2.2 .1 .6'><freejoint/><geom type='sphere' size='.08' mass='1'/></body>"
    "</worldbody><equality><weld body1='a' body2='b' torquescale='2'/><connect body1='c' body2='d' "
    "anchor='.1 0 .1'/></equality><actuator><motor joint='shoulder' gear='4'/><position "
    "joint='elbow' kp='3' dampratio='1'/></actuator><sensor><jointactuatorfrc joint='shoulder'/>"
    "<framequat objtype='site' objname='tip'/></sensor></mujoco>";

// MuJoCo's implicitfast since 3.11: two bodies that fly free, one with a part fixed off its centre,
// a chain in a medium, and an actuator that drives harder the faster it goes.
static const char FLYING[] =
    "<mujoco><option timestep='0.004' integrator='implicitfast' density='%s' viscosity='%s' "
    "wind='1 "
    "0 .5'/><worldbody><body pos='0 0 1'><freejoint/><geom type='box' size='.1 .05 .02' mass='1' "
    "fluidshape='ellipsoid'/><body pos='.1 .1 0' euler='20 30 0'><geom type='capsule' size='.02 "
    ".1' "
    "mass='.3'/></body></body><body pos='1 0 1'><freejoint/><geom type='box' size='.05 .1 .02' "
    "mass='1'/></body><body pos='2 0 1'><joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 .3 "
    "0 0' size='.03' fluidshape='ellipsoid'/><body pos='.3 0 0'><joint name='far' axis='0 1 1'/>"
    "<geom type='capsule' fromto='0 0 0 .2 .2 0' size='.02'/></body></body></worldbody><actuator>"
    "<general joint='far' gaintype='affine' gainprm='0 0 .02' biastype='affine' biasprm='0 -1 %s'/>"
    "</actuator><keyframe><key qvel='0 0 0 9 4 -6  .5 0 1 -8 2 5  3 -4' ctrl='.7'/></keyframe>"
    "</mujoco>";

// Runge and Kutta with activations: an exact filter, a clamped one, an integrator.
static const char STAGES[] =
    "<mujoco><option timestep='0.004' integrator='RK4'/><worldbody><body pos='0 0 1'><joint "
    "name='a' axis='0 1 0'/><geom type='capsule' fromto='0 0 0 .3 0 0' size='.03'/><body pos='.3 0 "
    "0'><joint name='b' axis='1 1 0'/><geom type='capsule' fromto='0 0 0 .2 .2 0' size='.02'/>"
    "</body></body></worldbody><actuator><position joint='a' kp='5' timeconst='.02'/><general "
    "joint='b' dyntype='filter' dynprm='.01' gainprm='3' actlimited='true' actrange='-.1 .1'/>"
    "<intvelocity joint='b' kp='2' actrange='-1 1'/></actuator><keyframe><key qvel='1 -2' ctrl='.8 "
    "-.6 3'/></keyframe></mujoco>";

#endif
