/**
 * Finds the call that started each side chain: what a sub-agent said and did, beside the conversation's own path.
 *
 * The format changed over time, so the ways are tried from the surest to the weakest: the call's id in the line; the
 * agent's id in the call's result; a call with the same prompt; the nearest earlier call of a sub-agent.
 */
import { objectIn, stringIn } from "../json.js";
import type { Line } from "../reading/line.js";
import type { Repair } from "../report.js";
import type { Entry } from "./entries.js";
import { answeredCalls } from "./parents.js";

/** A call that starts a sub-agent. */
interface AgentCall {
  id: string;
  holder: Entry;
  prompt: string | undefined;
  taken: boolean;
}

/** Names under which the tool that starts a sub-agent has gone. */
const agentTools: ReadonlySet<unknown> = new Set(["Task", "Agent"]);

/** What the calls and their results say of the sub-agents. */
interface Callers {
  agentCalls: AgentCall[];
  holders: Map<string, Entry>;
  callOfAgent: Map<string, string>;
}

function callersIn(entries: readonly Entry[]): Callers {
  const callers: Callers = { agentCalls: [], holders: new Map(), callOfAgent: new Map() };
  for (const entry of entries) {
    for (const line of entry.lines) noteCalls(line, entry, callers);
  }
  return callers;
}

function noteCalls(line: Line, entry: Entry, callers: Callers): void {
  for (const block of line.blocks) {
    const id = stringIn(block.id);
    if (block.type !== "tool_use" || id === undefined) continue;
    callers.holders.set(id, entry);
    const prompt = stringIn(objectIn(block.input)?.prompt);
    if (agentTools.has(block.name)) callers.agentCalls.push({ id, holder: entry, prompt, taken: false });
  }
  const agent = stringIn(objectIn(line.raw.toolUseResult)?.agentId);
  const call = answeredCalls(line)[0];
  if (agent !== undefined && call !== undefined) callers.callOfAgent.set(agent, call);
}

const take = (call: AgentCall | undefined): Entry | undefined => {
  if (call === undefined) return undefined;
  call.taken = true;
  return call.holder;
};

/** The first call with this prompt that has no side chain yet; one before the side chain if there is one. */
function callWithPrompt(root: Entry, callers: Callers): AgentCall | undefined {
  const text = root.lines[0]?.text;
  const same = callers.agentCalls.filter((call) => !call.taken && call.prompt !== undefined && call.prompt === text);
  return same.find((call) => call.holder.at < root.at) ?? same[0];
}

function callerOf(root: Entry, callers: Callers): Entry | undefined {
  const raw = root.lines[0]?.raw ?? {};
  const named = stringIn(raw.parentToolUseID) ?? stringIn(raw.parent_tool_use_id) ?? stringIn(raw.sourceToolUseID);
  const id = named ?? (root.side ? callers.callOfAgent.get(root.side) : undefined);
  const byId = id === undefined ? undefined : callers.holders.get(id);
  if (byId !== undefined && byId !== root) {
    const call = callers.agentCalls.find((one) => one.id === id);
    return take(call) ?? byId;
  }
  const byPrompt = take(callWithPrompt(root, callers));
  if (byPrompt !== undefined) return byPrompt;
  const earlier = callers.agentCalls.filter((call) => call.holder.side === null && call.holder.at < root.at);
  return take(earlier.findLast((call) => !call.taken) ?? earlier.at(-1)) ?? root.parent ?? undefined;
}

/** Whether following parents and callers up from an entry leads to another. */
function leadsTo(start: Entry, target: Entry): boolean {
  const seen = new Set<Entry>();
  for (let entry: Entry | null = start; entry !== null && !seen.has(entry); entry = entry.parent ?? entry.caller) {
    if (entry === target) return true;
    seen.add(entry);
  }
  return false;
}

/** Hangs each side chain under its call; returns how many there are. */
export function hangSideChains(entries: readonly Entry[], repairs: Repair[]): number {
  const roots = entries.filter((entry) => entry.side !== null && (entry.parent === null || entry.parent.side === null));
  if (roots.length === 0) return 0;
  const callers = callersIn(entries);
  for (const root of roots) {
    const caller = callerOf(root, callers);
    root.parent = null;
    if (caller !== undefined && !leadsTo(caller, root)) root.caller = caller;
    else repairs.push({ line: root.at, id: root.id, what: "side chain without a call" });
  }
  return roots.length;
}
