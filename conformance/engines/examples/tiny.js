// A whole engine that speaks the protocol: scalars and vectors of float32; add, multiply, sum; backward.
// Run it with `conformance run "command:node tiny.js"`. Everything else is answered with `unsupported`.
"use strict";
const crypto = require("crypto");
const readline = require("readline");

// ---------------------------------------------------------------- the engine

class Tensor {
  constructor(values, shape, requiresGrad = false, node = null) {
    Object.assign(this, { values, shape, requiresGrad, node, grad: null });
  }
}

class Raised extends Error {
  constructor(type, text, phase = "forward") {
    super(text);
    Object.assign(this, { type, phase });
  }
}

class Unsupported extends Error {}

const FREED =
  "Trying to backward through the graph a second time (or directly access saved tensors after they have already " +
  "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). " +
  "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access " +
  "saved tensors after calling backward.";
const plus = (a, b) => Math.fround(a + b);
const times = (a, b) => Math.fround(a * b);
const total = (values) => values.reduce(plus, 0);
const spread = (values, size) => (values.length === size ? values : Array(size).fill(values[0]));

// Apply an operation entry by entry; `slopes` gives the gradients of both sides.
function pointwise(apply, slopes, saves, a, b) {
  const [x, y] = [a, b].map((side) => (side instanceof Tensor ? side : new Tensor([Math.fround(side)], [])));
  const shape = x.shape.length >= y.shape.length ? x.shape : y.shape;
  const size = x.values.length === 1 ? y.values.length : x.values.length;
  if (y.values.length !== 1 && y.values.length !== size)
    throw new Raised("RuntimeError", `The size of tensor a (${x.shape[0]}) must match the size of tensor b (${y.shape[0]}) at non-singleton dimension 0`);
  const out = spread(x.values, size).map((value, at) => apply(value, spread(y.values, size)[at]));
  const tracked = x.requiresGrad || y.requiresGrad;
  const back = (grad) => slopes(grad, spread(x.values, size), spread(y.values, size));
  const wide = size === 1 && (x.shape.length || y.shape.length) ? [1] : shape.length || size > 1 ? [size] : [];
  return new Tensor(out, wide, tracked, tracked ? { inputs: [x, y], back, saves, freed: false } : null);
}

const add = (a, b) => pointwise(plus, (grad) => [grad, grad], false, a, b);
const multiply = (a, b) =>
  pointwise(times, (grad, x, y) => [grad.map((g, at) => times(g, y[at])), grad.map((g, at) => times(g, x[at]))], true, a, b);

function sum(x) {
  const back = (grad) => [spread(grad, x.values.length)];
  const node = x.requiresGrad ? { inputs: [x], back, saves: false, freed: false } : null;
  return new Tensor([total(x.values)], [], x.requiresGrad, node);
}

// The tensors that a root depends on, roots first, so that every gradient is whole before it goes on.
function order(root) {
  const done = new Set();
  const found = [];
  const waiting = [[root, false]];
  while (waiting.length) {
    const [tensor, ready] = waiting.pop();
    if (ready) found.push(tensor);
    else if (!done.has(tensor)) {
      done.add(tensor);
      waiting.push([tensor, true]);
      for (const input of tensor.node ? tensor.node.inputs : []) waiting.push([input, false]);
    }
  }
  return found.reverse();
}

function backward(root, gradient, retain) {
  const fail = (text) => { throw new Raised("RuntimeError", text, "backward"); };
  if (!root.requiresGrad) fail("element 0 of tensors does not require grad and does not have a grad_fn");
  if (gradient === null && root.values.length !== 1) fail("grad can be implicitly created only for scalar outputs");
  if (gradient !== null && gradient.shape.join() !== root.shape.join()) {
    const size = (tensor) => `torch.Size([${tensor.shape.join(", ")}])`;
    fail(`Mismatch in shape: grad_output[0] has a shape of ${size(gradient)} and output[0] has a shape of ${size(root)}.`);
  }
  const grads = new Map([[root, gradient === null ? [1] : gradient.values]]);
  for (const tensor of order(root).filter((each) => each.requiresGrad)) {
    const grad = grads.get(tensor);
    if (!tensor.node) {
      const before = tensor.grad;
      if (before) before.values = before.values.map((value, at) => plus(value, grad[at]));
      else tensor.grad = new Tensor([...grad], tensor.shape);
      continue;
    }
    if (tensor.node.saves && tensor.node.freed) fail(FREED);
    tensor.node.back(grad).forEach((part, at) => {
      const input = tensor.node.inputs[at];
      if (!input.requiresGrad) return;
      const fitted = part.length === input.values.length ? part : [total(part)];
      const before = grads.get(input);
      grads.set(input, before ? before.map((value, index) => plus(value, fitted[index])) : fitted);
    });
    tensor.node.freed = tensor.node.freed || !retain;
  }
}

