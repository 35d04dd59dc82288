/**
 * Beginning a turn: the files as others left them, then the user's message and the reservation in one commit.
 */
import type { Change, NodeKey } from "../core/change.js";
import { depthOf } from "../core/dag.js";
import { RetconError } from "../core/errors.js";
import { checkId } from "../core/ids.js";
import type { NewMessage } from "../core/model.js";
import { resolveKey } from "../core/resolve.js";
import { startsTurn } from "../core/turns.js";
import { checkExpected, refuseTaken } from "./append.js";
import { type Chat, type HeldTurn, headMoved } from "./chat.js";
import { type Checked, chainBelow, checkMessage, nodeChange, storeBlobs } from "./place.js";
import { firstResult, type Request, requestChange, requestOf } from "./requests.js";
import { settleDead, syncFor } from "./runs.js";
import { requireBranch, requireNode, type State } from "./state.js";
import { LiveTurn } from "./turn.js";

const defaultLeaseMs = 30_000;
const attempts = 20;

/** Options of `beginTurn`. */
export interface BeginOptions {
  id?: string;
  requestId?: string;
  expectedHead?: string | null;
  leaseMs?: number;
}

/** What a begun turn is remembered by under its request id. */
interface Begun {
  userNodeId: string;
}

function userMessage(chat: Chat, given: string | NewMessage, id: string | undefined): Checked {
  if (typeof given !== "string" && (typeof given !== "object" || given === null)) {
    throw new TypeError("a turn begins with a text or a message");
  }
  const message: NewMessage = typeof given === "string" ? { role: "user", content: given } : given;
  const checked = checkMessage(chat.env, { ...message, ...(id === undefined ? {} : { id: checkId("id", id) }) });
  const { role, synthetic = false } = checked.message;
  if (!startsTurn({ role, synthetic }) || message.parentId !== undefined || message.callerId !== undefined) {
    const reason = "a turn begins with a person's user message at the head of the active branch";
    throw new RetconError("bad_input", `this message cannot begin a turn: ${reason}`, { field: "message", reason });
  }
  return checked;
}

/** Begins a turn. @throws `run_active`, `busy`, `head_moved`, `id_exists`, `workspace_changed` */
export async function beginTurn(chat: Chat, given: string | NewMessage, options: BeginOptions = {}): Promise<HeldTurn> {
  const { leaseMs = defaultLeaseMs } = options;
  if (!(Number.isFinite(leaseMs) && leaseMs > 0)) throw new TypeError("leaseMs must be a positive number");
  const checked = userMessage(chat, given, options.id);
  const request = requestOf(chat, options.requestId, "beginTurn", { given, id: options.id });
  const again = async (): Promise<HeldTurn | undefined> => {
    const first = await firstResult<Begun>(chat, request);
    return first && turnAgain(chat, first.result, leaseMs);
  };
  const before = await again();
  if (before !== undefined) return before;
  try {
    return await begin(chat, checked, request, { expectedHead: options.expectedHead, leaseMs });
  } catch (error) {
    // What stood in the way may be the turn that the same request began meanwhile.
    const meanwhile = await again();
    if (meanwhile === undefined) throw error;
    return meanwhile;
  }
}

async function begin(
  chat: Chat,
  checked: Checked,
  request: Request,
  { expectedHead, leaseMs }: { expectedHead?: string | null; leaseMs: number },
): Promise<HeldTurn> {
  await settleDead(chat);
  await chat.requireIdle();
  await refuseTaken(chat, [checked]);
  await checkExpected(chat, await chat.read(), expectedHead);
  const workspace = await chat.workspace();
  await storeBlobs(chat.env, [checked]);
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const found = workspace === null ? null : (await syncFor(chat, workspace)).logNumber;
    const state = await chat.read();
    await checkExpected(chat, state, expectedHead);
    const place = placeOf(state);
    const changes: Change[] = [
      { kind: "idle" },
      { kind: "version", at: state.row.version },
      ...startingChanges(chat, place, checked, leaseMs, found),
    ];
    const kept = requestChange(request, { userNodeId: checked.id });
    chat.env.probe("turn:commit");
    const outcome = await chat.env.backend.commit(chat.commit("turn", [...changes, ...kept]));
    chat.env.probe("turn:committed");
    if (outcome.ok) {
      chat.feed.wake();
      const { branch, key, depth } = place;
      const tip = { key: resolveKey(outcome, key), id: checked.id, depth, branch: branch.name };
      return track(chat, new LiveTurn(chat, outcome.runs.get(-1) as number, checked.id, leaseMs, tip));
    }
    await chat.requireIdle();
    await refuseTaken(chat, [checked]);
  }
  throw headMoved();
}

/** Where the user's message goes: below the active head. */
function placeOf(state: State) {
  const branch = requireBranch(state);
  const { keys, opens } = chainBelow(state.segments, branch.head, 1);
  const depth = branch.head === null ? 0 : depthOf(state.segments, branch.head) + 1;
  return { branch, key: keys[0] as NodeKey, opens, depth };
}

function startingChanges(
  chat: Chat,
  { branch, key, opens }: ReturnType<typeof placeOf>,
  checked: Checked,
  leaseMs: number,
  found: number | null,
): Change[] {
  const nowMs = chat.env.now().getTime();
  const start = {
    firstKey: key,
    userKey: key,
    workspace: chat.workspaceKey,
    holder: chat.env.holder,
    leaseMs,
    startedAtMs: nowMs,
    found,
    rowsOf: null,
  };
  const fields = {
    status: "running" as const,
    endedAtMs: null,
    left: null,
    lastKey: null,
    usage: null,
    error: null,
    report: null,
  };
  return [
    ...opens,
    { kind: "run-start", run: -1, start, fields },
    nodeChange(checked, key, -1, nowMs),
    { kind: "branch", name: branch.name, from: { head: branch.head }, to: { head: key } },
  ];
}

/** The turn of a request that was made before: the live one, or one whose every write says that it is over. */
async function turnAgain(chat: Chat, { userNodeId }: Begun, leaseMs: number): Promise<HeldTurn> {
  const { run } = await requireNode(chat.env, chat.key, userNodeId);
  const live = chat.turns.get(run as number);
  if (live !== undefined) return live;
  const turn = new LiveTurn(chat, run as number, userNodeId, leaseMs);
  turn.release();
  return turn;
}

function track(chat: Chat, turn: HeldTurn): HeldTurn {
  chat.turns.set(turn.run, turn);
  return turn;
}
