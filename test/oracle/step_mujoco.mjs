// Motion of a model in MuJoCo, for tests of the soft law: states in contact near the first keyframe
// with their forces, accelerations and sensors, and a run of steps.
//
//   node step_mujoco.mjs MODEL OUT [--seed N] [--states N] [--steps N]
//
// MODEL is MJCF. The output is that of dump_mujoco.mjs: records "k/name" of the states, then
// "trajectory/qpos" and "trajectory/qvel" with a row per step. The solver runs to convergence.
import fs from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

function parseArguments(argv) {
  const options = {seed: 1, states: 3, steps: 0, files: []};
  for (let i = 0; i < argv.length; i++) {
    if (argv[i].startsWith('--')) options[argv[i].slice(2)] = Number(argv[++i]);
    else options.files.push(path.resolve(argv[i]));
  }
  if (options.files.length !== 2) throw new Error('usage: step_mujoco.mjs MODEL OUT [options]');
  return options;
}

// The WebAssembly module sees only its own files: those of the model's folder.
function copyFolder(mujoco, folder) {
  mujoco.FS.mkdirTree('/host' + folder);
  for (const entry of fs.readdirSync(folder, {withFileTypes: true})) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      copyFolder(mujoco, file);
      continue;
    }
    // What another test wrote there may be gone by now.
    try {
      const found = fs.statSync(file);
      if (found.isFile() && found.size < 1 << 26) mujoco.FS.writeFile('/host' + file, fs.readFileSync(file));
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
    }
  }
}

// splitmix64, as the C tests use.
class Random {
  constructor(seed) {
    this.state = BigInt.asUintN(64, BigInt(seed));
  }
  uniform(low, high) {
    const wrap = (x) => BigInt.asUintN(64, x);
    this.state = wrap(this.state + 0x9e3779b97f4a7c15n);
    let z = this.state;
    z = wrap((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = wrap((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return low + (high - low) * Number((z ^ (z >> 31n)) >> 11n) * 2 ** -53;
  }
  normal() {
    const u = this.uniform(2 ** -53, 1), v = this.uniform(0, 2 * Math.PI);
    return Math.sqrt(-2 * Math.log(u)) * Math.cos(v);
  }
}

class Writer {
  constructor(file) {
    this.fd = fs.openSync(file, 'w');
  }
  put(name, values, columns = 1) {
    const array = Float64Array.from(values), rows = columns ? Math.floor(array.length / columns) : 0;
    fs.writeSync(this.fd, `${name} d ${rows} ${columns}\n`);
    const bytes = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
    for (let at = 0; at < bytes.length;) at += fs.writeSync(this.fd, bytes, at);
  }
}

function reset(mujoco, model, data) {
  if (model.nkey) mujoco.mj_resetDataKeyframe(model, data, 0);
  else mujoco.mj_resetData(model, data);
}

// A small step away in every dof, and a free base lowered so that things touch.
function perturb(mujoco, model, data, random) {
  const step = [], qpos = new mujoco.DoubleBuffer(model.nq);
  for (let i = 0; i < model.nv; i++) {
    step.push(0.1 * random.normal());
    data.qvel[i] = 0.3 * random.normal();
  }
  qpos.GetView().set(data.qpos);
  mujoco.mj_integratePos(model, qpos, step, 1);
  data.qpos.set(qpos.GetView());
  if (model.njnt && model.jnt_type[0] === 0) data.qpos[2] -= random.uniform(0, 0.15);
  for (let i = 0; i < model.nu; i++) data.ctrl[i] += 0.1 * random.normal();
  for (let i = 0; i < model.na; i++) data.act[i] = random.uniform(0, 1);
  qpos.delete();
}

const FIELDS = ['qpos', 'qvel', 'act', 'ctrl', 'qfrc_bias', 'qfrc_passive', 'qfrc_actuator', 'act_dot',
                'actuator_force', 'qacc_smooth', 'qacc', 'qfrc_constraint', 'sensordata', 'cacc', 'cfrc_int',
                'cfrc_ext'];

function putState(mujoco, writer, model, data, prefix) {
  mujoco.mj_forward(model, data);
  mujoco.mj_rnePostConstraint(model, data);
  for (const name of FIELDS) writer.put(prefix + name, data[name]);
  const contacts = data.contact, dist = [], pos = [];
  for (let i = 0; i < contacts.size(); i++) {
    const c = contacts.get(i);
    dist.push(c.dist);
    pos.push(...c.pos);
    c.delete();
  }
  contacts.delete();
  writer.put(prefix + 'contact_dist', dist);
  writer.put(prefix + 'contact_pos', pos, 3);
}

const options = parseArguments(process.argv.slice(2));
const root = path.resolve(process.env.TRIBO_ORACLE_DIR || '.');
const entry = path.join(root, 'node_modules', '@mujoco', 'mujoco', 'mujoco.js');
const mujoco = await (await import(pathToFileURL(entry))).default({print: () => {}, printErr: () => {}});
const [file, out] = options.files;
copyFolder(mujoco, path.dirname(file));
let model;
try {
  model = mujoco.MjModel.from_xml_path('/host' + file);
} catch (error) {
  process.stderr.write(`${error && error.message ? error.message : error}\n`);
  process.exit(3);
}
const writer = new Writer(out), data = new mujoco.MjData(model), random = new Random(options.seed);
model.opt.tolerance = 0;
model.opt.iterations = 200;
model.opt.ls_iterations = 100;
model.opt.ls_tolerance = 1e-10;
for (let k = 0; k < options.states; k++) {
  reset(mujoco, model, data);
  perturb(mujoco, model, data, random);
  putState(mujoco, writer, model, data, `${k}/`);
}
const qpos = [], qvel = [], ncon = [];
reset(mujoco, model, data);
writer.put('trajectory/ctrl', data.ctrl);
for (let k = 0; k < options.steps; k++) {
  mujoco.mj_step(model, data);
  qpos.push(...data.qpos);
  qvel.push(...data.qvel);
  ncon.push(data.ncon);
}
writer.put('trajectory/qpos', qpos, model.nq);
writer.put('trajectory/qvel', qvel, model.nv);
writer.put('trajectory/ncon', ncon);