// ---------------------------------------------------------------- programs

const lack = (what) => { throw new Unsupported(what); };

function evaluate(e, names) {
  if (!Array.isArray(e)) return e;
  const [tag, ...rest] = e;
  const value = (part) => evaluate(part, names);
  if (tag === "float") return rest[0] === "nan" ? NaN : Number(rest[0].replace("inf", "Infinity"));
  if (tag === "list") return rest[0].map(value);
  if (tag === "name") {
    if (!(rest[0] in names)) throw new Raised("NameError", `name '${rest[0]}' is not defined`);
    return names[rest[0]];
  }
  if (tag === "bits" && rest[0] === "f32") {
    const bytes = Buffer.from(rest[1], "hex");
    const values = Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(4 * at));
    return new Tensor(values, [values.length]);
  }
  if (tag === "call" && rest[0] === "torch.tensor") return create(value(rest[1][0]), rest[1][0], rest[2], value);
  if (tag === "binary" && "+*".includes(rest[0])) {
    const sides = [value(rest[1]), value(rest[2])];
    if (!sides.some((side) => side instanceof Tensor)) lack("numbers without tensors");
    if (!sides.every((side) => side instanceof Tensor || typeof side === "number")) lack("operands of this kind");
    return rest[0] === "+" ? add(...sides) : multiply(...sides);
  }
  if (tag === "attr" && ["grad", "requires_grad", "is_leaf"].includes(rest[1])) {
    const owner = value(rest[0]);
    if (!(owner instanceof Tensor)) lack("attributes of " + typeof owner);
    if (rest[1] === "grad" && owner.node) lack("Tensor.grad of a result"); // torch warns
    return { grad: owner.grad, requires_grad: owner.requiresGrad, is_leaf: !owner.node }[rest[1]];
  }
  if (tag === "method") return method(value(rest[0]), rest[1], rest[2].map(value), rest[3], value);
  return lack(tag === "call" ? rest[0] : `expressions of ${tag}`);
}

function create(data, expression, options, value) {
  const given = Array.isArray(data) ? data : [data];
  const parts = Array.isArray(data) ? expression[1] : [expression];
  if (!given.length || !parts.every((part) => Array.isArray(part) && part[0] === "float")) lack("torch.int64");
  const other = Object.keys(options).find((key) => !["requires_grad", "dtype"].includes(key));
  if (other) lack(`torch.tensor(${other}=)`);
  if (options.dtype && options.dtype[1] !== "float32") lack("torch." + options.dtype[1]);
  return new Tensor(given.map(Math.fround), Array.isArray(data) ? [given.length] : [], Boolean(value(options.requires_grad)));
}

function method(owner, name, args, options, value) {
  if (!(owner instanceof Tensor)) lack("methods of " + typeof owner);
  if (name === "sum" && !args.length && !Object.keys(options).length) return sum(owner);
  if (name !== "backward") lack("Tensor." + name);
  const other = Object.keys(options).find((key) => !["gradient", "retain_graph"].includes(key));
  if (other) lack(`Tensor.backward(${other}=)`);
  const gradient = args.length ? args[0] : value(options.gradient);
  if (args.length > 1 || !(gradient == null || gradient instanceof Tensor)) lack("Tensor.backward of this kind");
  return backward(owner, gradient == null ? null : gradient, Boolean(value(options.retain_graph))) || null;
}

// ---------------------------------------------------------------- traces

function shown(value) {
  if (typeof value === "number") return ["float", String(value)];
  if (Array.isArray(value)) return ["list", value.map(shown)];
  return value instanceof Tensor ? ["tensor", fields(value, false)] : value;
}

