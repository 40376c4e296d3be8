// What MuJoCo makes of a model file, for tests to compare with: every field of its compiled model,
// and the quantities of mj_forward at random states.
//
//   node dump_mujoco.mjs MODEL OUT [--seed N] [--states N] [--compiler ATTRIBUTES]
//   node dump_mujoco.mjs --batch LIST [...]
//
// LIST is a file of lines "MODEL tab OUT"; a model that MuJoCo refuses leaves its message in OUT.err.
// MODEL is MJCF or URDF; ATTRIBUTES (such as 'balanceinertia="true"') go into the compiler element
// that a URDF is given. State 0 is the reference pose at rest; the others are random: joints
// inside their limits, velocities standard normal, controls inside their range. MuJoCo is the
// package @mujoco/mujoco (WebAssembly), found in $TRIBO_ORACLE_DIR/node_modules. Ends with 3 when
// MuJoCo refuses the model; its message then goes to standard error.
//
// OUT is a list of records, each a line "name type rows columns" and then the raw values, little
// endian: type d is float64, i is int32, c is bytes. Records of state k are called "k/name".
// test/common/oracle.h reads it.
import fs from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const largestFile = 64 << 20;
const largestFolder = 512 << 20;

// ---- arguments ----------------------------------------------------------------------------------

function parseArguments(argv) {
  const options = {seed: 1, states: 3, compiler: '', batch: '', files: []};
  for (let i = 0; i < argv.length; i++) {
    if (argv[i] === '--seed') options.seed = Number(argv[++i]);
    else if (argv[i] === '--states') options.states = Number(argv[++i]);
    else if (argv[i] === '--compiler') options.compiler = argv[++i];
    else if (argv[i] === '--batch') options.batch = argv[++i];
    else options.files.push(argv[i]);
  }
  if (options.batch) return options;
  if (options.files.length !== 2) throw new Error('usage: dump_mujoco.mjs MODEL OUT [options]');
  [options.model, options.out] = options.files.map((f) => path.resolve(f));
  return options;
}

// ---- files: the WebAssembly module sees only its own memory file system -------------------------

function copyFile(mujoco, file) {
  const target = '/host' + file;
  mujoco.FS.mkdirTree(path.dirname(target));
  mujoco.FS.writeFile(target, fs.readFileSync(file));
}

function copyFolder(mujoco, folder, budget) {
  for (const entry of fs.readdirSync(folder, {withFileTypes: true})) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      copyFolder(mujoco, file, budget);
    } else if (entry.isFile() || entry.isSymbolicLink()) {
      // What another test wrote there may be gone by now.
      const found = fs.statSync(file, {throwIfNoEntry: false});
      if (!found || !found.isFile() || found.size > largestFile || (budget.left -= found.size) < 0) continue;
      try {
        copyFile(mujoco, file);
      } catch (error) {
        if (error.code !== 'ENOENT') throw error;
      }
    }
  }
}

// Files named in the XML that lie outside the model's folder, and those that they name in turn.
function copyOutside(mujoco, xml, folder, seen) {
  const dirs = [''];
  for (const m of xml.matchAll(/\b(?:meshdir|assetdir|texturedir)\s*=\s*"([^"]*)"/g)) dirs.push(m[1]);
  for (const m of xml.matchAll(/\b(?:file|fileright|fileleft|fileup|filedown|filefront|fileback)\s*=\s*"([^"]*)"/g)) {
    for (const dir of dirs) {
      const file = path.resolve(folder, dir, m[1]);
      if (seen.has(file) || !fs.existsSync(file) || !fs.statSync(file).isFile()) continue;
      seen.add(file);
      copyFile(mujoco, file);
      if (file.endsWith('.xml')) copyOutside(mujoco, fs.readFileSync(file, 'utf8'), folder, seen);
    }
  }
}

// ---- URDF: what MuJoCo needs to be told ---------------------------------------------------------

// package://NAME/... becomes a path: NAME is a folder above the file.
function resolvePackages(text, folder) {
  return text.replace(/package:\/\/\/?([^/"]+)\/([^"]*)/g, (whole, name, rest) => {
    for (let up = folder; up !== path.dirname(up); up = path.dirname(up)) {
      const candidate = path.join(up, name, rest);
      if (fs.existsSync(candidate)) return candidate;
    }
    return whole;
  });
}

// MuJoCo reads no DAE: such collision shapes are dropped.
function prepareUrdf(text, options) {
  const settings = `<mujoco><compiler strippath="false" ${options.compiler}/></mujoco>`;
  text = resolvePackages(text, path.dirname(options.model));
  text = text.replace(/<collision\b(?:(?!<\/collision>)[^])*?\.dae"[^]*?<\/collision>/gi, '');
  return text.replace(/(<robot\b[^>]*>)/, '$1' + settings);
}

function loadModel(mujoco, options) {
  const folder = path.dirname(options.model);
  let text = fs.readFileSync(options.model, 'utf8');
  const isUrdf = /<robot\b/.test(text) && !/<mujoco\b[^>]*>\s*<(?:compiler|option|asset|worldbody)/.test(text);
  if (isUrdf) text = prepareUrdf(text, options);
  copyFolder(mujoco, folder, {left: largestFolder});
  const seen = new Set([options.model]);
  if (isUrdf) {
    for (const m of text.matchAll(/filename="(\/[^"]*)"/g)) {
      if (fs.existsSync(m[1])) copyFile(mujoco, m[1]);
    }
    text = text.replace(/filename="\//g, 'filename="/host/');
  } else {
    copyOutside(mujoco, text, folder, seen);
  }
  const target = '/host' + options.model;
  mujoco.FS.mkdirTree(path.dirname(target));
  mujoco.FS.writeFile(target, text);
  return mujoco.MjModel.from_xml_path(target);
}

// ---- the record file ----------------------------------------------------------------------------

class Writer {
  constructor(file) {
    this.fd = fs.openSync(file, 'w');
  }
  put(name, values, columns = 1) {
    let type = 'd', array = values;
    if (values instanceof Int32Array) type = 'i';
    else if (values instanceof Uint8Array || values instanceof Int8Array) type = 'c';
    else if (!(values instanceof Float64Array)) array = Float64Array.from(values);
    const rows = columns ? Math.floor(array.length / columns) : 0;
    fs.writeSync(this.fd, `${name} ${type} ${rows} ${columns}\n`);
    const bytes = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
    for (let at = 0; at < bytes.length;) at += fs.writeSync(this.fd, bytes, at);
  }
  close() {
    fs.closeSync(this.fd);
  }
}

function isTypedArray(value) {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

// Every number and array of a handle. Arrays of shapes and of collision trees are left out for size.
function putFields(writer, handle, prefix) {
  const skip = /^(tex_|skin_|flex|bvh_|oct_|buffer|mesh_(vert$|face$|graph$|poly|normal|texcoord|facetexcoord|facenormal|bvh|oct))/;
  const names = new Set();
  for (let at = handle; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  }
  for (const name of [...names].sort()) {
    if (skip.test(name)) continue;
    let value;
    try {
      value = handle[name];
    } catch {
      continue;
    }
    if (typeof value === 'number') writer.put(prefix + name, [value]);
    else if (typeof value === 'boolean') writer.put(prefix + name, [value ? 1 : 0]);
    else if (isTypedArray(value) && !(value instanceof BigInt64Array)) {
      writer.put(prefix + name, value);
    }
  }
}

// The package cannot show arrays of booleans, only their elements. Returns them as int32 arrays.
const booleanFields = [
  ['jnt', 'njnt', ['limited']],
  ['actuator', 'nu', ['ctrllimited', 'forcelimited', 'actlimited']],
  ['tendon', 'ntendon', ['limited']],
  ['eq', 'neq', ['active0']],
];

function booleans(model) {
  const result = {};
  for (const [object, size, fields] of booleanFields) {
    for (const field of fields) result[`${object}_${field}`] = new Int32Array(model[size]);
    for (let i = 0; i < model[size]; i++) {
      const element = model[object](i);
      for (const field of fields) {
        const value = element[field] !== undefined ? element[field] : element['_' + field];
        result[`${object}_${field}`][i] = Number(ArrayBuffer.isView(value) ? value[0] : value);
      }
      element.delete();
    }
  }
  return result;
}

// ---- random states ------------------------------------------------------------------------------

// splitmix64, as the C tests use.
class Random {
  constructor(seed) {
    this.state = BigInt.asUintN(64, BigInt(seed));
  }
  next() {
    const wrap = (x) => BigInt.asUintN(64, x);
    this.state = wrap(this.state + 0x9e3779b97f4a7c15n);
    let z = this.state;
    z = wrap((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = wrap((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return z ^ (z >> 31n);
  }
  uniform(low, high) {
    return low + (high - low) * Number(this.next() >> 11n) * 2 ** -53;
  }
  normal() {
    const u = this.uniform(2 ** -53, 1), v = this.uniform(0, 2 * Math.PI);
    return Math.sqrt(-2 * Math.log(u)) * Math.cos(v);
  }
  quat() {
    const q = [this.normal(), this.normal(), this.normal(), this.normal()];
    const length = Math.hypot(...q);
    return q.map((x) => x / length);
  }
}

function randomQpos(model, flags, random, qpos) {
  for (let j = 0; j < model.njnt; j++) {
    const at = model.jnt_qposadr[j], type = model.jnt_type[j];
    if (type === 0) {
      for (let i = 0; i < 3; i++) qpos[at + i] = model.qpos0[at + i] + random.uniform(-1, 1);
      random.quat().forEach((x, i) => (qpos[at + 3 + i] = x));
    } else if (type === 1) {
      random.quat().forEach((x, i) => (qpos[at + i] = x));
    } else {
      const limited = flags.jnt_limited[j];
      const low = limited ? model.jnt_range[2 * j] : -1, high = limited ? model.jnt_range[2 * j + 1] : 1;
      qpos[at] = random.uniform(low, high);
    }
  }
}

function randomState(model, flags, data, random) {
  randomQpos(model, flags, random, data.qpos);
  for (let i = 0; i < model.nv; i++) data.qvel[i] = random.normal();
  for (let i = 0; i < model.na; i++) data.act[i] = random.uniform(0, 1);
  for (let i = 0; i < model.nu; i++) {
    const limited = flags.actuator_ctrllimited[i];
    data.ctrl[i] = limited ? random.uniform(model.actuator_ctrlrange[2 * i],
                                            model.actuator_ctrlrange[2 * i + 1])
                           : random.normal();
  }
  for (let i = 0; i < model.nv; i++) data.qfrc_applied[i] = random.normal();
  for (let i = 6; i < 6 * model.nbody; i++) data.xfrc_applied[i] = random.normal();
}

// ---- quantities of one state --------------------------------------------------------------------

const dataFields = [
  'qpos', 'qvel', 'act', 'ctrl', 'mocap_pos', 'mocap_quat', 'qfrc_applied', 'xfrc_applied', 
  'xpos', 'xquat', 'xmat', 'xipos', 'ximat', 'xanchor', 'xaxis', 'geom_xpos', 'geom_xmat', 'site_xpos',
  'site_xmat', 'subtree_com', 'cdof', 'cinert', 'crb', 'ten_length', 'ten_velocity',
  'actuator_length', 'actuator_velocity', 'actuator_force', 'act_dot', 'cvel', 'cdof_dot',
  'subtree_linvel', 'subtree_angmom', 'qfrc_bias', 'qfrc_spring', 'qfrc_damper', 'qfrc_gravcomp',
  'qfrc_fluid', 'qfrc_passive', 'qfrc_actuator', 'qfrc_smooth', 'qacc_smooth', 'qfrc_constraint',
  'qacc', 'cacc', 'cfrc_int', 'cfrc_ext', 'sensordata', 'energy', 'qLDiagInv',
];

// Calls f with a buffer of n doubles and returns its contents.
function withBuffer(mujoco, n, f) {
  const buffer = new mujoco.DoubleBuffer(n);
  f(buffer);
  const result = Float64Array.from(buffer.GetView());
  buffer.delete();
  return result;
}

function dense(rows, columns, values, rowadr, rownnz, colind) {
  const out = new Float64Array(rows * columns);
  for (let r = 0; r < rows; r++) {
    for (let k = rowadr[r]; k < rowadr[r] + rownnz[r]; k++) out[r * columns + colind[k]] = values[k];
  }
  return out;
}

// Jacobians and their time derivatives at the origin of up to eight bodies.
function putJacobians(mujoco, writer, model, data, prefix) {
  const nv = model.nv, count = Math.min(8, model.nbody - 1), bodies = [];
  for (let i = 0; i < count; i++) bodies.push(1 + Math.floor((i * (model.nbody - 1)) / count));
  const jacobian = [], derivative = [];
  for (const body of bodies) {
    const point = Array.from(data.xpos.subarray(3 * body, 3 * body + 3));
    for (const [call, list] of [['mj_jac', jacobian], ['mj_jacDot', derivative]]) {
      let angular;
      const linear = withBuffer(mujoco, 3 * nv, (jacp) => {
        angular = withBuffer(mujoco, 3 * nv, (jacr) => mujoco[call](model, data, jacp, jacr, point, body));
      });
      list.push(...linear, ...angular);
    }
  }
  // Per body six rows: linear, then angular.
  writer.put(prefix + 'jac_body', Int32Array.from(bodies));
  writer.put(prefix + 'jac', jacobian, nv);
  writer.put(prefix + 'jacDot', derivative, nv);
}

function putContacts(writer, data, prefix) {
  const contacts = data.contact, geom = [], dim = [], dist = [], pos = [], frame = [];
  const friction = [], solref = [], solimp = [], margin = [];
  for (let i = 0; i < contacts.size(); i++) {
    const c = contacts.get(i);
    geom.push(...c.geom);
    dim.push(c.dim);
    dist.push(c.dist);
    pos.push(...c.pos);
    frame.push(...c.frame);
    friction.push(...c.friction);
    solref.push(...c.solref);
    solimp.push(...c.solimp);
    margin.push(c.includemargin);
    c.delete();
  }
  contacts.delete();
  writer.put(prefix + 'contact_geom', Int32Array.from(geom), 2);
  writer.put(prefix + 'contact_dim', Int32Array.from(dim));
  writer.put(prefix + 'contact_dist', dist);
  writer.put(prefix + 'contact_pos', pos, 3);
  writer.put(prefix + 'contact_frame', frame, 9);
  writer.put(prefix + 'contact_friction', friction, 5);
  writer.put(prefix + 'contact_solref', solref, 2);
  writer.put(prefix + 'contact_solimp', solimp, 5);
  writer.put(prefix + 'contact_includemargin', margin);
}

function putState(mujoco, writer, model, data, prefix) {
  const nv = model.nv;
  mujoco.mj_forward(model, data);
  mujoco.mj_energyPos(model, data);
  mujoco.mj_energyVel(model, data);
  mujoco.mj_subtreeVel(model, data);
  mujoco.mj_rnePostConstraint(model, data);
  for (const name of dataFields) {
    if (isTypedArray(data[name])) writer.put(prefix + name, data[name]);
  }
  if (nv && nv <= 1000) {
    writer.put(prefix + 'M', withBuffer(mujoco, nv * nv, (M) => mujoco.mj_fullM(model, data, M)), nv);
    putJacobians(mujoco, writer, model, data, prefix);
    if (model.nu) {
      writer.put(prefix + 'actuator_moment', dense(model.nu, nv, data.actuator_moment, data.moment_rowadr,
                                                   data.moment_rownnz, data.moment_colind), nv);
    }
    if (model.ntendon) {
      writer.put(prefix + 'ten_J', dense(model.ntendon, nv, data.ten_J, model.ten_J_rowadr,
                                         model.ten_J_rownnz, model.ten_J_colind), nv);
    }
  }
  putContacts(writer, data, prefix);
}

// ---- main ---------------------------------------------------------------------------------------

async function importMujoco() {
  const root = process.env.TRIBO_ORACLE_DIR || '.';
  const entry = path.join(path.resolve(root), 'node_modules', '@mujoco', 'mujoco', 'mujoco.js');
  const module = await import(pathToFileURL(entry));
  return module.default({print: () => {}, printErr: () => {}});
}

// One model to one file; `onRefusal` gets MuJoCo's message where it refuses the model.
function dump(mujoco, options, onRefusal) {
  let model;
  try {
    model = loadModel(mujoco, options);
  } catch (error) {
    onRefusal(`${error && error.message ? error.message : error}\n`);
    return;
  }
  const writer = new Writer(options.out + '.part');
  writer.put('version', Uint8Array.from(Buffer.from(String(mujoco.mj_versionString()))));
  putFields(writer, model, '');
  putFields(writer, model.opt, 'opt.');
  putFields(writer, model.stat, 'stat.');
  const flags = booleans(model);
  for (const name of Object.keys(flags)) writer.put(name, flags[name]);
  const data = new mujoco.MjData(model);
  const random = new Random(options.seed);
  for (let k = 0; k < options.states; k++) {
    mujoco.mj_resetData(model, data);
    if (k > 0) randomState(model, flags, data, random);
    putState(mujoco, writer, model, data, `${k}/`);
  }
  writer.close();
  data.delete();
  model.delete();
  fs.renameSync(options.out + '.part', options.out);
}

// Many models. A refusal may leave MuJoCo's memory broken, so that only a fresh MuJoCo's counts, and
// the next model has a fresh one too.
async function dumpAll(options) {
  let mujoco = await importMujoco(), fresh = true;
  for (const line of fs.readFileSync(options.batch, 'utf8').split('\n').filter((x) => x)) {
    const [model, out] = line.split('\t');
    const one = {...options, model: path.resolve(model), out: path.resolve(out)};
    for (let again = true; again;) {
      let refusal = null;
      dump(mujoco, one, (message) => { refusal = message; });
      again = refusal !== null && !fresh;
      if (refusal !== null && !again) fs.writeFileSync(out + '.err', refusal);
      fresh = refusal !== null;
      if (fresh) mujoco = await importMujoco();
    }
  }
}

const options = parseArguments(process.argv.slice(2));
if (options.batch) {
  await dumpAll(options);
} else {
  dump(await importMujoco(), options, (message) => {
    process.stderr.write(message);
    process.exit(3);
  });
}