function fields(tensor, isGrad) {
  const bytes = Buffer.alloc(4 * tensor.values.length);
  tensor.values.forEach((value, at) => bytes.writeFloatLE(value, 4 * at));
  const seen = { dtype: "float32", shape: tensor.shape, device: "main", requires_grad: tensor.requiresGrad,
    is_leaf: !tensor.node, bytes: bytes.toString("hex") };
  if (!isGrad && !tensor.node) seen.grad = tensor.grad && ["tensor", fields(tensor.grad, true)];
  return seen;
}

// The names in an expression, and whether it may run a backward pass.
function look(e, found) {
  if (!Array.isArray(e)) return Object.values(e && typeof e === "object" ? e : {}).forEach((part) => look(part, found));
  if (e[0] === "name") found.names.add(e[1]);
  if (e[0] === "method" && e[2] === "backward") found.backward = true;
  e.forEach((part) => look(part, found));
}

function step(at, statement, names, lost) {
  const found = { names: new Set(), backward: false };
  const binds = statement.do === "assign" ? statement.targets.filter((target) => target[0] === "name").map((target) => target[1]) : [];
  look(statement.value, found);
  const needs = [...found.names].filter((name) => lost.has(name) && !(name in names));
  binds.forEach((name) => found.names.add(name));
  const own = Array.isArray(statement.value) ? statement.value : [];
  const shows = ["expr", "print"].includes(statement.do);
  const kind = statement.do === "print" ? "observe" : found.backward ? "backward" : shows ? "observe"
    : own[0] === "call" && own[1] === "torch.tensor" ? "create" : "operation";
  const done = { at, kind, outcome: "ok", log: [], warnings: [], seen: {} };
  if (needs.length) {
    binds.forEach((name) => lost.add(name));
    return Object.assign(done, { outcome: "skipped", needs });
  }
  try {
    if (!shows && statement.do !== "assign") lack(`statements of ${statement.do}`);
    if (statement.do === "assign" && binds.length !== statement.targets.length) lack("assignment to what is no name");
    const value = evaluate(statement.value, names);
    if (typeof value === "number") lack("Python's numbers");
    binds.forEach((name) => { names[name] = value; });
    if (shows) done.value = shown(value);
  } catch (error) {
    binds.filter((name) => !(name in names)).forEach((name) => lost.add(name));
    if (error instanceof Unsupported) Object.assign(done, { outcome: "unsupported", missing: error.message });
    else if (error instanceof Raised)
      Object.assign(done, { outcome: "raised", error: { type: error.type, text: error.message, phase: error.phase } });
    else throw error;
  }
  const seen = found.backward ? Object.keys(names) : [...found.names];
  for (const name of seen) if (name in names) done.seen[name] = shown(names[name]);
  return done;
}

// JSON as the form wants it for the hash: keys sorted, ASCII alone, long integers as they were written.
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value && value.$long) return value.$long;
  if (value && typeof value === "object")
    return `{${Object.keys(value).sort().map((key) => `${canonical(key)}:${canonical(value[key])}`).join(",")}}`;
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

function run(program) {
  const names = {};
  const lost = new Set();
  const hash = crypto.createHash("sha256").update(canonical(program.body)).digest("hex");
  const steps = program.body.map((statement, at) => step(at, statement, names, lost));
  const end = Object.fromEntries(Object.entries(names).map(([name, value]) => [name, shown(value)]));
  return { form: 1, program: hash, steps, end, leaks: [] };
}

// ---------------------------------------------------------------- the conversation

const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");
const HELLO = { protocol: 1, name: "tiny-js", version: "1.0", identity: "unknown", bytes: "own", device: "cpu",
  python: `node ${process.version}`,
  capabilities: { absent: [], dtypes: ["float32"],
    reads_absent: ["strides", "storage", "grad_fn", "version", "retains_grad", "grad_mode"] } };
const LONG = /"(?:[^"\\]|\\.)*"|-?\d{16,}/g;

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line.replace(LONG, (part) => (part[0] === '"' ? part : `{"$long":"${part}"}`)));
  if (message.do === "hello") say({ hello: HELLO });
  else if (message.do === "run") {
    for (const [id, program] of message.programs) say({ id, trace: run(program) });
    say({ done: message.batch });
  } else if (message.do === "bye") {
    say({ bye: true });
    process.exit(0);
  } else say({ error: { what: `unknown message ${message.do}` } });
});
